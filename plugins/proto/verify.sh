#!/bin/sh
# The committed code is what generate.sh makes of the protocols.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
OUT=$made PYTHON_OUT=$made PYTHON_SOURCE_OUT=$made sh "$here/generate.sh"
for f in mneme_model.pb.go mneme_model_grpc.pb.go source/mneme_source.pb.go source/mneme_source_grpc.pb.go; do
	cmp "$made/$f" "$here/$f"
done
for f in mneme_model_pb2.py mneme_model_pb2_grpc.py; do cmp "$made/$f" "$here/../examples/python/$f"; done
for f in mneme_source_pb2.py mneme_source_pb2_grpc.py; do cmp "$made/$f" "$here/../examples/source-python/$f"; done
echo "plugins/proto: the generated code is what the protocols make"
