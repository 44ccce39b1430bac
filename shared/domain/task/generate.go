package task

import (
	"cmp"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
)

// BeginPrompt begins the next version, unless the commit that asked for it did. It relies on the previous version being
// rejected. If a row that was not rejected exists, nothing changes.
func (a *Aggregate) BeginPrompt(run int, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil || a.Task == nil || !begins(a.Prompts) || a.Returned() != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.beginPrompt()
	c.RelyOn(a.Task)
	return c.done()
}

// BeginProcess is BeginPrompt for the steps. It relies on the approved prompt.
func (a *Aggregate) BeginProcess(run int, now time.Time) (aggregate.Change, error) {
	prompt := a.Prompt()
	if err := a.working(run); err != nil || prompt == nil || prompt.Status != aggregate.Approved ||
		!begins(a.Processes) || a.Returned() != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.beginProcess(prompt)
	c.RelyOn(prompt)
	return c.done()
}

// begins reports whether a next version follows these: it is the first, or the previous one was rejected.
func begins[R Gated](before []R) bool {
	if len(before) == 0 {
		return true
	}
	return before[len(before)-1].gate().Status == aggregate.Rejected
}

// beginPrompt puts the row of the next version, with status generating, and its card. c relies on the previous version.
func (c *change) beginPrompt() *Prompt {
	p := &Prompt{TaskID: c.Head.TaskID, Version: 1, Gate: aggregate.Gate{Status: aggregate.Generating}, CreatedAt: c.Now}
	if last := c.of.Prompt(); last != nil {
		c.RelyOn(last)
		p.Version += last.Version
	}
	p.ID = c.of.rowID(p.Key(), c.Now)
	c.Put(p)
	c.card(c.of, CardPrompt, p.Key())
	return p
}

// beginProcess is beginPrompt for the steps, which are generated from the prompt.
func (c *change) beginProcess(prompt *Prompt) {
	p := &Process{
		TaskID: c.Head.TaskID, PromptID: prompt.ID, Version: 1, Steps: []Step{},
		Gate: aggregate.Gate{Status: aggregate.Generating}, CreatedAt: c.Now,
	}
	if last := c.of.Process(); last != nil {
		c.RelyOn(last)
		p.Version += last.Version
	}
	p.ID = c.of.rowID(p.Key(), c.Now)
	c.Put(p)
	c.card(c.of, CardProcess, p.Key())
}

// Drafted is a policy, and the task's title as it has it; empty: as it was.
type Drafted struct{ Content, Title string }

// FinishPrompt saves the policy's text and opens its gate. A further version may give the task another title. It relies
// on the settings s. Nothing changes if the newest version is not generating or a contest is drafting it.
func (a *Aggregate) FinishPrompt(run int, d Drafted, s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	p := a.Prompt()
	if err := a.working(run); err != nil || p == nil || p.Status != aggregate.Generating || a.Contesting() != nil {
		return aggregate.Change{}, err
	}
	if p.Version == 1 {
		d.Title = ""
	}
	return a.openGate(p, a.asksForPolicy(s), s, now, func(n Gated) {
		n.(*Prompt).Content, n.(*Prompt).Title = d.Content, d.Title
	})
}

// FinishProcess saves the steps and the model's remarks, and opens the gate. Where the tenant has rules, or others than
// who asks get a message, people are looked up first: see Unopened. It relies on the settings s. Nothing changes if the
// newest version is not being made. It returns Problem for steps that checkSteps refuses.
func (a *Aggregate) FinishProcess(run int, steps []Step, remarks string, s tenancy.Settings,
	now time.Time) (aggregate.Change, error) {
	p := a.Process()
	if err := a.working(run); err != nil || p == nil || p.Status != aggregate.Generating || len(p.Steps) > 0 {
		return aggregate.Change{}, err
	}
	if err := checkSteps(steps); err != nil {
		return aggregate.Change{}, err
	}
	if prompt := a.Prompt(); prompt == nil || prompt.Status != aggregate.Approved { // a torn read
		return aggregate.Change{}, aggregate.ErrConflict
	}
	fill := func(n Gated) { n.(*Process).Steps, n.(*Process).Remarks = steps, remarks }
	if !a.UnderRules(s) && len(Recipients(steps, a.Head.Requester)) == 0 {
		return a.openGate(p, a.asksForSteps(s), s, now, fill)
	}
	c, n := a.begin(now), *p
	fill(&n)
	c.progress()
	c.Head.TryingFrom = &c.Now // to look people up
	c.Put(&n)
	c.Made = &n
	c.Owned = append(c.Owned, tenancy.SettingsAt(s.Rev))
	return c.done()
}

// openGate asks people about a generated version. If nobody could approve it now, the task is parked instead.
func (a *Aggregate) openGate(row Gated, required bool, s tenancy.Settings, now time.Time,
	fill func(n Gated)) (aggregate.Change, error) {
	askers := a.Askers()
	if required && s.Nobody(a.Request.Origin(), askers...) != nil {
		c := a.park(ReasonNobodyApproves, "", now)
		c.Owned = append(c.Owned, tenancy.SettingsAt(s.Rev))
		return c.done()
	}
	c := a.begin(now)
	c.progress()
	c.Owned = append(c.Owned, tenancy.SettingsAt(s.Rev))
	opened := a.openUnder(c, row, aggregate.BySettings(required, askers...), s, fill)
	if p, is := opened.(*Prompt); is && p.Title != "" && a.Task != nil {
		t := *a.Task
		t.Title, t.UpdatedAt = p.Title, c.Now
		c.Put(&t)
	}
	c.Made = opened
	return c.done()
}

// Generation is the output that a model is asked for: the task, or one version of its prompt or process.
type Generation struct {
	Layer   Layer
	Version int // 0 for the task
}

// Generating returns the generation that is under way. If there is none, its Layer is empty.
func (a *Aggregate) Generating() Generation {
	p, q := a.Prompt(), a.Process()
	switch {
	case a.Task == nil:
		return Generation{Layer: L1}
	case p != nil && p.Status == aggregate.Generating:
		return Generation{L2, p.Version}
	case q != nil && q.Status == aggregate.Generating && len(q.Steps) == 0:
		return Generation{L3, q.Version}
	}
	return Generation{}
}

// failing checks the run like working, for an invocation whose generation g failed. ok is false if g was finished
// meanwhile, is already parked, or was handed to a contest. The run number alone is not enough, because the next
// version may have the same.
func (a *Aggregate) failing(run int, g Generation) (ok bool, err error) {
	if err := a.working(run); err != nil {
		return false, err
	}
	return a.Head.Parked == nil && a.Contesting() == nil && g != (Generation{}) && a.Generating() == g, nil
}

// Park records that g failed. The run ends, and a person may retry. Nothing changes if another invocation finished g
// meanwhile or it is already parked.
func (a *Aggregate) Park(
	run int, g Generation, why aggregate.Reason, detail string, now time.Time,
) (aggregate.Change, error) {
	if ok, err := a.failing(run, g); !ok {
		return aggregate.Change{}, err
	}
	return a.park(why, detail, now).done()
}

// park stops the task at its current stage until a person retries.
func (a *Aggregate) park(why aggregate.Reason, detail string, now time.Time) *change {
	c := a.begin(now)
	a.relyOnStage(c)
	layer := a.Layer()
	c.Head.Parked, c.Head.PausedUntil, c.Head.Retried = &Parked{Layer: layer, Sentence: why, Detail: detail}, nil, nil
	c.Record(&c.Head, aggregate.System(), AuditGenerationFailed, layer.resource(), a.layerID(),
		map[string]any{"layer": layer, "reason": why})
	return c
}

// MaxRetries limits how often people may retry a failing generation. Each retry costs money, including repairs, before
// anybody has stamped anything.
const MaxRetries = 10

// RetriesLeft reports whether the failed generation may be retried.
func (h Head) RetriesLeft() bool { return h.Retries < MaxRetries }

// Hopeless reports whether retrying the failed generation can't help.
func (h Head) Hopeless() bool { return h.Parked != nil && h.Parked.Sentence == ReasonPlanNever }

// again returns nil if this person retried the running generation, ErrDecided if somebody else did, and
// ErrNothingToRetry if nobody did.
func (r *Retried) again(by aggregate.Actor) error {
	switch {
	case r == nil:
		return ErrNothingToRetry
	case r.By == by.ID:
		return nil
	}
	return aggregate.ErrDecided{Status: "retried", By: r.By, At: r.At}
}

// MaxPausing is how long a vendor may delay one generation in total.
const MaxPausing = time.Hour

// TryingSince returns since when Ringi has tried to run the current generation, to accept the request or to look up
// whom a gate asks. Earlier waits for people or Slack don't count, and neither do waits for free capacity, because no
// vendor asked for those.
func (a *Aggregate) TryingSince() time.Time {
	from := a.Head.TryingFrom
	var again *time.Time
	if r := a.Head.Retried; r != nil {
		again = &r.At
	}
	switch policy, steps := a.Prompt(), a.Process(); {
	case steps != nil:
		return latest(steps.CreatedAt, again, from)
	case policy != nil && policy.Contest.Over():
		return latest(policy.CreatedAt, again, from, policy.Contest.EndedAt)
	case policy != nil:
		return latest(policy.CreatedAt, again, from)
	}
	return latest(a.Head.CreatedAt, a.Head.AcceptedAt, again, from)
}

// latest returns the latest of the times. All but the first may be nil.
func latest(t time.Time, others ...*time.Time) time.Time {
	for _, u := range others {
		if u != nil && u.After(t) {
			t = *u
		}
	}
	return t
}

// WaitUntil pauses the run, as a model's Retry-After asks. Nothing changes if g was finished meanwhile or is parked.
func (a *Aggregate) WaitUntil(run int, g Generation, until, now time.Time) (aggregate.Change, error) {
	if ok, err := a.failing(run, g); !ok {
		return aggregate.Change{}, err
	}
	return a.pause(until, now).done()
}

// pause begins a change by which the run does nothing until a time.
func (a *Aggregate) pause(until, now time.Time) *change {
	c := a.begin(now)
	a.relyOnStage(c)
	until = until.UTC().Truncate(time.Millisecond)
	c.Head.PausedUntil, c.Head.PausedFor = &until, ""
	return c
}

// Layer returns the layer that works on the task next.
func (a *Aggregate) Layer() Layer {
	switch {
	case a.Task == nil:
		return L1
	case a.Execution() != nil:
		return L4
	case a.Prompt() == nil || a.Prompt().Status != aggregate.Approved:
		return L2
	}
	return L3
}

func (l Layer) resource() string {
	return map[Layer]string{L1: "task", L2: "prompt", L3: "process", L4: "execution"}[l]
}

func (a *Aggregate) layerID() string {
	switch l := a.Layer(); {
	case l == L2 && a.Prompt() != nil:
		return a.Prompt().ID
	case l == L3 && a.Process() != nil:
		return a.Process().ID
	case l == L4:
		return a.Execution().ID
	}
	return a.Head.TaskID
}

// PickDraft replaces the waiting policy by another team's submission. It rejects the shown version with this reason and
// opens the next one under the same terms, with a new time limit. The new version does not count towards max_versions.
// It returns ErrNotFound for a team without a submission in this contest, and otherwise the same errors as Reject.
func (a *Aggregate) PickDraft(id, team, content, reason string, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	old, ok := row.(*Prompt)
	if !ok {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if reason, err = aggregate.CheckReason(reason); err != nil {
		return aggregate.Change{}, err
	}
	if err := a.mustWait(old); err != nil {
		return aggregate.Change{}, err
	}
	entry := old.Contest.Entry(team)
	if entry == nil || old.Entry == nil || entry.TeamID == old.Entry.TeamID || entry.Hash != aggregate.HashOf(content) {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if len(a.Prompts) >= maxPicked {
		return aggregate.Change{}, aggregate.Problem{Field: "version",
			Code: "there are as many versions as a task may have"}
	}
	c := a.begin(now)
	c.progress()
	act, err := p.Act(&old.Gate, old.Gate.Acting(circulation.SendBack, by, reason), by, c.Now)
	g, refused := old.Gate.Acted(act)
	if err := cmp.Or(err, refused); err != nil {
		return aggregate.Change{}, err
	}
	c.moveGate(old, aggregate.Rejected, func(n Gated) { *n.gate() = g })
	n := a.picked(c, old, entry, content, by)
	c.card(a, CardPrompt, n.Key())
	c.Record(&c.Head, by, AuditPromptRejected, "prompt", old.ID, g.ActDetails(map[string]any{"version": old.Version,
		"picked": team}))
	c.Record(&c.Head, by, AuditPromptPicked, "prompt", n.ID,
		ofTeam(entry, map[string]any{"version": n.Version, "hash": entry.Hash}))
	return c.done()
}

// maxPicked limits the versions of a policy including picked ones, because all of them are read with the task.
const maxPicked = 100

// picked opens the version with which a person replaces old.
func (a *Aggregate) picked(c *change, old *Prompt, e *contest.Place, content string, by aggregate.Actor) *Prompt {
	n := &Prompt{
		TaskID: old.TaskID, Version: old.Version + 1, Content: content, Author: by.ID, Contest: old.Contest, Entry: e,
		CostLimit: old.CostLimit, CreatedAt: c.Now,
		Gate: aggregate.Gate{Status: aggregate.Generating, Terms: old.Terms},
	}
	n.ID = a.rowID(n.Key(), c.Now)
	return a.along(c, n, aggregate.BySettings(true, a.Askers()...), nil).(*Prompt)
}

// ofTeam adds a submission's team and score to an audit entry's details.
func ofTeam(e *contest.Place, to map[string]any) map[string]any {
	if e != nil {
		to["team"], to["score"] = e.TeamName, e.Points()
	}
	return to
}
