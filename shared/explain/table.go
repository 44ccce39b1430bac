package explain

import (
	"slices"
	"strings"

	"ringi/shared/domain/rules"
	"ringi/shared/words/legible"
)

// Table is a list of objects without nested values.
type Table struct {
	Name    string // of the list, unless the mark names it
	Columns []Column
	Long    bool       // cells are phrases
	Rows    [][]string // a missing value is empty, and an empty text where no value of its column is missing
	Total   string     // written as money; empty: there is none
	at      int        // column of the total
}

// Sum returns a last row with the total, nil without one. A single row has it already. It stands below what it adds up.
func (t *Table) Sum(locale string) []string {
	if t.Total == "" || len(t.Rows) < 2 {
		return nil
	}
	row := make([]string, len(t.Columns))
	row[0], row[t.at] = effectWordsOf.In(locale).Total, t.Total
	return row
}

type Column struct {
	Name             string
	Number, Computed bool // Computed: the subtotal, which is no argument
	Item, Price      bool // by the mark: what a row is called, and what is money
}

// placeTotal sets the column whose cells the total adds up: the subtotals, or the only numbers of the mark. If there is
// none, or the word for the total stands there, several rows get a further column.
func (t *teller) placeTotal(table *Table, subtotals bool, rows int) {
	table.at = len(table.Columns) - 1
	if subtotals || table.Total == "" || rows < 2 {
		return
	}
	table.at = slices.IndexFunc(table.Columns, func(c Column) bool { return c.Price })
	if m := t.look.mark; table.at < 1 || m.How != rules.HowSum || len(m.Pointers) != 1 {
		table.at = len(table.Columns)
		table.Columns = append(table.Columns, Column{Name: t.w.Total, Number: true, Computed: true})
	}
}

// owned reports whether a text is a name that surfaces give to what no argument is.
func (*look) owned(text string) bool {
	said := legible.Folded(strings.Trim(text, " \u3000:："))
	return slices.ContainsFunc(rules.OwnNames, func(name string) bool { return legible.Folded(name) == said })
}
