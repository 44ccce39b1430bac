package task

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Edit is what one of the askers makes of what was given back to them: a policy's text, or all steps.
type Edit struct {
	Content string
	Steps   []Step
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
	if !row.gate().GivenBack() {
		return nil
	}
	return row
}

// MayGiveBack reports whether the policy or the steps with this id may be given back: another version may follow.
func (a *Aggregate) MayGiveBack(id string) bool {
	row := a.gateOf(id)
	return row != nil && editable(row) && !a.Last(row) && a.Matter() == nil
}

func editable(row Gated) bool {
	kind := row.Asks().Kind
	_, again := row.(*Again)
	return kind == CardPrompt || kind == CardProcess && !again
}

// StepsWith returns the steps of the version with this id, nil if there is none.
func (a *Aggregate) StepsWith(id string) []Step {
	if p, steps := a.gateOf(id).(*Process); steps {
		return p.Steps
	}
	return nil
}

// AsksFor returns nil if the policy or the steps with this id are this person's own request, ErrNotFound or
// ErrNotAllowed.
func (a *Aggregate) AsksFor(id string, by aggregate.Actor, p aggregate.Policy) error {
	row := a.gateOf(id)
	switch {
	case row == nil || !editable(row):
		return aggregate.ErrNotFound
	case by.Type != aggregate.ActorUser || !slices.ContainsFunc(row.gate().Askers, func(p circulation.Person) bool {
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

// Edit makes the next version of what was given back as one of its askers wrote it, in a new run and with a new route:
// no stamp carries over. Steps keep their tools and their order. A second click with the same content changes nothing.
// It returns the errors of MayEdit, or ErrField.
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
	c.RelyOn(was)
	version, action := was.Asks().Version, AuditPromptEdited
	switch row := was.(type) {
	case *Prompt:
		c.beginPrompt(version+1, 0)
		n := c.Written(PromptKey(version + 1)).(*Prompt)
		n.Content, n.EditedBy = e.Content, by.ID
		c.RelyOn(a.Task)
	case *Process:
		if err := pinned(row.Steps, e.Steps); err != nil {
			return aggregate.Change{}, err
		}
		action = AuditProcessEdited
		c.beginProcess(a.Prompt(), version+1, 0)
		n := c.Written(ProcessKey(version + 1)).(*Process)
		n.Steps, n.EditedBy = e.Steps, by.ID
		c.RelyOn(a.Prompt())
	}
	n := c.Written(keyOf(typeOf(was), version+1)).(Gated)
	c.Made = n
	_, typ, id, about := a.onRoute(n)
	about["from"] = version
	c.audit(by, action, typ, id, about)
	return c.done()
}

func typeOf(row Gated) string {
	if _, policy := row.(*Prompt); policy {
		return "PROMPT"
	}
	return "PROCESS"
}

// editedSo reports whether the version after one that was given back is what this person makes of it.
func (a *Aggregate) editedSo(was Gated, e Edit, by aggregate.Actor) bool {
	switch row := was.(type) {
	case *Prompt:
		n := aggregate.Find(a.Prompts, PromptKey(row.Version+1))
		return n != nil && n.EditedBy == by.ID && n.Content == e.Content
	case *Process:
		n := aggregate.Find(a.Processes, ProcessKey(row.Version+1))
		return n != nil && n.EditedBy == by.ID && Hash(n.Steps) == Hash(e.Steps)
	}
	return false
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
