package web

import (
	"bytes"
	"strings"

	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/card"
)

// byteOrderMark tells Excel that a file is UTF-8.
const byteOrderMark = "\ufeff"

// CSV formats a table for spreadsheets. A cell that a spreadsheet would take for a formula gets a leading apostrophe.
func CSV(t card.Table) []byte {
	return CSVOf(append([][]string{t.Columns}, t.Rows...), harmless)
}

// CSVOf formats rows for spreadsheets; cell makes a text harmless to them.
func CSVOf(rows [][]string, cell func(string) string) []byte {
	var b bytes.Buffer
	b.WriteString(byteOrderMark)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, s := range row {
			cells[i] = cell(s)
		}
		_ = auditlog.WriteCells(&b, cells) // writes to memory: it can't fail
	}
	return b.Bytes()
}

// harmless puts an apostrophe before a text that a spreadsheet would take for a formula. A signed number is not one.
func harmless(s string) string {
	if digits, negative := strings.CutPrefix(s, "-"); negative && digits != "" && strings.Trim(digits, "0123456789.") == "" {
		return s
	}
	return auditlog.Cell(s)
}
