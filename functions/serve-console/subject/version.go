package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

type Version struct {
	ID       string
	Key      string // names it on the page
	Of       aggregate.CardType
	Number   int
	Top      bool   // its steps are what the page begins with
	Text     string // of a policy
	Remarks  string // of steps: how they answer the reasons for earlier rejections
	Sum      *web.Sum
	Steps    []Step
	Folded   bool              // the steps and the difference are left out
	Diff     []web.Line        // of a policy from the version before; the first has none
	Changes  []web.ValueChange // of steps from the version before; nil: they do the same
	Matter   string            // what a form says is decided
	Files    []File            // of a form
	Later    bool              // there was a version before
	Same     bool              // a policy says what the one before said, although a reason was given
	Because  string            // why the version before was rejected or returned
	Returned bool              // it was returned
	Replaced bool              // by the next version, another team's draft that a person picked
	Created  time.Time
	Drafted  *Drafted // the contest that drafted it; nil: there was none
	Verdict
}

// Drafted is how a contest drafted a policy.
type Drafted struct {
	Execution string // "" where none was held
	Over      bool
	Alone     string  // why a contest that is over did not draft it
	Won       string  // whose draft became the policy; empty: no acceptable draft, or still running
	Ended     string  // why its team stopped early
	Hash      string  // of its text
	Others    []Draft // of the other teams, the best first
}

// Draft is a team's best submission.
type Draft struct {
	Key   string // names it in addresses
	Team  string
	Round int
	Score float64 // 0 to 100
	Ended string  // why the team stopped early, in a sentence
	Hash  string  // of its text
}

func (r Reader) draft(e contest.Place) Draft {
	d := Draft{Key: contest.TeamHash(e.TeamID), Team: language.ForeignLine(e.TeamName), Round: e.RoundNumber,
		Score: e.Points(), Hash: e.Hash}
	if why := (explain.TeamEnd{Exit: e.ExitReason, Reason: e.Reason}); why.Short() {
		d.Ended = why.In(r.Locale)
	}
	return d
}

func (r Reader) drafted(p *task.Prompt, ended bool) *Drafted {
	if p.Contest == nil {
		return nil
	}
	d := &Drafted{Execution: p.Contest.ExecutionID, Over: p.Contest.Over() || ended}
	switch {
	case p.Entry != nil:
		best, who := r.draft(*p.Entry), ""
		if p.Author != "" {
			who = r.Person(p.Author)
		}
		d.Won, d.Ended, d.Hash = explain.Won(p, r.Locale, best.Team, who), best.Ended, best.Hash
	case d.Over:
		d.Alone = explain.DraftedAlone(p, r.Locale)
	}
	d.Others = web.Each(p.Others(), func(e contest.Place) Draft { return r.draft(e) })
	return d
}

// Verdict is a gate's state.
type Verdict struct {
	Status  aggregate.GateStatus
	By      string // who approved or rejected it; empty: nobody, or the system
	Auto    bool   // approved by the system
	At      time.Time
	Surface aggregate.Surface // of an approval
	Reason  string            // of a rejection
	Route   *web.GateRoute    // nil: no rule chose one
	Beside  bool              // the route stands elsewhere on the page
}

type Step struct {
	Order             int
	Name, Description string
	Expected, Tool    string
	Checked           string // that it is asked once more before it runs
	Write             bool
}

func (r Reader) policies(a *task.Aggregate) []Version {
	var out []Version
	for i, p := range a.Prompts {
		text := r.prose
		if p.Status == aggregate.PendingApproval { // anybody may choose any name
			text = func(s string) string { return r.Named(card.Prose(s), web.Identified(r.Person)) }
		}
		v := Version{ID: p.ID, Key: fmt.Sprintf("policy-%d", p.Version), Of: task.CardPrompt, Number: p.Version, Later: i > 0,
			Text: text(p.Content), Created: p.CreatedAt, Drafted: r.drafted(p, a.Head.Ended != nil),
			Verdict: r.verdict(a, p.ID, &p.Gate)}
		if i > 0 && p.Author == "" { // nobody gave a reason for a draft that another was picked instead of
			v.Because = r.prose(a.Prompts[i-1].RejectionReason)
		}
		v.Replaced = i+1 < len(a.Prompts) && a.Prompts[i+1].Author != ""
		switch {
		case i == 0 || v.Text == "":
		case v.Text != text(a.Prompts[i-1].Content):
			v.Diff = web.Diff(text(a.Prompts[i-1].Content), v.Text)
		default:
			v.Same = v.Because != ""
		}
		out = append([]Version{v}, out...)
	}
	return out
}

func (r Reader) plans(a *task.Aggregate) []Version {
	var out []Version
	open, _ := a.OpenGate()
	for i, p := range a.Processes {
		r.Settled = open.Kind != task.CardProcess || open.Version != p.Version
		v := Version{ID: p.ID, Key: fmt.Sprintf("plan-%d", p.Version), Of: task.CardProcess, Number: p.Version, Later: i > 0,
			Remarks: r.prose(p.Remarks), Created: p.CreatedAt, Steps: r.steps(p.Steps),
			Verdict: r.verdict(a, p.ID, &p.Gate)}
		if i > 0 {
			v.Because, v.Returned = r.prose(a.Processes[i-1].RejectionReason), a.GivenBack(a.Processes[i-1].ID)
		}
		if len(p.Steps) > 0 {
			sum := r.Sum(p.Steps)
			v.Sum = &sum
		}
		if m := a.MatterOf(p); m != nil {
			v.Matter, v.Files = r.prose(m.Description), r.files(a, a.FilesOf(p.ID))
		}
		if i > 0 && v.Sum != nil {
			v.Changes = r.Changes(explain.Differences(a, r.Locale, i))
		}
		out = append([]Version{v}, out...)
	}
	return out
}

func (r Reader) steps(planned []task.Step) []Step {
	out := make([]Step, len(planned))
	for i, s := range planned {
		out[i] = Step{Order: s.Order, Name: language.ForeignLine(s.Name()), Expected: r.prose(s.ExpectedOutput),
			Tool: web.ToolBeside(s.Tool), Write: s.Access == aggregate.Write, Checked: explain.Check(r.Locale, s, false)}
		if s.Title != "" {
			out[i].Description = r.prose(s.Description)
		}
	}
	return out
}

// On pages a version has four more states: its drafting failed, nobody is asked about it, the rules refuse it, or
// whoever asked fills in its form again.
const (
	notDrafted aggregate.GateStatus = "not_drafted"
	unasked    aggregate.GateStatus = "unasked"
	refused    aggregate.GateStatus = "refused"
	returned   aggregate.GateStatus = "returned"
)

func (r Reader) verdict(a *task.Aggregate, id string, g *aggregate.Gate) Verdict {
	v := Verdict{Status: g.Status, Route: r.along(a, g)}
	if a.GivenBack(id) {
		v.Status = returned
	}
	switch generating := v.Status == aggregate.Generating; {
	case generating && a.Head.Ended != nil && a.Head.Ended.As == task.TaskRefused:
		v.Status = refused
	case generating && a.Head.Ended != nil: // it stopped with its task
		v.Status = aggregate.Cancelled
	case generating && a.Head.Parked != nil:
		v.Status = notDrafted
	}
	switch {
	case g.ApprovedAt != nil && g.ApprovedBy == "":
		v.At, v.Auto, v.Status = *g.ApprovedAt, true, unasked
	case g.ApprovedAt != nil:
		v.By, v.At, v.Surface = r.Person(g.ApprovedBy), *g.ApprovedAt, cmp.Or(g.LastSurface(), aggregate.SurfaceSlack)
	case g.RejectedAt != nil:
		v.By, v.At, v.Reason = r.Person(g.RejectedBy), *g.RejectedAt, r.prose(g.RejectionReason)
	}
	return v
}

// Gate is the gate that waits for a person, with everything to be decided on.
type Gate struct {
	ID      string
	Kind    aggregate.CardType
	Version int
	Step    *Step // of a step's gate, and what its call does
	Call
	Whole    bool   // the history shows all of it; else nobody may approve it here
	Unread   string // why nobody can tell what its steps do
	DecideBy time.Time
	Route    *web.GateRoute // nil: no rule chose one
}

// maxWhole bounds the arguments that a page shows; nobody can approve longer ones.
const maxWhole = 1 << 20

// waiting returns the gate that waits, or nil.
func (r Reader) waiting(a *task.Aggregate) *Gate {
	open, ok := a.OpenGate()
	if !ok || !open.Terms.ApprovalRequired || a.Head.Parked != nil {
		return nil
	}
	g := &Gate{ID: open.ID, Kind: open.Kind, Version: open.Version, Whole: true}
	g.DecideBy = web.TimeOf(open.Terms.DecideBy)
	g.Route = r.along(a, a.Asked(open.ID).Gate)
	if p := a.Process(); open.Kind == task.CardProcess && p != nil {
		g.Unread = explain.SumUp(r.Locale, p.Steps).Unreadable()
		g.Whole = g.Unread == ""
	}
	if open.Kind != task.CardStep {
		return g
	}
	g.Whole = false
	for _, row := range a.Gates {
		p := aggregate.Find(a.Processes, task.ProcessKey(row.ProcessVersion))
		if row.ID != open.ID || p == nil {
			continue
		}
		if i := p.StepOf(row); i >= 0 {
			g.Step = &r.steps(p.Steps)[i]
			all := len(row.Arguments.JSON) <= maxWhole
			g.Call, g.Whole = r.call(p.Steps[i], row.Arguments, all)
			g.Whole = g.Whole && all
		}
	}
	return g
}

// otherTeams is another team's draft, whole, with the button that picks it if the viewer may.
type otherTeams struct {
	Draft
	Path     string // that picks it
	Text     string
	Feedback string // the evaluators' comments
	Gone     bool   // its retention is over
	Diff     []web.Line
	No       string // why this viewer can't pick it
}

// otherDraft returns the version in the address and another team's submission for it, or aggregate.ErrNotFound.
func otherDraft(r *http.Request, a *task.Aggregate) (*task.Prompt, contest.Place, error) {
	for _, p := range a.Prompts {
		for _, e := range p.Others() {
			if p.ID == r.PathValue("version") && contest.TeamHash(e.TeamID) == r.PathValue("team") {
				return p, e, nil
			}
		}
	}
	return nil, contest.Place{}, fmt.Errorf("another draft: %w", aggregate.ErrNotFound)
}

func draftPath(task, version, team string) string {
	return tasksPath + "/" + task + "/drafts/" + version + "/" + team
}

// showOtherDraft shows a complete draft on the request's page.
func (c *Pages) showOtherDraft(w http.ResponseWriter, r *http.Request, v *web.Viewer, t loadedTask) error {
	p, e, err := otherDraft(r, t.task)
	if err != nil {
		return err
	}
	words, x := v.Texts("task"), otherTeams{Draft: t.reader.draft(e)}
	x.Path = draftPath(t.task.Head.TaskID, p.ID, x.Key)
	draft, err := c.Contests.Submission(r.Context(), t.task.Ref().Tenant, p.Contest.ExecutionID, e.TeamID, e.Hash)
	if x.Gone = errors.Is(err, large.ErrExpired); err != nil && !x.Gone {
		return err
	}
	text := draft.SubmissionContent
	x.Feedback = card.Prose(contest.InPoints(draft.EvaluationFeedback, v.Locale))
	called := web.Identified(c.Called(r.Context(), v, task.Mentioned(text+p.Content)...))
	x.Text = web.Mentions(card.Prose(text), called)
	if now := web.Mentions(card.Prose(p.Content), called); now != x.Text {
		x.Diff = web.Diff(now, x.Text)
	}
	who := c.Likely(c.asking(v, t), aggregate.Offer{Act: aggregate.ActReject, ID: p.ID, Kind: task.CardPrompt,
		Hash: t.task.Asked(p.ID).Hash})
	switch {
	case !t.task.Asked(p.ID).Open:
		x.No = words.Say("draft_over")
	case x.Gone:
		x.No = words.Say("text_gone")
	case x.Diff == nil:
		x.No = words.Say("draft_same")
	case !card.Stampable(text):
		x.No = words.Say("draft_not_whole")
	case who != nil:
		x.No = t.surface.Note(who)
	}
	return c.showPage(w, r, v, t, &x)
}

// pickDraft replaces the waiting version with a draft that was shown.
func (c *Pages) pickDraft(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate) error {
	p, e, err := otherDraft(r, a)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), web.Within)
	defer cancel()
	ref := a.Ref()
	draft, err := c.Contests.Submission(ctx, ref.Tenant, p.Contest.ExecutionID, e.TeamID, e.Hash)
	if err != nil {
		return err
	}
	if r.PostFormValue("hash") != e.Hash {
		return aggregate.ErrMoved
	}
	click := c.Click(v, ref, p.ID)
	verdict := c.Maker().Decide(ctx, click, decide.Pick(e.TeamID, draft.SubmissionContent))
	return c.Decided(w, r, v, c.taskPage(), click, web.Tried{}, verdict, "pick_draft")
}
