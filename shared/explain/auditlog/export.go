// Package auditlog describes the audit log's entries in words and writes them to files. It does not access the
// table.
package auditlog

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Filter selects entries. An empty field filters nothing.
type Filter struct {
	From     time.Time        `json:"from,omitzero"` // inclusive
	To       time.Time        `json:"to,omitzero"`   // exclusive
	Action   aggregate.Action `json:"action,omitempty"`
	Resource string           `json:"resource,omitempty"` // id of a task, or of what stands outside of tasks
	Actor    string           `json:"actor,omitempty"`    // Slack user id; "system" for Ringi itself
}

// maxFilter is the longest text of a filter; ids and actions are shorter.
const maxFilter = 64

var filterForm = language.Regexp{Text: `^[A-Za-z0-9_.:-]*$`}

// Check returns an aggregate.Problem for a value that no entry can have.
func (f Filter) Check() error {
	for _, x := range []struct{ field, value string }{{"action", string(f.Action)}, {"resource", f.Resource},
		{"actor", f.Actor}} {
		if len(x.value) > maxFilter || !filterForm.Get().MatchString(x.value) {
			return aggregate.Problem{Field: x.field,
				Code: fmt.Sprintf("must be an id of at most %d letters, digits and . _ : -", maxFilter)}
		}
	}
	if !f.To.IsZero() && f.From.After(f.To) {
		return aggregate.Problem{Field: "from", Code: "must not be after to"}
	}
	return nil
}

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
