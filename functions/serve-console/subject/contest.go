package subject

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

const (
	contestsPath = "/console/contests"
	// contestsOfPage is the number of contests on a page of the list.
	contestsOfPage = 50
	// mostOnBoard is the number of rounds that the leader board is made of, a row a team.
	mostOnBoard = 50
	// mostAsked is how many characters of a request's title lists and titles show.
	mostAsked = 60
)

type contestTexts struct{ web.Texts }

type contestsPage struct {
	web.List
	Rows  []contestRow
	Most  int // how many rounds the board is made of
	Team  string
	Name  string
	Board []boardRow
	Stats []web.Number // of the team
}

type contestRow struct {
	contest.Contest
	Path, Prompt, Status, Badge string
	Cost, Score, Took           string
}

// boardRow is a team's best round, or one of a team's.
type boardRow struct {
	Rank                        int
	Team, TeamPath, Path, Score string
	At                          time.Time
}

// contests lists contests, the newest first, above the board: of all teams, or of one with its statistics.
func (c *Pages) contests(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, cursor := contestTexts{v.Texts("contests")}, r.URL.Query().Get("cursor")
	page, err := c.Contests.Contests(r.Context(), v.Tenant, cursor, contestsOfPage)
	if err != nil {
		return err
	}
	p, hint := contestsPage{Most: mostOnBoard, Team: r.URL.Query().Get("team")}, words.Say("empty_about")
	p.Start = &web.View{Path: "/console/settings#s-draft-contest-enabled", Text: words.Say("open_settings")}
	if len(page.Items) == 0 {
		settings, err := c.Store.Settings(r.Context(), v.Tenant)
		if err != nil {
			return err
		} else if settings.DraftContest.Enabled {
			hint, p.Start = words.Say("empty_on"), nil
		}
	}
	p.Paged(cursor, page.Next, web.ByCursor(contestsPath))
	p.Rows, p.Hints = web.Each(page.Items, words.inList), []string{hint}
	if cursor == "" {
		if err := p.board(c, r, v); err != nil {
			return err
		}
	}
	return c.Show(w, r, v, web.Document{Here: "contests", Data: p}, "contest/list")
}

// board fills in the best rounds: of each team, or of the team in the address.
func (p *contestsPage) board(c *Pages, r *http.Request, v *web.Viewer) error {
	board, err := c.Contests.Board(r.Context(), v.Tenant, p.Team, "", mostOnBoard)
	if err != nil {
		return err
	}
	shown := map[string]bool{}
	for _, b := range board.Items {
		if p.Team == "" && shown[b.TeamID] {
			continue
		}
		shown[b.TeamID] = true
		p.Board = append(p.Board, boardRow{len(p.Board) + 1, language.ForeignLine(cmp.Or(b.TeamName, b.TeamID)),
			contestsPath + "?" + url.Values{"team": {b.TeamID}}.Encode(), contestPath(b.ExecutionID),
			shownScore(b.EvaluationScore), b.CreatedAt})
		p.Name = p.Board[0].Team
	}
	if p.Team == "" || len(p.Board) == 0 {
		return nil
	}
	words := v.Texts("contests")
	s, err := c.Contests.TeamStatistics(r.Context(), v.Tenant, p.Team)
	p.Stats = []web.Number{
		{Name: words.Say("total_rounds"), Text: strconv.Itoa(s.TotalRounds)},
		{Name: words.Say("average"), Text: shownScore(s.AvgScore)},
		{Name: words.Say("best_score"), Text: shownScore(s.BestScore)},
		{Name: words.Say("input"), Text: web.Count(int64(s.TotalInputTokens))},
		{Name: words.Say("output"), Text: web.Count(int64(s.TotalOutputTokens))},
	}
	return err
}

// asked returns a one-line title: that of the request whose policy the contest drafts.
func (t contestTexts) asked(k *contest.Contest) string {
	return cmp.Or(language.ForeignLine(language.Beginning(k.Title, mostAsked)), t.Say("for_task"))
}

func (t contestTexts) inList(k contest.Contest) contestRow {
	row := contestRow{Contest: k, Path: contestPath(k.ExecutionID), Prompt: t.asked(&k),
		Cost: web.Spent(t.Locale(), k.Usage.Cost, k.Usage.Unpriced)}
	row.Status, row.Badge = t.stands(&k)
	if k.BestScore != nil {
		row.Score = shownScore(*k.BestScore)
	}
	row.Took = t.took(&k)
	return row
}

func contestPath(execution string) string { return contestsPath + "/" + execution }

// stands returns the contest's status in words and its badge.
func (t contestTexts) stands(k *contest.Contest) (text, badge string) {
	key := string(k.Status)
	if k.Status == contest.Closed && k.Outcome != "" {
		key = string(k.Outcome)
	}
	return t.In("statuses", key), web.Badge(key)
}

// shownScore converts a score of 0 to 1 into percent.
func shownScore(score float64) string { return strconv.FormatFloat(score*100, 'f', 2, 64) }

// contestPage shows how a contest's teams came along. Their drafts are on the pages of the request.
type contestPage struct {
	Is                    *contest.Contest
	Live                  string
	Status, Badge, Prompt string
	Broken                string // why the contest failed
	Task                  string // address of the drafts on the page of the request that the contest is for
	Took, Time, Cost      string
	Teams                 []teamRow // by rank
	Scored                int       // rounds
	Told                  bool      // something is to be said of how teams stand
	Over                  bool
}

type teamRow struct {
	Rank                               int
	Path                               string // address of its draft; empty: there is none, or no more
	ID, Name, Status, Badge, Best, Why string
	Sent                               string // address of what models were sent; empty for members
	Course                             string // scores by round
	Played                             []roundRow
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
	of    *task.Aggregate // nil: it is erased
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
	o.of, err = c.Store.Load(r.Context(), task.RefOf(v.Tenant, o.Contest.ForID))
	if err == nil && !v.Admin {
		_, err = c.Readable(r.Context(), v, o.of)
	}
	if err != nil && !(v.Admin && errors.Is(err, aggregate.ErrNotFound)) {
		return o, err
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
	words, k, version := contestTexts{v.Texts("contests")}, a.Contest, 0
	_, _ = fmt.Sscanf(k.ForRow, "PROMPT#%d", &version) // 0: the page shows them somewhere
	p := contestPage{Is: k, Over: k.SettledAt != nil, Took: words.took(k),
		Task: fmt.Sprintf("%s/%s?show=policy-%d#policy-%[3]d", tasksPath, k.ForID, version),
		Time: words.Say("seconds", "n", min(k.TeamTimeoutSeconds, int(k.DeadlineAt.Sub(k.CreatedAt).Seconds()))),
		Cost: spent(k, a.works, v.Locale), Broken: words.broken(a.Aggregate)}
	if v.Admin { // a request's prompt names the bounds of tools, which only administrators may see
		p.Prompt = card.Prose(k.UserPrompt)
	}
	p.Status, p.Badge = words.stands(k)
	if !p.Over {
		p.Live = contestPath(k.ExecutionID)
	}
	for _, x := range slices.SortedStableFunc(slices.Values(a.works), contest.ByBest) {
		t := words.team(x)
		if v.Admin && len(x.Uses) > 0 {
			t.Sent = contestPath(k.ExecutionID) + "/sent/" + contest.TeamHash(x.Team.TeamID)
		}
		t.Rank, t.Path = len(p.Teams)+1, a.draft(x.Team.TeamID, p.Task)
		p.Told = p.Told || !p.Over || t.Why != ""
		p.Teams, p.Scored = append(p.Teams, t), p.Scored+len(x.Board)
	}
	return c.Show(w, r, v, web.Document{Title: words.asked(k), Here: "contests", Data: p}, "contest")
}

// draft returns the address of a team's draft. The winner's is the version on the request's page.
func (o opened) draft(team, version string) string {
	if o.of == nil {
		return ""
	}
	p := aggregate.Find(o.of.Prompts, o.Contest.ForRow)
	switch {
	case p == nil || p.Entry == nil:
		return ""
	case p.Entry.TeamID == team:
		return version
	case slices.ContainsFunc(p.Others(), func(e contest.Place) bool { return e.TeamID == team }):
		return draftPath(o.of.Head.TaskID, p.ID, contest.TeamHash(team))
	}
	return ""
}

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
	row := teamRow{ID: language.OneLine(k.TeamID), Name: language.ForeignLine(cmp.Or(k.TeamName, k.TeamID)),
		Status: t.In("team_statuses", k.Status), Badge: web.Badge(string(k.Status))}
	if k.BestScore != nil {
		row.Best = shownScore(*k.BestScore)
	}
	if k.Status != contest.TeamRunning && k.ExitReason != contest.MaxRoundsReached {
		row.Why = explain.TeamEnd{Failed: k.Status == contest.TeamFailed, Exit: k.ExitReason, Reason: k.Reason,
			Detail: k.Detail}.In(t.Locale())
	}
	for _, x := range w.Rounds {
		row.Played = append(row.Played, t.round(k, x))
	}
	row.Course = web.Joined(row.Played, func(x roundRow) string { return x.Score }, " → ")
	return row
}

// mostTold is how many characters the page shows of an evaluator's comment: a Lambda function's answer is limited to
// 6 MB after escaping, and a contest may have hundreds.
const mostTold = 1500

func (t contestTexts) round(k *contest.Team, x *contest.Round) roundRow {
	row := roundRow{Round: x, Key: fmt.Sprintf("%s.%d", contest.TeamHash(x.TeamID), x.RoundNumber),
		Score: shownScore(x.EvaluationScore), Best: k.BestRound == x.RoundNumber, Took: t.length(x.ExecutionTimeSeconds)}
	row.Metrics.Columns = t.Columns("metric", "#score", "comment")
	for _, m := range x.Metrics {
		row.Metrics.Rows = append(row.Metrics.Rows,
			[]string{language.ForeignLine(contest.MetricName(m.MetricName, t.Locale())),
				strconv.FormatFloat(m.Score, 'f', 2, 64), language.Beginning(card.Prose(m.EvaluatorComment), mostTold)})
	}
	return row
}

// took says how long a contest took, "" while it goes on.
func (t contestTexts) took(k *contest.Contest) string {
	if k.SettledAt == nil {
		return ""
	}
	return t.length(k.SettledAt.Sub(k.CreatedAt).Seconds())
}

func (t contestTexts) length(seconds float64) string {
	return explain.Length(t.Locale(), time.Duration(seconds*float64(time.Second)))
}

// sendContest sends administrators what models were sent for the team whose hash the address has.
func (c *Pages) sendContest(w http.ResponseWriter, r *http.Request, v *web.Viewer, a opened) error {
	for _, work := range a.works {
		if contest.TeamHash(work.Team.TeamID) == r.PathValue("team") {
			return c.SendSent(w, r, a.Ref(), work.Uses)
		}
	}
	return fmt.Errorf("a team of the contest: %w", aggregate.ErrNotFound)
}
