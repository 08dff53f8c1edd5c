#!/usr/bin/env bash
# Runs the stages of `make test` in order, fast ones first, and stops at the first that fails.
#
# Every stage's tests are counted from its runner's own output; a gate without tests of its own (fmt, clippy, a build)
# counts as one. SKIP=chromium,python goes without the tools it names; without SKIP a missing tool is a failure.
# Usage: run.sh [STAGE...]; the stage `deep` is run only when named.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/test/mesh.sh

all=(fmt deny console clippy bench rust clients browser drain)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target} NO_COLOR=1
clients=services/weft/tests/clients deps=$(realpath -m "$CARGO_TARGET_DIR")/test-deps
work=$(mktemp -d)
passed=0 failed=0 skipped=0
summary=()
mesh_pid='' mesh_url=''

# What is under way, for the trap: a stage that fails ends the script by `set -e`.
stage='' begun=0

finish() {
    [[ -z $stage ]] || conclude
    [[ -z $mesh_pid ]] || end_process "$mesh_pid" || true
    rm -rf "$work"
}
trap finish EXIT

# need TOOL TEST...: whether the stage can run. A tool named in SKIP counts as one skip; a missing one is a failure.
need() {
    local tool=$1
    shift
    if [[ ",${SKIP:-}," == *",$tool,"* ]]; then
        echo "SKIPPED: $tool is named in SKIP"
        echo 'skipped 1' >>"$work/counts"
        return 1
    fi
    if ! "$@" >/dev/null 2>&1; then
        echo "$tool is missing: run 'make test-deps', or set SKIP=$tool to go without" >&2
        exit 1
    fi
}

# gate COMMAND...: a check that is one pass when it succeeds.
gate() {
    echo "+ $*"
    "$@"
    echo 'passed 1' >>"$work/counts"
}

# counted COMMAND...: a test runner; its summary lines are added up.
counted() {
    echo "+ $*"
    local status=0
    "$@" 2>&1 | tee "$work/output" || status=$?
    count <"$work/output" >>"$work/counts"
    return "$status"
}

# Reads the summary lines of cargo test, Vitest, and of our own scripts ("N passed, N failed").
count() {
    sed 's/\x1b\[[0-9;]*m//g' | awk '
        /^test result: / { passed += $4; failed += $6; skipped += $8 }
        /^ +Tests +/ { for (at = 2; at < NF; at++) { if ($(at + 1) == "passed") passed += $at; if ($(at + 1) == "failed") failed += $at; if ($(at + 1) == "skipped") skipped += $at } }
        /^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3; if ($6 ~ /^skipped/) skipped += $5 }
        END { print "passed", passed + 0; print "failed", failed + 0; print "skipped", skipped + 0 }
    '
}

# mesh: the running mesh, started by the first stage that asks for it.
mesh() {
    [[ -z $mesh_pid ]] || return 0
    echo "+ cargo build -p weft && weft up"
    cargo build --quiet --locked --package weft
    # The clients of the SDKs read the extended card and have webhooks on this machine.
    start_mesh "$CARGO_TARGET_DIR/debug/weft" "$work/mesh" --tasks-push-allow 127.0.0.1 --edge-extended-card open
}

stage_fmt() {
    gate cargo fmt --all --check -- -l
    gate cargo fmt --all --check --manifest-path deploy/bench/Cargo.toml -- -l
    gate cargo fmt --all --check --manifest-path "$clients/rust/Cargo.toml" -- -l
    gate cargo fmt --check --manifest-path deploy/fuzz/Cargo.toml -- -l
}

stage_deny() {
    gate python3 -B -m unittest discover --quiet --start-directory deploy/test
    counted deploy/test/deny.py
}

stage_console() {
    gate make --no-print-directory console
    gate npm --prefix console run --silent check
    counted npm --prefix console run --silent test
}

stage_clippy() {
    gate cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
}

stage_bench() {
    counted cargo test --quiet --locked --manifest-path deploy/bench/Cargo.toml --target-dir "$CARGO_TARGET_DIR/bench" --package bench
}

stage_rust() {
    counted cargo test --locked --workspace --no-fail-fast
}

stage_clients() {
    mesh
    if need js test -d "$clients/js/node_modules"; then
        counted node "$clients/js/check_mesh.js" "$mesh_url"
        counted node "$clients/js/check_v03.js" "$mesh_url"
    fi
    local python=$deps/venv/bin/python
    if need python "$python" -c 'import a2a, grpc'; then
        counted "$python" "$clients/python/check_mesh.py" "$mesh_url"
    fi
    python=$deps/venv-v03/bin/python
    if need python "$python" -c 'import a2a'; then
        counted "$python" "$clients/python-v03/check_mesh.py" "$mesh_url"
    fi
    if need go command -v go; then
        gate go build -C "$clients/go" -o "$deps/go/check_mesh" .
        counted "$deps/go/check_mesh" "$mesh_url"
    fi
    if need java test -d "$deps/java/lib"; then
        gate mvn --quiet --batch-mode --offline --file "$clients/java/pom.xml" -Dout="$deps/java" process-classes
        counted java -cp "$deps/java/classes:$deps/java/lib/*" weft.CheckMesh "$mesh_url"
    fi
}

# The Rust SDK takes minutes to build.
stage_deep() {
    mesh
    if need rust-sdk command -v cargo; then
        local built=$CARGO_TARGET_DIR/clients
        gate cargo build --quiet --locked --manifest-path "$clients/rust/Cargo.toml" --target-dir "$built"
        counted "$built/debug/check-mesh" "$mesh_url"
    fi
}

stage_browser() {
    if need chromium command -v chromium; then
        mesh
        counted env WEFT_URL="$mesh_url" npm --prefix console run --silent e2e
        counted signed_in node console/e2e/session.mjs
    fi
}

# signed_in COMMAND...: runs it with WEFT_URL and WEFT_TOKEN of a mesh of its own that asks for credentials.
signed_in() (
    weft=$CARGO_TARGET_DIR/debug/weft
    WEFT_TOKEN=$("$weft" access add ops --scope weft:admin --data "$work/guarded/data")
    start_mesh "$weft" "$work/guarded"
    trap 'end_process "$mesh_pid" || true' EXIT
    export WEFT_TOKEN WEFT_URL=$mesh_url
    "$@"
)

# The mesh that served the stages before must end cleanly when asked to.
stage_drain() {
    mesh
    local pid=$mesh_pid
    mesh_pid=''
    gate end_process "$pid"
}

run_stage() {
    if [[ $(type -t "stage_$1") != function ]]; then
        echo "no stage is called $1; the stages are: ${all[*]}" >&2
        exit 2
    fi
    stage=$1 begun=$SECONDS
    printf '\n=== %s\n' "$stage"
    : >"$work/counts"
    # Not in an `if` or before `||`: those would switch off `set -e` inside the stage.
    "stage_$stage"
    add_up ok
    stage=''
}

# add_up VERDICT: adds the stage's counts to the total and its line to the summary.
add_up() {
    local p f s
    read -r p f s < <(awk '{ n[$1] += $2 } END { print n["passed"] + 0, n["failed"] + 0, n["skipped"] + 0 }' "$work/counts")
    [[ $1 == ok || $f != 0 ]] || f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    summary+=("$(printf '%-10s %-7s %5d s %6d passed %4d failed %4d skipped' "$stage" "$1" $((SECONDS - begun)) "$p" "$f" "$s")")
}

# conclude: what is said when a stage has failed.
conclude() {
    add_up FAILED
    [[ ! -s ${mesh_log:-} ]] || { echo '--- the end of the log of the mesh'; tail -n 40 "$mesh_log"; }
    report
}

report() {
    printf '\n'
    printf '%s\n' "${summary[@]}"
    printf 'total %s s\n\n' "$SECONDS"
    echo "$passed passed, $failed failed, $skipped skipped"
}

for name in "${@:-${all[@]}}"; do
    run_stage "$name"
done
report
