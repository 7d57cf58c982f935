#!/bin/sh
# Builds bundles of the MCP (.mcpb) that assistants install by a click: one for each system and processor given, such as
# darwin/arm64, or for the usual ones. Each is validated and packed by the official tool, which make mcp-clients installs.
# server.json beside them is what the registry of MCP servers takes, with the hash of each bundle.
#   deploy/mcpb/build.sh DIR VERSION [SYSTEM/PROCESSOR...]
# MNEME_BINARY names a program that is built already, for one system.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
into=${1:?usage: build.sh DIR VERSION [SYSTEM/PROCESSOR...]}
version=${2:?usage: build.sh DIR VERSION [SYSTEM/PROCESSOR...]}
shift 2
[ $# -gt 0 ] || set -- darwin/arm64 darwin/amd64 windows/amd64 linux/amd64 linux/arm64
releases=${MNEME_RELEASES:-https://github.com/mnemehq/mneme/releases/download/v$version}
tool=${MNEME_MCP_CLIENTS:-$root/.cache/mcp-clients}/node_modules/@anthropic-ai/mcpb/dist/cli/cli.js
[ -f "$tool" ] || { echo "no $tool: run make mcp-clients" >&2; exit 1; }
mkdir -p "$into"
into=$(cd "$into" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=
for target in "$@"; do
  system=${target%/*} processor=${target#*/} program=mneme platform=$system
  case $system in
    windows) program=mneme.exe platform=win32 ;;
    darwin | linux) ;;
    *) echo "there are bundles for darwin, windows and linux, not for $system" >&2; exit 1 ;;
  esac
  bundle=mneme-$version-$system-$processor.mcpb
  rm -rf "$work/bundle"
  mkdir -p "$work/bundle/server"
  if [ -n "${MNEME_BINARY:-}" ]; then
    cp "$MNEME_BINARY" "$work/bundle/server/$program"
  else
    (cd "$root" && CGO_ENABLED=0 GOOS=$system GOARCH=$processor \
      go build -trimpath -ldflags "-s -w -X github.com/mnemehq/mneme/cmd/mneme/cli.version=$version" -o "$work/bundle/server/$program" ./cmd/mneme)
  fi
  chmod 755 "$work/bundle/server/$program"
  cp "$root/LICENSE" "$root/NOTICE" "$work/bundle/"
  sed -e "s|@VERSION@|$version|" -e "s|@PROGRAM@|$program|" -e "s|@PLATFORM@|$platform|" "$here/manifest.json" >"$work/bundle/manifest.json"
  node "$tool" validate "$work/bundle/manifest.json" >&2
  node "$tool" pack "$work/bundle" "$into/$bundle" >&2
  sum=$(sha256sum "$into/$bundle" | cut -d ' ' -f 1)
  packages="$packages${packages:+,}{\"registryType\":\"mcpb\",\"identifier\":\"$releases/$bundle\",\"version\":\"$version\",\"fileSha256\":\"$sum\",\"transport\":{\"type\":\"stdio\"}}"
done
sed -e "s|@VERSION@|$version|" -e "s|\"packages\": \[\]|\"packages\": [$packages]|" "$here/server.json" >"$into/server.json"
