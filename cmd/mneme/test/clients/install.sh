#!/bin/sh
# Brings the generators of clients that the tests of this folder run, and what their
# clients are made of, and the receivers' libraries of cmd/mneme/test/tours, to .cache/clients: node_modules from npm, python from PyPI, and
# oapi-codegen, built. Needs npm, python3 with pip, and Go. What is there already is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=$(cd "$here/../../../.." && pwd)/.cache/clients
mkdir -p "$into"
pins() { cat "$here/package-lock.json" "$here/requirements.txt" "$here/testdata/go/go.mod"; }
if pins | cmp -s - "$into/installed"; then
	exit 0
fi
rm -rf "$into/python" "$into/installed"
(cd "$here/testdata/go" && GOFLAGS="${GOFLAGS:-} -trimpath" CGO_ENABLED=0 go build -o "$into/oapi-codegen" \
	github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen)
cp "$here/package.json" "$here/package-lock.json" "$into/"
(cd "$into" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --root-user-action=ignore \
	--target "$into/python" --requirement "$here/requirements.txt"
pins >"$into/installed"
