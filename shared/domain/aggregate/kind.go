package aggregate

import (
	"slices"
	"strings"
	"time"
)

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
	// Beside names another aggregate that Overdue needs; false if it needs none.
	Beside() (Ref, bool)
	// Overdue returns the decisions that are made because time has passed, in order. If beside is nil because it is
	// gone or could not be read, the decisions that need it are left out.
	Overdue(now time.Time, beside Aggregate) []Overdue
	// RestartRun supersedes a run that died, or gives up after too many restarts. It returns ErrSuperseded if
	// the head names another run or there is nothing to run.
	RestartRun(run int, now time.Time) (Change, error)
	// PauseRun supersedes a run that ended because Lambda had no capacity. The next run begins at until, or now if that
	// is past, and does not count as a restart. It returns the same errors as RestartRun.
	PauseRun(run int, until, now time.Time) (Change, error)
	// TryAgainAt returns when to retry a card that Slack refused permanently; nil: at the next revision.
	TryAgainAt(c *Card) *time.Time
}

// Overdue is a decision that is made because time has passed. Decide returns ErrNotDue if there is nothing to decide.
type Overdue struct {
	Decide Decision[Aggregate]
	Repair bool // another function should have made this decision before the sweeper
	Beside bool // Decide needs the aggregate beside, and waits while that can't be read
}

// Shared holds the rows that aggregates of every kind have.
type Shared struct {
	Waits  []Wait
	Cards  []*Card
	Copies []*Card // copies of cards in people's direct messages
	Uses   []*Use
	Leases []*Lease
}

// Uncarded returns those of the messages that show no card.
func (s *Shared) Uncarded(messages []string) []string {
	return slices.DeleteFunc(slices.Clone(messages), func(ts string) bool {
		return slices.ContainsFunc(s.Cards, func(c *Card) bool { return c.MessageTS == ts })
	})
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
func (s *Shared) CopiesOf(subject string) (out []*Card) {
	for _, c := range s.Copies {
		if c.Subject == subject {
			out = append(out, c)
		}
	}
	return out
}

// Kind tells the store, the relay and the sweeper how to handle one kind of aggregate.
type Kind struct {
	Name   string   // name in a Ref and in queue messages
	Prefix string   // prefix of the partition key; <tenant>#<id> follows
	Lists  []string // prefixes of the kind's lists (see Listed)
	New    func() Aggregate
	// ValidID reports whether an id has this kind's form; nil: clicks never name such an id.
	ValidID func(id string) bool
	// Asked is the key of the row that says where and by whom the aggregate was requested; empty: nobody requests it.
	Asked string
	Asks  []CardType // card types on which people approve or reject
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
	"wait": func() Row { return &Wait{} }, "card": func() Row { return &Card{} }, "copy": func() Row { return &Card{} }, "usage": func() Row { return &Use{} },
	"lease": func() Row { return &Lease{} },
}

// Row returns an empty row of this type, or nil if the kind has no such type.
func (k Kind) Row(typ string) Row {
	if empty, ok := shared[typ]; ok {
		return empty()
	}
	if empty, ok := k.Rows[typ]; ok {
		return empty()
	}
	return nil
}

// Kinds are the kinds that a store or a function handles.
type Kinds []Kind

// Of returns the kind with this name.
func (k Kinds) Of(name string) (Kind, bool) {
	for _, x := range k {
		if x.Name == name {
			return x, true
		}
	}
	return Kind{}, false
}

// Partition returns the partition key of an aggregate, and false for an unknown kind.
func (k Kinds) Partition(ref Ref) (key string, known bool) {
	kind, known := k.Of(ref.Kind)
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
