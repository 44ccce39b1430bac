package contest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/contest"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

type teamRow struct {
	ID, Name, Status, Badge, Best, Why string
	Unjudged                           string // that the judge gave no judgment of some rounds
	Sent                               string // address of the list of prompts sent to models; empty for members
	Rounds, Most                       int
	Ends                               time.Time
	Played                             []roundRow
}

type roundRow struct {
	Key, Team, Score, Took string
	Number                 int
	Best                   bool
	At                     time.Time
	Metrics                []metricRow
	Judge, Reasoning, Sure string
	Tokens                 int64
}

type metricRow struct{ Name, Score, Comment string }

// memberRow is one piece of work that the leader gave a member.
type memberRow struct {
	Name, Kind, Text, Error, Took string
	Calls                         string   // tools called, with counts; without arguments
	Queries                       []string // of searches of the web; nil for others than administrators
	Failed                        bool
	Tokens                        int64
}

// fillTeams adds the teams and their rounds, sorted by rank.
func (p *contestPage) fillTeams(works []*contest.Work, words contestTexts, locale string) {
	var board []*contest.Board
	for _, w := range works {
		p.Teams = append(p.Teams, words.team(w, locale))
		board = append(board, w.Board...)
	}
	slices.SortFunc(board, contest.ByRank)
	for i, b := range board {
		row := boardRowOf(i+1, b, locale)
		p.Board = append(p.Board, row)
		p.Drafts = append(p.Drafts, web.Choice{Value: row.Key, Text: fmt.Sprintf(
			"%s · %s %d · %s", row.Team, words.Say("round"), row.Round, row.Score,
		)})
	}
}

func (t contestTexts) team(w *contest.Work, locale string) teamRow {
	k := w.Team
	row := teamRow{
		ID: legible.OneLine(k.TeamID), Name: card.OneLine(cmp.Or(k.TeamName, k.TeamID)),
		Status: t.In("team_statuses", k.Status), Rounds: k.Rounds, Most: k.MaxRounds, Ends: k.DeadlineAt,
		Badge: map[contest.TeamStatus]string{contest.TeamRunning: "badge-calm", contest.TeamEnded: "badge-good", contest.TeamFailed: "badge-bad"}[k.Status],
	}
	if k.BestScore != nil {
		row.Best = shownScore(*k.BestScore)
	}
	if k.Status != contest.TeamRunning {
		row.Why = card.TeamEnd{Failed: k.Status == contest.TeamFailed, Exit: k.ExitReason, Reason: k.Reason, Detail: k.Detail}.In(locale)
	}
	if u := w.Unjudged(); u.Rounds > 0 {
		row.Unjudged = t.Say("unjudged_rounds", "n", u.Rounds)
	}
	for _, x := range w.Rounds {
		row.Played = append(row.Played, t.round(k, x))
	}
	return row
}

func (t contestTexts) round(k *contest.Team, x *contest.Round) roundRow {
	row := roundRow{
		Key: draftKey(x.TeamID, x.RoundNumber), Team: card.OneLine(x.TeamName), Number: x.RoundNumber,
		Score: shownScore(x.EvaluationScore), Best: k.BestRound == x.RoundNumber,
		Took: t.length(x.ExecutionTimeSeconds), At: x.CompletedAt, Tokens: x.Usage.InputTokens + x.Usage.OutputTokens,
	}
	for _, m := range x.Metrics {
		row.Metrics = append(row.Metrics, metricRow{
			card.OneLine(contest.MetricName(m.MetricName, t.Locale())), strconv.FormatFloat(m.Score, 'f', 2, 64),
			card.Prose(m.EvaluatorComment),
		})
	}
	if j := x.Judgment; j != nil {
		row.Judge, row.Reasoning, row.Sure = t.Say("stops"), card.Prose(j.Reasoning), strconv.FormatFloat(
			j.ConfidenceScore, 'f', 2, 64,
		)
		if j.ShouldContinue {
			row.Judge = t.Say("goes_on")
		}
	}
	if x.JudgeFailed != "" {
		row.Judge, row.Reasoning = t.Say("unjudged"), card.Prose(x.JudgeFailed)
	}
	return row
}

// calls lists the tools that a member called, in the order of the first calls, with counts.
func (t contestTexts) calls(messages []contest.ModelMessage) string {
	var names, shown []string
	times := map[string]int{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.PartKind != contest.ToolCall {
				continue
			}
			name := card.OneLine(p.ToolName)
			if times[name]++; times[name] == 1 {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		shown = append(shown, t.Say("times", "tool", name, "n", times[name]))
	}
	return strings.Join(shown, t.Say("and"))
}

// length formats a duration.
func (t contestTexts) length(seconds float64) string {
	return web.Length(t.Locale(), time.Duration(seconds*float64(time.Second)))
}
