#!/bin/sh
# Makes the Go code of the two protocols into OUT (default: this folder), and the Python
# code into PYTHON_OUT (models) and PYTHON_SOURCE_OUT (sources) where these are named.
# Needs protoc; the Go plug-ins are built from their pinned versions, and the Python
# ones come with pip.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here}
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
module=github.com/mnemehq/mneme/plugins/proto
PATH=$bin:$PATH protoc -I "$here" --go_out="$out" --go_opt=module=$module \
	--go-grpc_out="$out" --go-grpc_opt=module=$module mneme_model.proto mneme_source.proto
# The compiler's own version is no part of what it makes.
sed -i '/^\/\/ \(- \)\?[[:space:]]*protoc  */d' "$out"/mneme_model*.pb.go "$out"/source/mneme_source*.pb.go
if [ -n "${PYTHON_OUT:-}${PYTHON_SOURCE_OUT:-}" ]; then
	python=$bin/python
	python3 -m venv "$python"
	"$python/bin/pip" install -q --disable-pip-version-check grpcio-tools==1.85.1
	make_python() { "$python/bin/python" -m grpc_tools.protoc -I "$here" --python_out="$2" --grpc_python_out="$2" "$1"; }
	[ -z "${PYTHON_OUT:-}" ] || make_python mneme_model.proto "$PYTHON_OUT"
	[ -z "${PYTHON_SOURCE_OUT:-}" ] || make_python mneme_source.proto "$PYTHON_SOURCE_OUT"
fi
