package line

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
)

// Entry is one line of a plan: a write, a read, or several reads of one tool that differ in one argument.
type Entry struct {
	Steps []task.Step
	Line  []Piece
}

// Plan describes what steps would do: each write in a line of its own, and reads that differ in one argument together.
// Such a line has every value of that argument, in the order of its steps, and all other arguments. Two different plans
// have different entries.
func Plan(locale string, steps []task.Step) (writes, reads []Entry) {
	earlier, byTool := map[string]task.Step{}, map[string][]call{}
	var tools []string
	for _, s := range steps {
		switch c := callOf(locale, s, maps.Clone(earlier)); {
		case s.Access != aggregate.Read:
			writes = append(writes, Entry{[]task.Step{s}, of(locale, s, c.earlier)})
		case c.args == nil: // its arguments can't be read
			reads = append(reads, Entry{[]task.Step{s}, of(locale, s, c.earlier)})
		default:
			if byTool[s.Tool] == nil {
				tools = append(tools, s.Tool)
			}
			byTool[s.Tool] = append(byTool[s.Tool], c)
		}
		earlier[s.StepID] = s
	}
	for _, tool := range tools {
		reads = append(reads, together(locale, tool, byTool[tool])...)
	}
	slices.SortFunc(reads, func(a, b Entry) int { return a.Steps[0].Order - b.Steps[0].Order })
	return writes, reads
}

// call is a step that reads, with the text of each of its arguments.
type call struct {
	step    task.Step
	earlier map[string]task.Step
	args    map[string]any
	texts   map[string]string
}

func callOf(locale string, s task.Step, earlier map[string]task.Step) call {
	c := call{step: s, earlier: earlier, texts: map[string]string{}}
	c.args, _ = decode(s.ToolInput)
	for name, v := range c.args {
		c.texts[name] = textOf(locale, v, earlier)
	}
	return c
}

// textOf returns a value as a line has it. Different values have different texts.
func textOf(locale string, v any, earlier map[string]task.Step) string {
	l := &writer{locale: locale, w: wordsOf(locale), earlier: earlier}
	l.value(v)
	return exactly(l.out)
}

// exactly writes values so that different ones are written differently.
func exactly(values ...any) string {
	out, _ := json.Marshal(values) // texts and pieces can always be written
	return string(out)
}

// but returns all that a call says besides these arguments, which it must have.
func (c call) but(names ...string) (text string, ok bool) {
	rest := maps.Clone(c.texts)
	for _, name := range names {
		if _, had := rest[name]; !had {
			return "", false
		}
		delete(rest, name)
	}
	return exactly(rest, c.step.LeftOut), true
}

// together makes the entries of one tool's reads. The largest group comes first; what is in no group stands alone.
func together(locale, tool string, calls []call) (out []Entry) {
	f, _ := catalog.Of(tool)
	for {
		best := grouping{}
		for _, g := range groupings(f, calls) {
			if len(g.calls) > len(best.calls) {
				best = g
			}
		}
		if len(best.calls) < 2 {
			break
		}
		out = append(out, best.entry(locale, f))
		calls = slices.DeleteFunc(slices.Clone(calls), func(c call) bool {
			return slices.ContainsFunc(best.calls, func(o call) bool { return o.step.Order == c.step.Order })
		})
	}
	for _, c := range calls {
		out = append(out, Entry{[]task.Step{c.step}, of(locale, c.step, c.earlier)})
	}
	return out
}

// grouping is a set of calls that one line can describe: they are the same, or differ in the argument differs, in their
// month, or as a tool's series says.
type grouping struct {
	differs        string // empty: nothing does
	months, series bool
	calls          []call
}

func groupings(f catalog.File, calls []call) (out []grouping) {
	at := map[string]int{}
	add := func(c call, g grouping, names ...string) {
		rest, ok := c.but(names...)
		if !ok {
			return
		}
		key := exactly(names, rest)
		if _, had := at[key]; !had {
			at[key], out = len(out), append(out, g)
		}
		out[at[key]].calls = append(out[at[key]].calls, c)
	}
	for _, c := range calls {
		add(c, grouping{})
	}
	for _, c := range calls {
		if m := f.Months; m != nil && c.month(m) != "" {
			add(c, grouping{months: true}, m.Year, m.Month)
		}
		for _, name := range slices.Sorted(maps.Keys(c.args)) {
			if wordsFor(f.Arguments[name], c.args[name]).In("") == f.Arguments[name].Other.In("") {
				add(c, grouping{differs: name}, name)
			}
		}
	}
	if f.Series != nil {
		out = append(out, inSeries(f.Series, calls)...)
	}
	return out
}

// inSeries finds the calls of which each has the values of all calls before it, the latest first.
func inSeries(s *catalog.Series, calls []call) (out []grouping) {
	for _, c := range calls {
		before, had := c.args[s.Before]
		list, _ := before.([]any)
		if had {
			c.texts = maps.Clone(c.texts)
			delete(c.texts, s.Before)
		}
		rest, ok := c.but(s.Values)
		switch {
		case !ok:
			continue
		case !had:
			out = append(out, grouping{series: true, calls: []call{c}})
			continue
		}
		for i, g := range out {
			if first, _ := g.calls[0].but(s.Values); first == rest && follows(g.calls, list, c.earlier, s.Values) {
				out[i].calls = append(g.calls, c)
				break
			}
		}
	}
	return out
}

// follows reports whether a list has the values of all calls, the latest first.
func follows(calls []call, list []any, earlier map[string]task.Step, values string) bool {
	if len(list) != len(calls) {
		return false
	}
	for i, v := range list {
		if textOf("", v, earlier) != textOf("", calls[len(calls)-1-i].args[values], calls[len(calls)-1-i].earlier) {
			return false
		}
	}
	return true
}

// month returns a call's month as 2026-04, or "" if its arguments are no month.
func (c call) month(m *catalog.Months) string {
	year, ok := whole(c.args[m.Year])
	month, also := whole(c.args[m.Month])
	if !ok || !also || year < 1000 || year > 9999 || month < 1 || month > 12 {
		return ""
	}
	return fmt.Sprintf("%04d-%02d", year, month)
}

// whole returns a number that is written as an integer usually is.
func whole(v any) (n int, ok bool) {
	number, _ := v.(json.Number)
	n, err := strconv.Atoi(number.String())
	return n, err == nil && strconv.Itoa(n) == number.String()
}

func (g grouping) entry(locale string, f catalog.File) Entry {
	var e Entry
	for _, c := range g.calls {
		e.Steps = append(e.Steps, c.step)
	}
	first := g.calls[0]
	l := &writer{locale: locale, w: wordsOf(locale), earlier: first.earlier, args: maps.Clone(first.args)}
	values := func(name string) (all several) {
		for _, c := range g.calls {
			all = append(all, seen{c.args[name], c.earlier})
		}
		return all
	}
	switch {
	case g.months:
		delete(l.args, f.Months.Year)
		delete(l.args, f.Months.Month)
		l.template(f, f.Months.Line, func(name string) bool {
			if name == "months" {
				l.monthsOf(f.Months, g.calls)
			}
			return name == "months"
		})
		l.rest(l.w.more)
	case g.series:
		l.args[f.Series.Values] = values(f.Series.Values)
		l.template(f, f.Series.Line, nil)
		l.rest(l.w.more)
	case g.differs != "":
		l.args[g.differs] = values(g.differs)
		l.call(first.step)
	default:
		l.call(first.step)
	}
	e.Line = l.out
	return e
}

// monthsOf writes the months of calls, as a range if each follows the one before.
func (l *writer) monthsOf(m *catalog.Months, calls []call) {
	var all []string
	last, follow := 0, true
	for i, c := range calls {
		year, _ := whole(c.args[m.Year])
		month, _ := whole(c.args[m.Month])
		follow = follow && (i == 0 || year*12+month == last+1)
		last = year*12 + month
		all = append(all, c.month(m))
	}
	if !follow {
		l.words(strings.Join(all, l.w.and))
		return
	}
	l.say(l.w.months, map[string]func(){"from": func() { l.words(all[0]) }, "to": func() { l.words(all[len(all)-1]) },
		"n": func() { l.words(strconv.Itoa(len(all))) }})
}

// several are the values of one argument, each in another call.
type several []seen

// seen is a value with the steps to whose results it may refer.
type seen struct {
	v       any
	earlier map[string]task.Step
}

// several writes the values of an argument in the order of their calls: consecutive numbers as a range, the same part
// of several results under one name, and others one by one.
func (l *writer) several(all several) {
	if from, to, ok := consecutive(all); ok {
		l.say(l.w.range_, map[string]func(){"from": func() { l.words(from) }, "to": func() { l.words(to) }})
		return
	}
	if steps, tool, inside, ok := l.sources(all); ok {
		l.resultOf(fill(l.w.steps, "n", steps), tool, inside)
		return
	}
	own := l.earlier
	for i, x := range all {
		if i > 0 {
			l.words(" / ")
		}
		l.earlier = x.earlier
		l.value(x.v)
	}
	l.earlier = own
}

// consecutive reports whether values are three or more numbers of which each follows the one before.
func consecutive(all several) (from, to string, ok bool) {
	first, ok := whole(all[0].v)
	for i, x := range all {
		n, also := whole(x.v)
		ok = ok && also && n == first+i
	}
	return strconv.Itoa(first), strconv.Itoa(first + len(all) - 1), ok && len(all) > 2
}

// sources reports whether values are the same part of results of one tool, and names their steps.
func (l *writer) sources(all several) (steps, tool, inside string, ok bool) {
	var orders []string
	for i, x := range all {
		path, is := reference(x.v)
		s, part, known := (&writer{earlier: x.earlier}).source(path)
		if !is || !known || i > 0 && (s.Tool != tool || part != inside) {
			return "", "", "", false
		}
		tool, inside = s.Tool, part
		orders = append(orders, strconv.Itoa(s.Order))
	}
	return strings.Join(orders, ", "), tool, inside, true
}
