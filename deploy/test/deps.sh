#!/usr/bin/env bash
# Installs what `make test` needs beyond Rust, Node and Python. Quick when all is there; see SKIP in run.sh for going without.
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

# python_venv DIR REQUIREMENTS
python_venv() {
    python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
    rm -rf "${deps:?}/$1"
    python3 -m venv "$deps/$1"
    "$deps/$1/bin/pip" install --quiet --disable-pip-version-check --requirement "$2"
}

npm_ci() { npm ci --prefix "$1" --no-fund --no-audit; }

# maven_build POM DIR: fetches what the POM names and compiles into DIR.
maven_build() { mvn --quiet --batch-mode --file "$1" -Dout="$2" process-classes; }

# A folder that was removed takes its stamp with it.
[[ -x $deps/venv/bin/python ]] || rm -f "$deps/python.stamp"
[[ -x $deps/venv-v03/bin/python ]] || rm -f "$deps/python-v03.stamp"
clients=services/weft/tests/clients
[[ -d $clients/js/node_modules ]] || rm -f "$deps/js.stamp"
[[ -d $deps/java/lib ]] || rm -f "$deps/java.stamp"

command -v cc >/dev/null || apt_install gcc libc6-dev
skipped chromium || command -v chromium >/dev/null || apt_install chromium
# The SDK of v0.3 and that of v1.0 share a name, so each has an environment of its own.
for at in python:venv python-v03:venv-v03; do
    requirements=$clients/${at%:*}/requirements.txt
    skipped python || once "${at%:*}" "$requirements" python_venv "${at#*:}" "$requirements"
done
skipped js || once js "$clients/js/package-lock.json" npm_ci "$clients/js"
if ! skipped go; then
    command -v go >/dev/null || apt_install golang-go
    once go "$clients/go/go.sum" go -C "$clients/go" mod download
fi
if ! skipped java; then
    command -v mvn >/dev/null && command -v javac >/dev/null || apt_install maven default-jdk-headless
    once java "$clients/java/pom.xml" maven_build "$clients/java/pom.xml" "$(realpath "$deps")/java"
fi
make --no-print-directory console/node_modules/.package-lock.json
