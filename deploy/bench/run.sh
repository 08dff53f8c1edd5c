#!/usr/bin/env bash
# Measures the mesh against echo agents on the official Rust and Python SDKs, in turn, on this machine.
#
# All of it is built in release mode under target/bench. Arguments go to the driver, for example --rounds 4 --run-ms 5000.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/test/mesh.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR=$target/bench
python=$target/test-deps/venv/bin/python
if ! "$python" -c 'import a2a' 2>/dev/null; then
    echo "the Python SDK is missing: run 'make test-deps'" >&2
    exit 1
fi

cargo build --quiet --release --locked --manifest-path deploy/bench/Cargo.toml
cargo build --quiet --release --locked --package weft

work=$(mktemp -d "$target/bench/run.XXXXXX")
pids=()
mesh_pid=''
finish() {
    for pid in $mesh_pid "${pids[@]}"; do end_process "$pid" || true; done
    rm -rf "$work"
}
trap finish EXIT

# peer NAME COMMAND...: starts a server that prints its URL as its first line, and appends it to the targets.
peer() {
    local name=$1 url=''
    shift
    "$@" >"$work/$name.out" 2>"$work/$name.err" &
    local pid=$!
    pids+=("$pid")
    for _ in $(seq 300); do
        url=$(head -n 1 "$work/$name.out")
        [[ -z $url ]] || break
        sleep 0.1
    done
    if [[ -z $url ]]; then
        echo "$name did not start:" >&2
        cat "$work/$name.err" >&2
        exit 1
    fi
    targets+=(--target "$name=$url,$pid")
}

# The store is put on the disk of the target directory: a temporary directory may be in memory, where syncing costs nothing.
start_mesh "$CARGO_TARGET_DIR/release/weft" "$work/weft"
targets=(--target "weft=$mesh_url/a2a,$mesh_pid")
peer a2a-server-lf "$CARGO_TARGET_DIR/release/bench-peer"
peer a2a-sdk "$python" deploy/bench/peer/echo.py

"$CARGO_TARGET_DIR/release/bench" "${targets[@]}" "$@"
echo "weft syncs every message to disk before it answers; a2a-server-lf 0.5.3 and a2a-sdk 1.3.0 keep theirs in memory."
