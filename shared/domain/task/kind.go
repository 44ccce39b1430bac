package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Kind describes tasks to the store, the relay and the sweeper.
var Kind = aggregate.Kind{
	Name: "task", Prefix: "TASK#",
	New: func() aggregate.Aggregate { return &Aggregate{} }, ValidID: aggregate.ValidID, Asked: (&Request{}).Key(), Asks: []aggregate.CardType{CardPrompt, CardProcess, CardStep},
	Rows: map[string]func() aggregate.Row{
		"head":       func() aggregate.Row { return &Head{} },
		"request":    func() aggregate.Row { return &Request{} },
		"task":       func() aggregate.Row { return &Task{} },
		"files":      func() aggregate.Row { return &Files{} },
		"listing":    func() aggregate.Row { return &Listing{} },
		"answer":     func() aggregate.Row { return &Answer{} },
		"choice":     func() aggregate.Row { return &Choice{} },
		"correction": func() aggregate.Row { return &Correction{} },
		"prompt":     func() aggregate.Row { return &Prompt{} },
		"process":    func() aggregate.Row { return &Process{} },
		"execution":  func() aggregate.Row { return &Execution{} },
		"step":       func() aggregate.Row { return &StepResult{} },
		"gate":       func() aggregate.Row { return &StepGate{} },
		"again":      func() aggregate.Row { return &Again{} },
	},
}

// RefOf returns the Ref of a task.
func RefOf(tenant, id string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: Kind.Name, ID: id}
}

func (r *Request) Type() string    { return "request" }
func (r *Files) Type() string      { return "files" }
func (t *Task) Type() string       { return "task" }
func (r *Answer) Type() string     { return "answer" }
func (r *Choice) Type() string     { return "choice" }
func (r *Correction) Type() string { return "correction" }
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
	return []aggregate.Index{{N: 1, PK: ThreadOf(h.TenantID, r.Channel, r.ThreadTS), SK: aggregate.TimeText(r.CreatedAt) + "#" + h.TaskID}}
}

// Indexes lists the task by time among all of the tenant's tasks, those with its status, and those of its requester.
func (t *Task) Indexes(head aggregate.Root) []aggregate.Index {
	return listedAt(head.Common(), t.ListedAs, t.CreatedAt, t.ID)
}

// Indexes lists the request where tasks are.
func (l *Listing) Indexes(head aggregate.Root) []aggregate.Index {
	if l.ListedAs == "" {
		return nil
	}
	return listedAt(head.Common(), l.ListedAs, l.CreatedAt, l.ID)
}

func listedAt(h *aggregate.Head, as Status, at time.Time, id string) []aggregate.Index {
	sk := aggregate.TimeText(at) + "#" + id
	return []aggregate.Index{{N: 1, PK: AllOf(h.TenantID), SK: sk}, {N: 2, PK: WithStatus(h.TenantID, as), SK: sk},
		{N: 3, PK: By(h.TenantID, h.Requester), SK: sk}}
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

// Indexes lists the choice as waiting for people while it is open.
func (r *Choice) Indexes(head aggregate.Root) []aggregate.Index {
	if r.As != "" || r.Over {
		return nil
	}
	return []aggregate.Index{aggregate.PendingIndex(head.Common().TenantID, r.CreatedAt, r.ID)}
}

// AllOf returns the index partition of a tenant's tasks.
func AllOf(tenant string) string { return "TENANT#" + tenant + "#TASKS" }

// WithStatus returns the index partition of what is listed as s. A request that rests without a task and waits is among
// those that are drafted, since its listing stays as it is when a run takes it up.
func WithStatus(tenant string, s Status) string {
	if s == StatusWaits {
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
	return aggregate.Question{Key: p.Key(), ID: p.ID, Kind: CardPrompt, Version: p.Version, CreatedAt: p.CreatedAt, DecideBy: p.Terms.DecideBy}
}

func (p *Process) Asks() aggregate.Question {
	return aggregate.Question{Key: p.Key(), ID: p.ID, Kind: CardProcess, Version: p.Version, CreatedAt: p.CreatedAt, DecideBy: p.Terms.DecideBy}
}

func (g *StepGate) Asks() aggregate.Question {
	return aggregate.Question{Key: g.Key(), ID: g.ID, Kind: CardStep, Version: g.ProcessVersion, StepID: g.StepID, CreatedAt: g.CreatedAt, DecideBy: g.Terms.DecideBy}
}

// Asks returns the question that the task's first card shows.
func (r *Choice) Asks() aggregate.Question {
	return aggregate.Question{Key: r.Key(), ID: r.ID, Kind: CardTask, OfAuthor: true, CreatedAt: r.CreatedAt, DecideBy: r.Terms.DecideBy}
}
