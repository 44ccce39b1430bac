package task

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// StepGate asks people about a step, with the arguments for its call.
type StepGate struct {
	aggregate.Meta
	ID             string         `json:"id"`
	TaskID         string         `json:"task_id"`
	ProcessVersion int            `json:"process_version"`
	Attempt        int            `json:"attempt"`
	Order          int            `json:"order"`
	StepID         string         `json:"step_id"`
	Arguments      aggregate.Blob `json:"arguments"`
	ArgumentsHash  string         `json:"arguments_hash"`
	CreatedAt      time.Time      `json:"created_at"`
	aggregate.Gate
}

func GateKey(process, attempt, order int) string {
	return fmt.Sprintf("GATE#%04d#%03d#%02d", process, attempt, order)
}

func (*StepGate) Relied() {}

func (g *StepGate) Key() string { return GateKey(g.ProcessVersion, g.Attempt, g.Order) }

func (g StepGate) At(rev int) aggregate.Row { g.Rev = rev; return &g }

// OpenStepGate asks people about the next step with its resolved arguments, under a rule along the route that sameRule
// gives. If the gate exists, nothing changes. It returns ErrMoved if another step is next or the step's call has begun:
// see Outstanding. Under a rule it returns StopError if the steps no longer stand or were settled too long ago, and
// ends the task, as a refused step does, if nobody is left who could stamp.
func (a *Aggregate) OpenStepGate(run int, order int, args aggregate.Blob, hash string,
	now time.Time) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	if e.Status != ExecutionRunning {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	step := a.NextStep(e)
	if step == nil || step.Order != order {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	if a.GateOf(e, order) != nil {
		return aggregate.Change{}, nil
	}
	if a.StepOf(e, order) != nil { // the call has begun
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c, steps := a.begin(now), a.inForce(e)
	g := &StepGate{
		TaskID: a.Head.TaskID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: order, StepID: step.StepID,
		Arguments: args, ArgumentsHash: hash, CreatedAt: c.Now,
		Gate: aggregate.Gate{Status: aggregate.PendingApproval, Terms: e.Terms, AskedAt: &c.Now},
	}
	g.ID = a.rowID(g.Key(), c.Now)
	by := c.Now.Add(time.Duration(e.Terms.ApprovalHours) * time.Hour)
	g.Terms.ApprovalRequired, g.Terms.DecideBy = true, &by
	if steps.gate().Ruled() {
		if err := a.mayBegin(e, order, c.Now); err != nil {
			return aggregate.Change{}, err
		}
		return a.openStepUnder(c, e, g, a.sameRule(steps))
	}
	c.Head.Opens(g.Key(), &g.Gate)
	if err := c.Head.OnRoute(g.Key(), &g.Gate); err != nil {
		c.Fail(err)
	}
	return a.openStep(c, e, g)
}

// openStep writes a step's gate that begins to wait.
func (a *Aggregate) openStep(c *change, e *Execution, g *StepGate) (aggregate.Change, error) {
	n := *e
	n.CurrentStep = g.Order // while people are asked, the row itself says so
	c.Put(g, &n)
	a.relyOnStep(c, e)
	c.card(a, CardStep, g.Key())
	return c.done()
}

// openStepUnder is openStep under a rule. If the opening has nobody who could stamp, it ends the task instead.
func (a *Aggregate) openStepUnder(c *change, e *Execution, g *StepGate, o aggregate.Opening) (aggregate.Change, error) {
	if _, err := g.Under(o, a.askersOfAll(), func(g *aggregate.Gate) string { return "any" }); err != nil {
		a.cancelExecution(c, e, aggregate.System())
		c.audit(aggregate.System(), AuditTaskCancelled, "task", a.Head.TaskID,
			map[string]any{"reason": ReasonNobodyChecks, "step": g.StepID})
		return c.ended(a.Task, TaskCancelled, aggregate.System(), ReasonNobodyChecks)
	}
	c.RelyOn(a.inForce(e))
	g.Gate = aggregate.Gate{Status: aggregate.Generating, Terms: g.Terms} // along opens it
	return a.openStep(c, e, a.along(c, g, o, nil).(*StepGate))
}

// sameRule returns how a step's gate opens under the rule by which the steps were settled: it asks for one stamp of
// anybody for whom the last stage of the steps was stamped.
func (a *Aggregate) sameRule(steps Gated) aggregate.Opening {
	g := steps.gate()
	o := aggregate.Opening{Rule: *g.Terms.Rule, Askers: slices.Clone(g.Askers)}
	o.Route = circulation.Route{Form: g.Route.Form, Hands: 1, Org: g.Route.Org}
	for _, user := range a.askersOfAll() {
		if !slices.ContainsFunc(o.Askers, func(p circulation.Person) bool { return p.User == user }) {
			o.Askers = append(o.Askers, circulation.Person{User: user})
		}
	}
	st := circulation.Walk(g.Circulating())
	for i := range st.Stages {
		if s := &st.Stages[i]; len(s.Stamps) > 0 {
			desk := circulation.Stage{Name: s.Name, Mode: circulation.ModePeople, Need: 1}
			for _, act := range s.Stamps {
				desk.People = append(desk.People, act.Principal)
			}
			o.Route.Stages = []circulation.Stage{desk}
		}
	}
	return o
}
