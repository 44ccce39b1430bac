package task

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Edit is what one of the askers makes of what was given back to them: a policy's text, all steps, or a form with its
// text and all its files.
type Edit struct {
	Content string
	Steps   []Step
	Matter  *Matter
	Files   []aggregate.SharedFile
}

// Returned returns the policy or the steps that were given back and wait for one of their askers, without end, or nil.
func (a *Aggregate) Returned() Gated {
	var row Gated
	switch p, steps := a.Prompt(), a.Process(); {
	case a.Head.Ended != nil || p == nil:
		return nil
	case p.Status != aggregate.Approved:
		row = p
	case steps != nil:
		row = steps
	default:
		return nil
	}
	if p, is := row.(*Process); is && p.unfit() || row.gate().GivenBack() {
		return row
	}
	return nil
}

// unfit reports whether one of the askers wrote the steps, and something in them has to be written anew.
func (p *Process) unfit() bool { return p.Status == aggregate.Generating && len(p.Misfits) > 0 }

// generating reports whether a run makes the steps.
func (p *Process) generating() bool { return p.Status == aggregate.Generating && !p.unfit() }

// unchecked reports whether one of the askers wrote the steps, and nobody has compared them with their tools yet.
func (p *Process) unchecked() bool {
	return p.generating() && p.EditedBy != "" && p.Terms.Rule == nil
}

// givenBack returns the version that people gave back: the one with this id or, if one of the askers writes that still,
// the one before; nil if there is none.
func (a *Aggregate) givenBack(id string) Gated {
	row := a.gateOf(id)
	if p, is := row.(*Process); is && p.EditedBy != "" && p.Status == aggregate.Generating {
		return aggregate.Find(a.Processes, ProcessKey(p.Version-1))
	}
	return row
}

// GivenBackBy returns the gate by which people gave back what the version with this id is about, or nil.
func (a *Aggregate) GivenBackBy(id string) *aggregate.Gate {
	if row := a.givenBack(id); row != nil {
		return row.gate()
	}
	return nil
}

// ReturnedTo returns whose own request the version with this id is, which was given back or which one of them wrote.
func (a *Aggregate) ReturnedTo(id string) []circulation.Person {
	if g := a.GivenBackBy(id); g != nil {
		return g.Askers
	}
	return nil
}

// MisfitsOf returns why the steps with this id, which one of the askers wrote, wait to be edited again.
func (a *Aggregate) MisfitsOf(id string) []Misfit {
	if p, is := a.gateOf(id).(*Process); is && p.unfit() {
		return p.Misfits
	}
	return nil
}

// EditorAfter returns which of the askers wrote the version after the one with this key, and its number, once it is
// taken; "" if none did.
func (a *Aggregate) EditorAfter(key string) (user string, version int) {
	for i, p := range a.Prompts {
		if i > 0 && a.Prompts[i-1].Key() == key {
			return p.EditedBy, p.Version
		}
	}
	for i, p := range a.Processes {
		if n := a.filledAfter(p); n != nil && p.Key() == key {
			return n.EditedBy, p.Version + 1
		}
		if p.Key() == key && p.Edits > 1 && !p.unfit() {
			return p.EditedBy, p.Version
		}
		if i > 0 && a.Processes[i-1].Key() == key && !p.unfit() {
			return p.EditedBy, p.Version
		}
	}
	return "", 0
}

// Withdrawn reports whether a person ended the request.
func (a *Aggregate) Withdrawn() bool {
	return a.Head.Ended != nil && a.Head.Ended.Reason == ReasonByPerson
}

// MayGiveBack reports whether the policy or the steps with this id may be given back: another version may follow.
func (a *Aggregate) MayGiveBack(id string) bool {
	row := a.gateOf(id)
	return row != nil && editable(row) && !a.Last(row)
}

func editable(row Gated) bool {
	kind := row.Asks().Kind
	return kind == CardPrompt || kind == CardProcess
}

// StepsWith returns the steps of the version with this id, nil if there is none.
func (a *Aggregate) StepsWith(id string) []Step {
	if p, steps := a.gateOf(id).(*Process); steps {
		return p.Steps
	}
	return nil
}

// Unchecked returns the newest steps if one of their askers wrote them and they have to be compared with their tools,
// and the steps that they were before; else nil.
func (a *Aggregate) Unchecked() (is *Process, before []Step) {
	p := a.Process()
	if p == nil || !p.unchecked() {
		return nil, nil
	}
	return p, aggregate.Find(a.Processes, ProcessKey(p.Version-1)).Steps
}

// AsksFor returns nil if the policy or the steps with this id are this person's own request, ErrNotFound or
// ErrNotAllowed.
func (a *Aggregate) AsksFor(id string, by aggregate.Actor, p aggregate.Policy) error {
	row := a.gateOf(id)
	switch {
	case row == nil || !editable(row):
		return aggregate.ErrNotFound
	case by.Type != aggregate.ActorUser || !slices.ContainsFunc(a.ReturnedTo(id), func(p circulation.Person) bool {
		return p.User == by.ID
	}):
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
	}
	return p.Request(by)
}

// MayEdit returns nil if the policy or the steps with this id wait for an edit by this person. It returns the errors of
// AsksFor, ErrDecided, ErrNotLatest or ErrMoved.
func (a *Aggregate) MayEdit(id string, by aggregate.Actor, p aggregate.Policy) error {
	if err := a.AsksFor(id, by, p); err != nil {
		return err
	}
	switch row := a.gateOf(id); {
	case a.Head.Ended != nil:
		return a.ended()
	case a.superseding(row) > 0:
		return aggregate.ErrNotLatest{Latest: a.superseding(row)}
	case a.Returned() != row:
		return aggregate.ErrMoved
	}
	return nil
}

// EditedBefore returns aggregate.ErrDecided with whoever edited the version with this id before; nil if nobody did.
func (a *Aggregate) EditedBefore(id string) error {
	by := func(user string, at time.Time) error {
		if user == "" {
			return nil
		}
		return aggregate.ErrDecided{Status: DecidedEdited, By: user, At: at}
	}
	switch row := a.gateOf(id).(type) {
	case *Prompt:
		if n := aggregate.Find(a.Prompts, PromptKey(row.Version+1)); n != nil {
			return by(n.EditedBy, n.CreatedAt)
		}
	case *Process:
		if n := a.filledAfter(row); n != nil {
			return by(n.EditedBy, n.CreatedAt)
		}
		if n := aggregate.Find(a.Processes, ProcessKey(row.Version+1)); n != nil {
			return by(n.EditedBy, n.CreatedAt)
		}
		if row.Edits > 1 || !row.unfit() {
			return by(row.EditedBy, row.CreatedAt)
		}
	}
	return nil
}

// DecidedEdited is the status of a version that an asker edited, for whoever else edits it later.
const DecidedEdited = "edited"

// Edit makes the next version of what was given back as one of its askers wrote it, in a new run and with a new route:
// no stamp carries over. Of a form it is the next policy, and the next steps are made from that. Other steps keep their
// tools and their order; plan-process compares them with these, and what doesn't fit waits for another edit of the same
// version. A second click with the same content changes nothing. It returns the errors of MayEdit, or ErrField.
func (a *Aggregate) Edit(id string, e Edit, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	was := a.gateOf(id)
	if was != nil && a.editedSo(was, e, by) {
		return aggregate.Change{}, nil
	}
	if err := a.MayEdit(id, by, p); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	c.startRun()
	switch row := was.(type) {
	case *Prompt:
		c.RelyOn(was, a.Task)
		c.Made = c.writePrompt(row.Version, e.Content, by)
	case *Process:
		if (e.Matter == nil) != (a.Matter() == nil) {
			return aggregate.Change{}, aggregate.ErrField{Field: "steps", Limit: "a form, and it alone, is filled in again"}
		}
		if len(e.Files) > MaxAttached {
			return aggregate.Change{}, aggregate.ErrField{Field: "files", Limit: fmt.Sprintf("must be at most %d", MaxAttached)}
		}
		if e.Matter != nil {
			c.Made = c.fillIn(a, row, e, by)
			break
		}
		if err := pinned(row.Steps, e.Steps); err != nil {
			return aggregate.Change{}, err
		}
		c.RelyOn(a.Prompt())
		c.Made = c.edited(a, row, e.Steps, by)
	}
	return c.done()
}

// writePrompt writes a policy as one of the askers wants it: the version after the one that was given back.
func (c *change) writePrompt(was int, content string, by aggregate.Actor) *Prompt {
	c.beginPrompt(was + 1)
	n := c.Written(PromptKey(was + 1)).(*Prompt)
	n.Content, n.EditedBy = content, by.ID
	c.recordEdit(n, by, was, n.hash())
	return n
}

// edited writes steps as one of the askers wants them: the version after those that were given back, or again the one
// that did not fit.
func (c *change) edited(a *Aggregate, was *Process, steps []Step, by aggregate.Actor) *Process {
	n := *was
	if !was.unfit() {
		c.RelyOn(was)
		c.beginProcess(a.Prompt(), was.Version+1)
		n = *c.Written(ProcessKey(was.Version + 1)).(*Process)
	}
	n.Steps, n.EditedBy, n.Misfits, n.Edits = steps, by.ID, nil, n.Edits+1
	c.Put(&n)
	return &n
}

// recordEdit records that one of the askers wrote a version. Of steps the commit that takes them does, with the hash of
// what people are asked: what doesn't fit was never a version.
func (c *change) recordEdit(row Gated, by aggregate.Actor, from int, hash string) {
	action, q := AuditPromptEdited, row.Asks()
	if q.Kind == CardProcess {
		action = AuditProcessEdited
	}
	about := c.of.versioned(q.Version, hash)
	about["from_version"] = from
	c.audit(by, action, string(q.Kind), q.ID, about)
}

// take records the edit that became row, a version whose steps an asker wrote, in the commit that takes them from was.
func (c *change) take(was, row Gated) {
	p, wrote := was.(*Process)
	if n, taken := row.(*Process); taken && wrote && p.unchecked() {
		c.recordEdit(n, aggregate.Actor{Type: aggregate.ActorUser, ID: p.EditedBy}, p.Version-1, n.hash())
	}
}

// RefuseEdit says what in the newest steps does not fit their tools: they wait for another edit by one of the askers,
// who wrote them. Nothing changes if there is nothing to check.
func (a *Aggregate) RefuseEdit(run int, misfits []Misfit, now time.Time) (aggregate.Change, error) {
	p := a.Process()
	if err := a.working(run); err != nil || p == nil || !p.unchecked() || len(misfits) == 0 {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	n := *p
	n.Misfits = misfits
	c.Put(&n)
	c.Made = &n
	return c.done()
}

// editedSo reports whether a version that was given back became what this person makes of it.
func (a *Aggregate) editedSo(was Gated, e Edit, by aggregate.Actor) bool {
	switch row := was.(type) {
	case *Prompt:
		n := aggregate.Find(a.Prompts, PromptKey(row.Version+1))
		return n != nil && n.EditedBy == by.ID && n.Content == e.Content
	case *Process:
		if n := a.filledAfter(row); n != nil {
			return e.Matter != nil && n.EditedBy == by.ID && n.Content == e.Content && // which says all that was typed
				slices.EqualFunc(a.filesOf(n), e.Files, func(x, y aggregate.SharedFile) bool { return x.ID == y.ID })
		}
		next := aggregate.Find(a.Processes, ProcessKey(row.Version+1))
		return next != nil && next.editedSo(e, by) || row.Edits > 1 && a.Returned() != was && row.editedSo(e, by)
	}
	return false
}

func (p *Process) editedSo(e Edit, by aggregate.Actor) bool {
	return p.EditedBy == by.ID && slices.EqualFunc(p.Steps, e.Steps, func(a, b Step) bool {
		return a.StepID == b.StepID && a.Tool == b.Tool && a.ToolInput == b.ToolInput
	})
}

// pinned returns ErrField unless steps are those before with other arguments: none was added, removed, moved or given
// another tool.
func pinned(was, is []Step) error {
	if len(is) != len(was) {
		return aggregate.ErrField{Field: "steps", Limit: fmt.Sprintf("must be %d, not %d", len(was), len(is))}
	}
	for i := range is {
		if is[i].Tool != was[i].Tool || is[i].StepID != was[i].StepID {
			return aggregate.ErrField{Field: fmt.Sprintf("steps[%d].tool", i),
				Limit: fmt.Sprintf("must be %s of %s", was[i].Tool, was[i].StepID)}
		}
	}
	return checkSteps(is)
}

// WrittenPolicy returns the newest policy if one of its askers wrote it; nil if that is drafted.
func (a *Aggregate) WrittenPolicy() *Prompt {
	if p := a.Prompt(); p != nil && p.EditedBy != "" {
		return p
	}
	return nil
}

// PolicyBeforeEdit returns the text of which the newest policy's askers made what it says; "" if none edited it.
func (a *Aggregate) PolicyBeforeEdit() string {
	is := a.Prompt()
	was := is
	for p := is; p != nil; p = a.before(p) {
		was = p
	}
	if was == nil || was.Content == is.Content {
		return ""
	}
	return was.Content
}
