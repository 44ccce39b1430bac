// Package note is a kind that nobody needs: a line of text that one run of its own state machine marks as kept.
package note

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// Kind is what the machinery knows of notes.
var Kind = aggregate.Kind{
	Name: "note", Prefix: "NOTE#",
	New: func() aggregate.Aggregate { return &Aggregate{} },
	Rows: map[string]func() aggregate.Row{
		"head": func() aggregate.Row { return &Head{} },
		"note": func() aggregate.Row { return &Note{} },
	},
}

// RefOf names a note of a tenant.
func RefOf(tenant, id string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: Kind.Name, ID: id}
}

// Head is a note's.
type Head struct {
	aggregate.Head
	NoteID string `json:"note_id"`
}

func (h *Head) ID() string              { return h.NoteID }
func (h Head) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// Note is the text, where it was said, and when it was kept.
type Note struct {
	aggregate.Meta
	Text     string     `json:"text"`
	TeamID   string     `json:"team_id"`
	ThreadTS string     `json:"thread_ts"`
	KeptAt   *time.Time `json:"kept_at,omitempty"`
}

func (*Note) Key() string               { return "NOTE" }
func (*Note) Type() string              { return "note" }
func (n Note) At(rev int) aggregate.Row { n.Rev = rev; return &n }

// Card is the type of a note's one card.
const Card aggregate.CardType = "note"

// Aggregate is all rows of one note.
type Aggregate struct {
	aggregate.Shared
	Head Head
	Note *Note
}

func (a *Aggregate) Ref() aggregate.Ref   { return RefOf(a.Head.TenantID, a.Head.NoteID) }
func (a *Aggregate) Root() aggregate.Root { return &a.Head }

// Add puts a row in its place.
func (a *Aggregate) Add(r aggregate.Row) {
	switch r := r.(type) {
	case *Head:
		a.Head = *r
	case *Note:
		a.Note = r
	default:
		a.Shared.Add(r)
	}
}

// After is the note as it is after c was committed to it.
func (a *Aggregate) After(c aggregate.Change) aggregate.Aggregate {
	if c.Head == nil {
		return a
	}
	next := *a
	next.Head.Head = c.Head.Common().Committed(a.Head.Head, c)
	for _, r := range c.Rows {
		next.Add(r.At(next.Head.Rev))
	}
	return &next
}

// Begin makes a note of what was said.
func Begin(ref aggregate.Ref, n Note, requester, channel string, now time.Time) aggregate.Change {
	now = now.UTC().Truncate(time.Millisecond)
	head := &Head{Head: aggregate.Head{TenantID: ref.Tenant, Run: 1, Requester: requester, CreatedAt: now, ChangedAt: now}, NoteID: ref.ID}
	card := &aggregate.Card{ID: aggregate.NewID(), AggregateID: ref.ID, CardType: Card, Subject: n.Key(), Channel: channel, State: aggregate.CardNone, CreatedAt: now}
	c := aggregate.Change{Head: head, Now: now, Audit: []aggregate.AuditEntry{audit(ref, "note.begun", now)}}
	c.Put(&n, card)
	return c
}

// Keep is the whole work of a run. It returns aggregate.ErrSuperseded to a run that is not the head's; kept already, it is no change.
func (a *Aggregate) Keep(run int, now time.Time) (aggregate.Change, error) {
	switch {
	case a.Head.Run != run:
		return aggregate.Change{}, aggregate.ErrSuperseded
	case a.Note.KeptAt != nil:
		return aggregate.Change{}, nil
	}
	head, note := a.Head, *a.Note
	now = head.Moment(now)
	head.ChangedAt, note.KeptAt = now, &now
	c := aggregate.Change{Head: &head, Now: now, Audit: []aggregate.AuditEntry{audit(a.Ref(), "note.kept", now)}}
	c.Put(&note)
	return c, nil
}

// RestartRun starts the next run while there is something to keep.
func (a *Aggregate) RestartRun(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || a.Note.KeptAt != nil {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	head := a.Head
	head.Run, head.Restarts, head.ChangedAt = run+1, head.Restarts+1, head.Moment(now)
	return aggregate.Change{Head: &head, Now: head.ChangedAt}, nil
}

// PauseRun is RestartRun that counts as no restart.
func (a *Aggregate) PauseRun(run int, _, now time.Time) (aggregate.Change, error) {
	c, err := a.RestartRun(run, now)
	if head, ok := c.Head.(*Head); ok {
		head.Restarts = a.Head.Restarts
	}
	return c, err
}

// Effects are a run until the note is kept, and cards that are behind.
func (a *Aggregate) Effects(now time.Time) aggregate.Effects {
	out := aggregate.Effects{Wake: a.Waits, Cards: a.Head.ShownRev < a.Head.Rev || a.Head.DrawAt != nil && !a.Head.InLine(now)}
	if a.Note != nil && a.Note.KeptAt == nil {
		out.Run = &aggregate.Run{
			Name:  fmt.Sprintf("%s-%d", a.Head.NoteID, a.Head.Run),
			Input: fmt.Sprintf(`{"tenant":%q,"kind":%q,"id":%q,"run":%d}`, a.Head.TenantID, Kind.Name, a.Head.NoteID, a.Head.Run),
			Run:   a.Head.Run,
		}
	}
	return out
}

// DueAt is in five minutes until all is done and shown.
func (a *Aggregate) DueAt(now time.Time) *time.Time {
	switch e := a.Effects(now); {
	case a.Head.InLine(now):
		return a.Head.DrawAt
	case e.Run != nil, e.Cards:
		soon := now.Add(5 * time.Minute)
		return &soon
	}
	return nil
}

// Nothing happens to a note by time alone, and nothing waits for a person.
func (a *Aggregate) Beside() (aggregate.Ref, bool) { return aggregate.Ref{}, false }

func (a *Aggregate) Overdue(time.Time, aggregate.Aggregate) []aggregate.Overdue { return nil }

func (a *Aggregate) TryAgainAt(*aggregate.Card) *time.Time { return nil }

func audit(ref aggregate.Ref, action aggregate.Action, now time.Time) aggregate.AuditEntry {
	return aggregate.AuditEntry{
		TenantID: ref.Tenant, Timestamp: now, ActorType: aggregate.ActorSystem, Action: action,
		ResourceType: "note", ResourceID: ref.ID, Details: aggregate.Details(nil),
	}
}
