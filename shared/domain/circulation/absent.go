package circulation

import (
	"slices"
	"strings"
)

// Absent are those in whose place somebody is asked. Nobody is named where none of them may stamp for another reason.
type Absent struct {
	Away      []string // accounts of who is away for some days
	OnLeave   []string // of who is on leave or seconded; "" is somebody without one
	Vacant    bool     // nobody is found
	Over      bool     // who stands above is asked, which no order says
	Elsewhere bool     // nobody is found, since no department of the requester's has such a post
}

// How it is said within how somebody was found.
const (
	insteadOf     = "instead of "
	aboveOf       = "above "
	partLeave     = "leave "
	partVacant    = "vacant"
	partElsewhere = "elsewhere"
)

// Via says how somebody was found in their place.
func (of Absent) Via(how string) string {
	parts := slices.Clone(of.Away)
	for _, user := range of.OnLeave {
		parts = append(parts, partLeave+user)
	}
	if of.Vacant {
		parts = append(parts, partVacant)
	}
	if of.Elsewhere {
		parts = append(parts, partElsewhere)
	}
	if of.Over {
		return aboveOf + strings.Join(parts, ",") + ": " + how
	}
	return insteadOf + strings.Join(parts, ",") + ": " + how
}

// InsteadOf reads how somebody was found: in whose place, and how else; false: not in another's.
func InsteadOf(p Person) (of Absent, how string, is bool) {
	rest, is := strings.CutPrefix(p.Via, insteadOf)
	if !is {
		rest, is = strings.CutPrefix(p.Via, aboveOf)
		of.Over = is
	}
	parts, how, found := strings.Cut(rest, ": ")
	if !is || !found {
		return Absent{}, p.Via, false
	}
	for part := range strings.SplitSeq(parts, ",") {
		user, leave := strings.CutPrefix(part, partLeave)
		switch {
		case leave:
			of.OnLeave = append(of.OnLeave, user)
		case part == partVacant:
			of.Vacant = true
		case part == partElsewhere:
			of.Elsewhere = true
		case part != "":
			of.Away = append(of.Away, part)
		}
	}
	return of, how, true
}
