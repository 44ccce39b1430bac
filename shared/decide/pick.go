package decide

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
)

// Pick replaces the waiting policy by another team's submission, which the person has read. If the next card could not
// show all of its text it returns errorclass.ErrMalformedForm: no card offers such a submission. unread is the error of
// reading the text, if any.
func Pick(team, content string, unread error) Act {
	return Gate(task.CardPrompt, on(func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		switch {
		case unread != nil:
			return aggregate.Change{}, unread
		case !card.Stampable(content):
			return aggregate.Change{}, explain.ErrMalformedForm
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

// TakeBest ends the contest that drafts a policy with its best draft so far, if there is one.
func TakeBest(scored bool) Act {
	return on(func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		return a.TakeBest(id, scored, by, p, now)
	})
}

// MayPick checks whether the person may replace the waiting policy: they must be allowed to reject it, and somebody
// must remain who may approve theirs. Its change is never committed.
func MayPick() Act {
	return Gate(task.CardPrompt, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		change, err := MayReject(a, id, by, p, now)
		if err == nil {
			err = p.Author(by, a.Root().Common().Requester)
		}
		return change, err
	})
}
