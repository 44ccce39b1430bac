package aggregate

import (
	"strings"
	"time"
)

// Aggregate is all rows under one head, as one consistent Query returned them. A
// Query is no snapshot: rows may come from two commits, which is why a Change
// names each row that it relied on.
type Aggregate interface {
	Ref() Ref
	Root() Root
	Common() *Shared
	// Add puts a row in its place, over one with the same key. The store builds aggregates with it.
	Add(Row)
	// After is the aggregate as it is after a Change was committed to it.
	After(Change) Aggregate

	// Effects are what has to happen at now.
	Effects(now time.Time) Effects
	// DueAt is when the sweeper must look again, nil for never: every effect is done.
	DueAt(now time.Time) *time.Time
	// Beside names another aggregate that Overdue needs. It reports false when it needs none.
	Beside() (Ref, bool)
	// Overdue are the decisions that time alone makes, in their order. beside is nil if it is gone, or could not be
	// read; then those that need it are not made.
	Overdue(now time.Time, beside Aggregate) []Overdue
	// RestartRun supersedes a run that died, or gives up. It returns ErrSuperseded when the
	// head's run is another, or there is nothing to run.
	RestartRun(run int, now time.Time) (Change, error)
	// PauseRun supersedes a run that ended since there was no room to run in, which is nobody's failure: the next one
	// begins at until, or now where that is past, and counts as no restart. It returns what RestartRun does.
	PauseRun(run int, until, now time.Time) (Change, error)
	// TryAgainAt is when a card that Slack refused for good is tried again though nothing moves; nil: at the next
	// revision.
	TryAgainAt(c *Card) *time.Time
}

// Overdue is a decision that time alone makes. It returns ErrNotDue when there is nothing to decide.
type Overdue struct {
	Decide Decision[Aggregate]
	Repair bool // another function should have made this decision before the sweeper
	Beside bool // it needs the aggregate beside, and waits while that can't be read
}

// Shared is what every aggregate has beside the rows of its kind.
type Shared struct {
	Waits  []Wait
	Cards  []*Card
	Copies []*Card // of cards, in people's direct messages
	Uses   []*Use
	Leases []*Lease
}

// Common returns the rows that all kinds have.
func (s *Shared) Common() *Shared { return s }

// Add puts a row that all kinds have in its place.
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

// Card returns the card or copy with this key, nil if there is none.
func (s *Shared) Card(key string) *Card {
	if c := Find(s.Cards, key); c != nil {
		return c
	}
	return Find(s.Copies, key)
}

// CopiesOf are the copies of the card that shows a row.
func (s *Shared) CopiesOf(subject string) (out []*Card) {
	for _, c := range s.Copies {
		if c.Subject == subject {
			out = append(out, c)
		}
	}
	return out
}

// Kind is what the store, the relay and the sweeper know of one kind of aggregates.
type Kind struct {
	Name   string   // in a Ref and in messages of queues
	Prefix string   // of the partition key, before <tenant>#<id>
	Lists  []string // prefixes of lists that stand beside an aggregate
	New    func() Aggregate
	// ValidID reports whether an id has the form of this kind's; nil: no click names one by its id.
	ValidID func(id string) bool
	// Asked is the key of the row that says where one was asked for, and by whom; empty: nobody asks for one.
	Asked string
	Asks  []CardType // on which people approve or reject
	// Rows makes a row of each type, but for those that all kinds have.
	Rows map[string]func() Row
	// Begin makes the first Change of an aggregate that another one orders; nil: nobody orders this kind.
	Begin func(ref Ref, order JSON, now time.Time) (Change, error)
	// Still says that nothing follows when an aggregate of the kind changes: it has no runs, no cards and nobody to tell.
	Still bool
	// Columns are attributes of a row that are for people who read the table; nil: none.
	Columns func(Row) map[string]string
}

// shared are the rows that all kinds have.
var shared = map[string]func() Row{
	"wait": func() Row { return &Wait{} }, "card": func() Row { return &Card{} }, "copy": func() Row { return &Card{} }, "usage": func() Row { return &Use{} },
	"lease": func() Row { return &Lease{} },
}

// Row is an empty row of a type, nil for one that the kind does not have.
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

// Of returns the kind of that name.
func (k Kinds) Of(name string) (Kind, bool) {
	for _, x := range k {
		if x.Name == name {
			return x, true
		}
	}
	return Kind{}, false
}

// Partition is the partition key of an aggregate, as Ref reads it. It reports false for a kind that is none of them.
func (k Kinds) Partition(ref Ref) (key string, known bool) {
	kind, known := k.Of(ref.Kind)
	return kind.Prefix + ref.Tenant + "#" + ref.ID, known
}

// Ref reads a partition key, such as TASK#<tenant>#<id>. It reports false for any other key.
func (k Kinds) Ref(partition string) (Ref, bool) {
	for _, x := range k {
		if rest, ok := strings.CutPrefix(partition, x.Prefix); ok {
			tenant, id, ok := strings.Cut(rest, "#")
			return Ref{Tenant: tenant, Kind: x.Name, ID: id}, ok && id != "" && !strings.Contains(id, "#")
		}
	}
	return Ref{}, false
}
