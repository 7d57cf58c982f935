#!/bin/sh
# Makes a virtual environment with the pinned packages of the connector in VENV (default: .venv
# beside this file). Needs python3 with venv.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${VENV:-$here/.venv}
if [ -e "$venv/ready" ] && cmp -s "$here/requirements.txt" "$venv/ready"; then exit 0; fi
python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
cp "$here/requirements.txt" "$venv/ready"
