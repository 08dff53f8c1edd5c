#!/usr/bin/env bash
# The compiler as run.sh has cargo call it: the mesh's own crates and the targets get a counter on every edge and a look
# at every comparison, as libFuzzer reads them; everything else is built as it always is.
set -euo pipefail

counted=()
previous=''
for argument; do
    if [[ $previous == --crate-name && $argument =~ ^(weft_.*|fuzz|protojson|envelope|rest|sse)$ ]]; then
        counted=(--cfg=fuzzing -Cpasses=sancov-module)
        for option in level=4 inline-8bit-counters pc-table trace-compares; do
            counted+=("-Cllvm-args=-sanitizer-coverage-$option")
        done
    fi
    previous=$argument
done
exec "$@" "${counted[@]}"
