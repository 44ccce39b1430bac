package explain

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Typed is what somebody typed for the values of steps: by a step's order and the number of one of its Inputs.
type Typed map[[2]int]string

// Write returns steps with what somebody typed in the place of their values: the same tools in the same order. Whether
// the values fit their tools beyond the schemas' limits only planning knows. It returns ErrMalformedForm if something was
// typed that no field is for, or a field is missing.
func (typed Typed) Write(locale string, was []task.Step, of Schemas) (steps []task.Step, misfits []task.Misfit,
	err error) {
	rest := maps.Clone(typed)
	for i, s := range was {
		fields, readable := of.Inputs(locale, s, was[:i])
		root, _ := decode(s.ToolInput)
		if !readable {
			misfits = append(misfits, task.Misfit{Order: s.Order, Field: -1, Why: task.MisfitTool})
		}
		for n, f := range fields {
			if f.Said != "" {
				continue
			}
			text, given := rest[[2]int{s.Order, n}]
			delete(rest, [2]int{s.Order, n})
			switch {
			case f.Unused && strings.TrimSpace(text) == "":
				continue
			case !given:
				return nil, nil, ErrMalformedForm
			}
			why, limit := task.MisfitWhy(""), ""
			if f.Value, why = valueOf(f.Value, text); why == "" {
				why, limit = f.Misfit()
			}
			if why != "" {
				misfits = append(misfits, task.Misfit{Order: s.Order, Field: n, Why: why, Limit: limit})
			}
			replace(root, f.Path, f.Value)
		}
		if readable {
			input, err := encoded(root)
			if err != nil {
				return nil, nil, err
			}
			s.ToolInput = aggregate.JSON(input)
		}
		steps = append(steps, s)
	}
	switch {
	case len(rest) > 0:
		return nil, nil, ErrMalformedForm
	case len(misfits) > 0:
		return nil, misfits, nil
	case task.StepsBytes(steps) > task.MaxStepsBytes:
		return nil, []task.Misfit{{Field: -1, Why: task.MisfitTooLong}}, nil
	}
	return steps, nil, nil
}

// valueOf reads what was typed in the place of a value of the same type.
func valueOf(was any, text string) (v any, why task.MisfitWhy) {
	switch was.(type) {
	case json.Number:
		text = strings.ReplaceAll(legible.Narrow(strings.TrimSpace(text)), ",", "")
		if _, number := json.Number(text).Float64(); number != nil || !json.Valid([]byte(text)) {
			return was, task.MisfitNumber
		}
		return json.Number(text), ""
	case bool:
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return was, task.MisfitBool
		}
		return yes, ""
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), ""
}

// replace puts a value at a path that is there, or beside what is there.
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
