#!/bin/sh
# Makes the files of the tests anew, with LibreOffice and pandoc:
#   apt-get install --no-install-recommends pandoc libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui
# sh make.sh, in this folder. Times and ids in what they write differ from run to run.
set -eu
convert() { soffice --headless --convert-to "$1" "$2" >/dev/null; }

pandoc --standalone --to docx --output pandoc.docx handbook.md
pandoc --standalone --to odt --output pandoc.odt handbook.md
pandoc --standalone --to epub --output pandoc.epub handbook.md
pandoc --standalone --to pptx --slide-level 2 --output pandoc.pptx handbook.md
pandoc --standalone --to html --output libreoffice.html handbook.md
convert odt:writer8 libreoffice.html
convert 'docx:MS Word 2007 XML' libreoffice.odt
rm libreoffice.html
convert 'xlsx:Calc MS Excel 2007 XML' prices.csv
mkdir out
soffice --headless --convert-to pptx --outdir out pandoc.pptx >/dev/null
mv out/pandoc.pptx libreoffice.pptx
rmdir out
