package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ringi/shared/aggregate"
	"ringi/shared/tool"
)

// Proof is what is claimed of an execution. What people stamped is in it whole; that they did is in the audit rows beside it.
type Proof struct {
	ID      string      `json:"id"`
	Task    string      `json:"task_id"`
	Attempt int         `json:"attempt"`
	Status  string      `json:"status"`
	Policy  stamped     `json:"policy"`
	Steps   stamped     `json:"steps"` // Text is a list, in the very bytes that were stamped
	Writes  []writeCall `json:"writes"`
	Reused  []string    `json:"reused,omitempty"` // steps with writes that an earlier attempt made: its own proof has them
}

// stamped is a version of a policy or of steps.
type stamped struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

// writeCall is a write that was called, with what it was called with.
type writeCall struct {
	Step      string `json:"step"`
	Tool      string `json:"tool"`
	Status    string `json:"status"`
	Arguments string `json:"arguments"`
	// Gated says that a person was shown these arguments; else they follow from the steps and from Results, by step.
	Gated   bool              `json:"gated"`
	Results map[string]string `json:"results,omitempty"`
	Expired []string          `json:"expired,omitempty"` // steps whose results are past their retention
}

// planned is a step as far as its arguments go.
type planned struct {
	StepID    string          `json:"stepId"`
	Tool      string          `json:"tool"`
	ToolInput json.RawMessage `json:"toolInput"`
	Checked   bool            `json:"requiresHumanCheck"`
}

// finding is a sentence about what is wrong with a proof.
type finding = string

// proving checks a proof against audit rows that were held against the chain.
type proving struct {
	*Proof
	entries  []entry
	steps    []planned
	found    []finding
	said     []string
	unproved []string
}

func (p *proving) wrong(format string, args ...any) {
	p.found = append(p.found, fmt.Sprintf(format, args...))
}
func (p *proving) say(format string, args ...any) {
	p.said = append(p.said, fmt.Sprintf(format, args...))
}
func (p *proving) lacks(format string, args ...any) {
	p.unproved = append(p.unproved, fmt.Sprintf(format, args...))
}

// of is the one entry of an action on a resource.
func (p *proving) of(action, resource string, also func(entry) bool) (entry, bool) {
	at := slices.IndexFunc(p.entries, func(e entry) bool {
		return e.Action == action && e.ResourceID == resource && e.Task == p.Task && (also == nil || also(e))
	})
	if at < 0 {
		return entry{}, false
	}
	return p.entries[at], true
}

// check holds what is claimed against the entries: what was stamped, by whom and when, and what was written.
func (p *proving) check() {
	p.say("execution %s of task %s, attempt %d: %s", p.ID, p.Task, p.Attempt, p.Status)
	p.ended()
	p.stamp("policy", "prompt.approved", p.Policy)
	p.stamp("steps", "process.approved", p.Steps)
	if err := json.Unmarshal([]byte(p.Steps.Text), &p.steps); err != nil {
		p.wrong("the steps can't be read: %v", err)
	}
	for _, w := range p.Writes {
		p.write(w)
	}
	for _, step := range p.Reused {
		p.say("write %s: an earlier attempt made it, and this one did not", step)
	}
	p.missing()
}

// ended holds how it is said to have ended against the entry of its end, which alone says what it wrote: whoever leaves the
// entry out of a receipt could claim other writes, or none.
func (p *proving) ended() {
	found := false
	for _, status := range endings {
		_, ok := p.of("execution."+status, p.ID, nil)
		if found = found || ok; ok && status != p.Status {
			p.wrong("the execution is said to be %s, its entry says %s", p.Status, status)
		}
	}
	if !found {
		p.wrong("no sealed entry says how the execution ended: what it wrote can't be proved until a minute after its end")
	}
}

var endings = []string{"completed", "failed", "cancelled"}

func (p *proving) stamp(what, action string, s stamped) {
	e, ok := p.of(action, s.ID, nil)
	hash := aggregate.HashOf(s.Text)
	switch {
	case !ok:
		p.wrong("no entry %s is of the %s %s", action, what, s.ID)
		return
	case e.details.Hash == "":
		p.lacks("the entry of the %s has no hash: it is of an earlier release", what)
	case e.details.Hash != hash:
		p.wrong("the %s is not what was stamped: its hash is %s, the entry's %s", what, hash, e.details.Hash)
	}
	p.say("%s version %d, sha256 %s: %s", what, e.details.Version, hash, e.by())
}

// by says who decided.
func (e entry) by() string {
	if e.ActorID == "" {
		return "approved at " + e.Timestamp + " without a person, as the settings said"
	}
	return "stamped by " + e.ActorID + " at " + e.Timestamp
}

func (p *proving) write(w writeCall) {
	hash := aggregate.HashOf(w.Arguments)
	p.say("write %s %s: %s\n  arguments %s\n  sha256 %s", w.Step, w.Tool, w.Status, w.Arguments, hash)
	at := slices.IndexFunc(p.steps, func(s planned) bool { return s.StepID == w.Step && s.Tool == w.Tool })
	if at < 0 {
		p.wrong("the stamped steps have no %s that calls %s", w.Step, w.Tool)
		return
	}
	if w.Gated {
		p.gated(w, hash)
	} else {
		if p.steps[at].Checked {
			p.wrong("%s: the stamped steps want a person to see its arguments first, and nobody is said to have", w.Step)
		}
		p.follows(w, p.steps[at])
	}
	if sealed, ok := p.writes()[w.Step]; !ok {
		p.lacks("no entry seals the arguments that %s was called with", w.Step)
	} else if sealed != hash {
		p.wrong("%s was called with other arguments: the sealed hash is %s", w.Step, sealed)
	}
}

func (p *proving) gated(w writeCall, hash string) {
	e, ok := p.of("step.approved", p.ID, func(e entry) bool { return e.details.Step == w.Step })
	switch {
	case !ok:
		p.wrong("no entry step.approved is of %s", w.Step)
	case e.details.ArgumentsHash != hash:
		p.wrong("%s: other arguments were stamped: their hash is %s", w.Step, e.details.ArgumentsHash)
	default:
		p.say("  these very arguments: %s", e.by())
	}
}

// follows resolves the arguments of a write once more that had no stamp of its own.
func (p *proving) follows(w writeCall, s planned) {
	input := s.ToolInput
	arguments, err := tool.Parse(aggregate.JSON(input))
	if err != nil {
		p.wrong("%s: the stamped input can't be read: %v", w.Step, err)
		return
	}
	r, err := arguments.Resolve(func(step string) (json.RawMessage, error) {
		if slices.Contains(w.Expired, step) {
			return nil, errExpired{step}
		}
		text, ok := w.Results[step]
		if !ok {
			return nil, fmt.Errorf("the result of %s is missing", step)
		}
		return json.RawMessage(text), nil
	})
	var expired errExpired
	switch {
	case errors.As(err, &expired):
		p.lacks("%s: the result of %s is past its retention, so its arguments can't be resolved again", w.Step, expired.step)
	case err != nil:
		p.wrong("%s: its arguments can't be resolved: %v", w.Step, err)
	case string(r.JSON()) != w.Arguments:
		p.wrong("%s: its arguments don't follow from the stamped steps: they would be %s", w.Step, r.JSON())
	default:
		p.say("  no stamp of its own: they follow from the stamped steps and %d earlier results", len(w.Results))
	}
}

type errExpired struct{ step string }

func (e errExpired) Error() string { return "the result of " + e.step + " has expired" }

// writes are the sealed hashes of what the attempt's writes were called with.
func (p *proving) writes() map[string]string {
	for _, status := range endings {
		if e, ok := p.of("execution."+status, p.ID, nil); ok {
			return e.details.Writes
		}
	}
	return nil
}

// missing finds writes that were sealed and are left out.
func (p *proving) missing() {
	for step := range p.writes() {
		if !slices.ContainsFunc(p.Writes, func(w writeCall) bool { return w.Step == step }) {
			p.wrong("%s was called, and what it was called with is missing", step)
		}
	}
}
