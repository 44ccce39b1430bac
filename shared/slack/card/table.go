package card

import (
	"slices"
	"strings"

	"golang.org/x/text/width"

	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// maxTable is the most columns of a table's line, of which a Japanese letter takes two.
const maxTable = 76

// alike counts the arguments at the beginning that are rows of one list with the same names, at least 1.
func alike(all []explain.Argument) int {
	head := func(a explain.Argument) string {
		names := []string{explain.Plain(listOf(a))}
		for _, c := range a.Cells {
			names = append(names, explain.Plain(c.Name))
		}
		return strings.Join(names, "\n")
	}
	n := 1
	for n < len(all) && all[0].Cells != nil && all[n].Cells != nil && head(all[n]) == head(all[0]) {
		n++
	}
	return n
}

// listOf is the name of a row's list: without the sign and the number at its end.
func listOf(row explain.Argument) []explain.Piece { return row.Name[:max(0, len(row.Name)-2)] }

// table draws rows of a list below their names, nil if that is no table or one that is too wide. No value has two
// spaces in a row, as stand between two of them, unless it is in quotation marks.
func (d drawing) table(rows []explain.Argument) []string {
	if len(rows) < 2 {
		return nil
	}
	lines := make([]string, len(rows)+1)
	add := func(text func(i int) string) {
		most, number := 0, true
		for i := range lines {
			most = max(most, columns(text(i)))
			number = number && (i == 0 || strings.Trim(text(i), "-.0123456789") == "")
		}
		for i := range lines {
			pad := strings.Repeat(" ", most-columns(text(i)))
			cell := language.Isolated(text(i))
			if number {
				cell = pad + cell
			} else {
				cell += pad
			}
			if lines[i] != "" {
				cell = "  " + cell
			}
			lines[i] += cell
		}
	}
	add(func(i int) string {
		if i == 0 {
			return "#"
		}
		return rows[i-1].Name[len(rows[i-1].Name)-1].Text
	})
	for at, c := range rows[0].Cells {
		add(func(i int) string {
			if i == 0 {
				return explain.Plain(c.Name)
			}
			return explain.Plain(rows[i-1].Cells[at].Value)
		})
	}
	if slices.ContainsFunc(lines, func(line string) bool { return columns(line) > maxTable }) {
		return nil
	}
	fences, _ := fenced(tickedApart(strings.Join(lines, "\n")), maxSection-200, everything)
	return append([]string{d.line(listOf(rows[0])) + ":"}, fences...)
}

// columns is how wide a text is in code.
func columns(s string) (n int) {
	for _, r := range s {
		n++
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			n++
		}
	}
	return n
}
