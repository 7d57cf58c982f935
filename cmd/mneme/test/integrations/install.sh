#!/bin/sh
# Brings the frameworks of pins/ to .cache/integrations, a folder each, since no two want the same versions of what they
# share; those of TypeScript share one, and come alone with install.sh typescript. Needs python3 with pip, and npm. What is there
# already is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=$(cd "$here/../../../.." && pwd)/.cache/integrations
mkdir -p "$into"
for pins in "$here"/pins/*.txt; do
	[ "${1:-}" != typescript ] || break
	name=$(basename "$pins" .txt)
	if ! cmp -s "$pins" "$into/$name.installed"; then
		rm -rf "${into:?}/$name" "$into/$name.installed"
		python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --root-user-action=ignore \
			--target "$into/$name" --requirement "$pins"
		cp "$pins" "$into/$name.installed"
	fi
done

into=$into/typescript
if ! cmp -s "$here/pins/typescript/package-lock.json" "$into/installed"; then
	rm -rf "$into"
	mkdir -p "$into"
	cp "$here/pins/typescript/package.json" "$here/pins/typescript/package-lock.json" "$into/"
	(cd "$into" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	cp "$into/package-lock.json" "$into/installed"
fi
