// Package task holds the rules for tasks: the stages from a request to its end, who may decide what, and which effects
// follow from the rows.
//
// Everything here is a pure function over loaded values. A decision takes an Aggregate (all rows of one task) and
// returns a Change: the rows to write, the rows it relied on, and its audit entries. The store commits a Change in one
// transaction; nothing else changes state.
//
// A version begins with what asks for it: the first policy in the commit that makes the task's row, the first steps in
// that of the policy's stamp. After a rejection the next version begins with the reasons, until max_versions. What is
// given back rests until one of its askers makes the next version of it, or withdraws the request: no run, no model and
// no time does. Expiry is a decision like any other,
// which the sweeper makes; until it commits, a click counts.
//
// Before a call a step is claimed: execution running, own run, time left, tool allowed, and the stored steps with the
// hash that was stamped. The claim has an invocation and a lease, and it is where a call begins. The result commits on
// the claim alone, whatever the execution's status or run, so late truth is recorded. The claim of the next step is
// part of the result's commit; whatever refuses it, the result is committed alone.
//
// Only an expired lease means that a function died. A read is then called again. A write never is: the step is unknown
// (結果不明), and a person decides. An idempotency key counts up only after a definite failure. A retry is a further
// attempt at the same process; completed steps are carried over, and a write that an earlier attempt turns out to have
// done is not done again.
//
// A person sees a step's resolved arguments before the call (GATE) where a rule, the settings or the tool ask for it,
// for each write where nobody is asked about the steps, and for one whose target came from an earlier result that no
// constraint lists. What a rule had people settle is good for some days, for calls that have not begun; then an attempt
// fails, and people ask for it once more.
//
// A number of a decision is put after the last of its fiscal year by the commit that begins the attempt, so there is no
// gap and no counter; a retry keeps it.
//
// An edit of the request's message changes nothing; a deletion withdraws what no execution has begun.
package task

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// Aggregate is every row of one task; see aggregate.Aggregate.
type Aggregate struct {
	aggregate.Shared
	Head       Head
	Request    *Request
	Files      *Files // what was read of the request's files
	Task       *Task
	Listing    *Task         // the row that lists show of a request without a task
	Answer     *Answer       // a plain reply instead of a task
	Prompts    []*Prompt     // by version
	Processes  []*Process    // by version
	Executions []*Execution  // by process version and attempt
	Steps      []*StepResult // by process version, attempt and order
	Gates      []*StepGate
}

func (a *Aggregate) Ref() aggregate.Ref   { return RefOf(a.Head.TenantID, a.Head.TaskID) }
func (a *Aggregate) Root() aggregate.Root { return &a.Head }

// Prompt returns the newest version, or nil.
func (a *Aggregate) Prompt() *Prompt { return aggregate.Last(a.Prompts) }

// Process returns the newest version, or nil.
func (a *Aggregate) Process() *Process { return aggregate.Last(a.Processes) }

// Execution returns the newest attempt, or nil.
func (a *Aggregate) Execution() *Execution { return aggregate.Last(a.Executions) }

// StepsOf returns the attempt's step rows in order.
func (a *Aggregate) StepsOf(e *Execution) []*StepResult {
	return slices.DeleteFunc(slices.Clone(a.Steps), func(s *StepResult) bool {
		return s.ProcessVersion != e.ProcessVersion || s.Attempt != e.Attempt
	})
}

// StepOf returns the row of a step of an attempt, or nil if the step has not begun.
func (a *Aggregate) StepOf(e *Execution, order int) *StepResult {
	return aggregate.Find(a.Steps, StepKey(e.ProcessVersion, e.Attempt, order))
}

// GateOf returns the gate before a step of an attempt, or nil if none was opened.
func (a *Aggregate) GateOf(e *Execution, order int) *StepGate {
	return aggregate.Find(a.Gates, GateKey(e.ProcessVersion, e.Attempt, order))
}

// ProcessOf returns the process version that an execution carries out.
func (a *Aggregate) ProcessOf(e *Execution) *Process {
	return aggregate.Find(a.Processes, ProcessKey(e.ProcessVersion))
}

// WaitingTerms returns the terms of the gate that waits for a stamp; nil if nothing waits for a person.
func (a *Aggregate) WaitingTerms() *aggregate.Terms {
	if open, waits := a.OpenGate(); waits && open.Terms.ApprovalRequired {
		return &open.Terms
	}
	return nil
}

// Newest reports whether a card shows the task's newest row. That card also shows a failed generation and how the task
// ended.
func (a *Aggregate) Newest(kind aggregate.CardType, key string) bool {
	switch {
	case a.Matter() != nil && kind == CardTask:
		return true
	case a.Execution() != nil:
		return kind == CardExecution
	case a.Process() != nil:
		return kind == CardProcess && key == a.Process().Key()
	case a.Prompt() != nil:
		return kind == CardPrompt && key == a.Prompt().Key()
	}
	return kind == CardTask
}

// LiveLease returns a step whose call may still be under way at now, or nil.
func (a *Aggregate) LiveLease(now time.Time) *StepResult {
	return aggregate.First(a.Steps, func(s *StepResult) bool { return s.Status == StepRunning && s.Claim.Live(now) })
}

// Apply returns a copy of the aggregate as it is after c was committed.
func (a *Aggregate) Apply(c aggregate.Change) *Aggregate { return aggregate.Committed(a.clone(), c) }

// clone returns a copy with lists of its own.
func (a *Aggregate) clone() *Aggregate {
	n := *a
	n.Prompts, n.Processes, n.Executions = slices.Clone(a.Prompts), slices.Clone(a.Processes), slices.Clone(a.Executions)
	n.Steps, n.Gates, n.Cards = slices.Clone(a.Steps), slices.Clone(a.Gates), slices.Clone(a.Cards)
	n.Waits, n.Uses = slices.Clone(a.Waits), slices.Clone(a.Uses)
	return &n
}

func (a *Aggregate) After(c aggregate.Change) aggregate.Aggregate { return a.Apply(c) }

func (a *Aggregate) Add(r aggregate.Row) {
	switch r := r.(type) {
	case *Head:
		a.Head = *r
	case *Request:
		a.Request = r
	case *Files:
		a.Files = r
	case *Task:
		if a.Task, a.Listing = r, nil; r.Status == "" {
			a.Task, a.Listing = nil, r
		}
	case *Answer:
		a.Answer = r
	case *Prompt:
		a.Prompts = aggregate.Insert(a.Prompts, r)
	case *Process:
		a.Processes = aggregate.Insert(a.Processes, r)
	case *Execution:
		a.Executions = aggregate.Insert(a.Executions, r)
	case *StepResult:
		a.Steps = aggregate.Insert(a.Steps, r)
	case *StepGate:
		a.Gates = aggregate.Insert(a.Gates, r)
	default:
		a.Shared.Add(r)
	}
}

// Rows returns all rows by key, except the head and the waits.
func (a *Aggregate) Rows() map[string]aggregate.Row {
	out := map[string]aggregate.Row{}
	if a.Request != nil {
		out[a.Request.Key()] = a.Request
	}
	if a.Files != nil {
		out[a.Files.Key()] = a.Files
	}
	if t := cmp.Or(a.Task, a.Listing); t != nil {
		out[TaskKey] = t
	}
	if a.Answer != nil {
		out[a.Answer.Key()] = a.Answer
	}
	for _, rows := range []map[string]aggregate.Row{
		aggregate.ByKey(a.Prompts), aggregate.ByKey(a.Processes), aggregate.ByKey(a.Executions), aggregate.ByKey(a.Steps),
		aggregate.ByKey(a.Gates),
		aggregate.ByKey(a.Cards),
	} {
		maps.Copy(out, rows)
	}
	return out
}

// Kind describes tasks to the store, the relay and the sweeper.
var Kind = aggregate.Kind{
	Name: "task", Prefix: "TASK#",
	New: func() aggregate.Aggregate { return &Aggregate{} }, ValidID: aggregate.ValidID, RequestKey: (&Request{}).Key(),
	Asks: []aggregate.CardType{CardPrompt, CardProcess, CardStep},
	Rows: aggregate.RowsOf(&Head{}, &Request{}, &Task{}, &Files{}, &Answer{}, &Prompt{}, &Process{}, &Execution{},
		&StepResult{}, &StepGate{}),
}

// RefOf returns the Ref of a task.
func RefOf(tenant, id string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: Kind.Name, ID: id}
}

func (r *Request) Type() string    { return "request" }
func (r *Files) Type() string      { return "files" }
func (t *Task) Type() string       { return "task" }
func (r *Answer) Type() string     { return "answer" }
func (p *Prompt) Type() string     { return "prompt" }
func (p *Process) Type() string    { return "process" }
func (e *Execution) Type() string  { return "execution" }
func (s *StepResult) Type() string { return "step" }
func (g *StepGate) Type() string   { return "gate" }

// Objects names the steps' arguments.
func (p *Process) Objects() (list, member string, blob bool) { return "steps", "toolInput", false }

// Objects names the results.
func (e *Execution) Objects() (list, member string, blob bool) { return "results", "result", true }

// Only rows that seldom change have indexes, because each write of a row also writes its index entries. The head
// changes with every commit and card.

// Indexes lists a reply under its thread. Other messages need no entry: their task's id is derived from the message.
func (r *Request) Indexes(head aggregate.Root) []aggregate.Index {
	if !r.Threaded() {
		return nil
	}
	h := head.(*Head)
	return []aggregate.Index{{N: 1, PK: ThreadOf(h.TenantID, r.Channel, r.ThreadTS),
		SK: aggregate.TimeText(r.CreatedAt) + "#" + h.TaskID}}
}

// Indexes lists the request by time among all of the tenant's, those with its status, and those of its requester. To
// what Ringi only replied to its status and who wrote it lead.
func (t *Task) Indexes(head aggregate.Root) []aggregate.Index {
	h, all, sk := head.Common(), AllOf(t.TenantID), aggregate.TimeText(t.CreatedAt)+"#"+t.ID
	if t.Status == "" && (t.ListedAs == StatusAnswered || t.Glance.Why == ReasonUnsupported) {
		all += "#CHATTER"
	}
	return []aggregate.Index{{N: 1, PK: all, SK: sk}, {N: 2, PK: WithStatus(t.TenantID, t.ListedAs), SK: sk},
		{N: 3, PK: By(t.TenantID, h.Requester), SK: sk}}
}

func (p *Prompt) Indexes(head aggregate.Root) []aggregate.Index {
	return p.WaitingIndexes(head, p.CreatedAt, p.ID)
}

func (p *Process) Indexes(head aggregate.Root) []aggregate.Index {
	return p.WaitingIndexes(head, p.CreatedAt, p.ID)
}

func (g *StepGate) Indexes(head aggregate.Root) []aggregate.Index {
	return g.WaitingIndexes(head, g.CreatedAt, g.ID)
}

// AllOf returns the index partition of a tenant's tasks.
func AllOf(tenant string) string { return "TENANT#" + tenant + "#TASKS" }

// WithStatus returns the index partition of what is listed as s. A request that rests without a task and waits is among
// those that are drafted, since its row stays as it is when a run takes it up.
func WithStatus(tenant string, s Status) string {
	if s == StatusWaits || s == StatusReturned {
		s = StatusDrafting
	}
	return AllOf(tenant) + "#" + string(s)
}

// By returns the index partition of a person's tasks.
func By(tenant, requester string) string { return "TENANT#" + tenant + "#BY#" + requester }

// ThreadOf returns the index partition of the replies in a thread.
func ThreadOf(tenant, channel, thread string) string {
	return "THREAD#" + tenant + "#" + channel + "#" + thread
}

func (p *Prompt) Asks() aggregate.Question {
	return aggregate.Question{Key: p.Key(), ID: p.ID, Kind: CardPrompt, Version: p.Version, CreatedAt: p.CreatedAt,
		DecideBy: p.Terms.DecideBy}
}

func (p *Process) Asks() aggregate.Question {
	return aggregate.Question{Key: p.Key(), ID: p.ID, Kind: CardProcess, Version: p.Version, CreatedAt: p.CreatedAt,
		DecideBy: p.Terms.DecideBy}
}

func (g *StepGate) Asks() aggregate.Question {
	return aggregate.Question{Key: g.Key(), ID: g.ID, Kind: CardStep, Version: g.ProcessVersion,
		CreatedAt: g.CreatedAt, DecideBy: g.Terms.DecideBy}
}
