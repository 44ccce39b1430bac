// Package line says in one line what a step would do, from its arguments as they were
// planned: each tool in its own words, in Japanese and English. No model has a say in
// it, and nothing of the arguments is left out. What isn't known before the steps run
// is named by where it will come from.
//
// It needs no schemas and no catalog: cards are drawn with it.
package line

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/task"
)

// Kind is whose a piece of a line is.
type Kind int

const (
	Words  Kind = iota // ours
	Value              // as it was planned; whoever draws it keeps it from formatting
	Person             // a Slack user id
)

// Piece is a part of a line.
type Piece struct {
	Kind Kind
	Text string
}

// Of makes the lines of steps, one for each. locale is ja or en.
func Of(locale string, steps []task.Step) [][]Piece {
	lines := make([][]Piece, len(steps))
	earlier := map[string]task.Step{}
	for i, s := range steps {
		lines[i] = of(wordsOf(locale), s, earlier)
		earlier[s.StepID] = s
	}
	return lines
}

func of(w *words, s task.Step, earlier map[string]task.Step) []Piece {
	l := &writer{w: w, earlier: earlier}
	args, ok := decode(s.ToolInput)
	if !ok {
		l.words(w.unread)
		l.value(string(s.ToolInput))
		return l.out
	}
	l.args = args
	if say, own := tools[s.Tool]; own {
		say(l)
	} else {
		l.foreign(s.Tool)
	}
	l.rest()
	return l.out
}

// decode reads planned arguments, keeping numbers as they are written.
func decode(raw task.JSON) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(raw)))
	d.UseNumber()
	var args map[string]any
	if d.Decode(&args) != nil || args == nil {
		return nil, false
	}
	_, err := d.Token()
	return args, err == io.EOF
}

// writer puts one line together. Arguments that a tool's own words have not taken are
// named at its end.
type writer struct {
	w       *words
	args    map[string]any
	earlier map[string]task.Step
	out     []Piece
}

func (l *writer) add(k Kind, text string) {
	if text != "" {
		l.out = append(l.out, Piece{k, text})
	}
}

func (l *writer) words(text string) { l.add(Words, text) }

// take is an argument, which then is said.
func (l *writer) take(name string) any {
	v := l.args[name]
	delete(l.args, name)
	return v
}

// say writes a text of ours; parts write what stands for {name} in it.
func (l *writer) say(text string, parts map[string]func()) {
	for {
		before, rest, found := strings.Cut(text, "{")
		l.words(before)
		if !found {
			return
		}
		name, after, _ := strings.Cut(rest, "}")
		parts[name]()
		text = after
	}
}

// of writes a value as say's part.
func (l *writer) of(v any) func() { return func() { l.value(v) } }

// value writes any value whole.
func (l *writer) value(v any) {
	switch v := v.(type) {
	case nil:
		l.words(l.w.nothing)
	case string:
		l.words(l.w.open)
		l.add(Value, strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ").Replace(v))
		l.words(l.w.shut)
	case json.Number:
		l.add(Value, v.String())
	case bool:
		l.add(Value, strconv.FormatBool(v))
	case []any:
		l.words("[")
		l.list(v)
		l.words("]")
	case map[string]any:
		if at, ok := reference(v); ok {
			l.from(at)
			return
		}
		l.words("{")
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				l.words(", ")
			}
			l.add(Value, name)
			l.words(": ")
			l.value(v[name])
		}
		l.words("}")
	}
}

func (l *writer) list(v []any) {
	for i, x := range v {
		if i > 0 {
			l.words(", ")
		}
		l.value(x)
	}
}

// rest names the arguments that nothing was said of.
func (l *writer) rest() {
	for _, name := range slices.Sorted(maps.Keys(l.args)) {
		l.words(l.w.between)
		l.add(Value, name)
		l.words(": ")
		l.value(l.args[name])
	}
}

// reference is the path that a value refers to.
func reference(v any) (path string, ok bool) {
	m, _ := v.(map[string]any)
	path, ok = m["$ref"].(string)
	return path, ok && len(m) == 1
}

// from names an earlier step's result, or what stands in it.
func (l *writer) from(path string) {
	step, rest, _ := strings.Cut(path, ".")
	s, known := l.earlier[step]
	if !known {
		l.add(Value, path)
		return
	}
	_, inside, _ := strings.Cut(rest, ".")
	parts := map[string]func(){
		"step": func() { l.words(strconv.Itoa(s.Order)) },
		"path": func() { l.add(Value, inside) },
	}
	if inside == "" {
		l.say(l.w.result, parts)
		return
	}
	l.say(l.w.resultAt, parts)
}
