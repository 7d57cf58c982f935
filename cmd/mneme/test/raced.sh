#!/bin/sh
# Lists the packages, of those whose names are on its input, that make test-race runs: those that have
# something at the same time as something else, or that go round Go's types, in their code or their
# tests. In what calls nothing of the kind there is no race to be seen that the callee's own tests don't show.
#
# Left out, too, is what runs the program in a process of its own, which is not built for the detector:
# it would see nothing but the tests themselves. And the one that tries a model after the other: it would
# see one call at a time.
set -eu
part='\bgo func|\bgo [a-z][A-Za-z.]*\(|\.Go\(|\bsync\.|\batomic\.|t\.Parallel\(|errgroup|\bunsafe\.'
xargs go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' | awk '!seen[$0]++' |
	while read -r package dir; do
		case $package in
		*/cmd/mneme/cli) continue ;;
		*/cmd/mneme/test/arm64 | */cmd/mneme/test/browser | */cmd/mneme/test/clients | */cmd/mneme/test/contract) continue ;;
		*/cmd/mneme/test/endurance | */cmd/mneme/test/faults | */cmd/mneme/test/integrations | */cmd/mneme/test/mcp) continue ;;
		*/cmd/mneme/test/models | */cmd/mneme/test/move | */cmd/mneme/test/packages | */cmd/mneme/test/protocols) continue ;;
		*/cmd/mneme/test/sdk | */cmd/mneme/test/tenants | */cmd/mneme/test/tours | */cmd/mneme/test/wine) continue ;;
		esac
		if grep -lqsE "$part" "$dir"/*.go; then echo "$package"; fi
	done
