#!/bin/sh
# Builds model.wasm. Needs Node.js 20 or later; npm fetches the compiler that
# package-lock.json pins.
set -eu
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npm run build
