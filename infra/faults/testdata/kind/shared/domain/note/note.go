// Package note is a sample kind for a test: a line of text that people approve; then one run of its own state machine
// marks it as kept.
package note

import (
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Kind registers notes as a kind of aggregate.
var Kind = aggregate.Kind{
	Name: "note", Prefix: "NOTE#",
	New:     func() aggregate.Aggregate { return &Aggregate{} },
	ValidID: ValidID, RequestKey: "NOTE", Asks: []aggregate.CardType{Card},
	Rows: map[string]func() aggregate.Row{
		"head": func() aggregate.Row { return &Head{} },
		"note": func() aggregate.Row { return &Note{} },
	},
}

// NewID makes an id whose form no other kind uses.
func NewID() string { return "note-" + aggregate.NewID() }

// ValidID reports whether an id has the form of NewID.
func ValidID(id string) bool {
	rest, is := strings.CutPrefix(id, "note-")
	return is && aggregate.ValidID(rest)
}

// RefOf names a note of a tenant.
func RefOf(tenant, id string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: Kind.Name, ID: id}
}

type Head struct {
	aggregate.Head
	NoteID string `json:"note_id"`
}

func (h *Head) ID() string              { return h.NoteID }
func (h Head) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// Note has the text, where and by whom it was said, the decision, and when it was kept.
type Note struct {
	aggregate.Meta
	aggregate.Gate
	NoteID    string     `json:"note_id"`
	Text      string     `json:"text"`
	TeamID    string     `json:"team_id"`
	UserID    string     `json:"user_id"`
	Channel   string     `json:"channel"`
	ThreadTS  string     `json:"thread_ts"`
	CreatedAt time.Time  `json:"created_at"`
	KeptAt    *time.Time `json:"kept_at,omitempty"`
}

func (*Note) Key() string               { return "NOTE" }
func (*Note) Type() string              { return "note" }
func (n Note) At(rev int) aggregate.Row { n.Rev = rev; return &n }

// Origin returns where and by whom the note was said.
func (n *Note) Origin() aggregate.Origin {
	return aggregate.Origin{Team: n.TeamID, User: n.UserID, Channel: n.Channel, ChannelType: "channel"}
}

// Indexes lists the note among what waits while it waits for a person.
func (n *Note) Indexes(head aggregate.Root) []aggregate.Index {
	return n.WaitingIndexes(head, n.CreatedAt, n.NoteID)
}

// Asks returns the note's question in that list.
func (n *Note) Asks() aggregate.Question {
	return aggregate.Question{Key: n.Key(), ID: n.NoteID, Kind: Card, Version: 1, CreatedAt: n.CreatedAt}
}

// Card is the type of a note's only card.
const Card aggregate.CardType = "note"

// Aggregate is all rows of one note.
type Aggregate struct {
	aggregate.Shared
	Head Head
	Note *Note
}

func (a *Aggregate) Ref() aggregate.Ref   { return RefOf(a.Head.TenantID, a.Head.NoteID) }
func (a *Aggregate) Root() aggregate.Root { return &a.Head }

// Add adds a loaded row.
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

// After returns the note after c is committed.
func (a *Aggregate) After(c aggregate.Change) aggregate.Aggregate {
	next := *a
	return aggregate.Committed(&next, c)
}

// Begin makes a note and asks people whether to keep it.
func Begin(ref aggregate.Ref, n Note, now time.Time) (aggregate.Change, error) {
	now = now.UTC().Truncate(time.Millisecond)
	n.NoteID, n.CreatedAt, n.Gate = ref.ID, now, aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &now}
	n.Terms.ApprovalHours = 24
	g, err := n.Under(aggregate.BySettings(true, n.UserID), nil, func(*aggregate.Gate) string {
		return aggregate.HashOf(n.Text)
	})
	if err != nil {
		return aggregate.Change{}, err
	}
	n.Gate = g
	head := &Head{Head: aggregate.Head{TenantID: ref.Tenant, Run: 1, Requester: n.UserID, CreatedAt: now, ChangedAt: now}, NoteID: ref.ID}
	card := &aggregate.Card{
		ID: aggregate.NewID(), AggregateID: ref.ID, CardType: Card, Subject: n.Key(), Channel: n.Channel, State: aggregate.CardNone, CreatedAt: now,
	}
	c := aggregate.Draft{Change: aggregate.Change{Now: now}}
	c.Record(head, aggregate.System(), "note.begun", "note", ref.ID, nil)
	return c.Done(head, &n, card)
}

// Keep does all the work of a run. It returns aggregate.ErrSuperseded if the run is not the head's, and no change if
// the note is kept already.
func (a *Aggregate) Keep(run int, now time.Time) (aggregate.Change, error) {
	switch {
	case a.Head.Run != run:
		return aggregate.Change{}, aggregate.ErrSuperseded
	case !a.toKeep():
		return aggregate.Change{}, nil
	}
	return a.changed(aggregate.System(), "note.kept", now, func(n *Note, at time.Time) { n.KeptAt = &at })
}

// changed returns a Change of the note with its audit entry.
func (a *Aggregate) changed(by aggregate.Actor, what aggregate.Action, now time.Time, change func(n *Note, at time.Time)) (aggregate.Change, error) {
	head, note := a.Head, *a.Note
	c := aggregate.Draft{Change: aggregate.Change{Now: head.Moment(now)}}
	head.ChangedAt = c.Now
	change(&note, c.Now)
	c.Record(&head, by, what, "note", head.NoteID, nil)
	return c.Done(&head, &note)
}

// toKeep reports whether a run has work to do.
func (a *Aggregate) toKeep() bool {
	return a.Note != nil && a.Note.Status == aggregate.Approved && a.Note.KeptAt == nil
}

// RestartRun starts the next run if the note is still to be kept.
func (a *Aggregate) RestartRun(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.toKeep() {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	head := a.Head
	head.Run, head.Restarts, head.ChangedAt = run+1, head.Restarts+1, head.Moment(now)
	return aggregate.Change{Head: &head, Now: head.ChangedAt}, nil
}

// PauseRun does the same as RestartRun, but does not count as a restart.
func (a *Aggregate) PauseRun(run int, _, now time.Time) (aggregate.Change, error) {
	c, err := a.RestartRun(run, now)
	if head, ok := c.Head.(*Head); ok {
		head.Restarts = a.Head.Restarts
	}
	return c, err
}

// Effects returns a run from the approval until the note is kept, and the cards to redraw.
func (a *Aggregate) Effects(now time.Time) aggregate.Effects {
	out := aggregate.Effects{Wake: a.Waits, Cards: a.Head.ShownRev < a.Head.Rev || a.Head.DrawAt != nil && !a.Head.InLine(now)}
	if a.toKeep() {
		out.Run = &aggregate.Run{
			Name:  fmt.Sprintf("%s-%d", a.Head.NoteID, a.Head.Run),
			Input: fmt.Sprintf(`{"tenant":%q,"kind":%q,"id":%q,"run":%d}`, a.Head.TenantID, Kind.Name, a.Head.NoteID, a.Head.Run),
			Run:   a.Head.Run,
		}
	}
	return out
}

// DueAt returns a time in five minutes until everything is done and shown.
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

// OverdueNeeds names no other aggregate: nothing happens to a note just because time passes.
func (a *Aggregate) OverdueNeeds() (aggregate.Ref, bool) { return aggregate.Ref{}, false }

func (a *Aggregate) Overdue(time.Time, aggregate.Aggregate) []aggregate.Overdue { return nil }

func (a *Aggregate) TryAgainAt(*aggregate.Card) *time.Time { return nil }
