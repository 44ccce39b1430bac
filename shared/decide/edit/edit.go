// Package edit makes the next version of a policy or of steps that were given back, of what one of their askers types
// in a form. No model is asked. It knows no schema whole, so that the form is answered fast: plan-process compares
// steps with their tools.
package edit

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// Form is what a form came back with. Its ids are not to be trusted.
type Form struct {
	Kind    aggregate.CardType // prompt or process
	Hash    string             // of what the form showed
	Policy  string
	Steps   explain.Typed
	Schemas explain.Schemas // of MCP servers' tools
}

// May reports whether a person may open the form now. Its change is never committed.
func May(kind aggregate.CardType, hash string) decide.Act {
	return act(kind, hash, (*task.Aggregate).MayEdit)
}

// Asks reports whether what was given back is this person's own request, also when it waits no more, and is still what
// the form showed or what an edit made of it.
func (f Form) Asks() decide.Act {
	return of(f.Kind, func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		_ time.Time) (aggregate.Change, error) {
		err := t.AsksFor(id, by, p)
		if err == nil && t.AskedHash(id) != f.Hash && t.EditedBefore(id) == nil {
			err = aggregate.ErrMoved
		}
		return aggregate.Change{}, err
	})
}

func act(kind aggregate.CardType, hash string,
	may func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy) error) decide.Act {
	return decide.Shown(kind, hash, of(kind, func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		_ time.Time) (aggregate.Change, error) {
		return aggregate.Change{}, may(t, id, by, p)
	}))
}

// of makes an act on a task's gate of this type.
func of(kind aggregate.CardType, does func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error)) decide.Act {
	return decide.Gate(kind, func(a decide.Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		t, is := a.(*task.Aggregate)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return does(t, id, by, p, now)
	})
}

// Save makes the edit the next version. Who comes second is told that theirs wasn't used, and whose was.
func (f Form) Save(made task.Edit) decide.Act {
	return of(f.Kind, func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		change, err := t.Edit(id, made, by, p, now)
		if t.AskedHash(id) != f.Hash && (err != nil || !change.Empty()) {
			err = aggregate.ErrMoved
		}
		if _, old := errors.AsType[aggregate.ErrNotLatest](err); old || errors.Is(err, aggregate.ErrMoved) {
			return aggregate.Change{}, cmp.Or(t.EditedBefore(id), err)
		}
		return change, err
	})
}

// Made returns what the form makes of the policy or steps with this id, or why what was typed can't be saved. Whether
// values fit their tools plan-process says. It returns explain.ErrMalformedForm for a form that doesn't fit.
func (f Form) Made(a *task.Aggregate, id, locale string) (made task.Edit, misfits []task.Misfit, err error) {
	if f.Kind == task.CardPrompt {
		made.Content = strings.TrimSpace(strings.ReplaceAll(f.Policy, "\r\n", "\n"))
		if !legible.Text(made.Content) || !card.PolicyFits(made.Content) {
			misfits = []task.Misfit{{Why: task.MisfitPolicy}}
		}
		return made, misfits, nil
	}
	made.Steps, misfits, err = f.Steps.Write(locale, a.StepsWith(id), f.Schemas)
	if err == nil && len(misfits) == 0 && !card.StepsFit(made.Steps, "") {
		misfits = []task.Misfit{{Field: -1, Why: task.MisfitTooLong}}
	}
	return made, misfits, err
}
