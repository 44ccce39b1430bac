package explain

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
)

// CalledStep is an agent's call of a tool as a step, so that one code tells both.
func CalledStep(p conversation.Payload) task.Step {
	return task.Step{StepID: "step-1", Order: 1, Tool: p.Tool, ToolInput: aggregate.JSON(p.Arguments), Access: p.Access,
		ToolVersion: p.ToolVersion, ToolTitle: p.ToolTitle, LeftOut: aggregate.JSON(p.LeftOut), Mark: p.Mark,
		Declared: aggregate.JSON(p.Declared)}
}

// StepsOf returns a call of an outside agent as one step, nil if what it is to do can't be read.
func StepsOf(x *call.Call) []task.Step {
	c, err := x.Content()
	if err != nil {
		return nil
	}
	return []task.Step{CalledStep(c.Payload())}
}

// Does returns what approving a row does, as far as the row says it; planned has the step of a check. Of a policy and
// of an action it returns nothing.
func Does(locale string, row aggregate.Row, planned *task.Process) Sum {
	switch row := row.(type) {
	case *task.Process:
		return SumUp(locale, row.Steps)
	case *call.Call:
		return SumUp(locale, StepsOf(row))
	case *task.StepGate:
		if planned == nil || planned.StepOf(row) < 0 {
			break
		}
		at := planned.StepOf(row)
		s, earlier := planned.Steps[at], planned.Steps[:at]
		if row.Arguments.JSON != "" {
			s.ToolInput, earlier = row.Arguments.JSON, nil // no value of it refers to a step
		}
		shown, _, _ := Masked(s, row.Arguments, locale)
		one := []Effect{EffectOf(locale, s, shown, earlier)}
		if s.Access == aggregate.Read {
			return SumOf(locale, nil, one)
		}
		return SumOf(locale, one, nil)
	}
	return Sum{locale: locale}
}
