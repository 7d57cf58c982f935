#!/bin/sh
# Builds the encoder module from wasm/guest/c. The bytes depend on the compiler:
# clang 14.0.6 and lld 14.0.6 (Debian 12: apt install clang-14 lld-14) make the
# committed file.
#   build.sh [OUT]   default: wasm/models/encoder/encoder.wasm
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/encoder/encoder.wasm}
case $out in /*) ;; *) out=$PWD/$out ;; esac
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
cd "$here/../guest/c"
# The linker is called by itself: the clang driver would run whatever wasm-opt it finds.
for unit in bert tensor tokenizer; do
	${CLANG:-clang-14} --target=wasm32 -std=gnu11 -O3 -msimd128 -mbulk-memory -mnontrapping-fptoint -ffreestanding -fno-math-errno -fno-ident \
		-Wall -Wextra -Werror -c -o "$objects/$unit.o" $unit.c
done
${WASM_LD:-wasm-ld-14} --no-entry --stack-first -z stack-size=131072 --strip-all -o "$out" \
	"$objects/bert.o" "$objects/tensor.o" "$objects/tokenizer.o"
