// Package edit makes the next version of a policy or of steps that were given back, of what one of their askers types
// in a form. No model is asked: what planning says of steps is said here by the same functions.
package edit

import (
	"context"
	"slices"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/tool"
	"ringi/shared/words/legible"
)

// Store reads which tools a tenant allows.
type Store interface {
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
}

// Form is what a form came back with. Its ids are not to be trusted.
type Form struct {
	Kind   aggregate.CardType // prompt or process
	Hash   string             // of what the form showed
	Policy string
	Steps  tool.Typed
}

// May reports whether a person may open the form now. Its change is never committed.
func May(kind aggregate.CardType, hash string) decide.Act {
	return act(kind, hash, (*task.Aggregate).MayEdit)
}

// Asks reports whether what was given back is this person's own request, also when it waits no more.
func (f Form) Asks() decide.Act { return act(f.Kind, f.Hash, (*task.Aggregate).AsksFor) }

func act(kind aggregate.CardType, hash string,
	may func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy) error) decide.Act {
	return decide.Shown(kind, hash, func(a decide.Subject, id string, by aggregate.Actor, p aggregate.Policy,
		_ time.Time) (aggregate.Change, error) {
		t, is := a.(*task.Aggregate)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return aggregate.Change{}, may(t, id, by, p)
	})
}

// Save makes the edit the next version.
func (f Form) Save(made task.Edit) decide.Act {
	return decide.Shown(f.Kind, f.Hash, func(a decide.Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		t, is := a.(*task.Aggregate)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return t.Edit(id, made, by, p, now)
	})
}

// Made returns what the form makes of the policy or steps with this id, or why what was typed can't be saved. It
// returns explain.ErrMalformedForm for a form that doesn't fit.
func (f Form) Made(ctx context.Context, from Store, a *task.Aggregate, id, locale string, s tenancy.Settings) (
	made task.Edit, misfits []tool.Misfit, err error) {
	if f.Kind == task.CardPrompt {
		made.Content, misfits = policy(f.Policy)
		return made, misfits, nil
	}
	permissions, err := from.ToolPermissions(ctx, a.Head.TenantID)
	if err != nil {
		return made, nil, err
	}
	steps := a.StepsWith(id)
	permissions = slices.DeleteFunc(permissions, func(p tenancy.ToolPermission) bool { // whose schemas nobody needs
		return !slices.ContainsFunc(steps, func(s task.Step) bool { return s.Tool == p.ToolName })
	})
	builtin, err := tool.Builtin()
	if err != nil {
		return made, nil, err
	}
	allowed, _ := builtin.Planned().Allowed(permissions, s.MCPServers) // what can't be read is not among them
	by := tool.Planning{Tools: allowed, Requester: a.Head.Requester}
	if p := a.Prompt(); p != nil {
		by.Seen = p.Content
		if !p.Terms.ApprovalRequired {
			by.Seen = a.Request.Text
		}
	}
	made.Steps, misfits, err = by.Edited(locale, steps, f.Steps)
	made.Steps = tool.Marked(made.Steps, permissions)
	if err == nil && len(misfits) == 0 && !card.StepsFit(made.Steps, "") {
		misfits = []tool.Misfit{{Field: -1, Why: tool.MisfitTooLong}}
	}
	return made, misfits, err
}

func policy(text string) (string, []tool.Misfit) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if !legible.Text(text) || tool.Units(text) > task.MaxPolicy || !card.Stampable(text) {
		return text, []tool.Misfit{{Why: tool.MisfitPolicy}}
	}
	return text, nil
}
