package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"ringi/shared/runtime/isolated"
)

// workbook writes all sheets of a workbook, each row as a line with tabs between its cells, as they are shown. What
// excelize keeps whole is bounded before it opens the file; sheets and their texts it reads as a stream.
func (p *pack) workbook(file []byte) {
	for name, f := range p.parts {
		streamed := strings.HasPrefix(name, "xl/worksheets/") || strings.HasPrefix(name, "xl/media/") ||
			name == "xl/sharedstrings.xml"
		if !streamed && f.UncompressedSize64 > maxPart || name == "xl/styles.xml" && f.UncompressedSize64 > maxStyles {
			p.fail(isolated.TooComplex)
		}
	}
	texts := 0
	for range p.elements("xl/sharedstrings.xml", "si") {
		if texts++; texts > maxTexts {
			p.fail(isolated.TooComplex)
		}
	}
	sheets := p.listed("xl/workbook.xml", "sheet")
	if p.ends() {
		return
	}
	book, err := excelize.OpenReader(bytes.NewReader(file), excelize.Options{UnzipSizeLimit: maxUnpacked,
		UnzipXMLSizeLimit: 1 << 20, CultureInfo: excelize.CultureNameJaJP, ShortDatePattern: "yyyy/mm/dd"})
	if err != nil {
		p.fail(isolated.Broken)
		return
	}
	defer book.Close()
	for i, s := range sheets {
		p.heading(fmt.Sprintf("sheet %d of %d", i+1, len(sheets)), s.hidden, ": "+oneLine(s.name))
		if err := p.sheet(book, s); err != nil {
			p.fail(isolated.Broken)
		}
		if p.ends() {
			return
		}
	}
}

type place struct{ row, column int } // from 1

// unshown returns what excelize doesn't stream of a sheet: formulas, of which one that cells share stands in the first
// of them, and which rows and columns are hidden.
func (p *pack) unshown(name string) (formulas map[place]string, hidden []string) {
	formulas = map[place]string{}
	at, inCell, inFormula := place{}, false, false
	for t := range p.tokens(name) {
		switch t := t.(type) {
		case xml.StartElement:
			of := ""
			switch t.Name.Local {
			case "col":
				of = fmt.Sprintf("columns %d to %d", number(t, "min"), number(t, "max"))
			case "row":
				at = place{row: cmp.Or(number(t, "r"), at.row+1)}
				of = fmt.Sprintf("row %d", at.row)
			case "c":
				at.column++
				if column, _, err := excelize.CellNameToCoordinates(attribute(t, "r")); err == nil {
					at.column = column
				}
				inCell = true
			case "f":
				if inFormula = inCell; inCell {
					formulas[at] = ""
				}
			}
			if hides := attribute(t, "hidden"); of != "" && (hides == "1" || hides == "true") {
				hidden = append(hidden, of)
			}
		case xml.CharData:
			if inFormula {
				formulas[at] += string(t)
			}
		case xml.EndElement:
			inCell, inFormula = inCell && t.Name.Local != "c", inFormula && t.Name.Local != "f"
		}
	}
	return formulas, hidden
}

func number(e xml.StartElement, name string) int {
	n, _ := strconv.Atoi(attribute(e, name))
	return n
}

// sheet writes a sheet's rows, which of them and which columns are hidden, and the comments.
func (p *pack) sheet(book *excelize.File, s part) error {
	formulas, hidden := p.unshown(s.path)
	rows, err := book.Rows(s.name)
	if err != nil {
		return err
	}
	defer rows.Close()
	written := 0
	for row := 1; !p.ends() && rows.Next(); row++ {
		cells, err := rows.Columns()
		if err != nil {
			return err
		}
		line := p.row(cells, row, formulas)
		if line == "" {
			continue
		}
		// A few empty rows stay, more are said.
		if n := row - written - 1; written == 0 && n > 0 || n > 3 {
			p.write(fmt.Sprintf("[rows %d to %d are empty]\n", written+1, row-1))
		} else {
			p.write(strings.Repeat("\n", n))
		}
		p.line(line)
		written = row
	}
	if len(hidden) > 0 {
		p.remark(isolated.HasHidden)
		p.write("[hidden: " + strings.Join(hidden, ", ") + "]\n")
	}
	comments, err := book.GetComments(s.name)
	for i, c := range comments {
		if i == 0 {
			p.write("--- comments ---\n")
		}
		text := c.Cell + ": " + c.Text
		for _, run := range c.Paragraph {
			text += run.Text
		}
		p.line(oneLine(text))
	}
	return err
}

// row returns a row's cells in one line, with its formulas in place of their values, without empty ones at the end.
func (p *pack) row(cells []string, row int, formulas map[place]string) string {
	for i := range cells {
		saved := oneLine(cells[i])
		cells[i] = saved
		if formula, is := formulas[place{row, i + 1}]; is {
			p.remark(isolated.HasFormulas)
			if cells[i] = "=" + cmp.Or(oneLine(formula), "…"); saved != "" { // a shared formula stands at its first cell
				cells[i] += " [saved: " + saved + "]"
			}
		}
	}
	return strings.TrimRight(strings.Join(cells, "\t"), "\t")
}

// oneLine is a text without tabs and ends of lines.
func oneLine(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s)
}
