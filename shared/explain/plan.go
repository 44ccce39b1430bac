package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
)

// readsOf describes the reads among steps: those that differ in one argument together. Their line has every value of
// that argument, in the order of its steps, and all other arguments. Two different plans have different reads.
func readsOf(locale string, steps []task.Step) (reads []Effect) {
	p := planner{locale: locale, steps: steps, calls: make([]*call, len(steps))}
	for i := range steps {
		if steps[i].Access == aggregate.Read {
			p.calls[i] = p.read(i)
		}
	}
	for i, c := range p.calls {
		if c != nil && !c.told {
			reads = append(reads, p.effect(p.like(i)))
		}
	}
	return reads
}

type planner struct {
	locale string
	steps  []task.Step
	calls  []*call // of the reads; nil: a write
}

// call is a read with the text of each of its arguments.
type call struct {
	at    int
	args  map[string]any // nil if they can't be read
	names []string
	texts map[string]string
	told  bool
}

func (p planner) read(i int) *call {
	c := &call{at: i, texts: map[string]string{}}
	c.args, _ = decode(p.steps[i].ToolInput)
	for name, v := range c.args {
		c.names, c.texts[name] = append(c.names, name), p.text(v, i)
	}
	slices.Sort(c.names)
	return c
}

// text returns a value of a step as a line has it. Different values have different texts.
func (p planner) text(v any, i int) string {
	l := &writer{locale: p.locale, w: lineWordsOf(p.locale), earlier: p.steps[:i]}
	l.value(v)
	out, _ := json.Marshal(l.out) // pieces can always be written
	return string(out)
}

// alike reports whether two calls have the same arguments and defaults, but for the values of these, which both have.
func (p planner) alike(a, b *call, only ...string) bool {
	for _, name := range only {
		if a.texts[name] == "" || b.texts[name] == "" {
			return false
		}
	}
	same := func(name string) bool { return slices.Contains(only, name) || a.texts[name] == b.texts[name] }
	for _, names := range [][]string{a.names, b.names} {
		for _, name := range names {
			if !same(name) {
				return false
			}
		}
	}
	return p.steps[a.at].Tool == p.steps[b.at].Tool && p.steps[a.at].LeftOut == p.steps[b.at].LeftOut
}

// group is a set of calls that one line can describe: they are the same, or differ in the argument differs, in their
// month, or as a tool's series says.
type group struct {
	differs        string // empty: nothing does
	months, series bool
	calls          []*call
}

// like returns the largest group that begins with the call of a step.
func (p planner) like(i int) group {
	first := p.calls[i]
	f, _ := catalog.Named(p.steps[i].Tool)
	best := group{calls: p.calls[i : i+1]}
	tries := []group{{}, {months: f.Months != nil}, {series: f.Series != nil}}
	for _, name := range first.names {
		tries = append(tries, group{differs: name})
	}
	for _, g := range tries {
		if first.args == nil || !p.joins(g, first, first, &f) { // else first would have no line at all
			continue
		}
		for _, c := range p.calls[i:] {
			if c != nil && !c.told && c.args != nil && p.joins(g, first, c, &f) {
				g.calls = append(g.calls, c)
			}
		}
		if len(g.calls) > len(best.calls) {
			best = g
		}
	}
	return best
}

// joins reports whether a call belongs to a group that begins with first, which may be the call itself.
func (p planner) joins(g group, first, c *call, f *catalog.File) bool {
	switch {
	case g.months:
		return c.month(f.Months) != "" && p.alike(first, c, f.Months.Year, f.Months.Month)
	case g.series && len(g.calls) == 0:
		return c.texts[f.Series.Before] == "" && c.texts[f.Series.Values] != ""
	case g.series:
		return p.follows(g.calls, c, f.Series)
	case g.differs == "":
		return p.alike(first, c)
	}
	words := f.Arguments[g.differs]
	plain := wordsFor(words, c.args[g.differs]).In("") == words.Other.In("") // else they say more than the value does
	return plain && p.alike(first, c, g.differs)
}

// follows reports whether a call has the values of all others in its Before, the latest first.
func (p planner) follows(others []*call, c *call, s *catalog.Series) bool {
	list, _ := c.args[s.Before].([]any)
	if len(list) != len(others) {
		return false
	}
	for i, v := range list {
		if p.text(v, c.at) != others[len(others)-1-i].texts[s.Values] {
			return false
		}
	}
	without := *c
	without.names = slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return name == s.Before })
	return p.alike(others[0], &without, s.Values)
}

// month returns a call's month as 2026-04, or "" if its arguments are no month.
func (c *call) month(m *catalog.Months) string {
	year, month := whole(c.args[m.Year]), whole(c.args[m.Month])
	if year < 1000 || year > 9999 || month < 1 || month > 12 {
		return ""
	}
	return fmt.Sprintf("%04d-%02d", year, month)
}

// whole returns a number above 0 that is written as an integer usually is, 0 for anything else.
func whole(v any) int {
	number, _ := v.(json.Number)
	n, _ := strconv.Atoi(number.String())
	if n < 0 || strconv.Itoa(n) != number.String() {
		return 0
	}
	return n
}

func (p planner) effect(g group) Effect {
	first := g.calls[0]
	step := &p.steps[first.at]
	e := Effect{Tool: step.Tool, Access: aggregate.Read, Act: rules.ActRead, Amount: rules.Nothing()}
	for _, c := range g.calls {
		c.told = true
		e.Orders = append(e.Orders, strconv.Itoa(p.steps[c.at].Order))
	}
	if len(g.calls) == 1 {
		return EffectOf(p.locale, *step, nil, p.steps[:first.at])
	}
	f, _ := catalog.Named(step.Tool)
	l := &writer{locale: p.locale, w: lineWordsOf(p.locale), earlier: p.steps[:first.at], args: map[string]any{}}
	for name, v := range first.args {
		l.args[name] = v
	}
	switch {
	case g.months:
		delete(l.args, f.Months.Year)
		delete(l.args, f.Months.Month)
		l.template(f, strings.Replace(f.Months.Line.In(p.locale), "{months}", l.monthsOf(f.Months, g.calls), 1))
		l.rest(l.w.more)
	case g.series:
		l.args[f.Series.Values] = p.several(g.calls, f.Series.Values)
		l.template(f, f.Series.Line.In(p.locale))
		l.rest(l.w.more)
	case g.differs != "":
		l.args[g.differs] = p.several(g.calls, g.differs)
		l.call(step)
	default:
		l.call(step)
	}
	e.Sentence = l.out
	return e
}

// monthsOf writes the months of calls, as a range if each follows the one before.
func (l *writer) monthsOf(m *catalog.Months, calls []*call) string {
	var all []string
	last, follow := 0, true
	for i, c := range calls {
		n := whole(c.args[m.Year])*12 + whole(c.args[m.Month])
		follow = follow && (i == 0 || n == last+1)
		last, all = n, append(all, c.month(m))
	}
	if !follow {
		return strings.Join(all, l.w.and)
	}
	return fillLine(l.w.months, "from", all[0], "to", all[len(all)-1], "n", len(all))
}

// several are the values of one argument, each in another call.
type several []seen

// seen is a value with the steps to whose results it may refer.
type seen struct {
	v       any
	earlier []task.Step
}

func (p planner) several(calls []*call, name string) (all several) {
	for _, c := range calls {
		all = append(all, seen{c.args[name], p.steps[:c.at]})
	}
	return all
}

// several writes the values of an argument in the order of their calls: consecutive numbers as a range, the same part
// of several results under one name, and others one by one.
func (l *writer) several(all several) {
	n, tool, part, steps := whole(all[0].v), "", "", ""
	follow, results := n > 0 && len(all) > 2, true
	for i, x := range all {
		follow = follow && whole(x.v) == n+i
		path, _ := reference(x.v)
		s, inside := source(path, x.earlier)
		if results = results && s != nil && (i == 0 || s.Tool == tool && inside == part); results {
			tool, part, steps = s.Tool, inside, steps+", "+strconv.Itoa(s.Order)
		}
	}
	own := l.earlier
	switch {
	case follow:
		l.words(fillLine(l.w.range_, "from", n, "to", n+len(all)-1))
	case results:
		l.resultOf(fillLine(l.w.steps, "n", steps[len(", "):]), tool, part)
	default:
		for i, x := range all {
			if i > 0 {
				l.words(" / ")
			}
			l.earlier = x.earlier
			l.value(x.v)
		}
	}
	l.earlier = own
}
