#!/bin/sh
# Makes the PDF files of this folder again. Wants what these packages of Debian hold: chromium,
# fonts-dejavu-core, libreoffice-writer-nogui, texlive-latex-recommended, qpdf.
# What comes out differs in dates and identifiers, not in text.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

chrome() { chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" "$@" 2>/dev/null; }

# A browser's print, with outline, headers and footers.
chrome --generate-pdf-document-outline --no-pdf-header-footer --print-to-pdf="$work/report.pdf" "$PWD/report.html"

# LaTeX: two columns, divided words, ligatures; no outline, no title.
pdflatex -interaction=batchmode -output-directory="$work" article.tex >/dev/null

# A word processor's export, with outline and author.
office() { soffice -env:UserInstallation="file://$work/office" --headless "$@" >/dev/null 2>&1; } # the file comes last
office --infilter='HTML (StarWriter)' --convert-to odt:writer8 --outdir "$work" letter.html
office --convert-to 'pdf:writer_pdf_Export:{"ExportBookmarks":{"type":"boolean","value":"true"}}' --outdir "$work" \
	"$work/letter.odt"

# A page that is a picture of a text.
printf '<p style="font: 30px serif">Nobody can search this.</p>' >"$work/words.html"
chrome --window-size=340,120 --screenshot="$work/words.png" "$work/words.html"
printf '<img src="data:image/png;base64,%s">' "$(base64 -w0 "$work/words.png")" >"$work/scan.html"
chrome --no-pdf-header-footer --print-to-pdf="$work/scan.pdf" "$work/scan.html"

# Encrypted: one that wants a password, and one that is open to read but not to change.
printf '<title>Sealed</title><p>Open sesame.</p>' >"$work/sealed.html"
chrome --no-pdf-header-footer --print-to-pdf="$work/sealed.pdf" "$work/sealed.html"
qpdf --encrypt secret owner 256 -- "$work/sealed.pdf" "$work/encrypted.pdf"
qpdf --encrypt '' owner 256 --modify=none -- "$work/sealed.pdf" "$work/readonly.pdf"

for name in report article letter scan encrypted readonly; do
	cp "$work/$name.pdf" "$name.pdf"
done
