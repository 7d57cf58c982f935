#!/bin/sh
# Builds model.wasm. Needs clang and LLVM's linker (Debian and Ubuntu: apt install
# clang lld; macOS: brew install llvm lld). Linking is a step of its own because
# clang would run a wasm-opt that happens to be installed, without the flags it needs.
set -eu
cd "$(dirname "$0")"
# first PROGRAM...: the first of them that is installed
first() {
	for program; do
		if command -v "$program" >/dev/null 2>&1; then
			echo "$program"
			return
		fi
	done
	echo "none of these is installed: $*" >&2
	exit 1
}
cc=$(first ${CC:-} clang clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
ld=$(first ${WASM_LD:-} wasm-ld wasm-ld-20 wasm-ld-19 wasm-ld-18 wasm-ld-17 wasm-ld-16 wasm-ld-15 wasm-ld-14)
object=$(mktemp)
trap 'rm -f "$object"' EXIT
"$cc" --target=wasm32 -std=gnu11 -O3 -msimd128 -mbulk-memory -ffreestanding -fno-math-errno -Wall -Wextra -Isdk -c -o "$object" model.c
"$ld" --no-entry --strip-debug --stack-first -z stack-size=131072 -o model.wasm "$object"
