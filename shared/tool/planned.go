package tool

import (
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Planning is by what steps are planned: the tools that a tenant allows.
type Planning struct{ Tools *Catalog }

// Step completes a step with what its tool and arguments say, before are the tools of earlier steps by their ids.
// Whoever wrote the step, it gets a human check if it passes results to an MCP server.
func (p Planning) Step(s task.Step, spec Spec, a Arguments, before map[string]string) (task.Step, error) {
	s.Access, s.ToolVersion, s.ToolTitle = spec.Access, spec.Version(), ""
	if spec.Pin != nil {
		s.ToolTitle = spec.Pin.Title
	}
	var err error
	if s.ToolInput, err = a.JSON(); err != nil {
		return s, err
	}
	s.LeftOut, s.Declared = LeftOut(spec, a), Declared(spec, a)
	s.RequiresHumanCheck = s.RequiresHumanCheck || passesOn(spec, a, before)
	return s, nil
}

// passesOn reports whether a call would give an MCP server a value that another vendor's tool
// returned. Reads count as well as writes, since their arguments reach the server too.
func passesOn(s Spec, args Arguments, before map[string]string) bool {
	to, _, foreign := tenancy.ServerTool(s.Name)
	return foreign && slices.ContainsFunc(args.Refs(), func(r Ref) bool {
		from, _, _ := tenancy.ServerTool(before[r.Path.StepID])
		return from != to
	})
}

// Marked returns steps with the marks of the tools that write. A model neither sees nor writes marks.
func Marked(steps []task.Step, permissions []tenancy.ToolPermission) []task.Step {
	steps = slices.Clone(steps)
	for i, s := range steps {
		for _, p := range permissions {
			if p.ToolName == s.Tool && s.Access == aggregate.Write {
				steps[i].Mark = p.Mark
			}
		}
	}
	return steps
}
