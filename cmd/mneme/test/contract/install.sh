#!/bin/sh
# Brings the tools of this folder's tests to .cache/contract: schemathesis and the
# generated Python client's libraries, the client generator, the TypeScript
# compiler. Needs python3 with venv, mvn (and a Java runtime) and npm. What is
# there already is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=$(cd "$here/../../../.." && pwd)/.cache/contract
generator=7.17.0
mkdir -p "$cache"

if ! cmp -s "$here/requirements.txt" "$cache/requirements.txt"; then
	rm -rf "$cache/venv"
	python3 -m venv "$cache/venv"
	"$cache/venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
	cp "$here/requirements.txt" "$cache/requirements.txt"
fi
if [ ! -e "$cache/openapi-generator-cli-$generator.jar" ]; then
	mvn -q dependency:copy "-Dartifact=org.openapitools:openapi-generator-cli:$generator" "-DoutputDirectory=$cache/part"
	mv "$cache/part/openapi-generator-cli-$generator.jar" "$cache/"
fi
if ! cmp -s "$here/package-lock.json" "$cache/package-lock.json"; then
	cp "$here/package.json" "$here/package-lock.json" "$cache/"
	(cd "$cache" && npm ci --silent --no-audit --no-fund) || { rm "$cache/package-lock.json"; exit 1; }
fi
