package aggregate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Action is what an audit entry records.
type Action string

// AuditEntry is an entry of the audit log. It is written in the commit that it records, and never rewritten.
type AuditEntry struct {
	ID           string    `json:"id"` // given by the store at commit
	TenantID     string    `json:"tenant_id"`
	Timestamp    time.Time `json:"timestamp"`
	ActorType    ActorType `json:"actor_type"`
	ActorID      string    `json:"actor_id"`
	Action       Action    `json:"action"`
	ResourceType string    `json:"resource_type"`
	ResourceID   string    `json:"resource_id"`
	AggregateID  string    `json:"task_id,omitempty"` // id of an aggregate of any kind, or empty
	Details      JSON      `json:"details"`
}

// FoundBy returns the user id that a search of the log finds the entry by: the actor's or, of what Ringi itself did
// with somebody's request, the requester's. Without either it is the actor's type.
func (x AuditEntry) FoundBy() string {
	if x.ActorID != "" {
		return x.ActorID
	}
	var about struct {
		Requester string `json:"requester"`
	}
	if x.ActorType == ActorSystem && json.Unmarshal([]byte(x.Details), &about) == nil && about.Requester != "" {
		return about.Requester
	}
	return string(x.ActorType)
}

// Relied is a row that many decisions rely on. The head notes the newest of each type.
type Relied interface {
	Row
	Relied()
}

// Newest has the revision of the newest row of each Relied type by its key, each behind a space; 0 for a row that was
// deleted: " TASK=2 PROMPT#0001=5". It stands in the head, whose revision every Change requires, so that a decision may
// rely on such a row, or on there being none after it, without a condition of its own.
type Newest string

// of returns the entry of a key's type with the space before it, or "".
func (n Newest) of(key string) string {
	typ, _, _ := strings.Cut(key, "#")
	i := strings.Index(string(n), " "+typ)
	if i < 0 {
		return ""
	}
	end := strings.IndexByte(string(n[i+1:]), ' ')
	if end < 0 {
		return string(n[i:])
	}
	return string(n[i : i+1+end])
}

// Key returns the key of the newest row of a type, such as PROMPT, as it was noted last; "" if there is none.
func (n Newest) Key(typ string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(n.of(typ), " "), "=")
	return key
}

// entryOf returns a row's entry, "" if the row isn't Relied.
func entryOf(r Row, rev int) string {
	if _, relied := r.(Relied); !relied {
		return ""
	}
	return " " + r.Key() + "=" + strconv.Itoa(rev)
}

// After returns the Newest of the head that a Change of the head with revision rev leaves.
func (n Newest) After(rev int, c Change) Newest {
	for _, r := range c.Rows {
		n = n.with(r, rev+1)
	}
	for _, r := range c.Drop {
		n = n.with(r, 0)
	}
	return n
}

// with notes a row's revision unless a newer row of its type is noted.
func (n Newest) with(r Row, rev int) Newest {
	last, entry := n.of(r.Key()), entryOf(r, rev)
	if entry == "" || last > " "+r.Key()+"~" { // a newer key's: after this key comes "=", which is below "~"
		return n
	}
	return Newest(strings.Replace(string(n), last, "", 1) + entry)
}

// Unproven returns those rows of which the head doesn't prove that they are as they were read, or still absent.
func (n Newest) Unproven(rows []Row) (out []Row) {
	for _, r := range rows {
		last, entry := n.of(r.Key()), entryOf(r, r.Revision())
		if entry == "" || last != entry && (r.Revision() > 0 || last >= " "+r.Key()) {
			out = append(out, r)
		}
	}
	return out
}

var (
	// ErrNotFound: the row does not exist or belongs to another tenant.
	ErrNotFound = errors.New("not found")
	// ErrExists: the aggregate exists already, so the message was received before.
	ErrExists = errors.New("it exists already")
	// ErrSuperseded: the head names another run, so the caller must stop.
	ErrSuperseded = errors.New("superseded by another run")
	// ErrConflict: somebody else committed in between; load and decide again.
	ErrConflict = errors.New("it changed meanwhile")
	// ErrUnconfirmed: a commit got no answer; it may have been made, or may still be.
	ErrUnconfirmed = errors.New("it is not known whether it was saved")
	// ErrMoved: the caller's step is no longer the next one; read the rows again.
	ErrMoved = errors.New("something else is next by now")
	// ErrSettings: the settings changed meanwhile; read them and decide again.
	ErrSettings = errors.New("the settings changed meanwhile")
	// ErrInFlight: a call is still under way; nothing can be decided until its outcome is known.
	ErrInFlight = errors.New("a call is still in flight")
	// ErrUncovered: the decision only recorded that a write's outcome is unknown; a person must look and decide again.
	ErrUncovered = errors.New("a write with unknown outcome was uncovered")
	// ErrNotDue: the deadline has not passed, or there is nothing to decide.
	ErrNotDue = errors.New("not due yet")
)

// Reason is why something ended or stopped, as a code; cards say it in the tenant's language.
type Reason string

// ErrDecided says that the decision was already made, by whom and when.
type ErrDecided struct {
	Status string // such as approved, rejected or retried
	By     string // Slack user id, empty for the system
	At     time.Time
	Reason Reason // set when the aggregate ended instead
}

func (e ErrDecided) Error() string {
	return fmt.Sprintf("already %s by %q at %s", e.Status, e.By, e.At.Format(time.RFC3339))
}

// ErrNotLatest says that a newer version exists.
type ErrNotLatest struct{ Latest int }

func (e ErrNotLatest) Error() string { return fmt.Sprintf("version %d is newer", e.Latest) }

// ErrNotAllowed names the rule that refused.
type ErrNotAllowed struct{ Rule Rule }

func (e ErrNotAllowed) Error() string { return "not allowed: " + string(e.Rule) }

// Problem says what is wrong with a field. Code is the key of the sentence that people read, in their own language and
// with the Args in it, or what a program is told, in English.
type Problem struct {
	Field, Code string
	Args        []any
}

func (p Problem) Error() string {
	text := p.Field + " " + p.Code
	for _, x := range p.Args {
		text += fmt.Sprint(" ", x)
	}
	return text
}

// Is reports whether another error is the same problem: its Args can't be compared by ==.
func (p Problem) Is(other error) bool {
	o, is := other.(Problem)
	return is && o.Error() == p.Error()
}

// Problems collects what is wrong with the fields of one value.
type Problems []Problem

// Unless adds a problem unless a claim about a field holds.
func (p *Problems) Unless(holds bool, field, code string, args ...any) {
	if !holds {
		*p = append(*p, Problem{field, code, args})
	}
}

// Each adds a problem for each text of a list that doesn't fit.
func (p *Problems) Each(field string, texts []string, fits func(string) bool, code string) {
	for i, text := range texts {
		p.Unless(fits(text), fmt.Sprintf("%s[%d]", field, i), code)
	}
}

// Under adds the problems of a value that stands at a field.
func (p *Problems) Under(field string, all Problems) {
	for _, x := range all {
		*p = append(*p, Problem{field + "." + x.Field, x.Code, x.Args})
	}
}

// Err returns the first of the problems, or nil.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p[0]
}

// ErrTooLarge says that a row exceeds the table's size limit, so nothing was written.
type ErrTooLarge struct {
	Row   string // its type
	Bytes int
}

func (e ErrTooLarge) Error() string {
	return fmt.Sprintf("a row of type %s has %d bytes", e.Row, e.Bytes)
}
