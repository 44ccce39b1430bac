package card

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// because says why a version follows the one before: its request was edited, or an earlier one was sent back, or both.
// at returns the gates of its kind, and i is its own.
func (d drawing) because(was *task.Request, i int, at func(int) *aggregate.Gate) (why string) {
	if was != nil {
		why = " (" + Edited(d.a, d.w.Locale, was, d.w.mention, quoted) + ")"
	}
	for i--; i >= 0 && at(i).Status == aggregate.Cancelled; i-- { // closed for an edit
	}
	if i < 0 || at(i).Status != aggregate.Rejected || at(i).RejectedBy == "" {
		return why
	}
	g := at(i)
	return why + fill(d.w.SentBackFor, "who", d.w.mention(g.RejectedBy), "reason", inline(g.RejectionReason, maxDetail/2))
}

// since says what steps do otherwise than those before, and why.
func (d drawing) since(at int) string {
	const most = 5
	was, is := d.a.Processes[at-1], d.a.Processes[at]
	var all []string
	left, used := 0, 0
	changes := explain.Between(d.w.Locale, was.Steps, is.Steps)
	for i, c := range changes {
		text := d.w.ChangedTo
		switch {
		case c.Was == nil:
			text = d.w.ChangedNew
		case c.Is == nil:
			text = d.w.ChangedGone
		}
		line := fill(text, "name", d.line(c.Name), "was", d.line(c.Was), "is", strong(d.line(c.Is)))
		last := i == len(changes)-1 // what all steps move, if that changed
		if n := units(line); n > maxInlineCode || !last && (len(all) == most-1 || used+n > maxInlineCode) {
			left++
			continue
		}
		all, used = append(all, line), used+units(line)
	}
	if left > 0 {
		all = append(all, fill(d.w.MoreSteps, "n", left))
	}
	why := d.because(d.a.EditedFrom(is), at, func(i int) *aggregate.Gate { return &d.a.Processes[i].Gate })
	if len(changes) == 0 && why == "" {
		return ""
	}
	return d.sinceWith(was.Version, len(changes) == 0, ": "+strings.Join(all, " · "), why)
}

func (d drawing) sinceWith(version int, nothing bool, changes, why string) string {
	text := d.w.Since
	if nothing {
		text = d.w.SinceNothing
	}
	return fill(text, "version", version, "changes", changes) + why
}
