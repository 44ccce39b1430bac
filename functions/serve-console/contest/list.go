// Package contest has the pages of contests: their list with the leader board, and what each of their teams did.
package contest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/contest"
	"ringi/shared/store"
	"ringi/shared/words/legible"
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

type Pages struct {
	*subject.Acts
	Contests *store.ContestStore
}

// Routes returns the list of contests and a contest's page.
func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET "+contestsPath, c.listContests),
		web.ForMembers("GET "+contestsPath+"/{id}", web.Of(c.contestOf, c.showContest)),
		web.ForAdministrators("GET "+contestsPath+"/{id}/sent/{team}", web.Of(c.contestOf, c.sendSent)),
	}
}

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
	Path, Prompt, Status, Badge, Task string
	Cost, Score, Took                 string
}

// boardRow is a team's best round, or one of a team's.
type boardRow struct {
	Rank                        int
	Team, TeamPath, Path, Score string
	At                          time.Time
}

// listContests lists contests, the newest first, below the board: of all teams, or of one with its statistics.
func (c *Pages) listContests(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, cursor := contestTexts{v.Texts("contests")}, r.URL.Query().Get("cursor")
	page, err := c.Contests.Contests(r.Context(), v.Tenant, cursor, contestsOfPage)
	if err != nil {
		return err
	}
	p := contestsPage{Most: mostOnBoard, Team: r.URL.Query().Get("team")}
	p.Paged(cursor, page.Next, func(cursor string) string {
		return web.At(contestsPath, map[string]string{"cursor": cursor})
	})
	p.Rows, p.Hints = web.Each(page.Items, words.inList), []string{words.Say("empty_about")}
	if cursor == "" {
		if err := p.board(c, r, v); err != nil {
			return err
		}
	}
	return c.Show(w, r, v, web.Document{Here: "contests", Data: p}, "contest/list")
}

// board fills in the best rounds: of each team, or of the team in the address.
func (p *contestsPage) board(c *Pages, r *http.Request, v *web.Viewer) error {
	board, err := c.Contests.Board(r.Context(), v.Tenant, store.ContestFilter{Team: p.Team}, "", mostOnBoard)
	if err != nil {
		return err
	}
	shown := map[string]bool{}
	for _, b := range board.Items {
		if p.Team == "" && shown[b.TeamID] {
			continue
		}
		shown[b.TeamID] = true
		p.Board = append(p.Board, boardRow{len(p.Board) + 1, legible.ForeignLine(cmp.Or(b.TeamName, b.TeamID)),
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
	return cmp.Or(legible.ForeignLine(legible.Beginning(k.Title, mostAsked)), t.Say("for_task"))
}

// taskPath returns the address of the request whose policy a contest drafts.
func taskPath(k *contest.Contest) string { return "/console/tasks/" + k.ForID }

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

func contestPath(execution string) string { return contestsPath + "/" + execution }

// stands returns the contest's status in words and its badge; outcome is empty if it has no summary.
func (t contestTexts) stands(k *contest.Contest, outcome contest.SummaryStatus) (text, badge string) {
	key := string(k.Status)
	if k.Status == contest.Closed && outcome != "" {
		key = string(outcome)
	}
	return t.In("statuses", key), web.Badge(key)
}

// shownScore converts a score of 0 to 1 into percent.
func shownScore(score float64) string { return strconv.FormatFloat(score*100, 'f', 2, 64) }

func draftKey(teamID string, round int) string {
	return fmt.Sprintf("%s.%d", contest.TeamHash(teamID), round)
}
