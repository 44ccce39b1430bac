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
		"head":      func() aggregate.Row { return &Head{} },
		"request":   func() aggregate.Row { return &Request{} },
		"task":      func() aggregate.Row { return &Task{} },
		"answer":    func() aggregate.Row { return &Answer{} },
		"choice":    func() aggregate.Row { return &Choice{} },
		"prompt":    func() aggregate.Row { return &Prompt{} },
		"process":   func() aggregate.Row { return &Process{} },
		"execution": func() aggregate.Row { return &Execution{} },
		"step":      func() aggregate.Row { return &StepResult{} },
		"gate":      func() aggregate.Row { return &StepGate{} },
	},
}

// RefOf returns the Ref of a task.
func RefOf(tenant, id string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: Kind.Name, ID: id}
}

func (r *Request) Type() string    { return "request" }
func (t *Task) Type() string       { return "task" }
func (r *Answer) Type() string     { return "answer" }
func (r *Choice) Type() string     { return "choice" }
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
	h, at := head.Common(), aggregate.TimeText(t.CreatedAt)+"#"+t.ID
	return []aggregate.Index{
		{N: 1, PK: AllOf(h.TenantID), SK: at}, {N: 2, PK: WithStatus(h.TenantID, t.Status), SK: at}, {N: 3, PK: By(h.TenantID, h.Requester), SK: at},
	}
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

// WithStatus returns the index partition of a tenant's tasks with this status.
func WithStatus(tenant string, s TaskStatus) string { return AllOf(tenant) + "#" + string(s) }

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

// Filter narrows a list of tasks. Empty fields are ignored.
type Filter struct {
	Status    TaskStatus
	Requester string    // Slack user id
	From, To  time.Time // creation time: From inclusive, To exclusive
}

// Check returns aggregate.ErrField for an unknown status, or if From is after To.
func (f Filter) Check() error {
	if _, ok := TaskMoves[f.Status]; f.Status != "" && !ok {
		return aggregate.ErrField{Field: "status", Limit: "must be extracted, running, completed, failed or cancelled"}
	}
	if !f.To.IsZero() && f.From.After(f.To) {
		return aggregate.ErrField{Field: "from", Limit: "must not be after to"}
	}
	return nil
}

// In returns the index and its partitions to read. sparse says that many tasks there may not match.
func (f Filter) In(tenant string) (index string, partitions []string, sparse bool) {
	switch {
	case f.Requester != "":
		return "GSI3", []string{By(tenant, f.Requester)}, f.Status != ""
	case f.Status != "":
		return "GSI2", []string{WithStatus(tenant, f.Status)}, false
	}
	return "GSI1", []string{AllOf(tenant)}, false
}

// Between returns the range of sort keys for the filter's times, or empty strings without times.
func (f Filter) Between() (from, until string) {
	if f.From.IsZero() && f.To.IsZero() {
		return "", ""
	}
	if until = "9999"; !f.To.IsZero() {
		until = aggregate.TimeText(f.To)
	}
	return aggregate.TimeText(f.From), until
}

// Keeps reports whether the task matches; an index may lag behind the task's row.
func (f Filter) Keeps(t Task) bool { return f.Status == "" || t.Status == f.Status }
