package tool

import (
	"fmt"
	"slices"

	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool/schema"
)

// maxMisfits limits the misfits of an edit, which are kept with its steps.
const maxMisfits = 20

// Edited returns steps that an asker wrote in place of others, checked and completed as planning does, or why they
// don't fit their tools.
func (p Planning) Edited(locale string, was, written []task.Step) (steps []task.Step, misfits []task.Misfit) {
	before := map[string]string{}
	for i, s := range written {
		_, readable := explain.Inputs(locale, s, written[:i])
		fields, _ := explain.Inputs(locale, was[i], was[:i])
		if spec, known := p.Tools.Lookup(s.Tool); !known || !readable {
			misfits = append(misfits, task.Misfit{Order: s.Order, Field: -1, Why: task.MisfitTool})
		} else {
			step, found := p.edited(locale, s, spec, fields, before)
			steps, misfits = append(steps, step), append(misfits, found...)
		}
		before[s.StepID] = s.Tool
	}
	switch {
	case len(misfits) > 0:
		return nil, misfits[:min(len(misfits), maxMisfits)]
	case task.StepsBytes(steps) > task.MaxStepsBytes:
		return nil, []task.Misfit{{Field: -1, Why: task.MisfitTooLong}}
	}
	return steps, nil
}

func (p Planning) edited(locale string, s task.Step, spec Spec, fields []explain.Input,
	before map[string]string) (task.Step, []task.Misfit) {
	misfit := func(limit string) []task.Misfit {
		return []task.Misfit{{Order: s.Order, Field: -1, Why: task.MisfitLimit, Limit: limit}}
	}
	args, err := Parse(s.ToolInput)
	if err != nil {
		return s, misfit(err.Error())
	}
	found, broken, err := p.Tools.planned(s.Tool, args,
		func(id string) (string, bool) { name, ok := before[id]; return name, ok })
	switch {
	case err != nil:
		return s, misfit(err.Error())
	case len(found) > 0:
		return s, misfitsOf(s.Order, found, fields)
	case broken != nil:
		return s, misfit(explain.FailedCall(locale, broken.Problem, broken.Args...))
	}
	if s, err = p.Step(s, spec, args, before); err != nil {
		return s, misfit(err.Error())
	}
	return s, nil
}

// misfitsOf tells what a schema says of values at the fields by which they were typed: those of the steps before.
func misfitsOf(order int, found []schema.Problem, fields []explain.Input) (out []task.Misfit) {
	for _, problem := range found {
		m := task.Misfit{Order: order, Field: -1, Why: task.MisfitLimit, Limit: problem.Message}
		i := slices.IndexFunc(fields, func(f explain.Input) bool {
			return len(f.Path) >= len(problem.Path) && slices.Equal(f.Path[:len(problem.Path)], problem.Path)
		})
		if i >= 0 && len(problem.Path) > 0 {
			m.Field = i
			if m.Why, m.Limit = whyOf(problem); m.Why == task.MisfitForm {
				m.Limit = fmt.Sprint(fields[i].Value)
			}
		}
		out = append(out, m)
	}
	return out
}

// misfitAt says at which of a schema's keywords a value fails.
var misfitAt = map[string]task.MisfitWhy{"pattern": task.MisfitForm, "enum": task.MisfitChoice,
	"minimum": task.MisfitLeast, "maximum": task.MisfitMost, "minLength": task.MisfitShort, "maxLength": task.MisfitLong}

// whyOf says what a schema finds of a value, so that people are told in their language.
func whyOf(p schema.Problem) (why task.MisfitWhy, limit string) {
	why, known := misfitAt[p.Keyword]
	switch {
	case !known:
		return task.MisfitLimit, p.Message
	case why == task.MisfitChoice:
		return why, p.Limit
	}
	return why, explain.Grouped(p.Limit)
}

// PlannedBy returns by what the steps of a task are planned: the tools of a catalog that its tenant allows, as far as
// these steps call them, and what people have seen of it.
func PlannedBy(all *Catalog, a *task.Aggregate, steps []task.Step, permissions []tenancy.ToolPermission,
	servers []tenancy.MCPServer) Planning {
	permissions = slices.DeleteFunc(slices.Clone(permissions), func(p tenancy.ToolPermission) bool {
		return !slices.ContainsFunc(steps, func(s task.Step) bool { return s.Tool == p.ToolName }) // nobody needs its schema
	})
	allowed, _ := all.Planned().Allowed(permissions, servers) // what can't be read is not among them
	by := Planning{Tools: allowed, Requester: a.Head.Requester}
	if p := a.Prompt(); p != nil {
		by.Seen = p.Content
		if !p.Terms.ApprovalRequired {
			by.Seen = a.Request.Text
		}
	}
	return by
}
