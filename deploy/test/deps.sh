#!/usr/bin/env bash
# Installs what `make test` needs beyond Rust, Node, Python and Go. Quick when all is there; see SKIP in run.sh for going without.
set -euo pipefail
cd "$(dirname "$0")/../.."

deps=${CARGO_TARGET_DIR:-target}/test-deps
mkdir -p "$deps"

skipped() { [[ ",${SKIP:-}," == *",$1,"* ]]; }

# once NAME FILE COMMAND...: runs COMMAND unless it ran before with the same FILE.
once() {
    local stamp=$deps/$1.stamp file=$2 now
    shift 2
    now=$(sha256sum <"$file")
    [[ -f $stamp && $(<"$stamp") == "$now" ]] && return
    "$@"
    echo "$now" >"$stamp"
}

apt_install() {
    if ! command -v apt-get >/dev/null; then
        echo "missing: $* — install it by hand, or name it in SKIP" >&2
        exit 1
    fi
    [[ -n ${apt_updated:-} ]] || apt-get update -qq
    apt_updated=1
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

python_venv() {
    python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
    rm -rf "$deps/venv"
    python3 -m venv "$deps/venv"
    "$deps/venv/bin/pip" install --quiet --disable-pip-version-check --requirement services/weft/tests/clients/python/requirements.txt
}

npm_ci() { npm ci --prefix "$1" --no-fund --no-audit; }

# A folder that was removed takes its stamp with it.
[[ -x $deps/venv/bin/python ]] || rm -f "$deps/python.stamp"
[[ -d services/weft/tests/clients/js/node_modules ]] || rm -f "$deps/js.stamp"

command -v cc >/dev/null || apt_install gcc libc6-dev
skipped chromium || command -v chromium >/dev/null || apt_install chromium
skipped python || once python services/weft/tests/clients/python/requirements.txt python_venv
once js services/weft/tests/clients/js/package-lock.json npm_ci services/weft/tests/clients/js
make --no-print-directory console/node_modules/.package-lock.json
