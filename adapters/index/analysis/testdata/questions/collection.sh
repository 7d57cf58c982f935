#!/bin/sh
# Makes a collection for mneme eval of the questions and the answers beside this file, each question of the
# category of its language:
#   sh collection.sh DIR
set -eu
mkdir -p "$1"
awk -v dir="$1" '
  function json(s) { gsub(/["\\]/, "\\\\&", s); return "\"" s "\"" }
  BEGIN { print "query-id\tdoc-id\tscore" > (dir "/qrels.tsv") }
  FNR == 1 { language = FILENAME; gsub(/.*\/|\.txt$/, "", language) }
  split($0, part, " \\| ") == 2 {
    id = language FNR
    printf "{\"_id\":%s,\"title\":\"\",\"text\":%s}\n", json(id), json(part[2]) > (dir "/corpus.jsonl")
    printf "{\"_id\":%s,\"text\":%s,\"meta\":{\"category\":%s}}\n", json(id), json(part[1]), json(language) > (dir "/queries.jsonl")
    print id "\t" id "\t1" > (dir "/qrels.tsv")
  }' "$(dirname "$0")"/*.txt
