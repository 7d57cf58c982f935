#!/bin/sh
# Installs what build.sh makes packages with into DIR:
# sh deploy/packages/install.sh DIR (make package-tools).
set -eu
into=${1:?usage: install.sh DIR}
mkdir -p "$into"
GOBIN=$(cd "$into" && pwd)
export GOBIN
versions='github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0'
[ "$(cat "$GOBIN/versions" 2>/dev/null)" = "$versions" ] && exit 0
cd "$GOBIN" # out of the module, whose go.mod is not theirs
for tool in $versions; do go install "$tool"; done
echo "$versions" >"$GOBIN/versions"
