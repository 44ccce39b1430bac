package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

type contestPage struct {
	Is                    *contest.Contest
	Path, Live            string
	Status, Badge, Prompt string
	Broken                string // why the contest failed
	Task                  string // address of the request that the contest is for
	Took, Time, Cost      string
	Draft                 *draftView // the best one, or that of the address; nil: none is scored
	Teams                 []teamRow  // by rank
	Scored                int        // rounds
	Over                  bool
	Ending                bool // the contest was cancelled; teams are still stopping
}

// draftView is a complete submission, with what the members did for it if it was asked for.
type draftView struct {
	Key, Team, Score, Text string
	Round                  int
	Gone                   bool // its retention is over
	Best                   bool
	To                     string // address where it is decided on
	Chosen                 bool
	Members                []memberRow
}

// memberRow is one piece of work that the leader gave a member.
type memberRow struct {
	contest.MemberSubmission
	Text string
}

type teamRow struct {
	ID, Name, Status, Badge, Best, Why string
	Sent                               string // address of what models were sent; empty for members
	Course                             string // scores by round
	Rounds, Most                       int
	Played                             []roundRow
	best                               float64
}

type roundRow struct {
	*contest.Round
	Key, Score, Took string
	Best             bool
	Metrics          web.Table
}

// opened is a contest with its teams that have begun.
type opened struct {
	*contest.Aggregate
	works []*contest.Work
}

// contestOf returns the contest in the address. Administrators may see it, and people who can read its task.
func (c *Pages) contestOf(r *http.Request, v *web.Viewer) (o opened, err error) {
	id := r.PathValue("id")
	if !contest.ValidID(id) {
		return o, fmt.Errorf("a contest's id: %w", web.ErrNoID)
	}
	if o.Aggregate, err = c.Contests.Load(r.Context(), contest.Ref(v.Tenant, id)); err != nil {
		return o, err
	}
	if o.Contest == nil {
		return o, aggregate.ErrConflict // a torn read
	}
	if !v.Admin {
		of, err := c.Store.Load(r.Context(), task.RefOf(v.Tenant, o.Contest.ForID))
		if err == nil {
			_, err = c.Readable(r.Context(), v, of)
		}
		if err != nil {
			return o, err
		}
	}
	for _, t := range o.Contest.Teams {
		w, err := c.Contests.Teams.Load(r.Context(), contest.TeamRef(v.Tenant, id, t.TeamID))
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
		case err != nil:
			return o, err
		case w.Team == nil:
			return o, aggregate.ErrConflict // a torn read
		default:
			o.works = append(o.works, w)
		}
	}
	return o, nil
}

func (c *Pages) showContest(w http.ResponseWriter, r *http.Request, v *web.Viewer, a opened) error {
	words, k, ask := contestTexts{v.Texts("contests")}, a.Contest, r.URL.Query().Get("draft")
	p := contestPage{Is: k, Path: contestPath(k.ExecutionID), Task: taskPath(k), Over: k.SettledAt != nil,
		Time: words.Say("seconds", "n", min(k.TeamTimeoutSeconds, int(k.DeadlineAt.Sub(k.CreatedAt).Seconds()))),
		Cost: spent(k, a.works, v.Locale), Broken: words.broken(a.Aggregate)}
	if v.Admin { // a request's prompt names the bounds of tools, which only administrators may see
		p.Prompt = card.Prose(k.UserPrompt)
	}
	p.Status, p.Badge = words.stands(k, k.Outcome)
	p.Ending = k.Status == contest.Cancelled && !p.Over
	if p.Over {
		p.Took = words.length(k.SettledAt.Sub(k.CreatedAt).Seconds())
	} else {
		p.Live = web.At(p.Path, map[string]string{"draft": ask})
	}
	var board []*contest.Board
	for _, x := range a.works {
		t := words.team(x)
		if v.Admin && len(x.Uses) > 0 {
			t.Sent = contestPath(k.ExecutionID) + "/sent/" + contest.TeamHash(x.Team.TeamID)
		}
		p.Teams, board = append(p.Teams, t), append(board, x.Board...)
	}
	slices.SortStableFunc(p.Teams, func(a, b teamRow) int { return cmp.Compare(b.best, a.best) })
	slices.SortFunc(board, contest.ByRank)
	if p.Scored = len(board); p.Scored > 0 || ask != "" {
		best := ""
		if p.Scored > 0 {
			best = draftKey(board[0].TeamID, board[0].RoundNumber)
		}
		var err error
		if p.Draft, err = c.draft(r.Context(), v, a.works, cmp.Or(ask, best), best, ask != ""); err != nil {
			return err
		}
		p.Draft.to(&p, board)
	}
	return c.Show(w, r, v, web.Document{Title: words.asked(k), Here: "contests", Data: p}, "contest")
}

// to leads to where the draft is decided on: the request's page, or that of another team's best draft.
func (d *draftView) to(p *contestPage, board []*contest.Board) {
	if d.To = p.Task; d.Best {
		return
	}
	d.To = ""
	for _, b := range board {
		if b.IsBest && p.Over && draftKey(b.TeamID, b.RoundNumber) == d.Key {
			d.To = p.Task + "/drafts/" + p.Is.ExecutionID + "/" + contest.TeamHash(b.TeamID)
		}
	}
}

// draft returns the submission with this key, or aggregate.ErrNotFound; asked adds what the members did for it.
func (c *Pages) draft(ctx context.Context, v *web.Viewer, works []*contest.Work, key, best string, asked bool) (
	*draftView, error) {
	for _, w := range works {
		for _, x := range w.Rounds {
			if draftKey(x.TeamID, x.RoundNumber) != key {
				continue
			}
			d := &draftView{Key: key, Team: legible.ForeignLine(x.TeamName), Round: x.RoundNumber,
				Score: shownScore(x.EvaluationScore), Best: key == best, Chosen: asked}
			text, err := c.Contests.Content(ctx, w.Head.TenantID, x)
			if d.Gone = errors.Is(err, large.ErrExpired); err != nil && !d.Gone {
				return nil, err
			}
			if d.Text = card.Prose(text); asked {
				err = c.members(ctx, v, x, d)
			} else {
				err = nil
			}
			return d, err
		}
	}
	return nil, fmt.Errorf("a round's key: %w", aggregate.ErrNotFound)
}

// members adds what the members of a team did for a round.
func (c *Pages) members(ctx context.Context, v *web.Viewer, x *contest.Round, d *draftView) error {
	record, _, err := c.Contests.LoadRoundHistory(ctx, v.Tenant, x.ExecutionID, x.TeamID, x.RoundNumber)
	if err != nil && !errors.Is(err, large.ErrExpired) {
		return err
	}
	if record == nil {
		return nil
	}
	d.Members = web.Each(record.Submissions, func(s contest.MemberSubmission) memberRow {
		return memberRow{s, told(s.Content)}
	})
	return nil
}

// mostTold is how many characters the page shows of a text of a member or an evaluator: a Lambda function's answer is
// limited to 6 MB after escaping, and a contest may have hundreds.
const mostTold = 1500

func told(text string) string { return legible.Beginning(card.Prose(text), mostTold) }

// broken says why a contest ended if its runs died, else "".
func (t contestTexts) broken(a *contest.Aggregate) string {
	switch k := a.Contest; {
	case k.Status != contest.Abandoned:
		return ""
	case a.Summary == nil && k.SettledAt != nil:
		return t.Say("broken_for_good")
	}
	return t.Say("broken")
}

// spent says what all calls so far cost.
func spent(k *contest.Contest, works []*contest.Work, locale string) string {
	cost, unpriced := k.Usage.Cost, k.Usage.Unpriced
	if k.Usage.ID == "" { // it is not summed up
		for _, w := range works {
			used := w.Used()
			cost, unpriced = cost+used.Cost, unpriced+used.Unpriced
		}
	}
	return web.Spent(locale, cost, unpriced)
}

func (t contestTexts) team(w *contest.Work) teamRow {
	k := w.Team
	row := teamRow{ID: legible.OneLine(k.TeamID), Name: legible.ForeignLine(cmp.Or(k.TeamName, k.TeamID)),
		Status: t.In("team_statuses", k.Status), Rounds: k.Rounds, Most: k.MaxRounds, Badge: web.Badge(string(k.Status))}
	if k.BestScore != nil {
		row.Best, row.best = shownScore(*k.BestScore), *k.BestScore
	}
	if k.Status != contest.TeamRunning {
		row.Why = explain.TeamEnd{Failed: k.Status == contest.TeamFailed, Exit: k.ExitReason, Reason: k.Reason,
			Detail: k.Detail}.In(t.Locale())
	}
	for _, x := range w.Rounds {
		row.Played = append(row.Played, t.round(k, x))
	}
	row.Course = web.Joined(row.Played, func(x roundRow) string { return x.Score }, " → ")
	return row
}

func (t contestTexts) round(k *contest.Team, x *contest.Round) roundRow {
	row := roundRow{Round: x, Key: draftKey(x.TeamID, x.RoundNumber), Score: shownScore(x.EvaluationScore),
		Best: k.BestRound == x.RoundNumber, Took: t.length(x.ExecutionTimeSeconds)}
	row.Metrics.Columns = t.Columns("metric", "#score", "comment")
	for _, m := range x.Metrics {
		row.Metrics.Rows = append(row.Metrics.Rows,
			[]string{legible.ForeignLine(contest.MetricName(m.MetricName, t.Locale())),
				strconv.FormatFloat(m.Score, 'f', 2, 64), told(m.EvaluatorComment)})
	}
	return row
}

func (t contestTexts) length(seconds float64) string {
	return explain.Length(t.Locale(), time.Duration(seconds*float64(time.Second)))
}

// sendSent sends administrators what models were sent for the team whose hash the address has.
func (c *Pages) sendSent(w http.ResponseWriter, r *http.Request, v *web.Viewer, a opened) error {
	for _, work := range a.works {
		if contest.TeamHash(work.Team.TeamID) == r.PathValue("team") {
			return c.SendSent(w, r, a.Ref(), work.Uses)
		}
	}
	return fmt.Errorf("a team of the contest: %w", aggregate.ErrNotFound)
}
