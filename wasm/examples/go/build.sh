#!/bin/sh
# Builds model.wasm. Needs Go 1.24 or later and nothing else.
set -eu
cd "$(dirname "$0")"
GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -ldflags=-s -o model.wasm .
