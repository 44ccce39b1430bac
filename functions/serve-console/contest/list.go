package contest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

const (
	// contestsOfPage is the number of contests on a page of the history.
	contestsOfPage = 50
	// mostOnBoard is the number of rounds that the leader board is made of, a row a team.
	mostOnBoard = 50
	// mostAsked is how many characters of a contest's task lists and titles show.
	mostAsked = 60
)

type Pages struct {
	*subject.Acts
	Contests *store.ContestStore
	Begin    web.ContestFiles
}

// Routes returns the lists of contests and of scored rounds, the form that begins a contest, and a contest's pages.
func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET /console/contests", c.listContests),
		web.ForAdministrators("GET /console/contests/board", c.showBoard),
		web.ForAdministrators("GET /console/contests/new", web.Of(c.Settings, c.openBeginForm)),
		web.ForAdministrators("POST /console/contests", web.Of(c.Settings, c.beginAlone)),
		web.ForMembers("GET /console/contests/{id}", c.showContest),
		web.ForMembers("GET /console/contests/{id}/members/{round}", web.Of(c.contestOf, c.showMembers)),
		web.ForMembers("POST /console/contests/{id}/cancel", web.Of(c.contestOf, c.cancelContest)),
		web.ForAdministrators("GET /console/contests/{id}/sent/{team}", web.Of(c.workOf, c.sendSent)),
	}
}

type contestTexts struct{ web.Texts }

type contestsPage struct {
	web.List
	Rows []contestRow
}

type contestRow struct {
	contest.Contest
	Path, Prompt, Status, Badge, Task string
	Cost, Score, Took                 string
}

func (c *Pages) listContests(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, cursor := contestTexts{v.Texts("contests")}, r.URL.Query().Get("cursor")
	page, err := c.Contests.Contests(r.Context(), v.Tenant, cursor, contestsOfPage)
	p := contestsPage{}
	at := func(cursor string) string { return web.At(contestsPath, map[string]string{"cursor": cursor}) }
	if err := p.Paged(r, v, cursor, at, page.Next, page.Prev, err); err != nil {
		return err
	}
	p.Views = words.views(false)
	p.Rows = web.Each(page.Items, words.inList)
	d := web.Document{Here: "contests", Data: p, Status: p.Status()}
	return c.Show(w, r, v, d, "contest/list")
}

const contestsPath = "/console/contests"

// views are the history and the board.
func (t contestTexts) views(board bool) []web.View {
	return []web.View{{Path: contestsPath, Text: t.Say("history"), Here: !board},
		{Path: contestsPath + "/board", Text: t.Say("board"), Here: board}}
}

// asked returns a one-line title: that of the request whose policy the contest drafts, or else the start of its prompt.
func (t contestTexts) asked(k *contest.Contest) string {
	text := k.UserPrompt
	if k.ForKind != "" {
		text = cmp.Or(k.Title, t.Say("for_task"))
	}
	return cmp.Or(card.OneLine(legible.Beginning(text, mostAsked)),
		web.TextsOf("layout", t.Locale()).In("menu_pages", "contests"))
}

// taskPath returns the address of the request whose policy a contest drafts, or "" if the contest is not for a request.
func taskPath(k *contest.Contest) string {
	if k.ForKind != task.Kind.Name || !aggregate.ValidID(k.ForID) {
		return ""
	}
	return "/console/tasks/" + k.ForID
}

func (t contestTexts) inList(k contest.Contest) contestRow {
	row := contestRow{Contest: k, Path: contestPath(k.ExecutionID), Prompt: t.asked(&k), Task: taskPath(&k),
		Cost: web.Spent(t.Locale(), k.Usage.Cost, k.Usage.Unpriced)}
	row.Status, row.Badge = t.stands(&k, k.Outcome)
	if k.BestScore != nil {
		row.Score = shownScore(*k.BestScore)
	}
	if k.SettledAt != nil {
		row.Took = t.length(k.SettledAt.Sub(k.CreatedAt).Seconds())
	}
	return row
}

func contestPath(execution string) string { return "/console/contests/" + execution }

// stands returns the contest's status in words and its badge; outcome is empty if it has no summary.
func (t contestTexts) stands(k *contest.Contest, outcome contest.SummaryStatus) (text, badge string) {
	key := string(k.Status)
	if k.Status == contest.Closed && outcome != "" {
		key = string(outcome)
	}
	return t.In("statuses", key), web.Badge(key)
}

type boardPage struct {
	Views   []web.View
	Most    int // how many rounds the board shows
	Team    string
	Ignored string // that there is no such team
	Name    string
	Rows    []*boardRow
	Stats   []web.Number // of the team
}

type boardRow struct {
	Rank           int
	Team, TeamPath string
	Path           string // of the contest
	Asked, Task    string // the contest's title, and the address of the request whose policy it drafts
	Score          string
	Best           bool
	At             time.Time
	Key            string // names the round in an address
	Course         []bar  // of the team's rounds in the contest
	execution      string // of the contest
	team           string
	score          float64
}

func (c *Pages) showBoard(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words := contestTexts{v.Texts("contests")}
	p := boardPage{Views: words.views(true), Most: mostOnBoard,
		Team: r.URL.Query().Get("team")}
	board, err := c.Contests.Board(r.Context(), v.Tenant, store.ContestFilter{Team: p.Team}, "", mostOnBoard)
	if bad := (web.BadFilter{}); err == nil && len(board.Items) == 0 && p.Team != "" {
		bad.Refuse("team", &p.Team, true)
		p.Ignored = bad.Said(words.Texts)
		board, err = c.Contests.Board(r.Context(), v.Tenant, store.ContestFilter{}, "", mostOnBoard)
	}
	if err == nil && p.Team != "" {
		p.Name = legible.OneLine(p.Team)
		p.Stats, err = c.statisticsOf(r.Context(), v, p.Team)
	}
	if err != nil {
		return err
	}
	of := web.Each(board.Items, func(b contest.Board) string { return b.ExecutionID })
	asked, err := c.Contests.ByExecution(r.Context(), v.Tenant, of...)
	if err != nil {
		return err
	}
	for _, row := range teamsOn(board.Items, p.Team != "") {
		of := asked[row.execution]
		row.Path, row.Asked, row.Task = contestPath(row.execution), words.asked(&of), taskPath(&of)
		p.Rows = append(p.Rows, row)
		if p.Team != "" {
			p.Name = row.Team
		}
	}
	return c.Show(w, r, v, web.Document{Title: words.Say("board"), Here: "contests", Data: p}, "contest/board")
}

// teamsOn gathers rounds by teams, in the order of their best ones, with the course of the contest of each best one. If
// apart is true they are all of one team, which has a row a contest.
func teamsOn(rows []contest.Board, apart bool) (teams []*boardRow) {
	at := map[string]*boardRow{}
	key := func(b *contest.Board) string {
		if apart {
			return b.ExecutionID
		}
		return b.TeamID
	}
	for i := range rows {
		if b := &rows[i]; at[key(b)] == nil {
			best := boardRowOf(len(teams)+1, b)
			at[key(b)], teams = &best, append(teams, &best)
		}
	}
	byRound := slices.SortedStableFunc(slices.Values(rows), func(a, b contest.Board) int {
		return cmp.Compare(a.RoundNumber, b.RoundNumber)
	})
	for _, b := range byRound {
		if t := at[key(&b)]; t.execution == b.ExecutionID {
			t.Course = append(t.Course, barOf(b.EvaluationScore))
		}
	}
	scaled(teams, func(t *boardRow) []bar { return t.Course })
	return teams
}

func (c *Pages) statisticsOf(ctx context.Context, v *web.Viewer, team string) ([]web.Number, error) {
	words := v.Texts("contests")
	s, err := c.Contests.TeamStatistics(ctx, v.Tenant, team)
	if err != nil || s.TotalRounds == 0 {
		return nil, err
	}
	return []web.Number{
		{Name: words.Say("total_rounds"), Text: strconv.Itoa(s.TotalRounds)},
		{Name: words.Say("average"), Text: shownScore(s.AvgScore)},
		{Name: words.Say("best_score"), Text: shownScore(s.BestScore)},
		{Name: words.Say("input"), Text: web.Count(int64(s.TotalInputTokens))},
		{Name: words.Say("output"), Text: web.Count(int64(s.TotalOutputTokens))},
	}, nil
}

func boardRowOf(rank int, b *contest.Board) boardRow {
	return boardRow{Rank: rank, Team: card.OneLine(cmp.Or(b.TeamName, b.TeamID)),
		TeamPath: "/console/contests/board?team=" + url.QueryEscape(b.TeamID), Score: shownScore(b.EvaluationScore),
		Best: b.IsBest, At: b.CreatedAt, Key: draftKey(b.TeamID, b.RoundNumber), team: contest.TeamHash(b.TeamID),
		score: b.EvaluationScore, execution: b.ExecutionID}
}

// shownScore converts a score of 0 to 1 into percent.
func shownScore(score float64) string { return strconv.FormatFloat(score*100, 'f', 2, 64) }

func draftKey(teamID string, round int) string {
	return fmt.Sprintf("%s.%d", contest.TeamHash(teamID), round)
}
