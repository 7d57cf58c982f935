#!/bin/sh
# Builds the SDKs and the packages for frameworks of the work tree that it is run in, all of one version: wheels, and tarballs for
# npm. build.sh runs it; where SOURCE_DATE_EPOCH is set they are the same bytes each time.
#   sh deploy/packages/libraries.sh DIR VERSION
#   sh deploy/packages/libraries.sh --list VERSION    which files these are
# What it builds with comes with make sdk-tools clients package-tools.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../versions.sh"
into=${1:?usage: libraries.sh DIR|--list VERSION}
version=${2:?usage: libraries.sh DIR|--list VERSION}
fail() { echo "libraries: $*" >&2; exit 1; }

named() { sed -n "s/^$2\"\([^\"]*\)\".*/\1/p" "$1" | head -n 1; }
wheel() { echo "$(named "$1/pyproject.toml" 'name = ' | tr - _)-$version-py3-none-any.whl"; }
tarball() { echo "$(named "$1/package.json" '  "name": ' | tr -d @ | tr / -)-$version.tgz"; }
if [ "$into" = --list ]; then
  for dir in sdk/python integrations/python/*/; do wheel "${dir%/}"; done
  for dir in sdk/typescript integrations/typescript/*/; do tarball "${dir%/}"; done
  exit 0
fi

cache=$PWD/.cache
tsc=$cache/clients/node_modules/typescript/bin/tsc frameworks=$cache/integrations/typescript/node_modules
[ -d "$cache/sdk/python/hatchling" ] || fail "no hatchling in $cache/sdk: run make sdk-tools"
[ -f "$tsc" ] || fail "no TypeScript in $cache/clients: run make clients"
[ -d "$frameworks" ] || fail "no frameworks in $cache/integrations: run make package-tools"
into=$(cd "$into" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -cf - --exclude dist --exclude node_modules --exclude __pycache__ LICENSE sdk integrations | tar -xf - -C "$work"
cd "$work"
each_version version_set

for dir in sdk/python integrations/python/*/; do
  dir=${dir%/} name=$(wheel "${dir%/}")
  cp LICENSE "$dir/"
  (cd "$dir" && PYTHONPATH="$cache/sdk/python" PYTHONDONTWRITEBYTECODE=1 \
    python3 -m hatchling build --target wheel --directory "$into" >"$work/log" 2>&1) || { cat log >&2; exit 1; }
  [ -f "$into/$name" ] || fail "$dir makes no $name: a version of Python packages is MAJOR.MINOR.PATCH"
done

ln -s "$frameworks" node_modules
for dir in sdk/typescript integrations/typescript/*/; do
  dir=${dir%/}
  cp LICENSE "$dir/"
  if [ "$dir" = sdk/typescript ]; then
    (cd "$dir" && TSC="node $tsc" sh build.sh)
  else
    mkdir -p "$dir/node_modules/@mnemehq"
    ln -s "$work/sdk/typescript" "$dir/node_modules/@mnemehq/sdk"
    (cd "$dir" && node "$tsc" -p .)
  fi
  (cd "$dir" && npm pack --silent --offline --pack-destination "$into" >/dev/null)
  [ -f "$into/$(tarball "$dir")" ] || fail "$dir makes no $(tarball "$dir")"
done
