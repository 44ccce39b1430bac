package tool

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

// Typed is what somebody typed for the values of steps: by a step's order and the number of one of its explain.Inputs.
type Typed map[[2]int]string

// Misfit says why something that was typed can't be saved. A Field of -1 stands for the step as a whole, and an Order
// of 0 for all steps.
type Misfit struct {
	Order, Field int
	Name         string // of the field, for people; empty: of none
	Why          MisfitWhy
	Limit        string // of MisfitLimit what the tool says, of MisfitForm an example
}

// MisfitWhy is a code for which forms have a sentence.
type MisfitWhy string

const (
	MisfitNumber  MisfitWhy = "number"  // it must be a number
	MisfitBool    MisfitWhy = "bool"    // it must be true or false
	MisfitLimit   MisfitWhy = "limit"   // it is not what the tool takes
	MisfitForm    MisfitWhy = "form"    // it is not written as the value before, which Limit has
	MisfitTool    MisfitWhy = "tool"    // the tenant doesn't allow the tool any more
	MisfitTooLong MisfitWhy = "toolong" // the steps have become too long
	MisfitPolicy  MisfitWhy = "policy"  // the policy is empty or longer than a card shows: see task.MaxPolicy
)

// Edited returns steps with what somebody typed in the place of their values: the same tools in the same order, checked
// and completed as planning does. It returns explain.ErrMalformedForm if something was typed that no field is for, or a
// field is missing.
func (p Planning) Edited(locale string, was []task.Step, typed Typed) (steps []task.Step, misfits []Misfit, err error) {
	before, rest := map[string]string{}, maps.Clone(typed)
	for i, s := range was {
		fields, readable := explain.Inputs(locale, s, was[:i])
		spec, known := p.Tools.Lookup(s.Tool)
		if !known || !readable {
			misfits = append(misfits, Misfit{Order: s.Order, Field: -1, Why: MisfitTool})
		}
		root, _ := schema.Decode([]byte(s.ToolInput))
		for n, f := range fields {
			if f.Said != "" {
				continue
			}
			text, given := rest[[2]int{s.Order, n}]
			if !given {
				return nil, nil, explain.ErrMalformedForm
			}
			delete(rest, [2]int{s.Order, n})
			v, why := valueOf(f.Value, text)
			if why != "" {
				misfits = append(misfits, Misfit{Order: s.Order, Field: n, Name: f.Name, Why: why})
			}
			replace(root, f.Path, v)
		}
		if known && readable {
			step, found := p.edited(locale, s, spec, root, fields, before)
			steps, misfits = append(steps, step), append(misfits, found...)
		}
		before[s.StepID] = s.Tool
	}
	switch {
	case len(rest) > 0:
		return nil, nil, explain.ErrMalformedForm
	case len(misfits) > 0:
		return nil, misfits, nil
	case StepsBytes(steps) > MaxSteps:
		return nil, []Misfit{{Field: -1, Why: MisfitTooLong}}, nil
	}
	return steps, nil, nil
}

func (p Planning) edited(locale string, s task.Step, spec Spec, root any, fields []explain.Input,
	before map[string]string) (task.Step, []Misfit) {
	misfit := func(limit string) []Misfit {
		return []Misfit{{Order: s.Order, Field: -1, Why: MisfitLimit, Limit: limit}}
	}
	raw, err := encode(root)
	if err != nil {
		return s, misfit(err.Error())
	}
	args, err := Parse(aggregate.JSON(raw))
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

// misfitsOf tells what a schema says of values at the fields by which they were typed.
func misfitsOf(order int, found []schema.Problem, fields []explain.Input) (out []Misfit) {
	for _, problem := range found[:min(len(found), maxNamed)] {
		m := Misfit{Order: order, Field: -1, Name: dotted(problem.Path), Why: MisfitLimit, Limit: problem.Message}
		if i := slices.IndexFunc(fields, func(f explain.Input) bool {
			return len(f.Path) >= len(problem.Path) && slices.Equal(f.Path[:len(problem.Path)], problem.Path)
		}); i >= 0 && len(problem.Path) > 0 {
			m.Field, m.Name = i, fields[i].Name
			if was, text := fields[i].Value.(string); text && strings.HasPrefix(problem.Message, "pattern: ") {
				m.Why, m.Limit = MisfitForm, was
			}
		}
		out = append(out, m)
	}
	return out
}

// valueOf reads what was typed in the place of a value of the same type.
func valueOf(was any, text string) (v any, why MisfitWhy) {
	switch was.(type) {
	case json.Number:
		text = strings.ReplaceAll(legible.Narrow(strings.TrimSpace(text)), ",", "")
		if _, number := json.Number(text).Float64(); number != nil || !json.Valid([]byte(text)) {
			return was, MisfitNumber
		}
		return json.Number(text), ""
	case bool:
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return was, MisfitBool
		}
		return yes, ""
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), ""
}

// replace puts a value at a path that is there.
func replace(in any, path []string, v any) {
	last := len(path) == 1
	switch in := in.(type) {
	case map[string]any:
		if last {
			in[path[0]] = v
			return
		}
		replace(in[path[0]], path[1:], v)
	case []any:
		i, err := strconv.Atoi(path[0])
		switch {
		case err != nil || i >= len(in):
		case last:
			in[i] = v
		default:
			replace(in[i], path[1:], v)
		}
	}
}
