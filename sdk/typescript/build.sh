#!/bin/sh
# Compiles src into dist: ES modules, and CommonJS beside them. TSC names the compiler where it is not on the PATH.
set -eu
cd "$(dirname "$0")"
rm -rf dist
${TSC:-tsc} -p .
# The compiler takes the kind of modules from the nearest package.json.
mkdir -p dist/cjs
${TSC:-tsc} -p . --module CommonJS --moduleResolution node10 --outDir dist/cjs
echo '{ "type": "commonjs" }' >dist/cjs/package.json
