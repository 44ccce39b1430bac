package card

import (
	"slices"
	"strings"

	"golang.org/x/text/width"

	"ringi/shared/explain"
	"ringi/shared/words/language"
)

const (
	maxTable = 44 // columns of a table, as Slack's app has room for in an attachment on a phone
	maxWide  = 76 // of one with a value that needs more, as on a desktop
	tableGap = 2  // spaces between two values, as no value has that isn't in quotation marks

	mostOthers = 5 // rows may have another value than most, which a line says in place of a column
)

// table draws the n first arguments if they are rows of one list: each in a line behind its number, and again with its
// first value for values without room. n is 0 if they aren't, or one has no room at all.
func (d drawing) table(all []explain.Argument) (n int, drawn []string) {
	list, n := explain.Rows(all)
	if n == 0 {
		return 0, nil
	}
	numbers := column{values: []string{"#"}}
	for _, row := range all[:n] {
		numbers.values = append(numbers.values, row.Number())
	}
	var lines, part, alike []string
	var first column
	for i, cell := range all[0].Cells {
		if said := explain.Alike(d.w.Locale, all[:n], i, mostOthers); said.Value != nil {
			alike = append(alike, "• "+d.line(said.Name)+": "+d.line(said.Value))
			continue
		}
		c := column{[]string{explain.Plain(cell.Name)}, cell.Numeric()}
		for _, row := range all[:n] {
			c.values = append(c.values, explain.Plain(row.Cells[i].Value))
		}
		c.points()
		if part == nil || c.behind(part) > maxTable {
			lines = append(append(lines, ""), numbers.values...)
			part = lines[len(lines)-len(numbers.values):]
			if lines := slices.Clone(part); first.values != nil && first.put(lines) && c.behind(lines) <= maxTable {
				copy(part, lines)
			}
		}
		if !c.put(part) {
			return 0, nil
		}
		if first.values == nil {
			first = c
		}
	}
	fences, more := fenced(tickedApart(strings.Join(lines[1:], "\n")), maxSection-200, 1)
	switch {
	case more && n == 1:
		return 0, nil
	case more: // the rest would stand without the names
		return d.table(all[:n/2])
	}
	return n, slices.Concat([]string{d.line(list) + ":"}, fences, alike)
}

// column is one of a table, with its name.
type column struct {
	values []string
	number bool
}

// points has the points of numbers stand below each other.
func (c column) points() {
	if !c.number {
		return
	}
	most := decimals(c.values[1:]...)
	for i, value := range c.values[1:] {
		if !strings.HasPrefix(value, "(") {
			c.values[i+1] += strings.Repeat(" ", most-decimals(value))
		}
	}
}

// behind returns how wide lines are with the column.
func (c column) behind(lines []string) int { return widest(lines) + tableGap + widest(c.values) }

// put adds the column to lines, unless they have no room.
func (c column) put(lines []string) bool {
	at, most := widest(lines)+tableGap, widest(c.values)
	if at+most > maxWide {
		return false
	}
	for i, value := range c.values {
		pad := at - widest(lines[i:i+1])
		if c.number {
			pad += most - widest(c.values[i:i+1])
		}
		lines[i] += strings.Repeat(" ", pad) + language.Isolated(value)
	}
	return true
}

// decimals returns how many characters numbers have from their points on, at most.
func decimals(numbers ...string) (most int) {
	for _, n := range numbers {
		most = max(most, len(n)-len(strings.SplitN(n, ".", 2)[0]))
	}
	return most
}

// widest returns the columns that the widest text has in code.
func widest(texts []string) (most int) {
	for _, text := range texts {
		n := 0
		for _, r := range text {
			n++
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
