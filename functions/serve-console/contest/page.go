// Package contest has the pages of contests: their list and leaderboard, how one is begun, what each of its teams did,
// and what its models were sent.
package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

type contestPage struct {
	Is                    *contest.Contest
	Path, Live            string
	Since                 subject.Since
	Status, Badge, Prompt string
	Broken                string // why the contest failed
	Task                  string // address of the request that the contest is for
	By                    string
	Took, Rounds, Seconds string
	Cost                  string
	Searched              []web.Link
	Teams                 []teamRow // by rank
	Board                 []boardRow
	Tabs                  []web.View // the drafts that may stand beside the best one
	Sides                 []side     // the best draft, and one beside it
	Metrics               int        // how many scores there are
	Over                  bool
	Cancel                bool // the viewer may cancel the contest
	Ending                bool // the contest was cancelled; teams are still stopping
}

// draftView is a complete submission.
type draftView struct {
	Key, Team, Score, Text string
	Round                  int
	Gone                   bool // its retention is over
}

// side is a draft beside another. Lines that the other one lacks are marked.
type side struct {
	*draftView
	Parts []passage
	Best  bool
	Less  string // how many points fewer than the best
	To    string // address where it is decided on
}

// passage is lines of one draft that the other draft has too, or that it lacks.
type passage struct {
	Folds bool // the other has them too, and they are many
	Lines []legible.Line
}

// beside marks what another draft lacks, and folds the lines that stand together in both.
func (x *side) beside(other string) {
	lines, folds := legible.Beside(x.Text, other), legible.Together(x.Text, other, mostEqual+1)
	for at, n := 0, 0; at < len(lines); at = n {
		for n = at; n < len(lines) && lines[n].Alone == lines[at].Alone && folds[n] == folds[at]; n++ {
		}
		x.Parts = append(x.Parts, passage{folds[at] && !lines[at].Alone && n-at < len(lines), lines[at:n]})
	}
}

// opened is a contest with its teams that have begun.
type opened struct {
	*contest.Aggregate
	works []*contest.Work
}

// contestOf returns the contest in the address. Administrators may see it; so may people who can read its task or, if
// it has no task, the person who began it.
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
	if !v.Admin && !(o.Contest.ForKind == "" && o.BegunBy(v.User)) {
		if o.Contest.ForKind != task.Kind.Name {
			return o, fmt.Errorf("a contest that stands alone: %w", aggregate.ErrNotFound)
		}
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

func (c *Pages) showContest(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, err := c.contestOf(r, v)
	if err != nil {
		return err
	}
	words, k, works := contestTexts{v.Texts("contests")}, a.Contest, a.works
	p := contestPage{Is: k, Path: contestPath(k.ExecutionID), Task: taskPath(k),
		Rounds:  words.Say("rounds_of", "least", k.MinRounds, "most", k.MaxRounds),
		Seconds: words.Say("seconds", "n", min(k.TeamTimeoutSeconds, int(k.DeadlineAt.Sub(k.CreatedAt).Seconds()))),
		Cost:    spent(k, works, v.Locale), Over: k.SettledAt != nil, Searched: words.searched(works)}
	if v.Admin || k.ForKind == "" { // a request's prompt names the bounds of tools, which only administrators may see
		p.Prompt = card.Prose(k.UserPrompt)
	}
	p.Status, p.Badge = words.stands(k, k.Outcome)
	p.Broken = words.broken(a.Aggregate)
	p.Cancel, p.Ending = k.Status == contest.Running && k.ForKind == "", k.Status == contest.Cancelled &&
		k.SettledAt == nil
	p.Since = subject.SinceThen(p.Path, p.Status, v.Locale)
	if p.Over {
		p.Took = words.length(k.SettledAt.Sub(k.CreatedAt).Seconds())
	} else {
		p.Live = web.At(p.Path, map[string]string{"beside": r.URL.Query().Get("beside")})
	}
	if k.ByID != "" {
		p.By = c.Called(r.Context(), v, k.ByID)(k.ByID)
	}
	p.fillTeams(works, words, v.Locale)
	for i, x := range works {
		if v.Admin && len(x.Uses) > 0 {
			p.Teams[i].Sent = sentPath(k.ExecutionID, x.Team.TeamID)
		}
	}
	if err := c.fillSides(r, works, words, &p); err != nil {
		return err
	}
	slices.SortStableFunc(p.Teams, func(a, b teamRow) int { return cmp.Compare(b.best, a.best) })
	p.bound()
	d := web.Document{Title: words.asked(k), Here: "contests", Data: p}
	return c.Show(w, r, v, d, "contest")
}

// mostWhole bounds, in bytes, the texts of members and judges that a page shows in full: a Lambda function's answer is
// limited to 6 MB after escaping. Of each further text the page shows the first mostBegun characters.
const (
	mostWhole = 1 << 20
	mostBegun = 100
)

// room is how many bytes are left.
type room int

func (left *room) shorten(s *string) {
	if *left -= room(len(*s)); *left < 0 {
		*s = legible.Beginning(*s, mostBegun)
	}
}

func (p *contestPage) bound() {
	left := room(mostWhole)
	for _, t := range p.Teams {
		for i := range t.Played {
			left.shorten(&t.Played[i].Reasoning)
			for _, row := range t.Played[i].Metrics.Rows {
				left.shorten(&row[2])
				p.Metrics++
			}
		}
	}
}

// fillSides puts the best draft beside the one in the address, or that of another team.
func (c *Pages) fillSides(r *http.Request, works []*contest.Work, words contestTexts, p *contestPage) error {
	var best []boardRow
	for _, b := range p.Board {
		if b.Best {
			best = append(best, b)
		}
	}
	if len(best) == 0 {
		return nil
	}
	keys := []string{best[0].Key}
	if beside := r.URL.Query().Get("beside"); beside != "" && beside != keys[0] {
		keys = append(keys, beside)
	} else if len(best) > 1 {
		keys = append(keys, best[1].Key)
	}
	for i, key := range keys {
		d, err := c.draft(r.Context(), works, key)
		if err != nil {
			return err
		}
		x := side{draftView: d, Best: i == 0, To: p.Task}
		at := slices.IndexFunc(p.Board, func(b boardRow) bool { return b.Key == key })
		if !x.Best && at >= 0 {
			b := p.Board[at]
			x.Less = words.Say("less", "n", strconv.FormatFloat((best[0].score-b.score)*100, 'f', 2, 64)) +
				words.decisive(works, keys[0], key)
			if x.To = ""; p.Task != "" && p.Over && b.Best {
				x.To = p.Task + "/drafts/" + r.PathValue("id") + "/" + b.team
			}
		}
		p.Sides = append(p.Sides, x)
	}
	p.beside(best, keys)
	return nil
}

// decisive says by which metric the best draft is furthest ahead of another, "" if by none.
func (t contestTexts) decisive(works []*contest.Work, best, other string) string {
	_, ahead, _ := roundWith(works, best)
	_, behind, _ := roundWith(works, other)
	text, most := "", 0.0
	for _, m := range ahead.Metrics {
		for _, o := range behind.Metrics {
			if by := m.Score - o.Score; o.MetricName == m.MetricName && by > most {
				name := card.OneLine(contest.MetricName(m.MetricName, t.Locale()))
				most, text = by, t.Say("less_in", "metric", name, "score", fmt.Sprintf("%.2f", o.Score),
					"best", fmt.Sprintf("%.2f", m.Score))
			}
		}
	}
	return text
}

// mostEqual is how many equal lines in a row stand unfolded in drafts that differ.
const mostEqual = 2

// beside marks in each of two drafts what the other one lacks, and lists the drafts that may stand there.
func (p *contestPage) beside(best []boardRow, keys []string) {
	for i, b := range best {
		if i > 0 && len(best) > 2 {
			p.Tabs = append(p.Tabs, web.View{Path: web.At(p.Path, map[string]string{"beside": b.Key}),
				Text: b.Team + " " + b.Score, Here: b.Key == keys[len(keys)-1]})
		}
	}
	for i := range p.Sides {
		p.Sides[i].beside(p.Sides[len(p.Sides)-1-i].Text)
	}
}

// cancelContest cancels a contest that is not for a task.
func (c *Pages) cancelContest(w http.ResponseWriter, r *http.Request, v *web.Viewer, a opened) error {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: v.User, Team: v.Team, Surface: aggregate.SurfaceConsole}
	_, err := c.Contests.Decide(
		r.Context(), a.Ref(), func(a *contest.Aggregate) (aggregate.Change, error) { return a.Stop(by, v.Admin, c.Now()) },
	)
	if err != nil {
		return err
	}
	return c.Done(w, r, contestPath(a.Contest.ExecutionID), "contest_cancelled")
}

// broken says why a contest ended if its runs died, else "".
func (t contestTexts) broken(a *contest.Aggregate) string {
	switch k := a.Contest; {
	case k.Status != contest.Abandoned:
		return ""
	case a.Summary != nil:
		return t.Say("broken")
	case k.SettledAt != nil:
		return t.Say("broken_for_good")
	}
	return t.Say("breaking")
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

// roundWith returns the round with this key and its team's work, or aggregate.ErrNotFound.
func roundWith(works []*contest.Work, key string) (*contest.Work, *contest.Round, error) {
	for _, w := range works {
		for _, x := range w.Rounds {
			if draftKey(x.TeamID, x.RoundNumber) == key {
				return w, x, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("a round's key: %w", aggregate.ErrNotFound)
}

// draft returns the submission with this key, or aggregate.ErrNotFound. Gone is set if the submission was deleted.
func (c *Pages) draft(ctx context.Context, works []*contest.Work, key string) (*draftView, error) {
	w, x, err := roundWith(works, key)
	if err != nil {
		return nil, err
	}
	d := &draftView{Key: key, Team: card.OneLine(x.TeamName), Round: x.RoundNumber, Score: shownScore(x.EvaluationScore)}
	text, err := c.Contests.Content(ctx, w.Head.TenantID, x)
	if errors.Is(err, large.ErrExpired) {
		d.Gone = true
		return d, nil
	}
	d.Text = card.Prose(text)
	return d, err
}
