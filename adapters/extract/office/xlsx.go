package office

import (
	"bytes"

	"github.com/xuri/excelize/v2"

	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/port"
)

// xlsx reads the sheets of a workbook as their cells are shown. The first row of a sheet
// with more than one cell names the columns.
func (a *archive) xlsx(w *writer, x *port.Extracted, content []byte) error {
	if err := a.properties("docProps/core.xml", x); err != nil {
		return err
	}
	f, err := excelize.OpenReader(bytes.NewReader(content), excelize.Options{
		// Equal, so that nothing is put into temporary files.
		UnzipSizeLimit: a.budget, UnzipXMLSizeLimit: a.budget,
	})
	if err != nil {
		return broken(err)
	}
	defer func() { _ = f.Close() }()
	for _, sheet := range f.GetSheetList() {
		if err := a.sheet(w, f, sheet); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) sheet(w *writer, f *excelize.File, name string) error {
	in, err := f.Rows(name)
	if err != nil {
		return nil // a chart, which has no rows
	}
	defer func() { _ = in.Close() }()
	var rows text.Rows
	var titles []string
	for n := 0; in.Next(); n++ {
		if n%256 == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		cells, err := in.Columns()
		if err != nil {
			return broken(err)
		}
		filled, last := 0, ""
		for _, c := range cells {
			if c = squeeze(c); c != "" {
				filled, last = filled+1, c
			}
		}
		switch {
		case filled == 0:
		case rows.Header == nil && filled == 1:
			titles = append(titles, last)
		case rows.Header == nil:
			rows.Header = cells
		default:
			rows.Add(cells)
		}
		if err := w.long(rows.Len()); err != nil {
			return err
		}
	}
	if err := in.Error(); err != nil {
		return broken(err)
	}
	if rows.Len() == 0 && rows.Header != nil {
		header := rows.Header
		rows.Header = nil
		rows.Add(header)
	}
	if rows.Len() == 0 && len(titles) == 0 {
		return nil
	}
	w.flush() // a sheet is a section
	w.block("## "+squeeze(name), false)
	for _, t := range titles {
		w.block(t, false)
	}
	if rows.Len() > 0 {
		w.block(rows.String(), false)
	}
	return nil
}
