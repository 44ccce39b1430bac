package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/tool"
)

// Proof is what a receipt claims about an execution. It has the complete texts that people stamped; the stamps are in
// the receipt's audit rows.
type Proof struct {
	ID      string      `json:"id"`
	Task    string      `json:"task_id"`
	Attempt int         `json:"attempt"`
	Status  string      `json:"status"`
	Number  string      `json:"number,omitempty"` // that the decision got when it began to run
	Policy  stamped     `json:"policy"`
	Steps   stamped     `json:"steps"` // Text is a JSON list, byte for byte as it was stamped
	Writes  []writeCall `json:"writes"`
	Reused  []string    `json:"reused,omitempty"` // steps whose writes an earlier attempt made; the proof of that attempt has them
	Request *handedOver `json:"handed_over,omitempty"`
	Gates   []stepGate  `json:"gates,omitempty"` // under a rule, of steps that are none of Writes

	Document string `json:"document,omitempty"` // number of the document, as Number
	// Enclosed is what a request with files has beside its words, byte for byte as it was stamped: JSON.
	Enclosed string `json:"enclosed,omitempty"`
}

// handedOver is a request that an agent made in a conversation.
type handedOver struct {
	Session string `json:"session_id"`
	Text    string `json:"text"`
	User    string `json:"user"` // who asked the agent
}

// stamped is a version of a policy or of steps.
type stamped struct {
	ID      string  `json:"id"`
	Version int     `json:"version"`
	Text    string  `json:"text"`
	Team    string  `json:"team,omitempty"`      // the team of a contest that drafted it
	Picked  string  `json:"picked_by,omitempty"` // who chose it over another team's draft
	Edited  string  `json:"edited_by,omitempty"` // the asker who wrote it, after it was given back
	Gate    *walked `json:"gate,omitempty"`      // of steps under a rule
}

// writeCall is a call of a tool that writes.
type writeCall struct {
	Step      string `json:"step"`
	Tool      string `json:"tool"`
	Status    string `json:"status"`
	Arguments string `json:"arguments"`
	// Gated says that a person stamped these arguments. If false, they are resolved from the steps and Results, by
	// step.
	Gated   bool              `json:"gated"`
	Gate    *walked           `json:"gate,omitempty"` // of a gate under a rule
	Results map[string]string `json:"results,omitempty"`
	Expired []string          `json:"expired,omitempty"` // steps whose results are past their retention
}

// planned is the part of a step that its arguments are checked against.
type planned struct {
	StepID    string          `json:"stepId"`
	Tool      string          `json:"tool"`
	Order     int             `json:"order"`
	ToolInput json.RawMessage `json:"toolInput"`
	Checked   bool            `json:"requiresHumanCheck"`
}

// proving compares claims with audit rows that were already checked against the chain.
type proving struct {
	about    string // id of the task or conversation whose entries count
	entries  []entry
	found    []string // what is wrong
	said     []string // what is proved
	unproved []string // what no entry seals
}

func (p *proving) wrong(format string, args ...any) {
	p.found = append(p.found, fmt.Sprintf(format, args...))
}

// wrongIf records a fault if broken is true.
func (p *proving) wrongIf(broken bool, format string, args ...any) {
	if broken {
		p.wrong(format, args...)
	}
}

func (p *proving) say(format string, args ...any) {
	p.said = append(p.said, fmt.Sprintf(format, args...))
}
func (p *proving) lacks(format string, args ...any) {
	p.unproved = append(p.unproved, fmt.Sprintf(format, args...))
}

// all returns the entries of an action on a resource, the oldest first.
func (p *proving) all(action, resource string) (out []entry) {
	for _, e := range p.entries {
		if e.Action == action && e.ResourceID == resource && e.Task == p.about {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b entry) int { return strings.Compare(a.Timestamp, b.Timestamp) })
	return out
}

// executed checks the claims about an execution.
type executed struct {
	*proving
	*Proof
	steps []planned
	end   *entry // the entry of its end; nil if none is sealed
}

// check compares the claim with the audit entries: what was stamped, by whom and when, and what was written.
func (p *executed) check() {
	p.say("execution %s of task %s, attempt %d: %s", p.ID, p.Task, p.Attempt, p.Status)
	p.ended()
	p.stamp("policy", "prompt.approved", p.Policy)
	p.stamp("steps", "process.approved", p.Steps)
	p.files()
	p.walkSteps()
	p.numbered()
	err := json.Unmarshal([]byte(p.Steps.Text), &p.steps)
	p.wrongIf(err != nil, "the steps can't be read: %v", err)
	for _, w := range p.Writes {
		p.write(w)
	}
	p.gates()
	p.sealedGates()
	p.reused()
	p.listed()
	p.handed()
}

// ended compares the claimed end with its audit entry. Without that entry nothing is proved: it alone lists the writes,
// so a receipt without it could claim any.
func (p *executed) ended() {
	for _, status := range endings {
		for _, e := range p.all("execution."+status, p.ID) {
			p.wrongIf(status != p.Status, "the execution is said to be %s, its entry says %s", p.Status, status)
			p.wrongIf(e.details.Attempt != p.Attempt,
				"the execution is said to be attempt %d, its entry says %d", p.Attempt, e.details.Attempt)
			p.end = &e
		}
	}
	if p.end == nil {
		p.wrong("no sealed entry says how the execution ended: what it wrote can't be proved until a minute after its end")
		p.end = &entry{}
	}
}

var endings = []string{"completed", "failed", "cancelled"}

func (p *executed) stamp(what, action string, s stamped) {
	all := p.all(action, s.ID)
	if len(all) == 0 {
		p.wrong("no entry %s is of the %s %s", action, what, s.ID)
		return
	}
	e, hash := all[0], aggregate.HashOf(s.Text)
	p.wrongIf(e.details.Hash != hash,
		"the %s is not what was stamped: its hash is %s, the entry's %s", what, hash, e.details.Hash)
	p.wrongIf(e.details.number() != s.Version,
		"the %s is said to be version %d, its entry says %d", what, s.Version, e.details.number())
	enclosed := ""
	if p.Enclosed != "" {
		enclosed = aggregate.HashOf(p.Enclosed)
	}
	p.wrongIf(e.details.Enclosed != enclosed,
		"the %s was stamped with other files than is said: the sealed hash is %q", what, e.details.Enclosed)
	p.say("%s version %d, sha256 %s: %s", what, s.Version, hash, e.by())
	if hash := aggregate.HashOf(p.Policy.Text); what == "steps" && e.details.Policy == "" {
		p.lacks("the entry %s names no policy: by which the steps were made is not proved", action)
	} else if what == "steps" {
		p.wrongIf(e.details.Policy != p.Policy.ID || e.details.PolicyHash != hash,
			"the steps were made by the policy %s, sha256 %s", e.details.Policy, e.details.PolicyHash)
	}
	p.picked(what, s, e)
	p.edited(what, strings.TrimSuffix(action, "approved")+"edited", s, e)
}

// edited compares which of the askers wrote a version.
func (p *executed) edited(what, action string, s stamped, e entry) {
	var by entry
	for _, by = range p.all(action, s.ID) {
		p.wrongIf(by.details.Hash != aggregate.HashOf(s.Text) || by.details.number() != s.Version,
			"the %s is not what was edited: the entry's hash is %s", what, by.details.Hash)
	}
	p.wrongIf(by.ActorID != s.Edited || e.details.EditedBy != s.Edited,
		"the %s is said to be edited by %q, its entry says %q", what, s.Edited, cmp.Or(e.details.EditedBy, by.ActorID))
	if by.ActorID != "" {
		p.say("  edited by %s at %s, who asked for it", by.ActorID, by.Timestamp)
	}
}

// picked compares which team drafted a version, and who picked it over another team's.
func (p *executed) picked(what string, s stamped, e entry) {
	p.wrongIf(s.Team != e.details.Team,
		"the %s is said to be the draft of team %q, its entry says %q", what, s.Team, e.details.Team)
	var by entry
	for _, by = range p.all("prompt.picked", s.ID) {
		p.wrongIf(by.details.Hash != aggregate.HashOf(s.Text),
			"the %s is not the draft that was picked: the entry's hash is %s", what, by.details.Hash)
	}
	p.wrongIf(by.ActorID != s.Picked || e.details.PickedBy != s.Picked,
		"the %s is said to be picked by %q, its entry says %q", what, s.Picked, cmp.Or(e.details.PickedBy, by.ActorID))
	if s.Team != "" {
		p.say("  the draft of team %s of a contest", s.Team)
	}
	if by.ActorID != "" {
		p.say("  picked by %s at %s", by.ActorID, by.Timestamp)
	}
}

func (e entry) by() string {
	if e.ActorID == "" {
		return "approved at " + e.Timestamp + " without a person, as the settings said"
	}
	return "stamped by " + e.ActorID + " at " + e.Timestamp
}

func (p *executed) write(w writeCall) {
	hash := aggregate.HashOf(w.Arguments)
	p.say("write %s %s: %s", w.Step, w.Tool, w.Status)
	p.say("  arguments %s", w.Arguments)
	p.say("  sha256 %s", hash)
	at := slices.IndexFunc(p.steps, func(s planned) bool { return s.StepID == w.Step && s.Tool == w.Tool })
	if at < 0 {
		p.wrong("the stamped steps have no %s that calls %s", w.Step, w.Tool)
		return
	}
	switch {
	case w.Gated:
		p.gated(w, hash)
	case p.steps[at].Checked:
		p.wrong("%s: the stamped steps want a person to see its arguments first, and nobody is said to have", w.Step)
	case len(p.stampsOf(w.Step)) > 0:
		p.wrong("%s: a person was shown its arguments, and nobody is said to have been", w.Step)
	default:
		p.follows(w, p.steps[at])
	}
	p.walk(w.Step, w.Gate, "step", p.ID, w.Step,
		"step", p.Task, strconv.Itoa(p.Steps.Version), strconv.Itoa(p.Attempt), w.Step, hash)
	p.called(w, hash)
}

// called compares a write with the entry of the end: whether it was called, with which arguments, and how it ended.
func (p *executed) called(w writeCall, hash string) {
	sealed, ok := p.end.details.Writes[w.Step]
	if !ok {
		p.wrong("%s was not called: the entry of the end lists every write that was, and not this one", w.Step)
		return
	}
	p.wrongIf(sealed != hash, "%s was called with other arguments: the sealed hash is %s", w.Step, sealed)
	status := p.endOf(w.Step)
	p.wrongIf(status != w.Status,
		"%s is said to be %s, it is sealed as %s: what comes late is sealed within a minute", w.Step, w.Status, status)
}

// endOf returns how a write ended by the latest sealed entry, or "" if none says so.
func (p *executed) endOf(step string) (status string) {
	for at, steps := range p.end.details.Ends {
		if slices.Contains(steps, step) {
			status = at
		}
	}
	for _, late := range p.all("execution.late", p.ID) {
		if late.details.Step == step {
			status = late.details.Status
		}
	}
	return status
}

// reused compares which writes this attempt took over from earlier ones.
func (p *executed) reused() {
	for _, step := range p.Reused {
		p.say("write %s: an earlier attempt made it, and this one did not", step)
	}
	sealed := p.end.details.Reused
	p.wrongIf(!slices.Equal(slices.Sorted(slices.Values(sealed)), slices.Sorted(slices.Values(p.Reused))),
		"the writes of earlier attempts are said to be %q, the entry says %q", p.Reused, sealed)
}

// handed compares a request that an agent made with its conversation's entry.
func (p *executed) handed() {
	h, of := p.Request, p.end.details.HandedOver.Session
	if h == nil {
		p.wrongIf(of != "", "an agent made the request in the conversation %s, and that is left out", of)
		return
	}
	p.wrongIf(of != h.Session,
		"the request is said to be made in the conversation %s, the entry of the end says %q", h.Session, of)
	hash := aggregate.HashOf(h.Text)
	p.say("the request was made in the conversation %s for %s", h.Session, h.User)
	p.say("  request %s", h.Text)
	p.say("  sha256 %s", hash)
	at := slices.IndexFunc(p.entries, func(e entry) bool {
		return e.Action == handOverAction && e.ResourceID == h.Session && e.Task == h.Session && e.details.Task == p.Task
	})
	switch {
	case at < 0:
		p.wrong("no entry %s of the conversation %s names the task", handOverAction, h.Session)
	case p.entries[at].details.AskedBy != h.User:
		p.wrong("the request is said to be made for %s, its entry says %s", h.User, p.entries[at].details.AskedBy)
	case p.entries[at].details.Hash != hash:
		p.wrong("the request has other words than the agent's: the sealed hash is %s", p.entries[at].details.Hash)
	default:
		p.say("  these very words: %s at %s", p.entries[at].ActorID, p.entries[at].Timestamp)
	}
}

const handOverAction = "session.handed_over"

func (p *executed) gated(w writeCall, hash string) {
	all := p.stampsOf(w.Step)
	if len(all) == 0 {
		p.wrong("no entry step.approved is of %s", w.Step)
		return
	}
	switch e := all[0]; {
	case e.details.ArgumentsHash != hash:
		p.wrong("%s: other arguments were stamped: their hash is %s", w.Step, e.details.ArgumentsHash)
	default:
		p.say("  these very arguments: %s", e.by())
	}
}

// stampsOf returns the entries of stamps on the arguments of a step.
func (p *executed) stampsOf(step string) []entry {
	return slices.DeleteFunc(p.all("step.approved", p.ID), func(e entry) bool { return e.details.Step != step })
}

// follows resolves the arguments of a write that nobody stamped, and compares the result.
func (p *executed) follows(w writeCall, s planned) {
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

// listed finds sealed writes that the claim leaves out, and writes that it lists twice: an attempt makes each write
// once.
func (p *executed) listed() {
	times := map[string]int{}
	for _, w := range p.Writes {
		times[w.Step]++
	}
	for _, step := range slices.Sorted(maps.Keys(p.end.details.Writes)) {
		p.wrongIf(times[step] == 0, "%s was called, and what it was called with is missing", step)
	}
	for _, step := range p.Reused {
		times[step]++
	}
	for _, step := range slices.Sorted(maps.Keys(times)) {
		p.wrongIf(times[step] > 1,
			"%s is said to be called %d times: an attempt makes a write once, or takes it over", step, times[step])
	}
}
