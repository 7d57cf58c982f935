#!/bin/sh
# Makes the files of the tests anew with LibreOffice, and records what Apache Tika answers to them:
#   mvn dependency:copy -Dartifact=org.apache.tika:tika-server-standard:3.3.2 -DoutputDirectory=.
#   java -jar tika-server-standard-3.3.2.jar &
#   TIKA=http://127.0.0.1:9998 sh make.sh, in this folder.
set -eu
soffice --headless --convert-to doc ../../office/testdata/libreoffice.docx >/dev/null
record() {
	curl -sS -T "$1" -H 'Content-Type: application/octet-stream' -H 'Accept: application/json' "$TIKA/rmeta/html" >"$(basename "$1").json"
}
record libreoffice.doc
record letter.rtf
record ../../pdf/testdata/letter.pdf
record ../../pdf/testdata/encrypted.pdf
record ../../pdf/testdata/scan.pdf
record ../../mail/testdata/letter.eml
