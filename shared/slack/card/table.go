package card

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// tabled draws items as a table between what stands above and below. ok is false if Slack can't show them so.
func (d drawing) tabled(t *explain.Table, top listing, rest body, most, used int) (b body, ok bool) {
	if t == nil {
		return b, false
	}
	if t.Name != "" {
		top.add(0, "", asWritten(t.Name)+":")
	}
	b = d.listed(top, most)
	room := maxBody - 1000 - used
	for _, block := range slices.Concat(b.blocks, rest.blocks) {
		room -= characters(block)
	}
	block, left, ok := d.table(t, min(room, maxTableCharacters))
	if !ok {
		return b, false
	}
	b.blocks = append(b.blocks, block)
	if left > 0 {
		b.cut = true
		b.blocks = append(b.blocks, contextLine(fill(d.w.MoreRows, "n", left)))
	}
	return b.with(rest), true
}

// rows draws the rows of an effect's items as lines, for what has no tables.
func (d drawing) rows(e *explain.Effect) (lines []string) {
	t := e.Items
	if t == nil {
		return nil
	}
	if t.Name != "" {
		lines = []string{asWritten(t.Name) + ":"}
	}
	for i, row := range t.Rows {
		cells, long := make([]string, len(row)), false
		for j, v := range row {
			if cells[j] = d.w.EmptyCell; v != "" {
				cells[j] = d.value(v)
			}
			cells[j] = strings.TrimSpace(asWritten(t.Columns[j].Name)) + " " + cells[j]
			long = long || units(cells[j]) > maxSection/2
		}
		number := strconv.Itoa(i+1) + ". "
		if !long {
			lines = append(lines, cmp.Or(d.ordered(t, row), number+strings.Join(cells, " · ")))
			continue
		}
		for j, v := range row {
			fences, _ := fenced(tickedApart(v), maxSection-200, everything)
			lines = append(append(lines, number+strings.TrimSpace(asWritten(t.Columns[j].Name))+":"), fences...)
		}
	}
	if sum := t.Sum(d.w.Locale); sum != nil {
		lines = append(lines, sum[0]+" "+t.Total)
	}
	return lines
}

// ordered says how many of what a row has, and its subtotal: "" unless it has exactly these and a price.
func (d drawing) ordered(t *explain.Table, row []string) string {
	c := t.Columns
	if len(c) != 4 || !c[0].Item || !c[3].Computed || c[1].Price == c[2].Price || slices.Contains(row, "") {
		return ""
	}
	count, price := 1, 2
	if c[1].Price {
		count, price = 2, 1
	}
	if !c[count].Number {
		return ""
	}
	said := d.value(row[0]) + " × " + d.value(row[count]) + " · "
	if row[price] != row[3] {
		said += asWritten(c[price].Name) + " " + d.value(row[price]) + " · " + asWritten(c[3].Name) + " "
	}
	return said + d.value(row[3])
}

// Slack's limits of table blocks: one in a message, up to 100 rows with the header, 20 columns, and 10,000 characters
// in all cells together (docs.slack.dev, reference/block-kit/blocks/table-block).
const (
	maxTableRows       = 100
	maxTableColumns    = 20
	maxTableCharacters = 10000
)

// table makes Slack's table block with as many rows as fit in room characters; left counts the others. ok is false if
// no row fits or there are too many columns.
func (d drawing) table(t *explain.Table, room int) (b *slack.TableBlock, left int, ok bool) {
	if len(t.Columns) > maxTableColumns {
		return nil, 0, false
	}
	b = slack.NewTableBlock("")
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
		setting := slack.ColumnSetting{Align: slack.ColumnAlignmentLeft, IsWrapped: true}
		if c.Number {
			setting.Align = slack.ColumnAlignmentRight
		}
		b.ColumnSettings = append(b.ColumnSettings, setting)
	}
	all := append([][]string{names}, t.Rows...)
	if sum := t.Sum(d.w.Locale); sum != nil {
		all = append(all, sum)
	}
	for _, texts := range all {
		cells, used := make([]slack.TableCell, len(texts)), 0
		for i, s := range texts {
			text := legible.Isolated(breakMentions(or(s, " "))) // Slack neither formats a cell nor accepts an empty one
			used += units(text)
			cells[i] = slack.NewTableRawTextCell(text)
		}
		if used > room || len(b.Rows) == maxTableRows {
			break
		}
		room -= used
		b.AddRow(cells...)
	}
	return b, len(all) - len(b.Rows), len(b.Rows) > 1
}
