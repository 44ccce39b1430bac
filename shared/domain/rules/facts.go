package rules

import (
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Kind is what asks.
type Kind string

const (
	KindSteps  Kind = "steps"  // the steps of a request
	KindAction Kind = "action" // what an agent proposes in a conversation
)

var kinds = []Kind{KindSteps, KindAction}

// Facts are what rules may know of a request.
type Facts struct {
	Kind      Kind
	Place     Place
	Requester circulation.Person
	// Askers may not stamp, the requester among them. Spoken says that the requester is only who spoke last, so that what
	// is asked may be any asker's words.
	Askers []circulation.Person
	Spoken bool
	Home   Home
	// On is the day, such as 2026-11-22 in the tenant's zone, as of which people are looked up.
	On string
	// Departments is the requester's department in the organisation and those above it. Groups are the requester's.
	// Both count only while an organisation stands.
	Organised   bool
	Departments []string
	Groups      []string
	Department  string // what the requester's is called; no condition reads it
	// Unknown are departments of the rules' conditions that the organisation has on no day: nobody can say who is in them.
	Unknown []string
	// Absent are askers who have left by that day, or haven't begun. They are strangers to the organisation, too.
	Absent []circulation.Person
	Calls  []Call
	// Inside says of an action without a call that it can change nothing but its conversation's files.
	Inside bool
}

// stranger returns an asker whom the organisation that stands doesn't know as of that day: the requester first.
func (f *Facts) stranger() (circulation.Person, bool) {
	for _, p := range append([]circulation.Person{f.Requester}, f.Askers...) {
		if f.Organised && (p.Person == "" || slices.ContainsFunc(f.Absent, p.Is)) {
			return p, true
		}
	}
	return circulation.Person{}, false
}

// placed reports whether the organisation says where the requester belongs.
func (f *Facts) placed() bool { return f.Organised && len(f.Departments) > 0 }

// Place is where a request was made.
type Place struct {
	Channel string `json:"channel,omitempty"` // its id
	Direct  bool   `json:"direct,omitempty"`  // in direct messages; Channel doesn't count
}

// Call is one call of a tool that a request makes.
type Call struct {
	Tool   Tool
	Access aggregate.Access // what isn't known to read counts as writing outside
	// Destinations are the values of the arguments that say where a write goes. None: it may go anywhere.
	Destinations []string
	Amount       Amount
}

// Writes reports whether the call changes something outside.
func (c Call) Writes() bool { return c.Access != aggregate.Read }

// Writes reports whether one of the calls changes something outside. An action without a call of a tool may do
// anything, unless it stays inside.
func (f *Facts) Writes() bool { return f.uncalled() || slices.ContainsFunc(f.Calls, Call.Writes) }

func (f *Facts) uncalled() bool { return f.Kind == KindAction && len(f.Calls) == 0 && !f.Inside }

// Amount is the sum over all calls. Of an action without one it is unknown, unless it stays inside.
func (f *Facts) Amount() Amount {
	if f.uncalled() {
		return Unknown(WhyUnmarked)
	}
	sum := Nothing()
	for _, c := range f.Calls {
		sum = sum.Plus(c.Amount)
	}
	return sum
}
