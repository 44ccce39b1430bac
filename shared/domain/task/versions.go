package task

import "strings"

// Last reports whether the task ends if this policy or these steps are rejected.
func (a *Aggregate) Last(row Gated) bool {
	_, step := row.(*StepGate)
	return !step && a.Further(row) == 0
}

// MaySendBack reports whether the gate with this id is one of versions, which alone can be sent back, and whether it is
// the last one.
func (a *Aggregate) MaySendBack(id string) (may, last bool) {
	row, may := a.gateOf(id).(*Process)
	return may, may && a.Last(row)
}

// Further returns how many more versions may be made after this policy or these steps, if each follows the reason for
// which the one before it was rejected. It is 0 for a step's gate.
func (a *Aggregate) Further(row Gated) int {
	most := row.gate().Terms.MaxVersions
	switch row := row.(type) {
	case *Prompt:
		return further(a.Prompts, row.Version, most)
	case *Process:
		return further(a.Processes, row.Version, most)
	}
	return 0
}

// further returns how many versions may still be generated after this one: as many as most allows of those that count,
// and twice as many in all.
func further[R Gated](rows []R, version, most int) int {
	counted, all := generated(rows, version)
	return max(0, min(most-counted, 2*most-all))
}

// generated counts the versions up to this one that people did not pick. Of those, a version that follows none of the
// reasons for which the one before it was rejected does not count, nor does one that repeats another.
func generated[R Gated](rows []R, version int) (counted, all int) {
	var last Gated // the newest that counts, or was picked
	for _, r := range rows {
		if r.Asks().Version > version {
			continue
		}
		switch p := Gated(r).(type) {
		case *Prompt:
			if p.Author != "" || p.Repeats > 0 {
				last = r
				continue
			}
		case *Process:
			if p.Repeats > 0 {
				last = r
				continue
			}
		}
		if all++; last == nil || !unchanged(last, r) {
			counted, last = counted+1, r
		}
	}
	return counted, all
}

// unchanged reports whether a version says that it follows no reason: a policy by a line before the text of the other
// version, a process by remarks on the same steps.
func unchanged(was, is Gated) bool {
	switch is := is.(type) {
	case *Prompt:
		_, rest, ok := strings.Cut(is.Content, "\n")
		before, same := was.(*Prompt)
		return ok && same && rest != "" && rest == before.Content
	case *Process:
		return is.Remarks != "" && is.hash() == was.hash()
	}
	return false
}
