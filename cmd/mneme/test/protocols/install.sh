#!/bin/sh
# Brings the clients that the tests of this folder run to .cache/protocols: node_modules from
# npm and python from PyPI; with install.sh go, a program over OpenAI's client for Go, built. Needs
# npm, python3 with pip, or Go. What is there already is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=$(cd "$here/../../../.." && pwd)/.cache/protocols
mkdir -p "$into"
if [ "${1:-}" = go ]; then
	cd "$here/testdata/go" && GOFLAGS=-trimpath CGO_ENABLED=0 exec go build -o "$into/openai-go" .
fi
pins() { cat "$here/package-lock.json" "$here/requirements.txt"; }
if pins | cmp -s - "$into/installed"; then
	exit 0
fi
rm -rf "$into/python" "$into/installed"
cp "$here/package.json" "$here/package-lock.json" "$into/"
(cd "$into" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps)
python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --root-user-action=ignore \
	--target "$into/python" --requirement "$here/requirements.txt"
pins >"$into/installed"
