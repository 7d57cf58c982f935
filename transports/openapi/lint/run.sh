#!/bin/sh
# Lints an OpenAPI document with Spectral and Redocly; any finding fails. The
# linters are installed into .cache/openapi-lint. Needs npm.
#   sh transports/openapi/lint/run.sh docs/openapi.yaml
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=$(cd "$here/../../.." && pwd)/.cache/openapi-lint
document=$1
if ! cmp -s "$here/package-lock.json" "$cache/installed"; then
	mkdir -p "$cache"
	cp "$here/package.json" "$here/package-lock.json" "$cache/"
	(cd "$cache" && npm ci --silent --no-audit --no-fund --ignore-scripts)
	cp "$here/package-lock.json" "$cache/installed"
fi
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
"$cache/node_modules/.bin/spectral" lint --ruleset "$here/spectral.yaml" --fail-severity=hint "$document"
"$cache/node_modules/.bin/redocly" lint --config "$here/redocly.yaml" "$document"
