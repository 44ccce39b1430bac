package circulation

import (
	"slices"
	"time"
	"unicode/utf8"
)

// Bounds of minutes.
const (
	MaxMinutes   = 2000 // characters of what was said
	MaxReference = 300  // of where the minutes are kept
	MaxPresent   = 30   // people who were there

	presentBytes = 30 // of an account, as JSON in a list
	// meetingBytes are what the longest minutes take.
	meetingBytes = 200 + escaped*(MaxMinutes+MaxReference) + MaxPresent*presentBytes
)

// Meeting is the minutes of a meeting of a stage's people.
type Meeting struct {
	Held      string   `json:"held"`              // its day: 2026-11-27
	Present   []string `json:"present"`           // accounts
	Carried   bool     `json:"carried,omitempty"` // a stamp has minutes of what was carried, a denial of what wasn't
	Minutes   string   `json:"minutes,omitempty"`
	Reference string   `json:"reference,omitempty"` // a link to the minutes, or where they are kept
}

// ahead is how much earlier than in UTC a day may begin.
const ahead = 14 * time.Hour

// Fault returns the field of minutes that makes no sense at a time, or "".
func (m *Meeting) Fault(at time.Time) string {
	held, err := time.Parse(time.DateOnly, m.Held)
	named := func(user string) bool { return user != "" && stored(user) <= presentBytes-4 }
	distinct := slices.Compact(slices.Sorted(slices.Values(m.Present)))
	switch {
	case err != nil || held.After(at.Add(ahead)):
		return "held"
	case len(distinct) != len(m.Present) || len(distinct) < 1 || len(distinct) > MaxPresent ||
		slices.ContainsFunc(distinct, func(user string) bool { return !named(user) }):
		return "present"
	case utf8.RuneCountInString(m.Minutes) > MaxMinutes || m.Minutes == "" && m.Reference == "":
		return "minutes"
	case utf8.RuneCountInString(m.Reference) > MaxReference:
		return "reference"
	}
	return ""
}

// met reports whether the act has minutes only as a stamp by what was carried or a denial by what wasn't, and such that
// make sense.
func (act *Act) met() bool {
	m := act.Meeting
	return m == nil || (act.Kind == Stamp && m.Carried || act.Kind == Deny && !m.Carried) && m.Fault(act.At) == ""
}

// Recorded returns the act that brought a stage's minutes, or nil.
func (s *StageState) Recorded() *Act {
	if i := slices.IndexFunc(s.Stamps, func(act *Act) bool { return act.Meeting != nil }); i >= 0 {
		return s.Stamps[i]
	}
	return nil
}

// Records returns who may record the minutes of a stage: its secretary, else those of its people who have not stamped.
func (s *StageState) Records() (people []Person) {
	for i, p := range s.People {
		stamped := func(act *Act) bool { return act.Hand.Is(p) || act.Principal.Is(p) }
		if s.Minutes && (s.Secretary == 0 || s.part[i] == s.Secretary-1) && !slices.ContainsFunc(s.Stamps, stamped) {
			people = append(people, p)
		}
	}
	return people
}

// minuted checks that minutes come once, with the stamp or denial of somebody who records them and is no asker, and at
// the latest with the stamp that completes the stage. A secretary's stamp always has them.
func (s *StageState) minuted(g *Gate, who persons, act *Act) Why {
	records := who.position(s.Records(), &act.Principal) >= 0 && !who.asks(g, &act.Principal)
	switch {
	case act.Meeting == nil && act.Kind == Stamp && s.Minutes && s.Recorded() == nil &&
		(s.Owed == 1 || records && s.Secretary > 0):
		return WhyMinutes
	case act.Meeting == nil:
		return ""
	case !s.Minutes:
		return WhyUnknown
	case !records:
		return WhySecretary
	case s.Recorded() != nil:
		return WhyRecorded
	}
	return ""
}

// Meetings returns the acts that brought minutes and stand, stage by stage, and the denial that ended it with some.
func (st *State) Meetings() (acts []*Act) {
	for _, act := range st.given(func(s *StageState) bool { return s.Minutes }) {
		if act.Meeting != nil {
			acts = append(acts, act)
		}
	}
	if st.Last != nil && st.Last.Kind == Deny && st.Last.Meeting != nil {
		acts = append(acts, st.Last)
	}
	return acts
}

// unrecorded returns how many stages still wait for their minutes.
func (st *State) unrecorded() (n int) {
	for i := range st.Stages {
		if s := &st.Stages[i]; s.Minutes && s.Owed > 0 && s.Recorded() == nil {
			n++
		}
	}
	return n
}

func (m *Meeting) bytes() int {
	return 100 + stored(append([]string{m.Held, m.Minutes, m.Reference}, m.Present...)...) + 3*len(m.Present)
}
