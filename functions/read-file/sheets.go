package main

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"ringi/shared/runtime/isolated"
)

// workbook writes all sheets of a workbook, each row as a line with tabs between its cells, as they are shown. What
// excelize keeps whole is bounded before it opens the file; sheets and their texts it reads as a stream.
func (p *pack) workbook(file []byte, w *writer) error {
	for name, f := range p.parts {
		streamed := strings.HasPrefix(name, "xl/worksheets/") || strings.HasPrefix(name, "xl/media/") ||
			name == "xl/sharedstrings.xml"
		if !streamed && f.UncompressedSize64 > maxPart || name == "xl/styles.xml" && f.UncompressedSize64 > maxStyles {
			return errTooComplex
		}
	}
	if p.texts() > maxTexts {
		return errTooComplex
	}
	sheets, err := p.listed("xl/workbook.xml", "sheet")
	if err != nil {
		return err
	}
	book, err := excelize.OpenReader(bytes.NewReader(file), excelize.Options{UnzipSizeLimit: maxUnpacked,
		UnzipXMLSizeLimit: 1 << 20, CultureInfo: excelize.CultureNameJaJP, ShortDatePattern: "yyyy/mm/dd"})
	if err != nil {
		return errBroken
	}
	defer book.Close()
	for i, s := range sheets {
		hidden := ""
		if s.hidden {
			hidden = ", hidden"
			w.remark(isolated.HasHidden)
		}
		if i > 0 {
			w.write("\n")
		}
		if err := w.write(fmt.Sprintf("--- sheet %d of %d%s: %s ---\n", i+1, len(sheets), hidden,
			oneLine(s.name))); err != nil {
			return err
		}
		if err := p.sheet(book, s, w); err != nil {
			return err
		}
	}
	return nil
}

// texts counts the texts that cells share, by the ends of their elements.
func (p *pack) texts() (n int) {
	f := p.parts["xl/sharedstrings.xml"]
	if f == nil {
		return 0
	}
	r, err := f.Open()
	if err != nil {
		return 0 // excelize will say so
	}
	defer r.Close()
	for in := bufio.NewReaderSize(r, 64<<10); ; n++ {
		for {
			element, err := in.ReadSlice('>')
			if bytes.HasSuffix(element, []byte("si>")) || bytes.HasSuffix(element, []byte("si/>")) {
				break
			}
			if err != nil && err != bufio.ErrBufferFull {
				return n / 2
			}
		}
	}
}

// unshown is what excelize doesn't stream of a sheet.
type unshown struct {
	formulas      map[int]map[int]string // by row and column, from 1
	rows, columns []string               // hidden
}

// unshown reads it. A formula that cells share stands in the first of them.
func (p *pack) unshown(name string) (out unshown, err error) {
	out.formulas = map[int]map[int]string{}
	row, column, formula := 0, 0, ""
	in := false
	err = p.each(name, func(e xml.StartElement) error {
		hidden := attribute(e, "hidden") == "1" || attribute(e, "hidden") == "true"
		switch e.Name.Local {
		case "col":
			if from, to := attribute(e, "min"), attribute(e, "max"); hidden {
				out.columns = append(out.columns, span(letters(from), letters(to)))
			}
		case "row":
			row, column = row+1, 0
			if n, err := strconv.Atoi(attribute(e, "r")); err == nil {
				row = n
			}
			if hidden {
				out.rows = append(out.rows, strconv.Itoa(row))
			}
		case "c":
			column++
			if c, r, err := excelize.CellNameToCoordinates(attribute(e, "r")); err == nil {
				column, row = c, r
			}
		case "f":
			in, formula = true, ""
			if attribute(e, "t") == "shared" {
				formula = "…"
			}
		}
		return nil
	}, func(name string) error {
		if name != "f" {
			return nil
		}
		if in = false; out.formulas[row] == nil {
			out.formulas[row] = map[int]string{}
		}
		out.formulas[row][column] = formula
		return nil
	}, func(s string) error {
		if in {
			formula = strings.TrimPrefix(formula, "…") + s
		}
		return nil
	})
	return out, err
}

func letters(number string) string {
	n, _ := strconv.Atoi(number) // a column that is none has no letters
	name, _ := excelize.ColumnNumberToName(n)
	return name
}

func span(from, to string) string {
	if from == to {
		return from
	}
	return from + " to " + to
}

func (p *pack) sheet(book *excelize.File, s part, w *writer) error {
	beside, err := p.unshown(s.path)
	if err != nil {
		return err
	}
	rows, err := book.Rows(s.name)
	if err != nil {
		return errBroken
	}
	defer rows.Close()
	last := slices.Max(append(slices.Collect(maps.Keys(beside.formulas)), 0))
	written := 0
	for row := 1; ; row++ {
		more := rows.Next()
		if !more && row > last {
			break
		}
		var cells []string
		if more {
			if cells, err = rows.Columns(); err != nil {
				return errBroken
			}
		}
		if time.Now().After(p.until) {
			return errTooComplex
		}
		cells = formulas(cells, beside.formulas[row], w)
		if len(cells) == 0 {
			continue
		}
		if err := gap(written, row, w); err != nil {
			return err
		}
		if err := w.write(foreign(strings.Join(cells, "\t")) + "\n"); err != nil {
			return err
		}
		written = row
	}
	return p.margins(book, s.name, beside, w)
}

// gap says which rows have nothing, or leaves them empty if they are few.
func gap(written, row int, w *writer) error {
	switch n := row - written - 1; {
	case written == 0 && n > 0, n > 3:
		return w.write(fmt.Sprintf("[rows %d to %d are empty]\n", written+1, row-1))
	default:
		return w.write(strings.Repeat("\n", n))
	}
}

// formulas returns a row's cells in one line each, with its formulas in place of their values, without empty ones at
// the end.
func formulas(cells []string, of map[int]string, w *writer) []string {
	for i := range cells {
		cells[i] = oneLine(cells[i])
	}
	for column, formula := range of {
		for len(cells) < column {
			cells = append(cells, "")
		}
		w.remark(isolated.HasFormulas)
		saved := cells[column-1]
		if cells[column-1] = "=" + oneLine(formula); saved != "" {
			cells[column-1] += " [saved: " + saved + "]"
		}
	}
	for len(cells) > 0 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	return cells
}

// margins writes which rows and columns are hidden, and the comments.
func (p *pack) margins(book *excelize.File, name string, beside unshown, w *writer) error {
	for _, hidden := range []struct {
		what string
		all  []string
	}{{"rows", beside.rows}, {"columns", beside.columns}} {
		if len(hidden.all) == 0 {
			continue
		}
		w.remark(isolated.HasHidden)
		if err := w.write("[hidden " + hidden.what + ": " + strings.Join(hidden.all, ", ") + "]\n"); err != nil {
			return err
		}
	}
	comments, err := book.GetComments(name)
	if err != nil {
		return errBroken
	}
	for i, c := range comments {
		line := c.Cell + ": " + oneLine(c.Text)
		for _, run := range c.Paragraph {
			line += oneLine(run.Text)
		}
		if i == 0 {
			line = "--- comments ---\n" + line
		}
		if err := w.write(line + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// oneLine is a text without tabs and ends of lines.
func oneLine(s string) string {
	return printable(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s))
}
