#!/bin/sh
# Brings the clients that the tests of this folder run to .cache/protocols: node_modules from
# npm, python from PyPI, and a program over the one for Go, built. Needs npm, python3 with pip,
# and Go. What is there already is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=$(cd "$here/../../../.." && pwd)/.cache/protocols
mkdir -p "$into"
pins() { cat "$here/package-lock.json" "$here/requirements.txt" "$here/testdata/go/go.mod" "$here/testdata/go/main.go"; }
if pins | cmp -s - "$into/installed"; then
	exit 0
fi
rm -rf "$into/python" "$into/installed"
(cd "$here/testdata/go" && GOFLAGS=-trimpath CGO_ENABLED=0 go build -o "$into/openai-go" .)
cp "$here/package.json" "$here/package-lock.json" "$into/"
(cd "$into" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps)
python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --root-user-action=ignore \
	--target "$into/python" --requirement "$here/requirements.txt"
pins >"$into/installed"
