#!/bin/sh
# Cuts a release: sh deploy/release.sh 0.2.0 (make release VERSION=0.2.0). It moves what CHANGELOG.md has under
# Unreleased to the version, makes the document of the interface the released one, commits and tags. It pushes
# nothing, and refuses before it has changed anything. DRY_RUN=1 shows the commit and takes it back.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$(git rev-parse --show-toplevel)"
fail() { echo "release: $*" >&2; exit 1; }

version=${1:-}
echo "$version" | grep -Eq '^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$' ||
  fail "name the version as MAJOR.MINOR.PATCH, not \"$version\""
tag=v$version
[ -z "$(git status --porcelain)" ] || fail "the work tree is not clean; commit or remove what git status lists"
if git rev-parse -q --verify "refs/tags/$tag" >/dev/null; then fail "$tag exists already"; fi
newest=$(git tag --list 'v*' --sort=-v:refname | head -n 1)
if [ -n "$newest" ] && [ "$(printf '%s\n%s\n' "$newest" "$tag" | sort -V | tail -n 1)" != "$tag" ]; then
  fail "$tag is older than $newest"
fi
notes=$(awk '/^## / { inside = ($0 == "## Unreleased"); next } inside' CHANGELOG.md | grep -c '[^[:space:]]' || true)
[ "$notes" -gt 0 ] || fail "CHANGELOG.md has nothing under \"## Unreleased\""

. "$here/versions.sh"
sdk_has() { grep -Eq "^$2\"[^\"]*\"" "$1" || fail "$1 has no line for the version"; }
each_version sdk_has

make references >/dev/null || fail "make references failed"
[ -z "$(git status --porcelain)" ] || {
  git --no-pager diff --stat
  git checkout -q -- .
  fail "generated files were not current; run make generate and commit"
}
make compatible || fail "the interface breaks clients of the last release (docs/versioning.md)"

awk -v head="## $version - $(date -u +%Y-%m-%d)" '
  $0 == "## Unreleased" { print; print ""; print head; next }
  { print }' CHANGELOG.md > CHANGELOG.md.new
mv CHANGELOG.md.new CHANGELOG.md
cp docs/openapi.yaml docs/openapi.released.yaml
each_version version_set
if [ -n "${DRY_RUN:-}" ]; then
  git --no-pager diff --stat -p -- CHANGELOG.md
  git --no-pager diff --stat -- docs integrations sdk
  git checkout -q -- .
  echo "release: $tag would be cut; make packages VERSION=$version then builds beside the server's archives:"
  sh "$here/packages/libraries.sh" --list "$version"
  exit 0
fi
git commit -q -a -m "Release $version"
git tag -a "$tag" -m "Mneme $version"
git tag -a "sdk/go/$tag" -m "Mneme for Go $version" # of the module in that folder
echo "release: $tag is cut; push it with: git push origin HEAD $tag sdk/go/$tag"
echo "release: make packages VERSION=$version builds what it hands out"
