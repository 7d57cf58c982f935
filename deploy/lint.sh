#!/bin/sh
# Holds the files of this folder to what reads them: the Dockerfile to hadolint, the
# Compose files to the specification's schema and to docker compose where it is installed,
# the manifests to Kubernetes' schemas, the action for vendors and the workflow that
# docs/vendors.md shows to GitHub's, the proxies' configurations to the proxies where they
# are installed, the configuration inside the manifests to mneme itself. Tools come from
# PyPI into .cache/deploy-lint.
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
"$venv/bin/yamllint" -s -c yamllint.yaml compose kubernetes models-check prometheus
"$venv/bin/hadolint" Dockerfile
"$venv/bin/check-jsonschema" --builtin-schema vendor.compose-spec compose/compose.yaml compose/single.yaml compose/distributed.yaml
for version in 1.30 1.37; do
	"$venv/bin/kubernetes-validate" -k "$version" --strict $(ls kubernetes/*.yaml kubernetes/single/*.yaml | grep -v kustomization)
done
"$venv/bin/check-jsonschema" --builtin-schema vendor.github-actions models-check/action.yml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
	echo 'on: push'
	sed -n '/^## In your CI$/,/^## /{/^```yaml$/,/^```$/{/^```/d;p;};}' ../docs/vendors.md
} >"$work/workflow.yml"
"$venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows "$work/workflow.yml"
if command -v haproxy >/dev/null; then
	haproxy -c -q -f compose/haproxy.cfg
else
	echo 'SKIPPED: haproxy is not installed, its configuration was not checked (apt-get install haproxy)' >&2
	[ -z "${MNEME_TEST_REQUIRE:-}" ]
fi
if command -v caddy >/dev/null; then
	caddy validate --adapter caddyfile --config proxy/Caddyfile 2>"$work/caddy" || {
		cat "$work/caddy"
		exit 1
	}
else
	echo 'SKIPPED: caddy is not installed, its configuration was not checked (apt-get install caddy)' >&2
fi
if command -v nginx >/dev/null; then
	# A file for conf.d, in a configuration of its own, with a certificate that is there.
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=memory.example.org \
		-keyout "$work/privkey.pem" -out "$work/fullchain.pem" 2>/dev/null
	sed "s#/etc/ssl/mneme#$work#" proxy/nginx.conf >"$work/mneme.conf"
	{
		echo "pid $work/pid; error_log stderr; events {} http { access_log off;"
		for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $work/$kind;"; done
		echo "include $work/mneme.conf; }"
	} >"$work/nginx.conf"
	nginx -t -q -p "$work" -c "$work/nginx.conf"
else
	echo 'SKIPPED: nginx is not installed, its configuration was not checked (apt-get install nginx)' >&2
fi
if docker compose version >/dev/null 2>&1; then
	POSTGRES_PASSWORD=x MEILI_MASTER_KEY=x MNEME_MEILISEARCH_KEY=x docker compose -f compose/compose.yaml config -q
	docker compose -f compose/single.yaml config -q
	POSTGRES_PASSWORD=x docker compose -f compose/distributed.yaml config -q
else
	echo 'SKIPPED: docker compose is not installed, the Compose files were held to their schema alone' >&2
fi
# The configurations in the ConfigMaps, with the secrets' files where they are here.
printf 'postgres://mneme@127.0.0.1/mneme' >"$work/postgres-dsn"
printf 'key' >"$work/meilisearch-key"
configuration() { sed -n '/^  mneme.yaml: |/,$p' "$1" | sed -e 1d -e 's/^    //' -e "s#file:/secrets/#file:$work/#"; }
configuration kubernetes/config.yaml >"$work/mneme.yaml"
configuration kubernetes/single/config.yaml >"$work/single.yaml"
cd "$root"
for file in mneme single; do
	MNEME_MEILISEARCH_URL=http://127.0.0.1:7700 go run ./cmd/mneme config lint --config "$work/$file.yaml"
done
echo 'deploy: all is well'
