package task

import (
	"errors"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// PickDraft puts another team's submission in the place of the policy that waits: the version that was shown is
// rejected, for reason, and the next one waits in its stead, under the same terms and from now on. Who picks is its
// author, and counts as who asked for it where it is approved; where nobody could approve theirs it returns
// ErrNotAllowed. It does not count towards max_versions. It returns what Approve does, but that it may be one's own
// request; ErrNotFound for a submission that this version's contest does not have.
func (a *Aggregate) PickDraft(id, team, content, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	old, ok := row.(*Prompt)
	if !ok {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if reason, err = CheckReason(reason); err != nil {
		return aggregate.Change{}, err
	}
	if err := a.mustBeOpen(&old.Gate); err != nil {
		return aggregate.Change{}, err
	}
	if err := p.Author(by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	entry := old.Contest.Entry(team)
	if entry == nil || old.Entry == nil || entry.TeamID == old.Entry.TeamID || entry.Hash != aggregate.HashOf(content) {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if len(a.Prompts) >= maxPicked {
		return aggregate.Change{}, aggregate.ErrField{Field: "version", Limit: "there are as many versions as a task may have"}
	}
	c := a.begin(now)
	c.progress()
	c.moveGate(old, aggregate.Rejected, func(n Gated) { n.gate().Reject(by, reason, c.Now) })
	n := a.picked(old, entry, content, by, c.Now)
	c.Put(n)
	c.card(a, CardPrompt, n.Key())
	c.audit(by, AuditPromptRejected, "prompt", old.ID, decided(old, map[string]any{"version": old.Version, "reason": reason, "picked": team}))
	c.audit(by, AuditPromptPicked, "prompt", n.ID, entry.details(map[string]any{"version": n.Version, "hash": entry.Hash}))
	return c.done()
}

// StatusPicked is how a version stands, for whoever decides on it too late, that gave way to another team's draft.
const StatusPicked = "picked"

// Replaced reports whether the version gave way to another team's draft, which a person picked.
func (a *Aggregate) Replaced(p *Prompt) bool {
	i := slices.Index(a.Prompts, p) + 1
	return i > 0 && i < len(a.Prompts) && a.Prompts[i].Author != ""
}

// replaced is err, of a gate that was decided, with StatusPicked where another draft took its place.
func (a *Aggregate) replaced(g *aggregate.Gate, err error) error {
	decided, ok := errors.AsType[aggregate.ErrDecided](err)
	for _, p := range a.Prompts {
		if ok && &p.Gate == g && a.Replaced(p) {
			return aggregate.ErrDecided{Status: StatusPicked, By: decided.By, At: decided.At}
		}
	}
	return err
}

// maxPicked bounds how many versions a policy has, however often another draft is picked: all are read with the task.
const maxPicked = 100

// picked is the version that a person puts in the place of old.
func (a *Aggregate) picked(old *Prompt, e *Entry, content string, by aggregate.Actor, at time.Time) *Prompt {
	n := &Prompt{
		TaskID: old.TaskID, Version: old.Version + 1, Content: content, Author: by.ID, Contest: old.Contest, Entry: e, CostLimit: old.CostLimit, CreatedAt: at,
		Gate: aggregate.Gate{Status: aggregate.PendingApproval, Terms: old.Terms},
	}
	n.ID = a.rowID(n.Key(), at)
	until := at.Add(time.Duration(old.Terms.ApprovalHours) * time.Hour)
	n.Terms.ApprovalRequired, n.Terms.DecideBy = true, &until
	return n
}

// details adds to an audit entry's whose submission it is about.
func (e *Entry) details(to map[string]any) map[string]any {
	if e != nil {
		to["team"], to["score"] = e.TeamName, e.Score
	}
	return to
}

// generated is how many of the versions up to this one were not picked by people: max_versions bounds those.
func generated[R Gated](rows []R, version int) (n int) {
	for _, r := range rows {
		p, ok := Gated(r).(*Prompt)
		if r.Asks().Version <= version && !(ok && p.Author != "") {
			n++
		}
	}
	return n
}
