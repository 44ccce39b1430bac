package explain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Input is one value among a step's arguments, as a form shows it.
type Input struct {
	Path    []string // from the arguments' root; rows of a list count from 0
	Name    string
	Value   any      // a text, json.Number or a bool
	Said    string   // in words what nobody can type: an earlier step's value, null or what is empty; "": Value is typed
	Person  bool     // it is the Slack id of a person
	Choices []Choice // all that it may be, if its tool says so
	Needed  bool     // an MCP server's tool requires it
	Unused  bool     // the call doesn't have it; typed as nothing, it stays so
	limits
}

// maxChoices and maxChoice are what a select of Slack's dialogs holds: options, and characters of one
// (https://docs.slack.dev/reference/block-kit/composition-objects/option-object).
const maxChoices, maxChoice = 100, 75

// Choice is one of the values of which a form offers a choice.
type Choice struct{ Value, Text string }

// limits are what a tool's schema says of a value.
type limits struct {
	Type       any               `json:"type"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	MinLength  int               `json:"minLength"`
	MaxLength  int               `json:"maxLength"`
	Minimum    json.Number       `json:"minimum"`
	Maximum    json.Number       `json:"maximum"`
	Properties map[string]limits `json:"properties"`
	Items      *limits           `json:"items"`
	needed     bool              // whatever it is a member of requires it
}

// Schemas are the schemas of MCP servers' tools, as an administrator allowed them, by the tool's name.
type Schemas map[string]aggregate.JSON

// SchemasOf returns the schemas of the allowed tools that are not Ringi's own.
func SchemasOf(allowed []tenancy.ToolPermission) Schemas {
	all := Schemas{}
	for _, p := range allowed {
		if p.Allowed && p.Pin != nil {
			all[p.ToolName] = p.Pin.Input
		}
	}
	return all
}

// Inputs returns all values among a step's arguments, each by the name that people know it by, and behind them what its
// tool takes besides. The steps before it may be referred to. ok is false if the arguments can't be read.
func Inputs(locale string, s task.Step, earlier []task.Step) (all []Input, ok bool) {
	return Schemas(nil).Inputs(locale, s, earlier)
}

// Inputs is the function of this name, also with the limits of MCP servers' tools.
func (of Schemas) Inputs(locale string, s task.Step, earlier []task.Step) (all []Input, ok bool) {
	if _, ok = decode(s.ToolInput); !ok {
		return nil, false
	}
	t := tellerOf(locale, &s, nil, earlier, true)
	own, schema := &limits{}, []byte(of[s.Tool])
	if t.look.own != nil {
		schema = t.look.own.Input
	}
	_ = json.Unmarshal(schema, own) // what of a server's has another form is no limit; plan-process compares the rest
	return append(t.inputs(nil, nil, t.args, own), t.unused(own)...), true
}

// unused returns the texts, numbers and flags that the schema of a tool has and the call doesn't.
func (t *teller) unused(own *limits) (all []Input) {
	empty := map[any]any{"string": "", "number": json.Number(""), "integer": json.Number(""), "boolean": false}
	for _, name := range slices.Sorted(maps.Keys(own.Properties)) {
		l, at := own.member(name), []string{name}
		kind, single := l.Type.(string)
		if _, used := t.args[name]; !used && single && empty[kind] != nil {
			all = append(all, Input{Path: at, Name: t.inputName([]part{{name: name}}), Value: empty[kind], Unused: true,
				Choices: t.choices(at, l), limits: *l})
		}
	}
	return all
}

func (t *teller) inputs(path []part, at []string, v any, own *limits) (all []Input) {
	below := func(p part, name string, v any, own *limits) {
		all = append(all, t.inputs(append(slices.Clip(path), p), append(slices.Clip(at), name), v, own)...)
	}
	f := Input{Path: at, Name: t.inputName(path)}
	if own != nil {
		f.limits, f.Needed = *own, own.needed && t.look.own == nil
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

// inputName is what people call a value: of a row, with its number and, unless there is but one list without a title,
// what the list is called.
func (t *teller) inputName(path []part) string {
	if len(path) != 3 || path[1].row == 0 || path[2].row > 0 {
		return Plain(t.name(path))
	}
	list, lists := "", 0
	for _, v := range t.args {
		if _, is := v.([]any); is {
			lists++
		}
	}
	if lists > 1 || t.look.names[pointerOf(path[:1])].In(t.locale) != "" {
		list = Plain(t.name(path[:1])) + " "
	}
	l := t.writer()
	t.member(l, pointerOf(path), path[2].name)
	text := language.Fill(t.w.RowOf, "list", list, "n", path[1].row, "name", Plain(l.out))
	if list == "" {
		return legible.Capital(text)
	}
	return text
}

func (l *limits) member(name string) *limits {
	if l == nil {
		return nil
	}
	m, known := l.Properties[name]
	if !known {
		return nil
	}
	m.needed = slices.Contains(l.Required, name)
	return &m
}

// choices returns what a text may be, in the words that cards have for it.
func (t *teller) choices(at []string, own *limits) (all []Choice) {
	if own == nil {
		return nil
	}
	var words catalog.Argument
	if len(at) == 1 && t.look.own != nil {
		words = t.look.own.Arguments[at[0]]
	}
	long := func(x any) bool { return utf8.RuneCountInString(fmt.Sprint(x)) > maxChoice }
	if len(own.Enum) > maxChoices || slices.ContainsFunc(own.Enum, long) {
		return nil
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

// Misfit returns which limit of its tool a value breaks, "" if none that is known here.
func (x *Input) Misfit() (why task.MisfitWhy, limit string) {
	switch v := x.Value.(type) {
	case string:
		n := utf8.RuneCountInString(v)
		switch {
		case n == 0 && (x.Needed || x.MinLength > 0):
			return task.MisfitEmpty, ""
		case n < x.MinLength:
			return task.MisfitShort, strconv.Itoa(x.MinLength)
		case x.MaxLength > 0 && n > x.MaxLength:
			return task.MisfitLong, strconv.Itoa(x.MaxLength)
		case len(x.Enum) > 0 && !slices.ContainsFunc(x.Enum, func(is any) bool { return fmt.Sprint(is) == v }):
			var choices []string
			for _, is := range x.Enum {
				choices = append(choices, fmt.Sprint(is))
			}
			return task.MisfitChoice, strings.Join(choices, ", ")
		}
	case json.Number:
		is, _ := v.Float64() // typed and planned numbers can be read
		if least, err := x.Minimum.Float64(); err == nil && is < least {
			return task.MisfitLeast, Grouped(x.Minimum.String())
		}
		if most, err := x.Maximum.Float64(); err == nil && is > most {
			return task.MisfitMost, Grouped(x.Maximum.String())
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
