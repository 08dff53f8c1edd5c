# Starts and stops one mesh for a script that sources this file. Needs node; ends only what it started, by pid.

# start_mesh BINARY DIR [ARGUMENT...]: runs the all-in-one on a free port with its data and log in DIR.
# Sets mesh_url and mesh_pid once /readyz answers; says why and returns 1 when it does not within 60 s.
start_mesh() {
    local binary=$1 dir=$2
    shift 2
    mkdir -p "$dir"
    local port
    port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
    mesh_url=http://127.0.0.1:$port
    mesh_log=$dir/mesh.log
    "$binary" up --http "127.0.0.1:$port" --data "$dir/data" "$@" >"$mesh_log" 2>&1 &
    mesh_pid=$!
    if ! wait_ready "$mesh_url/readyz" "$mesh_pid"; then
        echo "the mesh did not become ready; the end of its log:" >&2
        tail -n 40 "$mesh_log" >&2
        return 1
    fi
}

# wait_ready URL PID: until URL answers 200; fails when PID has ended or 60 s have passed.
wait_ready() {
    node -e '
        const [url, pid] = process.argv.slice(1);
        const alive = () => { try { return process.kill(Number(pid), 0); } catch { return false; } };
        const ready = () => fetch(url, { signal: AbortSignal.timeout(2000) }).then((answer) => answer.ok, () => false);
        (async () => {
            for (const end = Date.now() + 60_000; Date.now() < end && alive(); ) {
                if (await ready()) process.exit(0);
                await new Promise((resolve) => setTimeout(resolve, 50));
            }
            process.exit(1);
        })();
    ' "$1" "$2"
}

# end_process PID: asks, waits 15 s, then insists. Returns the exit status, 137 when it had to insist.
end_process() {
    local pid=$1 status=0
    kill -TERM "$pid" 2>/dev/null || true
    for _ in $(seq 150); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || status=$?
    return "$status"
}
