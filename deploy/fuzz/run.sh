#!/usr/bin/env bash
# Fuzzes every target, or those that are named, for a time each: run.sh SECONDS [TARGET...]
#
# Needs a C++ compiler for libFuzzer itself; Rust's stable compiler gives the coverage. What was found to be interesting
# is kept under target/fuzz/corpus and used the next time; an input that breaks a target is kept in target/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:?how many seconds a target}
shift
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(sed -n 's|^path = "targets/\(.*\)\.rs"$|\1|p' Cargo.toml)
work=${CARGO_TARGET_DIR:-$(cd ../.. && pwd)/target}/fuzz
command -v c++ >/dev/null || { echo "a C++ compiler is missing: install g++" >&2; exit 1; }

RUSTC_WRAPPER=$PWD/rustc.sh cargo build --release --locked --target-dir "$work/build"

failed=0
for target in "${targets[@]}"; do
    mkdir -p "$work/corpus/$target" "$work/found"
    echo "=== $target for $seconds s"
    if "$work/build/release/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
        -print_final_stats=1 -artifact_prefix="$work/found/$target-" "$work/corpus/$target" "seeds/$target" \
        >"$work/$target.log" 2>&1; then
        grep -aE '^(Done|stat::peak_rss_mb)' "$work/$target.log"
    else
        failed=$((failed + 1))
        tail -n 40 "$work/$target.log"
    fi
done
echo "$((${#targets[@]} - failed)) passed, $failed failed"
[[ $failed == 0 ]]
