package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// Step is one step of a process.
type Step struct {
	StepID             string         `json:"stepId"`
	Order              int            `json:"order"`
	Title              string         `json:"title,omitempty"`
	Tool               string         `json:"tool"`
	ToolInput          aggregate.JSON `json:"toolInput"`
	Description        string         `json:"description"`
	ExpectedOutput     string         `json:"expectedOutput"`
	RequiresHumanCheck bool           `json:"requiresHumanCheck,omitempty"`
	// LeftOut holds, by name, an MCP server's defaults for arguments that ToolInput lacks.
	LeftOut aggregate.JSON `json:"leftOut,omitempty"`
	// Declared has what an MCP server's schema calls the arguments, in their order: pointers, each with a title or "".
	Declared aggregate.JSON `json:"declared,omitempty"`
	// Access and ToolVersion are the catalog's values at planning time. A tool that has changed since is not called.
	Access      aggregate.Access `json:"effect"`
	ToolVersion string           `json:"toolVersion"`
	// ToolTitle is what an MCP server calls the tool.
	ToolTitle string `json:"toolTitle,omitempty"`
	// Mark is the mark of a write's tool at planning time. Cards are drawn by it, so it is part of what is stamped.
	Mark *rules.Mark `json:"mark,omitempty"`
}

// Recipients returns to whom but one person steps send messages, by Slack user id or e-mail address.
func Recipients(steps []Step, but string) (all []string) {
	for _, s := range steps {
		var in struct{ Recipient string }
		_ = json.Unmarshal([]byte(s.ToolInput), &in) // else it names nobody
		if s.Tool == tenancy.MessageTool && in.Recipient != "" && in.Recipient != but {
			all = append(all, in.Recipient)
		}
	}
	return all
}

// MaxSteps limits the steps of a process.
const MaxSteps = 60

// MaxPolicy limits a policy in characters as Slack counts them, because a card shows all of it.
const MaxPolicy = 8000

// checkSteps returns a Problem unless the steps are numbered from 1, have unique ids, and have valid JSON as input.
func checkSteps(steps []Step) error {
	if n := len(steps); n == 0 || n > MaxSteps {
		return aggregate.Problem{Field: "steps", Code: fmt.Sprintf("must be 1 to %d, not %d", MaxSteps, n)}
	}
	seen := map[string]bool{}
	for i, s := range steps {
		field := func(name string) string { return fmt.Sprintf("steps[%d].%s", i, name) }
		switch {
		case s.Order != i+1:
			return aggregate.Problem{Field: field("order"), Code: fmt.Sprintf("must be %d, not %d", i+1, s.Order)}
		case s.StepID == "" || seen[s.StepID]:
			return aggregate.Problem{Field: field("stepId"), Code: "must be there and used once"}
		case s.ToolInput != "" && !json.Valid([]byte(s.ToolInput)):
			return aggregate.Problem{Field: field("toolInput"), Code: "must be JSON"}
		case s.Access != aggregate.Read && s.Access != aggregate.Write:
			return aggregate.Problem{Field: field("effect"), Code: "must be read or write"}
		}
		seen[s.StepID] = true
	}
	return nil
}

// Name returns the step's title, or its description if it has no title.
func (s Step) Name() string {
	return cmp.Or(s.Title, s.Description)
}

// Hash returns the SHA-256 of everything that a person stamps: tools, raw input, order, flags, and the tools' effect,
// version and mark.
func Hash(steps []Step) string {
	b, err := json.Marshal(steps)
	if err != nil { // invalid JSON in a toolInput must not equal an approved hash
		return "invalid: " + err.Error()
	}
	return aggregate.HashOf(string(b))
}

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
	// Calls are what rules may know of the calls of all steps, while the gate's people are looked up.
	Calls     []rules.Call `json:"calls,omitempty"`
	CreatedAt time.Time    `json:"created_at"`
	aggregate.Gate
}

func GateKey(process, attempt, order int) string { return keyOf("GATE", process, attempt, order) }

func (*StepGate) Relied() {}

func (g *StepGate) Key() string { return GateKey(g.ProcessVersion, g.Attempt, g.Order) }

func (g StepGate) At(rev int) aggregate.Row { g.Rev = rev; return &g }

// OpenStepGate asks people about the next step with its resolved arguments. If the steps were settled under a rule,
// people are looked up first: see Unopened; calls are what rules may know of the calls, and on, the tenant's rows on
// which that depends. If the gate exists, nothing changes. It returns ErrMoved if another step is next or the step's
// call has begun: see Outstanding. Under a rule it returns StopError if the steps no longer stand or were settled too
// long ago.
func (a *Aggregate) OpenStepGate(run int, order int, args aggregate.Blob, hash string, calls []rules.Call,
	now time.Time, on ...aggregate.Owned) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	step := a.NextStep(e)
	switch {
	case e.Status != ExecutionRunning:
		return aggregate.Change{}, aggregate.ErrConflict
	case step == nil || step.Order != order:
		return aggregate.Change{}, aggregate.ErrMoved
	case a.GateOf(e, order) != nil:
		return aggregate.Change{}, nil
	case a.StepOf(e, order) != nil: // the call has begun
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c := a.begin(now)
	if err := a.mayBegin(e, order, c.Now); err != nil {
		return aggregate.Change{}, err
	}
	g := &StepGate{
		TaskID: a.Head.TaskID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: order, StepID: step.StepID,
		Arguments: args, ArgumentsHash: hash, CreatedAt: c.Now,
		Gate: aggregate.Gate{Status: aggregate.Generating, Terms: e.Terms},
	}
	g.Terms.Rule, g.Terms.DecideBy, g.Terms.ApprovalRequired = nil, nil, true // nobody is asked yet
	g.ID = a.rowID(g.Key(), c.Now)
	if e.Terms.Rule != nil && a.Settled(e) == nil {
		return aggregate.Change{}, aggregate.ErrOnRoute
	}
	c.card(a, CardStep, g.Key())
	n := *e
	n.CurrentStep = g.Order // while people are asked, the row itself says so
	c.Put(&n)
	a.relyOnStep(c, e)
	if e.Terms.Rule == nil {
		return a.openStep(c, g, aggregate.BySettings(true, a.Askers()...))
	}
	c.Owned = append(c.Owned, on...)
	c.RelyOn(a.ProcessOf(e))
	c.Head.TryingFrom = &c.Now // to look people up
	g.Calls = calls
	c.Put(g)
	return c.done()
}

// openStep opens a step's gate along the route of an opening. If nobody is left who could stamp, it ends the task, as a
// refused step does.
func (a *Aggregate) openStep(c *change, g *StepGate, o aggregate.Opening) (aggregate.Change, error) {
	n := g.Gate
	n.AskedAt = &c.Now
	// nobody could settle it
	if _, err := n.Under(o, a.Askers(), func(*aggregate.Gate) string { return "any" }); err != nil {
		a.cancelExecution(c, a.executionOf(g), aggregate.System())
		return c.refused(a.Task, ReasonNobodyChecks, "", map[string]any{"reason": ReasonNobodyChecks, "step": g.StepID})
	}
	a.along(c, g, o, func(n Gated) { n.(*StepGate).Calls = nil })
	return c.done()
}

// MaxStepsBytes is the limit of all steps of a plan as JSON, in bytes; an item in DynamoDB holds 400 KB.
const MaxStepsBytes = 200_000

// StepsBytes returns how many bytes steps have as JSON.
func StepsBytes(steps []Step) int {
	b, err := json.Marshal(steps)
	if err != nil { // invalid JSON among their arguments
		return MaxStepsBytes + 1
	}
	return len(b)
}
