#!/bin/sh
# Makes .venv with the packages that requirements.txt pins. Needs Python 3.11 or
# later with venv.
set -eu
cd "$(dirname "$0")"
if [ ! -x .venv/bin/python ]; then
	python3 -m venv .venv
	.venv/bin/pip install -q --disable-pip-version-check -r requirements.txt
fi
.venv/bin/python -c 'import grpc, grpc_health, grpc_status, google.protobuf'
