// Package auditlog puts the audit log into words, and into files that people take away. It reads and writes no table.
package auditlog

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// ActionExported records that somebody took entries away, which, and how many.
const ActionExported aggregate.Action = "audit.exported"

// Form is how a file is written.
type Form string

const (
	CSV       Form = "csv"   // for people: a spreadsheet
	JSONLines Form = "jsonl" // for programs: the rows as the table has them
)

// Filter says which entries are meant; an empty field filters nothing.
type Filter struct {
	From     time.Time        `json:"from,omitzero"` // inclusive
	To       time.Time        `json:"to,omitzero"`   // exclusive
	Action   aggregate.Action `json:"action,omitempty"`
	Resource string           `json:"resource,omitempty"` // id of a task, or of what stands outside of tasks
	Actor    string           `json:"actor,omitempty"`    // Slack user id; "system" for Ringi itself
}

// maxFilter is how long a filter's text may be: ids and actions are shorter.
const maxFilter = 64

var filterForm = regexp.MustCompile(`^[A-Za-z0-9_.:-]*$`)

// Check returns aggregate.ErrField for what no entry can have.
func (f Filter) Check() error {
	for _, x := range []struct{ field, value string }{{"action", string(f.Action)}, {"resource", f.Resource},
		{"actor", f.Actor}} {
		if len(x.value) > maxFilter || !filterForm.MatchString(x.value) {
			return aggregate.ErrField{Field: x.field, Limit: fmt.Sprintf("must be an id of at most %d letters, digits and . _ : -", maxFilter)}
		}
	}
	if !f.To.IsZero() && f.From.After(f.To) {
		return aggregate.ErrField{Field: "from", Limit: "must not be after to"}
	}
	return nil
}

// Status is where an export stands.
type Status string

const (
	Waiting Status = "waiting"
	Running Status = "running"
	Done    Status = "done"
	Failed  Status = "failed"
)

const (
	// MaxRows is the most entries of one file: a spreadsheet takes 1,048,576 rows, and that many are read in a few
	// minutes.
	MaxRows = 1_000_000
	// MaxAtOnce is how many exports of a tenant may be under way.
	MaxAtOnce = 3
	// GivenUp is how long after its request an export that nobody finished counts as failed: all tries are over by then.
	GivenUp = time.Hour
	// Kept is how long a file can be fetched, and its row be seen.
	Kept = 24 * time.Hour
	// LinkLasts is how long a link to a file is good.
	LinkLasts = 15 * time.Minute
)

// Export is a file of entries that an administrator asked for.
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

// Problem is why an export failed, as a code.
type Problem string

const (
	TooMany   Problem = "too_many" // over MaxRows
	TooSlow   Problem = "too_slow" // the time of one try was over
	Broken    Problem = "broken"   // another try may succeed
	Abandoned Problem = "abandoned"
)

// ErrBusy: MaxAtOnce exports of the tenant are under way.
var ErrBusy = errors.New("other exports are under way")

// New is an export that somebody asks for. It returns aggregate.ErrField for a form or a filter that there is not.
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

// Prefix is where files of a tenant's exports are.
func Prefix(tenant string) string { return "exports/" + tenant + "/" }

// File is where this try writes. Each has a place of its own: one that lost its place must not write over the other's.
func (x Export) File() string {
	return fmt.Sprintf("%s%s/%d/%s", Prefix(x.Tenant), x.ID, x.Try, x.Name())
}

// Name is what a browser saves it as.
func (x Export) Name() string {
	return "ringi-audit-" + x.CreatedAt.In(japan()).Format("20060102-1504") + "." + string(x.Form)
}

// Own reports whether the file stands where the tenant's files do.
func (x Export) Own() bool { return strings.HasPrefix(x.Key, Prefix(x.Tenant)+x.ID+"/") }

// Open reports whether somebody may still finish it.
func (x Export) Open(now time.Time) bool {
	return (x.Status == Waiting || x.Status == Running) && now.Before(x.CreatedAt.Add(GivenUp))
}

// Seen is the export as people see it: one that nobody finished has failed.
func (x Export) Seen(now time.Time) Export {
	if (x.Status == Waiting || x.Status == Running) && !x.Open(now) {
		x.Status, x.Problem = Failed, Abandoned
	}
	return x
}

// Entry is what the audit log has of a finished one.
func (x Export) Entry(now time.Time) aggregate.AuditEntry {
	about := map[string]any{"form": x.Form, "rows": x.Rows, "bytes": x.Bytes, "filter": x.Filter}
	return aggregate.AuditEntry{
		TenantID: x.Tenant, Timestamp: now.UTC().Truncate(time.Millisecond), ActorType: aggregate.ActorUser, ActorID: x.By,
		Action: ActionExported, ResourceType: "export", ResourceID: x.ID, Details: aggregate.Details(about),
	}
}

func japan() *time.Location { return time.FixedZone("JST", 9*60*60) }
