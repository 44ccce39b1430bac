package contest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// contestSentPage lists the calls of models of one team in a contest.
type contestSentPage struct {
	Back, Team string
	Calls      []contestCall
	Left       int // older ones
}

// contestCall is what one call of a model came to.
type contestCall struct {
	At           time.Time
	Round, Agent string
	Model, Cost  string
	Path         string // of what was sent; empty where it was not kept
	Failed       bool
}

// workOf is a team of the contest that an address names, by its hash, for administrators.
func (c *Pages) workOf(r *http.Request, v *web.Viewer) (*contest.Work, error) {
	_, works, err := c.contestOf(r, v)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(
		works, func(w *contest.Work) bool { return contest.TeamHash(w.Team.TeamID) == r.PathValue("team") },
	)
	if i < 0 {
		return nil, fmt.Errorf("a team of the contest: %w", aggregate.ErrNotFound)
	}
	return works[i], nil
}

// sentPath is where what models were sent of a team is listed.
func sentPath(execution, team string) string {
	return contestPath(execution) + "/sent/" + contest.TeamHash(team)
}

// listContestSent lists a team's calls of models, the newest first, for administrators.
func (c *Pages) listContestSent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	work, err := c.workOf(r, v)
	if err != nil {
		return err
	}
	words, k := v.Texts("sent"), work.Team
	p := contestSentPage{Back: contestPath(k.ExecutionID), Team: card.OneLine(cmp.Or(k.TeamName, k.TeamID))}
	p.Left = max(0, len(work.Uses)-web.MostCalls)
	uses := slices.Clone(work.Uses)
	slices.SortStableFunc(uses, func(x, y *aggregate.Use) int { return y.CreatedAt.Compare(x.CreatedAt) })
	for _, u := range uses[:min(len(uses), web.MostCalls)] {
		call := callOf(words, u)
		if web.WasKept(u) {
			call.Path = sentPath(k.ExecutionID, k.TeamID) + "/" + u.ID
		}
		p.Calls = append(p.Calls, call)
	}
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "contests", Data: p}, "contest-sent.html")
}

// callOf reads from an answer's name whose answer it is: 02/leader/1 is the first answer of the leader in round 2, and
// 02/leader/1/3/2 the second answer of the member that the leader then called third. The name of a call that failed on
// its way ends in failed-1.
func callOf(t web.Texts, u *aggregate.Use) contestCall {
	parts := strings.Split(strings.TrimPrefix(u.Made, contest.TurnsList), "/")
	call := contestCall{
		At: u.CreatedAt, Round: strings.TrimLeft(parts[0], "0"), Model: legible.OneLine(u.Model), Cost: u.Cost.String(),
	}
	if last := len(parts) - 1; strings.HasPrefix(parts[last], "failed-") {
		call.Failed, parts = true, parts[:last]
	}
	if len(parts) < 2 {
		return call
	}
	agent := parts[1]
	if agent == contest.Leader && len(parts) > 3 {
		agent = "member"
	}
	call.Agent = cmp.Or(t.In("agents", agent), card.OneLine(agent))
	return call
}

// showContestSent shows what a model was sent by one call, to administrators.
func (c *Pages) showContestSent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	work, err := c.workOf(r, v)
	if err != nil {
		return err
	}
	k := work.Team
	of, back := contest.Ref(v.Tenant, k.ExecutionID), sentPath(k.ExecutionID, k.TeamID)
	return c.ShowKept(w, r, v, of, work.Uses, back, "contest")
}
