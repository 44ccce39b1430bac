package task

import (
	"slices"
	"strconv"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Gated is a row with a gate: a version of the prompt or of the process, a step with its arguments, or an attempt.
type Gated interface {
	aggregate.AskingRow
	gate() *aggregate.Gate
	hash() string // hash of the content to decide on
}

func (p *Prompt) gate() *aggregate.Gate   { return &p.Gate }
func (p *Process) gate() *aggregate.Gate  { return &p.Gate }
func (g *StepGate) gate() *aggregate.Gate { return &g.Gate }

func (p *Prompt) hash() string   { return aggregate.HashOf(p.Content) }
func (p *Process) hash() string  { return Hash(p.Steps) }
func (g *StepGate) hash() string { return g.ArgumentsHash }

// asked returns what is asked at a gate, nil if not all of it was read.
func (a *Aggregate) asked(row Gated) []string {
	prompt := a.policyBy(row)
	switch row := row.(type) {
	case *StepGate:
		return []string{"step", a.Head.TaskID, strconv.Itoa(row.ProcessVersion), strconv.Itoa(row.Attempt), row.StepID,
			row.hash()}
	case *Process:
		if prompt != nil && a.Request != nil {
			return []string{"steps", a.Head.TaskID, strconv.Itoa(row.Version), prompt.Content, row.hash(), a.Request.Text,
				a.enclosed(prompt)}
		}
	case *Prompt:
		if a.Request != nil {
			return []string{"policy", a.Head.TaskID, strconv.Itoa(row.Version), row.Content, a.Request.Text, a.enclosed(row)}
		}
	}
	return nil
}

// sum returns what the stamps on a gate are on, or "" if not all of it was read.
func (a *Aggregate) sum(row Gated) string {
	if text := a.AskedText(row); text != "" {
		return aggregate.HashOf(text)
	}
	return ""
}

// AskedText returns the text whose hash is stamped at a gate, or "".
func (a *Aggregate) AskedText(row Gated) string {
	if what := a.asked(row); what != nil {
		return circulation.AskedText(row.gate().Terms.Rule, row.gate().Route, what...)
	}
	return ""
}

// stands is aggregate.Gate.Stands.
func (a *Aggregate) stands(row Gated) bool { return row.gate().Stands(a.sum(row)) }

// StepOf returns the index of the step that a gate of the process is for, or -1.
func (p *Process) StepOf(g *StepGate) int {
	return slices.IndexFunc(p.Steps, func(s Step) bool { return s.StepID == g.StepID && s.Order == g.Order })
}

// gates returns all gates of the task in the order in which they open.
func (a *Aggregate) gates() []Gated {
	out := make([]Gated, 0, len(a.Prompts)+len(a.Processes)+len(a.Gates))
	for _, p := range a.Prompts {
		out = append(out, p)
	}
	for _, p := range a.Processes {
		out = append(out, p)
	}
	for _, g := range a.Gates {
		out = append(out, g)
	}
	return out
}

// AllGates returns all gates of the task in the order in which they open.
func (a *Aggregate) AllGates() (all []*aggregate.Gate) {
	for _, row := range a.gates() {
		all = append(all, row.gate())
	}
	return all
}

// ByRejection are reasons by which a task ends because something of it was rejected.
var ByRejection = []aggregate.Reason{ReasonDenied, ReasonStepRejected, ReasonMaxVersions}

// RejectedLast returns the rejection that ended the task; nil: none did, or a load that mixes two commits lacks it.
func (a *Aggregate) RejectedLast() (last *aggregate.Verdict) {
	if a.Head.Ended == nil || !slices.Contains(ByRejection, a.Head.Ended.Reason) {
		return nil
	}
	for _, g := range a.AllGates() {
		if g.RejectedAt != nil && (last == nil || g.RejectedAt.After(*last.RejectedAt)) {
			last = &g.Verdict
		}
	}
	return last
}

// gateOf returns the gate with this id, or nil.
func (a *Aggregate) gateOf(id string) Gated {
	return aggregate.First(a.gates(), func(g Gated) bool { return g.Asks().ID == id })
}

// superseding returns the newest version if row is an older one, else 0.
func (a *Aggregate) superseding(row Gated) int {
	switch row := row.(type) {
	case *Prompt:
		if newest := a.Prompt(); newest != row {
			return newest.Version
		}
	case *Process:
		if newest := a.Process(); newest != row {
			return newest.Version
		}
	}
	return 0
}

// OpenGate is the gate that waits for a decision.
type OpenGate struct {
	aggregate.Question
	Terms aggregate.Terms
}

// OpenGate returns the gate that waits for a decision, if there is one.
func (a *Aggregate) OpenGate() (OpenGate, bool) {
	if a.Head.Ended != nil {
		return OpenGate{}, false
	}
	for _, row := range a.gates() {
		if row.gate().Status == aggregate.PendingApproval && a.superseding(row) == 0 {
			return OpenGate{row.Asks(), row.gate().Terms}, true
		}
	}
	return OpenGate{}, false
}

// Asked returns the gate with this id, with the hash of a policy's text, of a process's steps or a step's arguments.
func (a *Aggregate) Asked(id string) (x aggregate.Asked) {
	if row := a.gateOf(id); row != nil {
		x = aggregate.Asked{Kind: row.Asks().Kind, Hash: row.hash(), Gate: row.gate(),
			Open: a.Head.Ended == nil && row.gate().Status == aggregate.PendingApproval}
	}
	return x
}

// CalledAt returns the version that the card of the gate with this id shows: 0 for the first one, or if there is no
// such gate.
func (a *Aggregate) CalledAt(id string) int {
	if row := a.gateOf(id); row != nil && row.Asks().Version > 1 {
		return row.Asks().Version
	}
	return 0
}

// GateAt returns the gate of the row with this key, or nil.
func (a *Aggregate) GateAt(key string) *aggregate.Gate {
	if row := aggregate.Find(a.gates(), key); row != nil {
		return row.gate()
	}
	return nil
}

// Asks returns the gate that waits for people's approval, if there is one.
func (a *Aggregate) Asks() (q aggregate.Question, waits bool) {
	open, waits := a.OpenGate()
	return open.Question, waits && open.Terms.ApprovalRequired
}

// Readable returns aggregate.ErrConflict if the request is missing, which happens in a torn read.
func (a *Aggregate) Readable(time.Time) error {
	if a.Request == nil {
		return aggregate.ErrConflict
	}
	return nil
}

// SomeGate reports whether that is so of one of the task's gates.
func (a *Aggregate) SomeGate(is func(g *aggregate.Gate) bool) bool {
	return slices.ContainsFunc(a.AllGates(), is)
}

// Origin returns where and by whom the task was requested.
func (a *Aggregate) Origin() aggregate.Origin { return a.Request.Origin() }

// Beginning returns the timestamps of the requesting message and of its thread.
func (a *Aggregate) Beginning() (message, thread string) {
	return a.Request.MessageTS, a.Request.ThreadTS
}
