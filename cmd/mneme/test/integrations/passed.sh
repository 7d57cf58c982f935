#!/bin/sh
# Whether the packages for frameworks have passed their suites as they are now: with what they call and what tests them; and
# OpenAI's client for Go, which takes as long to compile as most of them to run.
# With --record it says that they have.
set -eu
cd "$(dirname "$0")/../../../.."
now=$(git ls-files -z integrations sdk/python sdk/typescript sdk/document.py docs/openapi.yaml docs/frameworks.md cmd/mneme/test/integrations \
	core/openai cmd/mneme/test/protocols \
	':!cmd/mneme/test/integrations/passed' | xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1)
file=cmd/mneme/test/integrations/passed
if [ "${1:-}" = --record ]; then
	echo "$now" >$file
elif [ "$(cat $file 2>/dev/null)" != "$now" ]; then
	exit 1
fi
