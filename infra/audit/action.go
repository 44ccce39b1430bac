package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// actionProof is what a receipt claims about an agent's action, with the complete payload that people stamped. A call
// that an outside agent asked for is one, whose session is the call itself. One that was granted ran elsewhere, if it
// ran: that isn't proved.
type actionProof struct {
	ID          string  `json:"id"`
	Session     string  `json:"session_id"`
	Type        string  `json:"type"`
	Status      string  `json:"status"`
	Payload     string  `json:"payload"`
	ApprovedBy  string  `json:"approved_by,omitempty"` // user or auto
	BaseVersion string  `json:"base_version,omitempty"`
	Version     string  `json:"version,omitempty"`  // of the files that it left
	Number      string  `json:"number,omitempty"`   // that the decision got when the action was claimed
	Document    string  `json:"document,omitempty"` // number of the document, as Number
	Gate        *walked `json:"gate,omitempty"`     // of an action under a rule
	Commands    string  `json:"commands,omitempty"` // how each of several commands ended, those that never began left out
}

// acting checks the claims about an action.
type acting struct {
	*proving
	*actionProof
}

// check compares the claim with the audit entries: what was stamped, by whom and when, what was started, and how the
// action ended.
func (p *acting) check() {
	hash := aggregate.HashOf(p.Payload)
	p.say("action %s of the conversation %s, %s: %s", p.ID, p.Session, p.Type, p.Status)
	p.say("  payload %s", p.Payload)
	p.say("  sha256 %s", hash)
	p.sealed(hash)
	p.approved(hash)
	p.sealedGate()
	p.walk("the action", p.Gate, "action", p.ID, "", "action", p.Session, "", hash)
	p.started()
	p.numbered()
	p.ended()
}

// sealed compares the type and payload with every entry of the action. Every entry has both, and the receipt must have
// the end's entry.
func (p *acting) sealed(hash string) {
	for _, e := range p.own() {
		p.wrongIf(e.details.Hash != hash,
			"the payload is not that of %s: its hash is %s, the entry's %s", e.Action, hash, e.details.Hash)
		p.wrongIf(e.details.Type != p.Type,
			"the action is said to be %s, its entry %s says %s", p.Type, e.Action, e.details.Type)
	}
}

func (p *acting) own() (all []entry) {
	for _, e := range p.entries {
		if strings.HasPrefix(e.Action, "action.") && e.ResourceID == p.ID && e.Task == p.about {
			all = append(all, e)
		}
	}
	return all
}

// reached reports how far the action came. It reads only the entries of its end: the maker of a receipt may leave out
// the entries of its approval and start.
func (p *acting) reached() (approved, started bool) {
	for _, e := range p.own() {
		switch e.Action {
		case "action.completed", "action.failed", "action.late":
			return true, true
		case "action.granted":
			return true, false
		case "action.cancelled":
			started = e.details.Was == "executing"
			approved = started || e.details.Was == "approved"
		}
	}
	return approved, started
}

func (p *acting) approved(hash string) {
	all := p.all("action.approved", p.ID)
	if len(all) == 0 {
		if p.ApprovedBy != "" {
			p.wrong("the action is said to be approved by %s, and no entry says so", p.ApprovedBy)
		} else if approved, _ := p.reached(); approved {
			p.wrong("the action was approved, and the entry of that is left out")
		} else {
			p.say("  nobody approved it")
		}
		return
	}
	e, by := all[0], "user"
	if e.details.unasked() != "" {
		by = "auto"
	}
	switch {
	case p.ApprovedBy != by:
		p.wrong("the action is said to be approved by %q, its entry says %s", p.ApprovedBy, by)
	case e.details.Hash != hash: // sealed reports it
	case by == "auto":
		p.say("  this very payload: approved at %s by the rule %s", e.Timestamp, e.details.unasked())
	default:
		p.say("  this very payload: %s", e.by())
	}
}

// sealedGate compares the gate with the entry of an end that no act on it brought about.
func (p *acting) sealedGate() {
	for _, e := range slices.Concat(p.all("action.cancelled", p.ID), p.all("action.expired", p.ID)) {
		switch g := e.details.Gate; {
		case g.RouteHash == "":
			p.wrongIf(p.Gate != nil, "people are said to have been asked under a rule, and %s names no gate", e.Action)
		case p.Gate == nil:
			p.wrong("people were asked under a rule, and the route is left out")
		default:
			p.wrongIf(!g.is(p.Gate), "%s names another route, or other acts on it", e.Action)
		}
	}
}

// started compares the files that the action began with. Only the last start counts: earlier ones did nothing.
func (p *acting) started() {
	all := p.all("action.started", p.ID)
	if len(all) == 0 {
		if _, started := p.reached(); started || p.BaseVersion != "" || p.Status == "executing" {
			p.wrong("no entry says that the action was started")
		}
		return
	}
	p.wrongIf(len(p.all("action.approved", p.ID)) == 0, "the action was started, and nobody approved it")
	last := all[len(all)-1]
	if base := last.details.BaseVersion; base != p.BaseVersion {
		p.wrong("the action is said to begin with the files %q, its entry says %q", p.BaseVersion, base)
	} else {
		p.say("  started at %s, with the files %q", last.Timestamp, base)
		p.stamped(base)
	}
}

// stamped compares the files that the action began with to those that its payload names, on which people decided.
func (p *acting) stamped(began string) {
	var payload map[string]any
	_ = json.Unmarshal([]byte(p.Payload), &payload) // what is no payload names no files
	p.wrongIf(payload["base"] != began, "the payload is stamped for the files %v, the action began with %q",
		payload["base"], began)
}

// actionEnds maps the entries that end an action to its status afterwards.
var actionEnds = map[string]string{
	"action.completed": "succeeded", "action.failed": "failed", "action.cancelled": "cancelled",
	"action.rejected": "cancelled", "action.denied": "cancelled",
	"action.expired": "cancelled", "action.granted": "granted",
}

// ended compares the claimed status and files with the entry of the end. If the outcome was unknown at first, the later
// entry counts, unless the action was cancelled.
func (p *acting) ended() {
	var end entry
	status := ""
	for action, as := range actionEnds {
		for _, e := range p.all(action, p.ID) {
			end, status = e, as
		}
	}
	for _, e := range p.all("action.late", p.ID) {
		if status != "cancelled" {
			end, status = e, e.details.Status
		}
	}
	switch {
	case status == "":
		p.wrong("no sealed entry says how the action ended: it can't be proved until a minute after its end")
		return
	case status != p.Status:
		p.wrong("the action is said to be %s, it is sealed as %s: what comes late is sealed within a minute", p.Status,
			status)
	}
	p.ran(status, end)
	var version string
	if end.details.Version == nil {
		p.wrongIf(p.Version != "", "the action is said to leave the files %q, and no entry says so", p.Version)
		return
	}
	err := json.Unmarshal(end.details.Version, &version)
	p.wrongIf(err != nil || version != p.Version,
		"the action is said to leave the files %q, its entry says %s", p.Version, end.details.Version)
	p.say("  ended at %s, files %q", end.Timestamp, version)
}

// ran compares what became of each of several commands with the entry of the end and with the payload: no more commands
// ran than were stamped, each but the last succeeded, and an action that succeeded ran all of them.
func (p *acting) ran(status string, end entry) {
	p.wrongIf(end.details.Commands != p.Commands, "its commands are said to have ended with %q, the entry says %q",
		p.Commands, end.details.Commands)
	var payload struct {
		Commands []json.RawMessage `json:"commands"`
	}
	_ = json.Unmarshal([]byte(p.Payload), &payload) // stamped finds what is no payload
	var ended []string
	if end.details.Commands != "" {
		ended = strings.Split(end.details.Commands, ", ")
	}
	p.wrongIf(len(ended) > len(payload.Commands), "%d commands are said to have begun, %d are stamped", len(ended),
		len(payload.Commands))
	for i, e := range ended {
		p.wrongIf(e != "0" && (i+1 < len(ended) || status == "succeeded"),
			"command %d ended with %q, and what is sealed goes on as if it had succeeded", i+1, e)
	}
	p.wrongIf(status == "succeeded" && len(ended) != len(payload.Commands),
		"the action is sealed as succeeded, and %d of %d commands began", len(ended), len(payload.Commands))
	if len(ended) > 0 {
		p.say("  of %d commands these began, and ended with: %s", len(payload.Commands), end.details.Commands)
	}
}

// stepGate is a gate under a rule of a step that made no write in the attempt: it was denied, say, or reads.
type stepGate struct {
	Step string  `json:"step"`
	Gate *walked `json:"gate"`
}

// uncalled returns the gates under a rule of those steps of an execution that are none of the writes.
func uncalled(a *task.Aggregate, e *task.Execution, steps []task.Step, writes []writeCall) (out []stepGate) {
	for _, s := range steps {
		called := slices.ContainsFunc(writes, func(w writeCall) bool { return w.Step == s.StepID })
		if g := a.GateOf(e, s.Order); g != nil && g.Ruled() && !called {
			out = append(out, stepGate{s.StepID, walkOf(&g.Gate, a.AskedText(g))})
		}
	}
	return out
}

// gates checks the gates of steps that made no write. Of each step that an entry names the gate is shown here, or with
// the write.
func (p *executed) gates() {
	shown := map[string]bool{}
	for _, w := range p.Writes {
		shown[w.Step] = true
	}
	for _, g := range p.Gates {
		p.wrongIf(shown[g.Step], "%s: its gate is shown twice", g.Step)
		shown[g.Step] = true
		p.say("step %s made no write, and people were asked about it", g.Step)
		hash := ""
		for _, e := range p.all("step.routed", p.ID) {
			if e.details.Step == g.Step {
				hash = e.details.ArgumentsHash
			}
		}
		p.walk(g.Step, g.Gate, "step", p.ID, g.Step, "step", p.Task, strconv.Itoa(p.Steps.Version),
			strconv.Itoa(p.Attempt), g.Step, hash)
	}
	for _, e := range p.entries {
		if step := e.details.Step; strings.HasPrefix(e.Action, "step.") && e.ResourceID == p.ID && e.Task == p.about &&
			!shown[step] {
			shown[step] = true
			p.walk(step, nil, "step", p.ID, step)
			for _, stamp := range p.stampsOf(step) {
				p.say("step %s made no write, and was %s", step, stamp.by())
			}
		}
	}
}

// sealedGates compares the gates that are shown with those that the entry of the end names: no other entry need be in
// the receipt. It compares hashes of what walk has read.
func (p *executed) sealedGates() {
	sealed, shown := p.end.details.Gates, p.shownGates()
	for _, key := range slices.Sorted(maps.Keys(sealed)) {
		g, w := sealed[key], shown[key]
		name := cmp.Or(g.Step, "the gate "+key)
		switch {
		case g.RouteHash == "" && g.Step != "":
			p.wrongIf(!p.decided(g.Step), "%s: a person decided about it, and the entry of that is left out", name)
			p.wrongIf(w != nil, "%s: a route is shown, and the entry of the end names none", name)
		case w == nil:
			p.wrong("%s: people were asked under a rule, and the route is left out", name)
			continue
		default:
			p.wrongIf(!g.is(w), "%s: the entry of the end names another route, or other acts on it", name)
		}
		delete(shown, key)
	}
	for _, key := range slices.Sorted(maps.Keys(shown)) {
		p.wrong("people are said to have been asked at the gate %s, and the entry of the end names none", key)
	}
}

// shownGates returns the gates that the claim shows, by key; nil is one without a rule.
func (p *executed) shownGates() map[string]*walked {
	shown, v := map[string]*walked{}, p.Steps.Version
	if p.Steps.Gate != nil {
		shown[task.ProcessKey(v)] = p.Steps.Gate
	}
	ofStep := func(id string, w *walked) {
		if at := slices.IndexFunc(p.steps, func(s planned) bool { return s.StepID == id }); at >= 0 {
			shown[task.GateKey(v, p.Attempt, p.steps[at].Order)] = w
		}
	}
	for _, w := range p.Writes {
		if w.Gated {
			ofStep(w.Step, w.Gate)
		}
	}
	for _, g := range p.Gates {
		ofStep(g.Step, g.Gate)
	}
	return shown
}

// decided reports whether an entry says that a person decided about a step.
func (p *executed) decided(step string) bool {
	return slices.ContainsFunc(p.entries, func(e entry) bool {
		return strings.HasPrefix(e.Action, "step.") && e.ResourceID == p.ID && e.Task == p.about && e.details.Step == step
	})
}

// is reports whether an end's entry names the gate that is shown.
func (g sealedGate) is(w *walked) bool {
	return g.RouteHash == aggregate.HashOf(w.Opened) &&
		g.ActsHash == aggregate.HashOf("["+strings.Join(w.Acts, ",")+"]")
}

// walkSteps checks the route of the steps, if a rule chose one.
func (p *executed) walkSteps() {
	request := ""
	if p.Request != nil {
		request = p.Request.Text
	}
	p.walk("the steps", p.Steps.Gate, "process", p.Steps.ID, "", "steps", p.Task, strconv.Itoa(p.Steps.Version),
		p.Policy.Text,
		aggregate.HashOf(p.Steps.Text), request, p.Enclosed)
}
