// Package auditlog describes the audit log's entries in words and writes them to files. It does not access the
// table.
package auditlog

import (
	"bufio"
	"io"
	"strings"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

var resourceForm = language.Regexp{Text: `^[A-Za-z0-9_.:-]{0,64}$`}

// MayBeResource reports whether an entry's resource may have this id; "" is every one.
func MayBeResource(id string) bool { return resourceForm.Get().MatchString(id) }

// MaxRows is the most entries of one file: an answer of Lambda's has at most 6 MB, and half a minute.
const MaxRows = 20_000

// Table is a file of entries for spreadsheets, with a heading in the locale's language.
type Table struct {
	file  *bufio.Writer
	words Words
}

// NewTable begins a file.
func NewTable(locale string, w io.Writer) (*Table, error) {
	if _, err := io.WriteString(w, "\ufeff"); err != nil { // Excel reads UTF-8 by it
		return nil, err
	}
	t := &Table{bufio.NewWriter(w), WordsIn(locale)}
	return t, WriteCells(t.file, t.words.Columns[:])
}

// Write adds an entry.
func (t *Table) Write(x aggregate.AuditEntry) error {
	actor := x.ActorID
	if actor == "" {
		actor = t.words.Ringi
	}
	cells := [columns]string{
		x.Timestamp.In(tenancy.Zone()).Format("2006-01-02 15:04:05"), actor, t.words.Did(x), string(x.Action),
		t.words.Resource(x.ResourceType),
		x.ResourceID, x.AggregateID, string(x.Details), aggregate.TimeText(x.Timestamp), x.ID,
	}
	for i, c := range cells {
		cells[i] = Cell(c)
	}
	return WriteCells(t.file, cells[:])
}

// Flush ends the file.
func (t *Table) Flush() error { return t.file.Flush() }

// WriteCells writes one line for spreadsheets. Every cell is quoted, because some programs also end a cell at a
// semicolon or a tab.
func WriteCells(w io.Writer, cells []string) error {
	quoted := make([]string, len(cells))
	for i, c := range cells {
		quoted[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
	}
	_, err := io.WriteString(w, strings.Join(quoted, ",")+"\r\n")
	return err
}

// Cell returns a text that a spreadsheet shows literally. A text that would be a formula gets a ' in front, also if its
// sign is a full-width one or follows invisible characters. NUL becomes a blank because some programs stop reading
// there.
func Cell(s string) string {
	s = strings.ReplaceAll(s, "\x00", " ")
	first := strings.TrimLeftFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf)
	})
	if first != "" && strings.ContainsRune("=+-@＝＋－＠|%", []rune(first)[0]) || strings.HasPrefix(s, "\t") ||
		strings.HasPrefix(s, "\r") || strings.HasPrefix(s, "\n") {
		return "'" + s
	}
	return s
}
