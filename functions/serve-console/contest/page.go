// Package contest has the pages of contests: their list and leaderboard, how one is begun, what each of its teams did,
// and what its models were sent.
package contest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

type contestPage struct {
	Title                 string // of the request that the contest is for
	Path, Live            string
	Since                 subject.Since
	Status, Badge, Prompt string
	Broken                string // why the contest failed
	Task                  string // address of the request that the contest is for
	By                    string
	Began, Deadline       time.Time
	Took, Rounds, Seconds string
	Cost, Budget          string
	Searched              []searchedRow
	Teams                 []teamRow
	Board                 []boardRow
	Winner                *draftView
	Over                  bool
	Cancel                bool         // the viewer may cancel the contest
	Ending                bool         // the contest was cancelled; teams are still stopping
	Take                  *takeForm    // nil: its best draft so far can't be taken
	Taken                 *takenView   // nil: nobody has taken its best draft so far
	Problem               string       // why the viewer's act was refused
	Drafts                []web.Choice // to compare
}

// takenView says who ended a contest with its best draft so far.
type takenView struct {
	By string
	At time.Time
}

// draftView is a complete submission.
type draftView struct {
	Key, Team, Score, Text string
	Round                  int
	Gone                   bool // its retention is over
	Members                []memberRow
}

// contestOf returns the contest in the address and its teams. Administrators may see it; so may people who can read its
// task or, if it has no task, the person who began it.
func (c *Pages) contestOf(r *http.Request, v *web.Viewer) (*contest.Aggregate, []*contest.Work, error) {
	id := r.PathValue("id")
	if !contest.ValidID(id) {
		return nil, nil, fmt.Errorf("a contest's id: %w", web.ErrNoID)
	}
	a, err := c.Contests.Load(r.Context(), contest.Ref(v.Tenant, id))
	if err != nil {
		return nil, nil, err
	}
	if a.Contest == nil {
		return nil, nil, aggregate.ErrConflict // a torn read
	}
	if !v.Admin && !(a.Contest.ForKind == "" && a.BegunBy(v.User)) {
		if a.Contest.ForKind != task.Kind.Name {
			return nil, nil, fmt.Errorf("a contest that stands alone: %w", aggregate.ErrNotFound)
		}
		of, err := c.Store.Load(r.Context(), task.RefOf(v.Tenant, a.Contest.ForID))
		if err == nil {
			_, err = c.Readable(r.Context(), v, of)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	works, err := c.works(r.Context(), a)
	return a, works, err
}

// works returns the teams that have begun.
func (c *Pages) works(ctx context.Context, a *contest.Aggregate) (all []*contest.Work, err error) {
	for _, t := range a.Contest.Teams {
		w, err := c.Contests.Teams.Load(ctx, contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, t.TeamID))
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
		case err != nil:
			return nil, err
		case w.Team == nil:
			return nil, aggregate.ErrConflict // a torn read
		default:
			all = append(all, w)
		}
	}
	return all, nil
}

func (c *Pages) showContest(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	return c.show(w, r, v, nil, 0)
}

// show renders the page; refused says why the viewer's act was, if one was.
func (c *Pages) show(w http.ResponseWriter, r *http.Request, v *web.Viewer, refused error, status int) error {
	a, works, err := c.contestOf(r, v)
	if err != nil {
		return err
	}
	words, k := contestTexts{v.Texts("contests")}, a.Contest
	p := contestPage{
		Path: contestPath(k.ExecutionID), Task: taskPath(k), Began: k.CreatedAt, Deadline: k.DeadlineAt,
		Rounds:  words.Say("rounds_of", "least", k.MinRounds, "most", k.MaxRounds),
		Seconds: words.Say("seconds", "n", min(k.TeamTimeoutSeconds, int(k.DeadlineAt.Sub(k.CreatedAt).Seconds()))),
		Cost:    spent(k, works, v.Locale), Budget: k.Budget.String(), Over: k.SettledAt != nil,
		Searched: words.searched(works),
	}
	if v.Admin || k.ForKind == "" { // a request's prompt names the bounds of tools, which only administrators may see
		p.Prompt = card.Prose(k.UserPrompt)
	}
	p.Status, p.Badge = words.stands(k, k.Outcome)
	p.Broken = words.broken(a)
	p.Cancel, p.Ending = k.Status == contest.Running && k.ForKind == "", k.Status == contest.Cancelled &&
		k.SettledAt == nil
	p.Since = subject.SinceThen(p.Path, p.Status, v.Locale)
	if p.Over {
		p.Took = words.length(k.SettledAt.Sub(k.CreatedAt).Seconds())
	} else {
		p.Live = p.Path
	}
	if k.ByID != "" {
		p.By = c.person(r.Context(), v, k.ByID)
	}
	p.fillTeams(works, words, v.Locale)
	for i, x := range works {
		if v.Admin && len(x.Uses) > 0 {
			p.Teams[i].Sent = sentPath(k.ExecutionID, x.Team.TeamID)
		}
	}
	if i := slices.IndexFunc(p.Board, func(b boardRow) bool { return b.Best }); i >= 0 {
		if p.Winner, err = c.draft(r.Context(), v, works, p.Board[i].Key); err != nil {
			return err
		}
	}
	if refused != nil || !p.Over || k.Status == contest.Cancelled {
		if err := c.addTaking(r.Context(), v, &p, k, refused); err != nil {
			return err
		}
	}
	p.bound()
	p.Title = card.OneLine(k.Title)
	d := web.Document{Title: words.asked(k), Here: "contests", Data: p, Status: status}
	return c.Show(w, r, v, d, "contest")
}

// mostWhole bounds, in bytes, the texts of members and judges that a page shows in full: a Lambda function's answer is
// limited to 6 MB after escaping. Of each further text the page shows the first mostBegun characters.
const (
	mostWhole = 1 << 20
	mostBegun = 100
)

func (p *contestPage) bound() {
	left := mostWhole
	shorten := func(s *string) {
		if left -= len(*s); left < 0 {
			*s = legible.Beginning(*s, mostBegun)
		}
	}
	if p.Winner != nil {
		for i := range p.Winner.Members {
			shorten(&p.Winner.Members[i].Text)
			shorten(&p.Winner.Members[i].Calls)
		}
	}
	for _, t := range p.Teams {
		for i := range t.Played {
			shorten(&t.Played[i].Reasoning)
			for j := range t.Played[i].Metrics {
				shorten(&t.Played[i].Metrics[j].Comment)
			}
		}
	}
}

// cancelContest cancels a contest that is not for a task.
func (c *Pages) cancelContest(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, _, err := c.contestOf(r, v)
	if err != nil {
		return err
	}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: v.User, Team: v.Team, Surface: aggregate.SurfaceConsole}
	_, err = c.Contests.Decide(
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

// draft returns the submission with this key and what members did for it, or aggregate.ErrNotFound.
func (c *Pages) draft(ctx context.Context, v *web.Viewer, works []*contest.Work, key string) (*draftView, error) {
	for _, w := range works {
		for _, x := range w.Rounds {
			if draftKey(x.TeamID, x.RoundNumber) == key {
				return c.drafted(ctx, v, w, x)
			}
		}
	}
	return nil, fmt.Errorf("a round's key: %w", aggregate.ErrNotFound)
}

// drafted reads a round's submission and what members did for it. Gone is set if the submission was deleted.
func (c *Pages) drafted(ctx context.Context, v *web.Viewer, w *contest.Work, x *contest.Round) (*draftView, error) {
	d := &draftView{
		Key: draftKey(x.TeamID, x.RoundNumber), Team: card.OneLine(x.TeamName), Round: x.RoundNumber,
		Score: shownScore(x.EvaluationScore),
	}
	tenant := w.Head.TenantID
	text, err := c.Contests.Content(ctx, tenant, x)
	if errors.Is(err, large.ErrExpired) {
		d.Gone = true
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	record, _, err := c.Contests.LoadRoundHistory(ctx, tenant, x.ExecutionID, x.TeamID, x.RoundNumber)
	if err != nil && !errors.Is(err, large.ErrExpired) {
		return nil, err
	}
	if record == nil {
		record = &contest.MemberSubmissionsRecord{}
	}
	d.Text = card.Prose(text)
	words := contestTexts{v.Texts("contests")}
	for _, s := range record.Submissions {
		row := memberRow{
			Name: card.OneLine(s.AgentName), Kind: words.In("kinds", s.AgentType), Text: card.Prose(s.Content),
			Calls: words.calls(s.AllMessages), Failed: s.Status != contest.Success,
			Tokens: s.Usage.InputTokens + s.Usage.OutputTokens,
		}
		if v.Admin {
			row.Queries = queries(s.AllMessages)
		}
		if s.ErrorMessage != nil {
			row.Error = card.Prose(*s.ErrorMessage)
		}
		if s.ExecutionTimeMS != nil {
			row.Took = words.length(*s.ExecutionTimeMS / 1000)
		}
		d.Members = append(d.Members, row)
	}
	return d, nil
}

// drafted is the version of a task that a contest drafts.
type drafted struct {
	task     *task.Aggregate
	version  *task.Prompt
	settings tenancy.Settings
	surface  explain.Surface
}

// draftedBy returns the version that a contest drafts, or nil if it drafts none, or none that the viewer may read.
func (c *Pages) draftedBy(ctx context.Context, v *web.Viewer, k *contest.Contest) (*drafted, error) {
	if k.ForKind != task.Kind.Name {
		return nil, nil
	}
	a, err := c.Store.Load(ctx, task.RefOf(v.Tenant, k.ForID))
	d := &drafted{task: a}
	if err == nil {
		d.settings, err = c.Readable(ctx, v, a)
	}
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(a.Prompts, func(p *task.Prompt) bool {
		return p.Contest != nil && p.Contest.ExecutionID == k.ExecutionID
	})
	if i < 0 {
		return nil, nil
	}
	d.version = a.Prompts[i]
	person := func(id string) string { return c.person(ctx, v, id) }
	channel := func(string) string { return c.ChannelOf(ctx, v, a.Origin(), v.Texts("task").Say("that_channel")) }
	d.surface = subject.SurfaceOf(v, person, channel)
	return d, nil
}

// person returns a person's name, or the id if the name is unknown.
func (c *Pages) person(ctx context.Context, v *web.Viewer, id string) string {
	return c.Called(ctx, v, id)(id)
}

// takeForm is the button that ends a contest with its best draft so far.
type takeForm struct{ No string } // why this viewer can't use it

// addTaking offers the best draft so far as the task's card does, and says who has taken it.
func (c *Pages) addTaking(ctx context.Context, v *web.Viewer, p *contestPage, k *contest.Contest, refused error) error {
	d, err := c.draftedBy(ctx, v, k)
	if err != nil || d == nil {
		return err
	}
	if refused != nil {
		p.Problem = d.surface.Refused(refused, d.settings, d.task.Origin(), d.task.Askers()...)
	}
	switch x := d.version.Contest; {
	case x.TakenAt != nil:
		p.Taken = &takenView{c.person(ctx, v, x.TakenBy), *x.TakenAt}
	case d.task.Contesting() == d.version && len(p.Board) > 0:
		p.Take = &takeForm{}
		if err := subject.Likely(d.task, d.settings, v, aggregate.ActReject); err != nil {
			p.Take.No = d.surface.Why(err, d.settings, d.task.Origin(), d.task.Askers()...)
		}
	}
	return nil
}

// takeBest ends a contest with its best draft so far, as the button of the task's card does.
func (c *Pages) takeBest(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, _, err := c.contestOf(r, v)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), subject.Within)
	defer cancel()
	d, err := c.draftedBy(ctx, v, a.Contest)
	if err == nil && d == nil {
		err = aggregate.ErrNotFound
	}
	if err != nil {
		return err
	}
	scored, err := c.Contests.Scored(ctx, v.Tenant, a.Contest.ExecutionID)
	if err != nil {
		return err
	}
	click := c.Click(v, d.task.Ref(), d.version.ID)
	verdict := c.Maker().Decide(ctx, click, decide.TakeBest(scored))
	on := subject.Page{To: contestPath(a.Contest.ExecutionID), Refused: c.notTaken}
	return c.Decided(w, r, v, on, click, subject.Wanted{}, verdict, card.TakeBest)
}

// notTaken shows the contest as it is now, with the reason why its best draft was not taken.
func (c *Pages) notTaken(
	w http.ResponseWriter, r *http.Request, v *web.Viewer, _ aggregate.Ref, x subject.Wanted, why error,
) error {
	status, _ := subject.NotDone(r, v, x, why)
	return c.show(w, r, v, why, status)
}
