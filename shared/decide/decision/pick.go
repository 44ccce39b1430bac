package decision

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain/errorclass"
	"ringi/shared/slack/card"
)

// Pick puts another team's submission, whose text the person has read, in the place of the policy that waits. One that the next version's card
// could not show whole is nowhere offered: it is errorclass.ErrMalformedForm.
func Pick(team, content string) Act {
	return OfKind(task.CardPrompt, func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if !card.Stampable(content) {
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
	})
}
