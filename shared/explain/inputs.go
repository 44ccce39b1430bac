package explain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Input is one value among a step's arguments, as a form shows it.
type Input struct {
	Path    []string // from the arguments' root; rows of a list count from 0
	Name    string
	Value   any      // a text, json.Number or a bool
	Said    string   // in words what nobody can type: an earlier step's value, null or what is empty; "": Value is typed
	Person  bool     // it is the Slack id of a person
	Choices []Choice // all that it may be, if its tool is Ringi's own and says so
	limits
}

// Choice is one of the values of which a form offers a choice.
type Choice struct{ Value, Text string }

// limits are what the schema of one of Ringi's own tools says of a value.
type limits struct {
	Enum       []any             `json:"enum"`
	MinLength  int               `json:"minLength"`
	MaxLength  int               `json:"maxLength"`
	Minimum    json.Number       `json:"minimum"`
	Maximum    json.Number       `json:"maximum"`
	Properties map[string]limits `json:"properties"`
	Items      *limits           `json:"items"`
}

// Inputs returns all values among a step's arguments, each by the name that people know it by. The steps before it may
// be referred to. ok is false if the arguments can't be read.
func Inputs(locale string, s task.Step, earlier []task.Step) (all []Input, ok bool) {
	if _, ok = decode(s.ToolInput); !ok {
		return nil, false
	}
	t := tellerOf(locale, &s, nil, earlier, true)
	var own *limits
	if t.look.own != nil {
		own = &limits{}
		_ = json.Unmarshal(t.look.own.Input, own) // a test compiles every schema
	}
	return t.inputs(nil, nil, t.args, own), true
}

func (t *teller) inputs(path []part, at []string, v any, own *limits) (all []Input) {
	below := func(p part, name string, v any, own *limits) {
		all = append(all, t.inputs(append(slices.Clip(path), p), append(slices.Clip(at), name), v, own)...)
	}
	f := Input{Path: at, Name: Plain(t.name(path))}
	if own != nil {
		f.limits = *own
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 && !t.isReference(v) {
			for _, name := range t.sorted(path, v) {
				below(part{name: name}, name, v[name], own.member(name))
			}
			return all
		}
		if f.Said = t.w.EmptyObject; len(v) > 0 {
			f.Said = t.said(v)
		}
	case []any:
		for i, x := range v {
			below(part{row: i + 1}, strconv.Itoa(i), x, f.Items)
		}
		if len(v) > 0 {
			return all
		}
		f.Said = t.w.EmptyList
	case string:
		f.Value, f.Choices = v, t.choices(at, own)
		f.Person = t.step.Tool == toolMessage && pointerOf(path) == t.look.party && userForm.Get().MatchString(v)
	case json.Number, bool:
		f.Value = v
	default:
		f.Said = t.said(v)
	}
	if len(path) == 0 { // a call without arguments
		return nil
	}
	return []Input{f}
}

func (l *limits) member(name string) *limits {
	if l == nil {
		return nil
	}
	m, known := l.Properties[name]
	if !known {
		return nil
	}
	return &m
}

// choices returns what a text may be, in the words that cards have for it.
func (t *teller) choices(at []string, own *limits) (all []Choice) {
	if own == nil {
		return nil
	}
	var words catalog.Argument
	if len(at) == 1 {
		words = t.look.own.Arguments[at[0]]
	}
	for _, x := range own.Enum {
		value := fmt.Sprint(x)
		text := cmp.Or(words.Choices[value].In(t.locale), words.Is[value].In(t.locale))
		all = append(all, Choice{value, cmp.Or(legible.Capital(text), value)})
	}
	return all
}

func (t *teller) said(v any) string {
	l := t.writer()
	l.leaf(v)
	return Plain(l.out)
}

// Misfit returns which limit of Ringi's own tool a value breaks, "" if none that is known here.
func (x *Input) Misfit() (why task.MisfitWhy, limit string) {
	switch v := x.Value.(type) {
	case string:
		n := utf8.RuneCountInString(v)
		switch {
		case n < x.MinLength:
			return task.MisfitEmpty, ""
		case x.MaxLength > 0 && n > x.MaxLength:
			return task.MisfitLong, strconv.Itoa(x.MaxLength)
		}
	case json.Number:
		is, _ := v.Float64() // typed and planned numbers can be read
		if least, err := x.Minimum.Float64(); err == nil && is < least {
			return task.MisfitLeast, x.Minimum.String()
		}
		if most, err := x.Maximum.Float64(); err == nil && is > most {
			return task.MisfitMost, x.Maximum.String()
		}
	}
	return "", ""
}

// encoded writes arguments as planning does: with sorted names, and without escapes for < > &.
func encoded(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimSpace(b.Bytes())), err
}
