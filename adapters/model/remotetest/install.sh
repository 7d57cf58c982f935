#!/bin/sh
# Installs the providers' Python clients that the tests of this folder run, from PyPI into the folder $1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:?usage: install.sh DIR}
mkdir -p "$into"
if cmp -s "$here/testdata/requirements.txt" "$into/installed"; then
  exit 0
fi
rm -rf "$into/python" "$into/installed"
python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --root-user-action=ignore --no-deps \
  --target "$into/python" --requirement "$here/testdata/requirements.txt"
cp "$here/testdata/requirements.txt" "$into/installed"
