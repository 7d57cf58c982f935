#!/bin/sh
# Brings what the tests of the SDKs run to .cache/sdk: runtimes of TypeScript from npm, what checks and builds the Python SDK,
# and the wheels of what that one imports, from PyPI; the oldest Go of the Go SDK from Go's proxy. Needs npm, go and python3 with
# pip. What is there already is left alone.
# What makes the generated layers comes with make clients.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=$(cd "$here/../../../.." && pwd)/.cache/sdk
mkdir -p "$into"
GOTOOLCHAIN=go$(sed -n 's/^go //p' "$here/../../../../sdk/go/go.mod") go version >/dev/null
pins() { cat "$here/package-lock.json" "$here/requirements.txt" "$here/runtime.txt"; }
if pins | cmp -s - "$into/installed"; then
	exit 0
fi
rm -rf "$into/python" "$into/wheels" "$into/installed"
cp "$here/package.json" "$here/package-lock.json" "$into/"
(cd "$into" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$into/wheels" --requirement "$here/runtime.txt"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --root-user-action=ignore \
	--target "$into/python" --requirement "$here/requirements.txt" --requirement "$here/runtime.txt"
pins >"$into/installed"
