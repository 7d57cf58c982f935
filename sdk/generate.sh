#!/bin/sh
# Makes the generated layer of each SDK of docs/openapi.yaml: sh sdk/generate.sh [OUT], sdk unless OUT is another folder.
# Needs make clients and make sdk-tools. cmd/mneme/test/sdk fails on what is not current.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cache=$(cd "$here/.." && pwd)/.cache
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$cache/clients/python" PYTHONDONTWRITEBYTECODE=1 PATH="$cache/sdk/python/bin:$PATH"

mkdir -p "$out/go/api" "$out/typescript/src" "$out/python/src/mneme"
python3 "$here/document.py" "$here/../docs/openapi.yaml" >"$work/document.json"
"$cache/clients/oapi-codegen" -config "$here/go/generator.yaml" -o "$out/go/api/api.gen.go" "$work/document.json"
IN="$work/document.json" OUT="$out/typescript/src/api" \
	node "$cache/clients/node_modules/@hey-api/openapi-ts/bin/run.js" -f "$here/typescript/generator.config.mjs" >"$work/log" ||
	{ cat "$work/log" >&2; exit 1; }
python3 -m openapi_python_client generate --path "$work/document.json" --meta none --config "$here/python/generator.yaml" \
	--custom-template-path "$here/python/templates" --output-path "$work/api" >"$work/log" ||
	{ cat "$work/log" >&2; exit 1; }
rm -rf "$out/python/src/mneme/_api"
cp -R "$work/api" "$out/python/src/mneme/_api"
PYTHONPATH="$cache/sdk/python" python3 "$here/python/scripts/unasync.py" "$out/python/src/mneme/_sync"
(cd "$out/python" && for do in "check --fix-only -q" "format -q"; do
	# shellcheck disable=SC2086 # two words
	ruff $do --no-cache --config "$here/python/pyproject.toml" src/mneme/_sync
done)
