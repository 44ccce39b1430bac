package auditlog

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/tenancy"
)

// Row is an entry with all attributes of its row.
type Row struct {
	Entry  aggregate.AuditEntry
	Fields map[string]any // as in JSON, numbers unchanged
}

// Writer writes entries to a file.
type Writer interface {
	Write(Row) error
	Flush() error
}

// NewWriter returns a writer for a form. Files for people begin with a heading in the locale's language.
func NewWriter(form Form, locale string, w io.Writer) (Writer, error) {
	switch form {
	case JSONLines:
		return lines{w}, nil
	case CSV:
		if _, err := io.WriteString(w, "\ufeff"); err != nil { // Excel reads UTF-8 by it
			return nil, err
		}
		t := &table{bufio.NewWriter(w), WordsIn(locale)}
		return t, WriteCells(t.file, t.words.Columns[:])
	}
	return nil, fmt.Errorf("no file is written as %.40q", form)
}

// lines writes each row as the text that the audit chain seals, so that the file can be checked against the chain.
type lines struct{ w io.Writer }

func (l lines) Write(r Row) error {
	text, err := chain.Canonical(r.Fields)
	if err != nil {
		return fmt.Errorf("write entry %s: %w", r.Entry.ID, err)
	}
	_, err = l.w.Write(append(text, '\n'))
	return err
}

func (l lines) Flush() error { return nil }

type table struct {
	file  *bufio.Writer
	words Words
}

func (t *table) Write(r Row) error {
	x := r.Entry
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

func (t *table) Flush() error { return t.file.Flush() }

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
