// Package auditlog describes the audit log's entries in words and writes them to export files. It does not access the
// table.
package auditlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// ActionExported records that somebody exported entries, which ones, and how many.
const ActionExported aggregate.Action = "audit.exported"

// Form is a file's format.
type Form string

const (
	CSV       Form = "csv"   // for people: a spreadsheet
	JSONLines Form = "jsonl" // for programs: the rows as the table has them
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

// Check returns aggregate.ErrField for a value that no entry can have.
func (f Filter) Check() error {
	for _, x := range []struct{ field, value string }{{"action", string(f.Action)}, {"resource", f.Resource},
		{"actor", f.Actor}} {
		if len(x.value) > maxFilter || !filterForm.Get().MatchString(x.value) {
			return aggregate.ErrField{Field: x.field,
				Limit: fmt.Sprintf("must be an id of at most %d letters, digits and . _ : -", maxFilter)}
		}
	}
	if !f.To.IsZero() && f.From.After(f.To) {
		return aggregate.ErrField{Field: "from", Limit: "must not be after to"}
	}
	return nil
}

// Status is the state of an export.
type Status string

const (
	Waiting Status = "waiting"
	Running Status = "running"
	Done    Status = "done"
	Failed  Status = "failed"
)

const (
	// MaxRows is the most entries of one file: a spreadsheet allows 1,048,576 rows, and reading them takes a few
	// minutes.
	MaxRows = 1_000_000
	// MaxAtOnce is how many exports of a tenant may be in progress.
	MaxAtOnce = 3
	// GivenUp is how long after its request an unfinished export counts as failed. All tries are over by then.
	GivenUp = time.Hour
	// Kept is how long a file and its row are kept.
	Kept = 24 * time.Hour
	// LinkLasts is how long a link to a file is valid.
	LinkLasts = 15 * time.Minute
)

// Export is a file of entries that an administrator requested.
type Export struct {
	ID        string     `json:"id"`
	Tenant    string     `json:"tenant_id"`
	By        string     `json:"by"` // Slack user id
	Form      Form       `json:"form"`
	Filter    Filter     `json:"filter"`
	Locale    string     `json:"locale"` // in which a file for people is written
	Status    Status     `json:"status"`
	Try       int        `json:"try"` // counts who began to write it
	Rows      int        `json:"rows"`
	Bytes     int64      `json:"bytes"`
	Key       string     `json:"s3_key,omitempty"`
	Problem   Problem    `json:"problem,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}

// Problem is a code for why an export failed.
type Problem string

const (
	TooMany   Problem = "too_many" // over MaxRows
	TooSlow   Problem = "too_slow" // the time of one try was over
	Broken    Problem = "broken"   // another try may succeed
	Abandoned Problem = "abandoned"
)

// ErrBusy: MaxAtOnce exports of the tenant are in progress.
var ErrBusy = errors.New("other exports are under way")

// New returns a new export. It returns aggregate.ErrField for an unknown form or an invalid filter.
func New(id, tenant, by string, form Form, f Filter, locale string, now time.Time) (Export, error) {
	if !slices.Contains([]Form{CSV, JSONLines}, form) {
		return Export{}, aggregate.ErrField{Field: "form", Limit: "must be csv or jsonl"}
	}
	if err := f.Check(); err != nil {
		return Export{}, err
	}
	return Export{
		ID: id, Tenant: tenant, By: by, Form: form, Filter: f, Locale: locale, Status: Waiting,
		CreatedAt: now.UTC().Truncate(time.Millisecond),
	}, nil
}

// Prefix is the bucket prefix of a tenant's exports.
func Prefix(tenant string) string { return "exports/" + tenant + "/" }

// File returns the key of this try's file. Each try has its own, so that a superseded try can't overwrite a later
// one's.
func (x Export) File() string {
	return fmt.Sprintf("%s%s/%d/%s", Prefix(x.Tenant), x.ID, x.Try, x.Name())
}

// Name returns the file name for browsers.
func (x Export) Name() string {
	return "ringi-audit-" + x.CreatedAt.In(tenancy.Zone()).Format("20060102-1504") + "." + string(x.Form)
}

// Own reports whether the file's key has the prefix of this tenant and export.
func (x Export) Own() bool { return strings.HasPrefix(x.Key, Prefix(x.Tenant)+x.ID+"/") }

// Open reports whether the export may still be finished.
func (x Export) Open(now time.Time) bool {
	return (x.Status == Waiting || x.Status == Running) && now.Before(x.CreatedAt.Add(GivenUp))
}

// Seen returns the export as people see it: an unfinished one becomes failed after GivenUp.
func (x Export) Seen(now time.Time) Export {
	if (x.Status == Waiting || x.Status == Running) && !x.Open(now) {
		x.Status, x.Problem = Failed, Abandoned
	}
	return x
}

// Entry returns the audit entry of a finished export.
func (x Export) Entry(now time.Time) aggregate.AuditEntry {
	about := map[string]any{"form": x.Form, "rows": x.Rows, "bytes": x.Bytes, "filter": x.Filter}
	return aggregate.AuditEntry{
		TenantID: x.Tenant, Timestamp: now.UTC().Truncate(time.Millisecond), ActorType: aggregate.ActorUser, ActorID: x.By,
		Action: ActionExported, ResourceType: "export", ResourceID: x.ID, Details: aggregate.Details(about),
	}
}

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
