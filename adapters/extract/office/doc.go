// Package office reads what word processors, spreadsheets and presentations write: DOCX,
// PPTX, XLSX and ODT, and EPUB, which is packed like them. Headings, lists and tables stay,
// slides are pages, and so are the pages that a program has noted in a text.
//
// testdata/make.sh makes the files of the tests by LibreOffice and pandoc.
package office
