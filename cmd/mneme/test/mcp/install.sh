#!/bin/sh
# Installs the MCP clients that the tests of this folder run, with the Node that they want, into the folder $1:
# node_modules from npm, python from PyPI with version 1 of the SDK, and python-2 with what version 2 lays over it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:?usage: install.sh DIR}
mkdir -p "$into"
pins() { cat "$here/package-lock.json" "$here/requirements.txt" "$here/requirements-2.txt"; }
if pins | cmp -s - "$into/installed"; then
  exit 0
fi
rm -rf "$into/python" "$into/python-2" "$into/installed"
cp "$here/package.json" "$here/package-lock.json" "$into/"
cd "$into"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --root-user-action=ignore \
  --target python --requirement "$here/requirements.txt"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --root-user-action=ignore \
  --target python-2 --requirement "$here/requirements-2.txt"
pins >installed
