package task

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// PickDraft replaces the waiting policy by another team's submission. It rejects the shown version with this reason and
// opens the next one under the same terms, with a new time limit. The person who picks becomes its author and may not
// approve it unless self-approval is allowed; if nobody else could approve it either, PickDraft returns ErrNotAllowed.
// The new version does not count towards max_versions. It returns ErrNotFound for a team without a submission in this
// contest, and otherwise the same errors as Approve, except that people may pick for their own request.
func (a *Aggregate) PickDraft(id, team, content, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	old, ok := row.(*Prompt)
	if !ok {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if reason, err = aggregate.CheckReason(reason); err != nil {
		return aggregate.Change{}, err
	}
	if err := a.mustWait(old); err != nil {
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
	act, err := p.Act(&old.Gate, old.Gate.Acting(circulation.SendBack, by, reason), by, c.Now)
	g, refused := old.Gate.Acted(act)
	if err := cmp.Or(err, refused); err != nil {
		return aggregate.Change{}, err
	}
	c.moveGate(old, aggregate.Rejected, func(n Gated) { *n.gate() = g })
	n := a.picked(c, old, entry, content, by)
	c.card(a, CardPrompt, n.Key())
	c.audit(by, AuditPromptRejected, "prompt", old.ID, g.ActDetails(map[string]any{"version": old.Version,
		"picked": team}))
	c.audit(by, AuditPromptPicked, "prompt", n.ID, entry.details(map[string]any{"version": n.Version, "hash": entry.Hash}))
	return c.done()
}

// StatusPicked is the status in ErrDecided of a version that was replaced by another team's draft.
const StatusPicked = "picked"

// Replaced reports whether a person replaced this version by another team's draft.
func (a *Aggregate) Replaced(p *Prompt) bool {
	i := slices.Index(a.Prompts, p) + 1
	return i > 0 && i < len(a.Prompts) && a.Prompts[i].Author != ""
}

// replaced returns err with StatusPicked if the gate's version was replaced by another draft.
func (a *Aggregate) replaced(g *aggregate.Gate, err error) error {
	decided, ok := errors.AsType[aggregate.ErrDecided](err)
	for _, p := range a.Prompts {
		if ok && &p.Gate == g && a.Replaced(p) {
			return aggregate.ErrDecided{Status: StatusPicked, By: decided.By, At: decided.At}
		}
	}
	return err
}

// maxPicked limits the versions of a policy including picked ones, because all of them are read with the task.
const maxPicked = 100

// picked opens the version with which a person replaces old.
func (a *Aggregate) picked(c *change, old *Prompt, e *Entry, content string, by aggregate.Actor) *Prompt {
	n := &Prompt{
		TaskID: old.TaskID, Version: old.Version + 1, Content: content, Author: by.ID, Contest: old.Contest, Entry: e,
		CostLimit: old.CostLimit, CreatedAt: c.Now,
		Gate: aggregate.Gate{Status: aggregate.Generating, Terms: old.Terms},
	}
	n.ID = a.rowID(n.Key(), c.Now)
	return a.along(c, n, aggregate.BySettings(true, a.Head.Requester, by.ID), nil).(*Prompt)
}

// details adds the submission's team and score to an audit entry's details.
func (e *Entry) details(to map[string]any) map[string]any {
	if e != nil {
		to["team"], to["score"] = e.TeamName, e.Score
	}
	return to
}
