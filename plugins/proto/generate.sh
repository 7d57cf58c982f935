#!/bin/sh
# Makes the Go code of mneme_model.proto into OUT (default: this folder), and the
# Python code into PYTHON_OUT where one is named. Needs protoc; the Go plug-ins are
# built from their pinned versions, and the Python ones come with pip.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here}
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
PATH=$bin:$PATH protoc -I "$here" --go_out="$out" --go_opt=paths=source_relative \
	--go-grpc_out="$out" --go-grpc_opt=paths=source_relative mneme_model.proto
# The compiler's own version is no part of what it makes.
sed -i '/^\/\/ \(- \)\?[[:space:]]*protoc  */d' "$out"/mneme_model.pb.go "$out"/mneme_model_grpc.pb.go
if [ -n "${PYTHON_OUT:-}" ]; then
	python=$bin/python
	python3 -m venv "$python"
	"$python/bin/pip" install -q --disable-pip-version-check grpcio-tools==1.85.1
	"$python/bin/python" -m grpc_tools.protoc -I "$here" --python_out="$PYTHON_OUT" --grpc_python_out="$PYTHON_OUT" mneme_model.proto
fi
