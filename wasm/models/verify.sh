#!/bin/sh
# Builds the committed modules again and compares bytes.
set -eu
repo=$(cd "$(dirname "$0")/../.." && pwd)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
"$repo/wasm/models/build.sh" "$built"
cd "$built"
status=0
for file in $(find wasm -name '*.wasm' | sort); do
	if cmp -s "$file" "$repo/$file"; then
		echo "same      $file"
	else
		echo "DIFFERENT $file: run wasm/models/build.sh and commit the result" >&2
		status=1
	fi
done
exit $status
