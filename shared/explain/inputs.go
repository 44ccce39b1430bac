package explain

import (
	"encoding/json"
	"slices"
	"strconv"

	"ringi/shared/domain/task"
)

// Input is one value among a step's arguments, as a form shows it.
type Input struct {
	Path  []string // from the arguments' root; rows of a list count from 0
	Name  string
	Value any    // a text, json.Number or a bool
	Said  string // in words what nobody can type: a value of an earlier step, null or what is empty; "": Value is typed
}

// Inputs returns all values among a step's arguments, each by the name that people know it by. The steps before it may
// be referred to. ok is false if the arguments can't be read.
func Inputs(locale string, s task.Step, earlier []task.Step) (all []Input, ok bool) {
	if _, ok = decode(s.ToolInput); !ok {
		return nil, false
	}
	t := tellerOf(locale, &s, nil, earlier, true)
	return t.inputs(nil, nil, t.args), true
}

func (t *teller) inputs(path []part, at []string, v any) (all []Input) {
	below := func(p part, name string, v any) {
		all = append(all, t.inputs(append(slices.Clip(path), p), append(slices.Clip(at), name), v)...)
	}
	f := Input{Path: at, Name: Plain(t.name(path))}
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 && !t.isReference(v) {
			for _, name := range t.sorted(path, v) {
				below(part{name: name}, name, v[name])
			}
			return all
		}
		if f.Said = t.w.EmptyObject; len(v) > 0 {
			f.Said = t.said(v)
		}
	case []any:
		for i, x := range v {
			below(part{row: i + 1}, strconv.Itoa(i), x)
		}
		if len(v) > 0 {
			return all
		}
		f.Said = t.w.EmptyList
	case string, json.Number, bool:
		f.Value = v
	default:
		f.Said = t.said(v)
	}
	if len(path) == 0 { // a call without arguments
		return nil
	}
	return []Input{f}
}

func (t *teller) said(v any) string {
	l := t.writer()
	l.leaf(v)
	return Plain(l.out)
}
