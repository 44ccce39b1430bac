// Package aggregate holds what all kinds of aggregates share. An aggregate, such as a task, is a set of rows in one
// partition under one head. This package knows no kind by name. It imports the standard library, ulid, circulation and
// language, by which it reads and writes people's texts.
//
// A decision is a pure function from loaded rows to a Change or an error. It may be called again after each conflict,
// so it asks nobody and reads no clock: actor, policy and time are its arguments. Times within an aggregate only grow
// (Head.Moment), whatever the clocks of the functions say.
//
// A Query is no snapshot: the rows of one aggregate may be of two commits. So a Change names the rows that the decision
// relied on, absent ones too, and the commit checks that each is still as it was read. A check costs as much as a
// write. The head saves most of them: it notes the newest revision of each type of row (Newest), in the same row whose
// revision every commit checks anyway. What the head can't prove is checked by itself (Newest.Unproven): older
// versions, and types that it doesn't note.
//
// What is frozen with a gate when it opens is in Terms: executor, timeouts, locale and the revision of the settings.
// Approvers are not: the settings are asked at the click, so a change of them applies at once to what waits. What was
// settled is never released or taken back by a setting.
//
// Effects and Next say what follows from rows, DueAt when the sweeper looks again, Overdue which decisions time makes.
// Rows that hold no state (cards, waits, leases) are written without a commit, each on conditions of its own.
//
// A status moves in one place for each kind of row, by a table of Moves. A move that isn't listed is an error.
package aggregate

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// HeadKey is the key of the head row.
const HeadKey = "HEAD"

// Head has the fields that the heads of all kinds share. Every Change requires the Rev that was read and increments it.
// Bookkeeping, the fields from DueAt on, is written outside of Changes.
type Head struct {
	TenantID   string    `json:"tenant_id"`
	Rev        int       `json:"rev"`
	LastChange string    `json:"last_change"`
	Run        int       `json:"run"`      // only this run of the state machine may commit
	Restarts   int       `json:"restarts"` // runs restarted since the last progress
	Requester  string    `json:"requester"`
	CreatedAt  time.Time `json:"created_at"`
	ChangedAt  time.Time `json:"changed_at"`
	Newest     Newest    `json:"newest,omitempty"`
	// Entered is when the run entered the last state of which a commit says so; see Wait.Left.
	Entered *time.Time `json:"entered,omitempty"`

	DueAt         *time.Time `json:"due_at,omitempty"`
	ShownRev      int        `json:"shown_rev,omitempty"` // the revision that all cards show; see See
	Redraws       int        `json:"redraws,omitempty"`   // how often somebody asked to redraw the cards
	SweepFailures int        `json:"sweep_failures,omitempty"`
}

// Bookkeeping lists the head's attributes that are written outside of Changes.
var Bookkeeping = []string{"due_at", "shown_rev", "redraws", "sweep_failures"}

// Root is the head row of one kind; it embeds Head.
type Root interface {
	Row
	Common() *Head
	ID() string // of the aggregate
}

// Common returns the part of the head that all kinds share.
func (h *Head) Common() *Head { return h }

func (h *Head) Key() string   { return HeadKey }
func (h *Head) Type() string  { return "head" }
func (h *Head) Revision() int { return h.Rev }

// Committed returns the head as it is after the Change c was committed on top of was. Bookkeeping is copied from was.
func (h Head) Committed(was Head, c Change) Head {
	h.Rev, h.LastChange = was.Rev+1, c.ID
	h.DueAt, h.ShownRev, h.SweepFailures = was.DueAt, was.ShownRev, was.SweepFailures
	h.Redraws = was.Redraws
	return h
}

// Committed returns a with the rows that a commit of c writes. It changes a's lists, so they must not be shared.
func Committed[A Aggregate](a A, c Change) A {
	if was := *a.Root().Common(); c.Head != nil {
		a.Add(c.Head)
		*a.Root().Common() = a.Root().Common().Committed(was, c)
	}
	for _, r := range c.Rows {
		a.Add(r.At(a.Root().Common().Rev))
	}
	return a
}

// See raises ShownRev to the highest revision in the cards' rows, except rows older than the last redraw request. It
// also leaves out waits at gates that the run has left.
func (h *Head) See(s *Shared) {
	// A run has certainly left a gate once it made a commit in a state that it entered later. It may have left it anyway.
	s.Waits = slices.DeleteFunc(s.Waits, func(w Wait) bool {
		return w.Run == h.Run && h.Entered != nil && w.Entered.Before(*h.Entered)
	})
	for _, c := range s.Cards {
		if c.ShownRedraws == h.Redraws {
			h.ShownRev = max(h.ShownRev, c.ShownRev)
		}
	}
}

// Shown reports whether all cards show the newest revision.
func (h *Head) Shown() bool { return h.ShownRev >= h.Rev }

// Lease says which invocation works on an external resource, such as a managed session, and until when. No Change
// writes it: it is renewed far more often than the aggregate changes, and carries no state. Writers require that the
// lease is still as they read it.
type Lease struct {
	Unrevised
	Of         string     `json:"of"`                      // key of the row
	Invocation string     `json:"invocation"`              // empty: no invocation may work on it before LeaseUntil
	LeaseUntil time.Time  `json:"lease_until"`             // zero: nobody has held it yet
	Ended      bool       `json:"ended,omitempty"`         // the resource had already ended at the time of this write
	WaitedMS   int64      `json:"waited_ms,omitempty"`     // total time in which nobody took the free lease
	Failing    *time.Time `json:"failing_since,omitempty"` // since when the vendor has only told us to wait
}

// Claim gives one invocation the right to make a call, or to execute an action, until LeaseUntil.
type Claim struct {
	Invocation string    `json:"invocation"`
	LeaseUntil time.Time `json:"lease_until"`
}

// Live reports whether there is a claim that holds at now.
func (c *Claim) Live(now time.Time) bool { return c != nil && now.Before(c.LeaseUntil) }

// LeaseKey returns the sort key of the lease on the row with the sort key of.
func LeaseKey(of string) string { return "LEASE#" + of }

func (l *Lease) Key() string { return LeaseKey(l.Of) }

func (l *Lease) Type() string { return "lease" }

// At returns an unchanged copy, because a lease has no revision.
func (l Lease) At(int) Row { return &l }

// Same reports whether both leases have the same holder and the same end. Nil means no lease.
func (l *Lease) Same(as *Lease) bool {
	if l == nil || as == nil {
		return l == as
	}
	return l.Of == as.Of && l.Invocation == as.Invocation && l.LeaseUntil.Equal(as.LeaseUntil)
}

// Aggregate is a head and all rows under it, as one consistent Query returned them. A Query is not a snapshot: its rows
// may come from two commits. That is why a Change names every row on which it relied.
type Aggregate interface {
	Ref() Ref
	Root() Root
	Common() *Shared
	// Add inserts a row, or replaces the one with the same key. The store builds aggregates with it.
	Add(Row)
	// After returns the aggregate as it is after a Change was committed.
	After(Change) Aggregate

	// Effects returns what must happen outside of the table at now.
	Effects(now time.Time) Effects
	// DueAt returns when the sweeper must look again; nil if no effect is pending.
	DueAt(now time.Time) *time.Time
	// Overdue returns the decisions that are made because time has passed, in order.
	Overdue(now time.Time) []Overdue
	// RestartRun supersedes a run that died, or gives up after too many restarts. It returns ErrSuperseded if
	// the head names another run or there is nothing to run.
	RestartRun(run int, now time.Time) (Change, error)
	// PauseRun supersedes a run that ended because Lambda had no capacity. The next run begins at until, or now if that
	// is past, and does not count as a restart. It returns the same errors as RestartRun.
	PauseRun(run int, until, now time.Time) (Change, error)
}

// Overdue is a decision that is made because time has passed. Decide returns ErrNotDue if there is nothing to decide.
type Overdue struct {
	Decide Decision[Aggregate]
	Repair bool // another function should have made this decision before the sweeper
}

// At is what a kind decides at a time.
func At[A Aggregate](now time.Time, decide func(a A, now time.Time) (Change, error)) Decision[Aggregate] {
	return func(a Aggregate) (Change, error) { return decide(a.(A), now) }
}

// Restarting supersedes a run that is stuck: it has work, and nothing has changed for StuckAfter.
func Restarting[A Aggregate](now time.Time, works func(a A, now time.Time) bool) Overdue {
	return Overdue{Repair: true, Decide: func(a Aggregate) (Change, error) {
		h := a.Root().Common()
		if !works(a.(A), now) || now.Sub(h.ChangedAt) < StuckAfter {
			return Change{}, ErrNotDue
		}
		return a.RestartRun(h.Run, now)
	}}
}

// Shared holds the rows that aggregates of every kind have.
type Shared struct {
	Waits  []Wait
	Cards  []*Card
	Copies []*Card // copies of cards in people's direct messages
	Uses   []*Use
	Leases []*Lease
}

// Common returns the rows that all kinds have.
func (s *Shared) Common() *Shared { return s }

// Add inserts a row of a type that all kinds have.
func (s *Shared) Add(r Row) {
	switch r := r.(type) {
	case *Wait:
		s.Waits = append(s.Waits, *r)
	case *Card:
		if r.User != "" {
			s.Copies = Insert(s.Copies, r)
		} else {
			s.Cards = Insert(s.Cards, r)
		}
	case *Use:
		s.Uses = Insert(s.Uses, r)
	case *Lease:
		s.Leases = Insert(s.Leases, r)
	}
}

// Card returns the card or copy with this key, or nil.
func (s *Shared) Card(key string) *Card {
	if c := Find(s.Cards, key); c != nil {
		return c
	}
	return Find(s.Copies, key)
}

// CopiesOf returns the copies of the card that shows this row.
func (s *Shared) CopiesOf(subject string) []*Card {
	return slices.DeleteFunc(slices.Clone(s.Copies), func(c *Card) bool { return c.Subject != subject })
}

// Kind tells the store, the relay and the sweeper how to handle one kind of aggregate.
type Kind struct {
	Name   string   // name in a Ref and in queue messages
	Prefix string   // prefix of the partition key; <tenant>#<id> follows
	Lists  []string // prefixes of the kind's lists (see Listed)
	New    func() Aggregate
	// ValidID reports whether an id has this kind's form; nil: clicks never name such an id.
	ValidID func(id string) bool
	// RequestKey is the key of the row that says where and by whom the aggregate was requested; empty: nobody requests it.
	RequestKey string
	Asks       []CardType // card types on which people approve or reject
	// Rows creates an empty row of each type that only this kind has.
	Rows map[string]func() Row
	// Begin makes the first Change of an aggregate that another aggregate orders; nil: this kind is never ordered.
	Begin func(ref Ref, order JSON, now time.Time) (Change, error)
	// Still says that a change to this kind has no effects: no runs, no cards, nobody to notify.
	Still bool
	// Columns returns a row's attributes for people who read the table; nil: none.
	Columns func(Row) map[string]string
}

// shared creates an empty row of each type that all kinds have.
var shared = map[string]func() Row{
	"wait": func() Row { return &Wait{} }, "card": func() Row { return &Card{} }, "copy": func() Row { return &Card{} },
	"usage": func() Row { return &Use{} },
	"lease": func() Row { return &Lease{} },
}

// RowsOf returns what creates an empty row of each of these types.
func RowsOf(rows ...Row) map[string]func() Row {
	out := map[string]func() Row{}
	for _, r := range rows {
		of := reflect.TypeOf(r).Elem()
		out[r.Type()] = func() Row { return reflect.New(of).Interface().(Row) }
	}
	return out
}

// Row returns an empty row of this type, or nil if the kind has no such type.
func (k Kind) Row(typ string) Row {
	for _, rows := range []map[string]func() Row{shared, k.Rows} {
		if empty, ok := rows[typ]; ok {
			return empty()
		}
	}
	return nil
}

// Kinds are the kinds that a store or a function handles.
type Kinds []Kind

// Named returns the kind with this name.
func (k Kinds) Named(name string) (Kind, bool) {
	for _, x := range k {
		if x.Name == name {
			return x, true
		}
	}
	return Kind{}, false
}

// Partition returns the partition key of an aggregate, and false for an unknown kind.
func (k Kinds) Partition(ref Ref) (key string, known bool) {
	kind, known := k.Named(ref.Kind)
	return kind.Prefix + ref.Tenant + "#" + ref.ID, known
}

// Ref parses a partition key such as TASK#<tenant>#<id>. It returns false for any other key.
func (k Kinds) Ref(partition string) (Ref, bool) {
	for _, x := range k {
		if rest, ok := strings.CutPrefix(partition, x.Prefix); ok {
			tenant, id, ok := strings.Cut(rest, "#")
			return Ref{Tenant: tenant, Kind: x.Name, ID: id}, ok && id != "" && !strings.Contains(id, "#")
		}
	}
	return Ref{}, false
}
