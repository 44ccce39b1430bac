package decide

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain/errorclass"
	"ringi/shared/slack/card"
)

// Pick puts another team's submission, whose text the person has read, in the place of the policy that waits. One that
// the next version's card could not show whole is nowhere offered: it is errorclass.ErrMalformedForm. unread is why the
// text could not be read, nil where it was.
func Pick(team, content string, unread error) Act {
	return Gate(task.CardPrompt, on(func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		switch {
		case unread != nil:
			return aggregate.Change{}, unread
		case !card.Stampable(content):
			return aggregate.Change{}, errorclass.ErrMalformedForm
		}
		name := team
		for _, row := range a.Prompts {
			if e := row.Contest.Entry(team); row.ID == id && e != nil {
				name = e.TeamName
			}
		}
		terms, _ := a.TermsOf(id)
		return a.PickDraft(id, team, content, card.PickReason(terms.Locale, name), by, p, now)
	}))
}

// MayPick checks whether the person may put another draft in the place of the policy that waits: who may send it back
// may, if somebody is left who may approve theirs. It is never committed.
func MayPick() Act {
	return Gate(task.CardPrompt, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		change, err := MayReject(a, id, by, p, now)
		if err == nil {
			err = p.Author(by, a.Root().Common().Requester)
		}
		return change, err
	})
}
