package decide

import (
	"slices"

	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// unreadable reports whether nobody can tell what a gate's steps, its call or its action would do. Of what is kept
// elsewhere, since it is long, only the beginning is here: that passes.
func unreadable(a Subject, id string) bool {
	switch of := a.(type) {
	case *task.Aggregate:
		return unreadableSteps(of, id)
	case *conversation.Aggregate:
		if x := of.Action(id); x != nil && x.Payload.JSON != "" {
			_, problems := conversation.ReadKept(x.ActionType, []byte(x.Payload.JSON))
			return len(problems) > 0
		}
	case *call.Aggregate:
		_, err := of.Call.Content()
		return err != nil
	}
	return false
}

func unreadableSteps(a *task.Aggregate, id string) bool {
	for _, p := range a.Processes {
		if p.ID == id {
			return explain.SumUp(language.English, p.Steps).Unreadable() != ""
		}
	}
	i := slices.IndexFunc(a.Gates, func(g *task.StepGate) bool { return g.ID == id })
	if i < 0 || a.Gates[i].Arguments.JSON == "" {
		return false
	}
	_, _, ok := explain.Masked(task.Step{}, a.Gates[i].Arguments, language.English)
	return !ok
}
