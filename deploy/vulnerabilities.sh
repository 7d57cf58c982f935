#!/bin/sh
# Asks Go's vulnerability database whether the program calls code that is known to be
# vulnerable, and fails where it does. What deploy/vulnerabilities.accepted names passes.
# Where the database can't be reached nothing is checked, which is said; with
# VULNERABILITIES_REQUIRED=1 that fails, too. GOVULNDB names another database, which may
# be a folder (file:///...), for machines without a way out.
# GOVULNCHECK is the tool; by default the version below is built into .cache.
set -eu
version=v1.9.0
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
accepted=${ACCEPTED:-$here/vulnerabilities.accepted}
cd "$root"
if [ -z "${GOVULNCHECK:-}" ]; then
	bin=${CACHE:-$root/.cache}/govulncheck-$version
	GOVULNCHECK=$bin/govulncheck
	[ -x "$GOVULNCHECK" ] || GOBIN=$bin go install "golang.org/x/vuln/cmd/govulncheck@$version"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check() { # PACKAGE
	rc=0
	"$GOVULNCHECK" ${GOVULNDB:+-db "$GOVULNDB"} "$1" >"$work/out" 2>&1 || rc=$?
}
# A small package first: whether the database answers shows before the program is analysed.
for package in ./core/fault ./...; do
	check "$package"
	if [ "$rc" -ne 0 ] && grep -q '^govulncheck: fetching vulnerabilities:' "$work/out"; then
		cat "$work/out"
		echo '**********************************************************************'
		echo 'NOT CHECKED: the vulnerability database cannot be reached from here.'
		echo 'Run "make vulnerabilities" where it can be, or give a copy: GOVULNDB=file:///DIR.'
		echo '**********************************************************************'
		[ -z "${VULNERABILITIES_REQUIRED:-}" ]
		exit
	fi
	if [ "$rc" -ne 0 ] && [ "$rc" -ne 3 ]; then # 3: something was found
		cat "$work/out"
		exit 1
	fi
done
sed -n 's/^Vulnerability #[0-9]*: \(GO-[0-9]*-[0-9]*\)$/\1/p' "$work/out" | sort -u >"$work/found"
sed -n 's/^\(GO-[0-9]*-[0-9]*\)[[:space:]][[:space:]]*[^[:space:]].*/\1/p' "$accepted" | sort -u >"$work/accepted"
if [ "$rc" -eq 3 ] && ! [ -s "$work/found" ]; then
	cat "$work/out"
	echo 'vulnerabilities: findings in a form that is not understood'
	exit 1
fi
comm -13 "$work/found" "$work/accepted" | while read -r id; do
	echo "vulnerabilities: $id is accepted and no longer found; take it out of $accepted"
done
comm -23 "$work/found" "$work/accepted" >"$work/new"
if [ -s "$work/new" ]; then
	cat "$work/out"
	echo "vulnerabilities: update what is named above ($(paste -sd ' ' "$work/new")), or accept it with a reason in $accepted"
	exit 1
fi
echo "vulnerabilities: none that is called, $(grep -c . "$work/found" || true) accepted"
