#!/bin/sh
# Brings the frameworks of pins/ to .cache/integrations, a folder each, since no two want the same versions of what they
# share. Needs python3 with pip. What is there already is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=$(cd "$here/../../../.." && pwd)/.cache/integrations
mkdir -p "$into"
for pins in "$here"/pins/*.txt; do
	name=$(basename "$pins" .txt)
	if ! cmp -s "$pins" "$into/$name.installed"; then
		rm -rf "${into:?}/$name" "$into/$name.installed"
		python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --root-user-action=ignore \
			--target "$into/$name" --requirement "$pins"
		cp "$pins" "$into/$name.installed"
	fi
done
