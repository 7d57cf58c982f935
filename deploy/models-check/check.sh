#!/bin/sh
# Checks a model in a vendor's own CI and fails where the check does. In the environment:
#   MODEL    a folder with a model.json, a module, a pack or the archive of a release; "."
#            unless set. Set to nothing where OPTIONS name a process.
#   OPTIONS  further options of mneme models check, such as --quick or --process ./backend
#   REPORT   file for the report, in the format of JUnit; model-check.xml unless set
#   VERSION  of Mneme to build with Go where there is no mneme in the PATH; latest unless set
set -eu
mneme=mneme
if ! command -v mneme >/dev/null; then
	command -v go >/dev/null || {
		echo 'check.sh: put mneme into the PATH, or Go, which builds it' >&2
		exit 1
	}
	bin=$(mktemp -d)
	trap 'rm -rf "$bin"' EXIT
	GOBIN=$bin CGO_ENABLED=0 go install -trimpath "github.com/mnemehq/mneme/cmd/mneme@${VERSION:-latest}"
	mneme=$bin/mneme
fi
MODEL=${MODEL-.}
# shellcheck disable=SC2086 # OPTIONS are words
"$mneme" models check --format junit --out "${REPORT:-model-check.xml}" ${MODEL:+"$MODEL"} ${OPTIONS:-}
