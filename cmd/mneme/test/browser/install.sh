#!/bin/sh
# Brings what drives the browser to .cache/browser. Needs npm. The browser itself
# is Debian's: apt-get install chromium-headless-shell.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=$(cd "$here/../../../.." && pwd)/.cache/browser
if ! cmp -s "$here/package-lock.json" "$cache/installed"; then
	mkdir -p "$cache"
	cp "$here/package.json" "$here/package-lock.json" "$cache/"
	(cd "$cache" && npm ci --silent --no-audit --no-fund --ignore-scripts)
	cp "$here/package-lock.json" "$cache/installed"
fi
