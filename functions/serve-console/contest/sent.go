package contest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

type contestSentPage struct {
	Back, Team string
	Calls      []contestCall
	Left       int // older ones
}

// contestCall is the usage of one model call.
type contestCall struct {
	At           time.Time
	Round, Agent string
	Model, Cost  string
	Path         string // address of the prompt; empty if it was not stored
	Failed       bool
	CutOff       bool // and asked for again
	Estimated    bool // its tokens, and with them its cost
	Searched     string
}

// workOf returns the contest's team whose hash the address has. Only administrators may see it.
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

// sentPath returns the address of a team's list of model calls.
func sentPath(execution, team string) string {
	return contestPath(execution) + "/sent/" + contest.TeamHash(team)
}

// listContestSent lists a team's model calls for administrators, newest first.
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

// callOf says whose call it was. 02/leader/1 is the leader's first answer in round 2; 02/leader/1/3/2 is the second
// answer of the member that the leader called third in that answer. A call whose answer never arrived ends in failed-1,
// one whose answer was cut off and asked for again in cut-off.
func callOf(t web.Texts, u *aggregate.Use) contestCall {
	parts := strings.Split(strings.TrimPrefix(u.Made, contest.TurnsList), "/")
	call := contestCall{
		At: u.CreatedAt, Round: strings.TrimLeft(parts[0], "0"), Model: legible.OneLine(u.Model), Cost: web.Spent(t.Locale(), u.Cost, u.Unpriced),
		Estimated: u.Estimated > 0,
		Searched:  searchedBy(t, u),
	}
	if last := len(parts) - 1; strings.HasPrefix(parts[last], "failed-") {
		call.Failed, parts = true, parts[:last]
	}
	if last := len(parts) - 1; parts[last] == contest.CutOff {
		call.CutOff, parts = true, parts[:last]
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

// showContestSent shows administrators the prompt of one call.
func (c *Pages) showContestSent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	work, err := c.workOf(r, v)
	if err != nil {
		return err
	}
	if !aggregate.ValidID(r.PathValue("use")) {
		return aggregate.ErrNotFound
	}
	k := work.Team
	of, back := contest.Ref(v.Tenant, k.ExecutionID), sentPath(k.ExecutionID, k.TeamID)
	kept := store.Kept{Store: c.Contests, Team: work.Ref(), Execution: k.ExecutionID}
	return c.ShowKept(w, r, v, of, work.Uses, back, "contest", func(u *aggregate.Use) (string, error) {
		text, _, err := kept.Turn(r.Context(), strings.TrimPrefix(u.Made, contest.TurnsList))
		return answered(text), err
	})
}

// answered returns what a model answered, as its turn was kept: its text, and what it called.
func answered(turn []byte) string {
	var t struct {
		Text  string
		Calls []struct {
			Name  string
			Input json.RawMessage
		}
	}
	if json.Unmarshal(turn, &t) != nil {
		return ""
	}
	parts := []string{t.Text}
	for _, call := range t.Calls {
		parts = append(parts, call.Name+" "+legible.MaskJSON(string(call.Input)))
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}
