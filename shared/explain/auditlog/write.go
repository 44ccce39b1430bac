package auditlog

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
)

// Row is an entry with all that the table has of its row.
type Row struct {
	Entry  aggregate.AuditEntry
	Fields map[string]any // as JSON has them, numbers as they are written
}

// Writer writes entries to a file.
type Writer interface {
	Write(Row) error
	Flush() error
}

// NewWriter is that of a form. A file for people has a heading, in a language.
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

// lines writes each row as the very text that the chain seals, so that the file can be checked against it.
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
		x.Timestamp.In(japan()).Format("2006-01-02 15:04:05"), actor, t.words.Did(x), string(x.Action),
		t.words.Resource(x.ResourceType),
		x.ResourceID, x.AggregateID, string(x.Details), aggregate.TimeText(x.Timestamp), x.ID,
	}
	for i, c := range cells {
		cells[i] = Cell(c)
	}
	return WriteCells(t.file, cells[:])
}

func (t *table) Flush() error { return t.file.Flush() }

// WriteCells writes a line of a file for spreadsheets. Each cell is quoted, whatever is in it: some programs also take
// a semicolon or a tab for the end of a cell, and what follows for another one.
func WriteCells(w io.Writer, cells []string) error {
	quoted := make([]string, len(cells))
	for i, c := range cells {
		quoted[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
	}
	_, err := io.WriteString(w, strings.Join(quoted, ",")+"\r\n")
	return err
}

// Cell is a text as a spreadsheet shows it and nothing else: what would begin a formula gets a ' in front, also where
// the sign is a wide one, or something that can't be seen stands before it. A NUL, behind which some programs read
// nothing, becomes a blank.
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
