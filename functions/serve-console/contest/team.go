package contest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

type teamRow struct {
	ID, Name, Status, Badge, Best, Why string
	Unjudged                           string // that the judge gave no judgment of some rounds
	Sent                               string // address of the list of prompts sent to models; empty for members
	Rounds, Most                       int
	Played                             []roundRow
	Course                             []bar
	best                               float64
}

// bar is a round's score, and how high it stands beside the others of its page.
type bar struct {
	Score      string
	X, Y, Tall int
	score      float64
}

// Sizes of bars, in pixels.
const (
	barApart = 11
	barLeast = 4
	barMost  = 18
	barRange = 0.1 // of scores, at the least: nearly equal ones look nearly equal
)

// scaled sets how high the bars of a page are.
func scaled[T any](rows []T, bars func(T) []bar) {
	least, most := 1.0, 0.0
	for _, row := range rows {
		for _, b := range bars(row) {
			least, most = min(least, b.score), max(most, b.score)
		}
	}
	least = min(least, most-barRange)
	for _, row := range rows {
		for i := range bars(row) {
			b := &bars(row)[i]
			b.Tall = barLeast + int(math.Round((barMost-barLeast)*(b.score-least)/(most-least)))
			b.X, b.Y = i*barApart, barMost-b.Tall
		}
	}
}

// Wide is how wide n bars stand.
func (bar) Wide(n int) int { return n * barApart }

func barOf(score float64) bar { return bar{Score: shownScore(score), score: score} }

type roundRow struct {
	*contest.Round
	Key, Score, Took       string
	Best                   bool
	Metrics                explain.Table
	Judge, Reasoning, Sure string
	Tokens                 int64
}

// fillTeams adds the teams and their rounds, sorted by rank.
func (p *contestPage) fillTeams(works []*contest.Work, words contestTexts, locale string) {
	var board []*contest.Board
	for _, w := range works {
		p.Teams = append(p.Teams, words.team(w, locale))
		board = append(board, w.Board...)
	}
	scaled(p.Teams, func(t teamRow) []bar { return t.Course })
	slices.SortFunc(board, contest.ByRank)
	for i, b := range board {
		p.Board = append(p.Board, boardRowOf(i+1, b))
	}
}

func (t contestTexts) team(w *contest.Work, locale string) teamRow {
	k := w.Team
	row := teamRow{ID: legible.OneLine(k.TeamID), Name: card.OneLine(cmp.Or(k.TeamName, k.TeamID)),
		Status: t.In("team_statuses", k.Status), Rounds: k.Rounds, Most: k.MaxRounds, Badge: web.Badge(string(k.Status))}
	if k.BestScore != nil {
		row.Best, row.best = shownScore(*k.BestScore), *k.BestScore
	}
	if k.Status != contest.TeamRunning {
		row.Why = card.TeamEnd{Failed: k.Status == contest.TeamFailed, Exit: k.ExitReason, Reason: k.Reason,
			Detail: k.Detail}.In(locale)
	}
	if u := w.Unjudged(); u.Rounds > 0 {
		row.Unjudged = t.Say("unjudged_rounds", "n", u.Rounds)
	}
	for _, x := range w.Rounds {
		row.Played = append(row.Played, t.round(k, x))
		row.Course = append(row.Course, barOf(x.EvaluationScore))
	}
	return row
}

func (t contestTexts) round(k *contest.Team, x *contest.Round) roundRow {
	row := roundRow{Round: x, Key: draftKey(x.TeamID, x.RoundNumber), Score: shownScore(x.EvaluationScore),
		Best: k.BestRound == x.RoundNumber, Took: t.length(x.ExecutionTimeSeconds),
		Tokens: x.Usage.InputTokens + x.Usage.OutputTokens}
	row.Metrics.Columns = t.Columns("metric", "#score", "comment")
	for _, m := range x.Metrics {
		row.Metrics.Rows = append(row.Metrics.Rows, []string{card.OneLine(contest.MetricName(m.MetricName, t.Locale())),
			strconv.FormatFloat(m.Score, 'f', 2, 64), card.Prose(m.EvaluatorComment)})
	}
	if j := x.Judgment; j != nil {
		row.Judge, row.Reasoning, row.Sure = t.Say("stops"), card.Prose(j.Reasoning), strconv.FormatFloat(j.ConfidenceScore,
			'f', 2, 64)
		if j.ShouldContinue {
			row.Judge = t.Say("goes_on")
		}
	}
	if x.JudgeFailed != "" {
		row.Judge, row.Reasoning = t.Say("unjudged"), card.Prose(x.JudgeFailed)
	}
	return row
}

func (t contestTexts) length(seconds float64) string {
	return explain.Length(t.Locale(), time.Duration(seconds*float64(time.Second)))
}

// searched says of each vendor how often it searched the web, and for which price, which the contest's cost includes;
// the links lead to the vendors' pages with the prices.
func (t contestTexts) searched(works []*contest.Work) (rows []web.Link) {
	times := map[string]int64{}
	for _, w := range works {
		for _, u := range w.Uses {
			if u.Searches > 0 {
				times[u.Provider] += u.Searches
			}
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(times)) {
		p, _ := tenancy.SearchPriceOf(provider)
		rows = append(rows, web.Link{Path: p.Page, Text: t.Say("searched", "provider", legible.OneLine(provider), "n",
			times[provider],
			"cost", costOf(provider, times[provider]), "thousand", p.Thousand.String(), "day", p.Read)})
	}
	return rows
}

// costOf is what so many searches cost.
func costOf(provider string, n int64) string {
	cost, _ := tenancy.SearchCost(provider, n) // whatever searched has a price
	return cost.String()
}

// workOf returns the contest's team whose hash the address has. Only administrators may see it.
func (c *Pages) workOf(r *http.Request, v *web.Viewer) (*contest.Work, error) {
	a, err := c.contestOf(r, v)
	for _, work := range a.works {
		if err == nil && contest.TeamHash(work.Team.TeamID) == r.PathValue("team") {
			return work, nil
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("a team of the contest: %w", aggregate.ErrNotFound))
}

func sentPath(execution, team string) string {
	return contestPath(execution) + "/sent/" + contest.TeamHash(team)
}

func (c *Pages) listContestSent(w http.ResponseWriter, r *http.Request, v *web.Viewer, work *contest.Work) error {
	words, k := v.Texts("sent"), work.Team
	team, path := card.OneLine(cmp.Or(k.TeamName, k.TeamID)), sentPath(k.ExecutionID, k.TeamID)
	return c.ListSent(w, r, v, work.Uses, "contest", contestPath(k.ExecutionID), path, team,
		func(u *aggregate.Use, x *web.Call) { callOf(words, u, x) })
}

// callOf says whose call it was. 02/leader/1 is the leader's first answer in round 2; 02/leader/1/3/2 is the second
// answer of the member that the leader called third in that answer. A call whose answer never arrived ends in failed-1,
// one whose answer was cut off and asked for again in cut-off.
func callOf(t web.Texts, u *aggregate.Use, call *web.Call) {
	parts := strings.Split(strings.TrimPrefix(u.Made, contest.TurnsList), "/")
	if call.Round = strings.TrimLeft(parts[0], "0"); u.Searches > 0 {
		call.Searched = t.Say("searched", "n", u.Searches, "cost", costOf(u.Provider, u.Searches))
	}
	if last := len(parts) - 1; strings.HasPrefix(parts[last], "failed-") {
		call.Failed, parts = true, parts[:last]
	}
	if last := len(parts) - 1; parts[last] == contest.CutOff {
		call.CutOff, parts = true, parts[:last]
	}
	if len(parts) < 2 {
		return
	}
	agent := parts[1]
	if agent == contest.Leader && len(parts) > 3 {
		agent = "member"
	}
	call.Agent = cmp.Or(t.In("agents", agent), card.OneLine(agent))
}

func (c *Pages) showContestSent(w http.ResponseWriter, r *http.Request, v *web.Viewer, work *contest.Work) error {
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
