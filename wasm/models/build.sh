#!/bin/sh
# Builds the modules that are committed beside their sources: the encoder from
# wasm/guest/c, with a tokenizer of its own, with the host's, and with the host's and further architectures, and the hostile
# module of the host's tests. The bytes depend on the
# compiler: clang 14.0.6 and lld 14.0.6 (Debian 12: apt install clang-14 lld-14)
# make the committed files.
#   build.sh [ROOT]   writes ROOT/wasm/...; default: this repository
set -eu
repo=$(cd "$(dirname "$0")/../.." && pwd)
root=${1:-$repo}
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# module OUT OPTIONS SOURCE...: compiles and links. The linker is called by itself: the
# clang driver would run whatever wasm-opt it finds.
module() {
	out=$root/$1 options=$2
	shift 2
	mkdir -p "$(dirname "$out")"
	rm -f "$objects"/*.o
	for source; do
		${CLANG:-clang-14} --target=wasm32 -std=gnu11 -O3 -msimd128 -mbulk-memory -mnontrapping-fptoint -ffreestanding -fno-math-errno -fno-ident \
			-I wasm/sdk/c -I wasm/guest/c $options -Wall -Wextra -Werror -c -o "$objects/$(basename "$source" .c).o" "$source"
	done
	${WASM_LD:-wasm-ld-14} --no-entry --stack-first -z stack-size=131072 --strip-all -o "$out" "$objects"/*.o
	chmod 644 "$out"
}

cd "$repo"
engine="wasm/guest/c/bert.c wasm/guest/c/sparse.c wasm/guest/c/rerank.c wasm/guest/c/tensor.c"
module wasm/models/encoder/encoder.wasm -UHOSTED $engine wasm/guest/c/tokenizer.c
module wasm/models/encoder/hosted.wasm -DHOSTED $engine wasm/guest/c/hosted.c
module wasm/models/encoder/general.wasm "-DHOSTED -DGENERAL" $engine wasm/guest/c/hosted.c wasm/guest/c/rotary.c wasm/guest/c/vectors.c
module wasm/abitest/testdata/hostile.wasm -UHOSTED wasm/abitest/testdata/hostile.c
