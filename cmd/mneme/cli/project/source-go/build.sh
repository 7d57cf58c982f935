#!/bin/sh
# Builds acme, and the app to try it with. The first build downloads what go.mod
# requires and notes its sums.
set -eu
cd "$(dirname "$0")"
CGO_ENABLED=0 go build -mod=mod -trimpath -o acme .
CGO_ENABLED=0 go build -mod=mod -trimpath -o sandbox/try ./sandbox
