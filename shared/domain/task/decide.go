package task

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// ApproveUnasked approves the gate with this id, about which nobody is asked, as the system. It returns ErrDecided,
// ErrNotLatest, ErrNotAllowed or ErrNotFound. What follows is what follows from Act.
func (a *Aggregate) ApproveUnasked(id string, now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	c, g := a.begin(now), *row.gate()
	if g.Status == aggregate.Approved && g.ApprovedBy == "" {
		return aggregate.Change{}, nil
	}
	if err := a.mustWait(row); err != nil {
		return aggregate.Change{}, err
	}
	if g, err = g.Unasked(c.Now); err != nil {
		return aggregate.Change{}, err
	}
	return a.acted(c, row, g, aggregate.System())
}

// Askers returns the people whose own request it is: the requester, and whoever filled in the form again.
func (a *Aggregate) Askers() []string {
	askers := []string{a.Head.Requester}
	for _, p := range a.Prompts {
		if p.EditedBy != "" && !slices.Contains(askers, p.EditedBy) {
			askers = append(askers, p.EditedBy)
		}
	}
	return askers
}

// approved adds what follows from a settled gate to the Change.
func (a *Aggregate) approved(c *change, row Gated) {
	switch row := row.(type) {
	case *Prompt:
		c.beginProcess(row)
	case *Process:
		prompt := a.Prompt()
		if prompt == nil || prompt.Status != aggregate.Approved {
			c.Fail(aggregate.ErrConflict)
			return
		}
		c.moveTask(a.Task, TaskRunning)
		e := &Execution{
			TaskID: a.Head.TaskID, ProcessID: row.ID, ProcessVersion: row.Version, Attempt: 1, Status: ExecutionPending,
			Results: []ResultEntry{}, CreatedAt: c.Now, Terms: row.Terms,
		}
		e.ID = a.rowID(e.Key(), c.Now)
		c.Put(e)
		c.card(a, CardExecution, "EXECUTION")
		c.RelyOn(prompt)
	case *StepGate:
		e := *a.executionOf(row)
		e.WaitedMS += c.Now.Sub(row.CreatedAt).Milliseconds()
		c.Put(&e)
	}
}

// afterRejection ends the task if the maximum number of versions has been generated.
func (a *Aggregate) afterRejection(c *change, row Gated) (aggregate.Change, error) {
	if !a.Last(row) {
		return c.done()
	}
	c.Record(&c.Head, aggregate.System(), AuditTaskCancelled, "task", a.Head.TaskID,
		map[string]any{"reason": ReasonMaxVersions, "max_versions": row.gate().Terms.MaxVersions})
	return c.ended(a.Task, TaskCancelled, aggregate.System(), ReasonMaxVersions)
}

// mustWait returns an error unless the gate waits, as it opened.
func (a *Aggregate) mustWait(row Gated) error {
	g := row.gate()
	if err := g.Decided(); err != nil {
		return err
	}
	switch {
	case a.Head.Ended != nil:
		return a.ended()
	case g.Status == aggregate.Expired || g.Status == aggregate.Cancelled:
		return aggregate.ErrConflict // the head was read before the commit that ended the task
	case g.Status != aggregate.PendingApproval:
		return aggregate.ErrNotFound // still generating: no button was shown yet
	}
	if g.Walked() != nil { // it lost its rule, or its route
		return aggregate.ErrConflict
	}
	return nil
}

// ended returns ErrDecided for a task that is over.
func (a *Aggregate) ended() error {
	e := a.Head.Ended
	return aggregate.ErrDecided{Status: string(e.As), By: e.By, At: e.At, Reason: e.Reason}
}

// decidable returns the gate with this id. It returns ErrNotLatest for a waiting version that is not the newest,
// and ErrSuperseded for a step that an earlier call turned out to have done.
func (a *Aggregate) decidable(id string) (Gated, error) {
	row := a.gateOf(id)
	if row == nil {
		return nil, aggregate.ErrNotFound
	}
	waits, closed := row.gate().Status == aggregate.PendingApproval, row.gate().Status == aggregate.Cancelled
	if newest := a.superseding(row); newest > 0 && (waits || closed) {
		return nil, aggregate.ErrNotLatest{Latest: newest}
	}
	if step, ok := row.(*StepGate); ok {
		e := a.executionOf(step)
		if e == nil {
			return nil, aggregate.ErrConflict
		}
		if done := a.StepOf(e, step.Order); step.Status == aggregate.Cancelled && a.Head.Ended == nil && done != nil &&
			done.CompletedAt != nil {
			return nil, aggregate.ErrSuperseded
		}
	}
	return row, nil
}

// executionOf returns the attempt that a step's gate belongs to, or nil if it was not read.
func (a *Aggregate) executionOf(g *StepGate) *Execution {
	return aggregate.Find(a.Executions, ExecutionKey(g.ProcessVersion, g.Attempt))
}

// relyOnStage makes c's commit fail if the task has left the stage that the rows show. Rows that were not found must
// still be absent.
func (a *Aggregate) relyOnStage(c *change) {
	if a.Task == nil {
		c.untasked()
		return
	}
	c.RelyOn(a.Task)
	switch prompt, process, e := a.Prompt(), a.Process(), a.Execution(); {
	case prompt == nil:
		c.RelyOn(&Prompt{Version: 1})
	case prompt.Status != aggregate.Approved:
		c.RelyOn(prompt, &Prompt{Version: prompt.Version + 1})
	case process == nil:
		c.RelyOn(prompt, &Process{Version: 1})
	case process.Status != aggregate.Approved:
		c.RelyOn(prompt, process, &Process{Version: process.Version + 1})
	case e == nil:
		c.RelyOn(prompt, process, &Execution{ProcessVersion: process.Version, Attempt: 1})
	default:
		c.RelyOn(prompt, process, e, &Execution{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt + 1})
		a.relyOnStep(c, e)
	}
}

// relyOnStep makes c's commit fail if the execution has left its current step: the step's row and its gate must be
// unchanged or still absent. Earlier steps have completed and can't change.
func (a *Aggregate) relyOnStep(c *change, e *Execution) {
	process := a.ProcessOf(e)
	if process == nil {
		c.RelyOn(&Process{Version: e.ProcessVersion})
		return
	}
	c.RelyOn(process)
	step := a.NextStep(e)
	if step == nil {
		return
	}
	row, gate := a.StepOf(e, step.Order), a.GateOf(e, step.Order)
	if row == nil {
		row = &StepResult{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: step.Order}
	}
	if gate == nil {
		gate = &StepGate{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: step.Order}
	}
	c.RelyOn(row, gate)
}

// justDecided reports whether the latest change was a gate's decision or a contest's end. A failure then belongs to a
// run from before it.
func (a *Aggregate) justDecided() bool {
	return slices.ContainsFunc(a.gates(), func(row Gated) bool {
		s := row.gate().Status
		p, ok := row.(*Prompt)
		drafted := ok && s == aggregate.Generating && p.Contest.Over()
		return row.Revision() == a.Head.Rev && (s == aggregate.Approved || s == aggregate.Rejected || drafted) &&
			a.superseding(row) == 0
	})
}

// Open opens the gate of the row with this key, whose content has been made, along the route that was found for it;
// nil: as the settings say, if that is a version, else under the rule of its steps. It relies on the settings s and on
// the tenant's rows in on. Nothing changes if the gate is open already. If nobody could settle the route of a step's
// gate, it ends the task, as a refused step does; of any other it returns ErrOnRoute. It returns ErrMoved if there is
// nothing to open.
func (a *Aggregate) Open(run int, key string, o *aggregate.Opening, s tenancy.Settings, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	row := aggregate.Find(a.gates(), key)
	switch {
	case row == nil:
		return aggregate.Change{}, aggregate.ErrMoved
	case row.gate().Status != aggregate.Generating:
		return aggregate.Change{}, nil
	case !a.openable(row):
		return aggregate.Change{}, aggregate.ErrMoved
	}
	step, is := row.(*StepGate)
	if !is && o == nil {
		return a.openGate(row, a.asksForSteps(s), s, now, func(Gated) {})
	}
	c := a.begin(now)
	c.progress()
	c.Owned = append(c.Owned, on...)
	c.Owned = append(c.Owned, tenancy.SettingsAt(s.Rev))
	if !is {
		a.openUnder(c, row, *o, s, func(Gated) {})
		return c.done()
	}
	e := a.executionOf(step)
	c.RelyOn(e, a.ProcessOf(e))
	if settled := a.Settled(e); o == nil && settled != nil {
		o = settled.Opening()
	}
	if o == nil {
		return aggregate.Change{}, aggregate.ErrOnRoute
	}
	return a.openStep(c, step, *o)
}

// openable reports whether a gate that doesn't wait yet has what people are asked about.
func (a *Aggregate) openable(row Gated) bool {
	switch row := row.(type) {
	case *Process:
		return len(row.Steps) > 0 && a.Prompt() != nil && a.Prompt().Status == aggregate.Approved
	case *StepGate:
		e := a.Execution()
		if e == nil || a.executionOf(row) != e || e.Status != ExecutionRunning || row.ArgumentsHash == "" {
			return false
		}
		step := a.NextStep(e)
		return step != nil && step.Order == row.Order // else a call of an earlier attempt turned out to have done it
	}
	return false
}

// openUnder opens a version's gate along a route and under these settings, after fill has edited its row.
func (a *Aggregate) openUnder(c *change, row Gated, o aggregate.Opening, s tenancy.Settings, fill func(n Gated)) Gated {
	return a.along(c, row, o, func(n Gated) {
		fill(n)
		n.gate().Terms = a.terms(s, c.Now)
	})
}

// along opens a gate along the route of an opening, after fill has edited its row, with the entry that says so.
func (a *Aggregate) along(c *change, row Gated, o aggregate.Opening, fill func(n Gated)) (opened Gated) {
	c.moveGate(row, aggregate.PendingApproval, func(n Gated) {
		if fill != nil {
			fill(n)
		}
		g := n.gate()
		g.AskedAt = &c.Now
		under, err := g.Under(o, a.Askers(), func(g *aggregate.Gate) string {
			*n.gate() = *g
			return a.sum(n)
		})
		if err != nil {
			c.Fail(err)
		}
		*g, opened = under, n
	})
	if typ, id, about := a.onRoute(opened); o.Rule.ID != "" {
		c.Record(&c.Head, aggregate.System(), aggregate.Action(opened.Asks().Kind+".routed"), typ, id,
			opened.gate().OpenedDetails(about))
	}
	return opened
}

// UnderRules reports whether the tenant's rules decide who is asked about the request's steps.
func (a *Aggregate) UnderRules(s tenancy.Settings) bool {
	return s.RulesRev > 0 && a.Request != nil
}

// Unopened returns the gate whose content is made and whose people must be looked up before it opens, or nil.
func (a *Aggregate) Unopened() Gated {
	if a.Head.Ended != nil {
		return nil
	}
	return aggregate.First(a.gates(), func(row Gated) bool {
		return row.gate().Status == aggregate.Generating && a.openable(row)
	})
}

// LookAgain has the run look people up again for the gate that waits for them, or for the next one, and a new run for a
// form that was given back: somebody may have left.
func (a *Aggregate) LookAgain(now time.Time) (aggregate.Change, error) {
	if a.Head.Ended != nil || a.Head.LookAgain {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	c.Head.LookAgain = true
	if a.WaitingTerms() != nil {
		c.Head.TryingFrom = &c.Now
	}
	if a.Returned() != nil {
		c.Head.Run++
	}
	a.relyOnStage(c)
	return c.done()
}

// LooksAgain returns the gate for which people, who may decide all the while, are to be looked up again, or nil. It may
// be that of a form that was given back.
func (a *Aggregate) LooksAgain() Gated {
	if !a.Head.LookAgain {
		return nil
	}
	if p := a.Returned(); p != nil {
		return p
	}
	if open, _ := a.OpenGate(); open.Terms.ApprovalRequired {
		return a.gateOf(open.ID)
	}
	return nil
}

// Looked records who has left of those whom the rule of a gate, as it was read, asks. no: nobody may go on, and the
// task ends, if the settings are s. Nothing changes if somebody acted on the gate meanwhile.
func (a *Aggregate) Looked(run int, at Gated, left []string, no *aggregate.Refusal, s tenancy.Settings,
	now time.Time) (aggregate.Change, error) {
	row := a.LooksAgain()
	if err := a.working(run); err != nil || row == nil || row.Key() != at.Key() || row.Revision() != at.Revision() {
		return aggregate.Change{}, err
	}
	if no != nil {
		return a.RefuseByRule(run, *no, s, now)
	}
	c := a.begin(now)
	c.Head.LookAgain, c.Head.Left, c.Head.TryingFrom, c.Head.PausedUntil = false, left, nil, nil
	a.relyOnStage(c)
	return c.done()
}

// PutOff pauses the run until it is asked again whom the gate of the row with this key asks. Nothing changes if that is
// not to be asked any more.
func (a *Aggregate) PutOff(run int, key string, until, now time.Time) (aggregate.Change, error) {
	row := cmp.Or(a.Unopened(), a.LooksAgain())
	if err := a.working(run); err != nil || row == nil || row.Key() != key || a.Head.Parked != nil {
		return aggregate.Change{}, err
	}
	c := a.pause(until, now)
	c.RelyOn(row)
	return c.done()
}

// RefuseByRule ends a task whose gate doesn't open because the rules refuse what it asks, or waits for nobody any more.
// As after a refused step, what was done stays. It relies on the settings s and on the tenant's rows in on.
func (a *Aggregate) RefuseByRule(run int, r aggregate.Refusal, s tenancy.Settings, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	if err := a.working(run); err != nil || a.Task == nil {
		return aggregate.Change{}, err
	}
	c, detail := a.withdraw(aggregate.System(), aggregate.Cancelled, now), detailOf(&r)
	c.Owned = append(c.Owned, tenancy.SettingsAt(s.Rev))
	c.Owned = append(c.Owned, on...)
	if e := a.Execution(); e != nil && !e.over() {
		stopped := map[aggregate.Reason]aggregate.Reason{ReasonRuleRefuses: ReasonStepRefused,
			ReasonNoRoute: ReasonStepNoRoute}
		r.Why = cmp.Or(stopped[r.Why], r.Why)
	}
	return c.refused(a.Task, r.Why, detail, r.Details())
}

// refused ends a task about which nobody is asked. Its row has no such status: nobody cancelled it all the same.
func (c *change) refused(t *Task, why aggregate.Reason, detail string, about map[string]any) (aggregate.Change, error) {
	c.end(t, TaskCancelled, aggregate.System(), why)
	c.Head.Ended.As, c.Head.Ended.Detail = TaskRefused, detail
	c.Record(&c.Head, aggregate.System(), AuditTaskRefused, "task", c.Head.TaskID, about)
	return c.done()
}

// byRule are the reasons for which rules refuse a request, or Ringi does as people are looked up.
var byRule = []aggregate.Reason{
	ReasonRuleRefuses, ReasonNoRoute, ReasonNoDepartment, ReasonNoRow, ReasonNoRowOther,
	ReasonUnknownPost, ReasonStepRefused, ReasonStepNoRoute, ReasonAskerLeft, ReasonNobodyLeft, ReasonNoRecipient,
}

// ByRun reports whether a run ended the task at its own commit: with a plain reply, or because the rules refuse it.
func (e *Ended) ByRun() bool {
	return e.As == TaskAnswered || slices.Contains(byRule, e.Reason)
}

// detailOf is kept of how the task ended: of a refusal the rule's name and what it says, on two lines; of a stage that
// finds nobody its name, why, above whom nobody is, and the rule's name, on four.
func detailOf(r *aggregate.Refusal) string {
	switch {
	case r.Why == ReasonRuleRefuses:
		return r.Rule.Name + "\n" + r.Detail
	case r.Why == ReasonNoRoute && r.Lacks != "", r.Of != "":
		return strings.Join([]string{r.Detail, r.Lacks, r.Of, r.Rule.Name}, "\n")
	}
	return r.Detail
}
