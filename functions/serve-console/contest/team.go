package contest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
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

// sendSent sends administrators what models were sent for a team.
func (c *Pages) sendSent(w http.ResponseWriter, r *http.Request, v *web.Viewer, work *contest.Work) error {
	return c.SendSent(w, r, contest.Ref(v.Tenant, work.Team.ExecutionID), work.Uses)
}
