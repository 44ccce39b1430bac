package explain

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Sum is what steps do as a whole.
type Sum struct {
	Amount rules.Amount // that all writes move
	Lead   Effect       // what people are told first; of steps that only read, the zero Effect
	Then   []Effect     // all other writes
	Reads  []Effect
	Final  bool
	locale string
}

// SumOf sums up effects of one language.
func SumOf(locale string, writes, reads []Effect) Sum {
	s := Sum{Reads: reads, Final: len(writes) > 0, locale: locale}
	var acts []rules.Act
	var amounts []rules.Amount
	for _, e := range writes {
		acts, amounts = append(acts, e.Act), append(amounts, e.Amount)
	}
	lead, sum := rules.Lead(acts, amounts)
	s.Amount = sum
	if lead >= 0 {
		s.Lead, s.Then = writes[lead], slices.Delete(slices.Clone(writes), lead, lead+1)
	}
	return s
}

// First is what people are told first: of steps that only read, what the first reads.
func (s *Sum) First() Effect {
	if !s.Final && len(s.Reads) > 0 {
		return s.Reads[0]
	}
	return s.Lead
}

// SumUp is SumOf all that steps do.
func SumUp(locale string, steps []task.Step) Sum {
	writes, reads := Effects(locale, steps)
	return SumOf(locale, writes, reads)
}

// Says is the sentence that people read first: the money, and what is done.
func (s Sum) Says() []Piece {
	w := effectWordsOf.In(s.locale)
	if s.Lead.Order == 0 {
		return []Piece{{Words, w.OnlyReads}}
	}
	return s.whole().Says(s.locale)
}

// Told reports whether it is known what the first write does, so that Short names the matter and not a tool.
func (s Sum) Told() bool { return s.Lead.Act != "" }

// Unreadable says what to do about steps of which nobody can tell what they do, so that nobody can approve them: "" if
// there are none.
func (s Sum) Unreadable() string {
	var orders []string
	for _, e := range slices.Concat([]Effect{s.Lead}, s.Then, s.Reads) {
		if e.unreadable {
			orders = append(orders, strconv.Itoa(e.Order))
		}
	}
	if orders == nil {
		return ""
	}
	return fill(effectWordsOf.In(s.locale).Unreadable, "steps", strings.Join(orders, ", "))
}

// Done is Says for what has been done.
func (s Sum) Done() []Piece { return s.whole().Done(s.locale, "") }

// Unpriced is Effect.Unpriced of all that steps do.
func (s Sum) Unpriced() string { return s.whole().Unpriced(s.locale) }

// whole is what people are told first, with what all steps move.
func (s Sum) whole() *Effect {
	s.Lead.Amount = s.Amount
	return &s.Lead
}

// Says is an effect's sentence with what it moves, if that is known: see Unpriced.
func (e *Effect) Says(locale string) []Piece {
	if e.Amount == rules.Nothing() || !e.Amount.Known() || e.Access == aggregate.Read {
		return e.Sentence
	}
	return append([]Piece{{Words, Money(locale, e.Amount) + " — "}}, e.Sentence...)
}

// Done is Says for what has been done. rows is how many rows a sheet got, "" if nobody knows.
func (e *Effect) Done(locale, rows string) []Piece {
	done := *e
	if e.done != nil {
		done.Sentence = slices.Clip(e.done)
		if rows != "" && e.Tool == toolSheet {
			done.Sentence = append(done.Sentence, Piece{Words, rowsSign + lineWordsOf(locale).rows(rows)})
		}
	}
	return done.Says(locale)
}

const rowsSign = " — " // before the number of rows in the sentence about a sheet

// Unpriced says behind an effect's sentence that nobody knows what it moves though its tool's mark speaks of money.
func (e *Effect) Unpriced(locale string) string {
	if e.Amount.Known() || e.Amount.Unmarked() || e.Access == aggregate.Read {
		return ""
	}
	return effectWordsOf.In(locale).Unpriced
}

// nameless matches people and channels in Slack's codes, which a line that names nobody has no names for.
var nameless = language.Regexp{Text: `<[@#!][^<>]+>`}

// Short is Says for notifications and lists: one line of at most 120 characters without formatting, in which no person
// is named. Of a message it has the first words.
func (s Sum) Short(locale string) string {
	w := effectWordsOf.In(locale)
	if s.Lead.Order == 0 {
		return w.Acts[string(rules.ActRead)]["ShortBare"]
	}
	text, unpriced := s.Lead.short, s.Unpriced()
	if words := strings.Fields(Plain(s.Lead.Words)); s.Lead.Act == rules.ActMessage && len(words) > 0 {
		l := &writer{locale: locale, w: lineWordsOf(locale)}
		l.quoted(language.Clip(nameless.Get().ReplaceAllString(strings.Join(words, " "), "…"), maxShortWords))
		text += ": " + Plain(l.out)
	}
	if s.Amount != rules.Nothing() && s.Amount.Known() {
		text = Money(locale, s.Amount) + " " + text
	}
	more := ""
	if len(s.Then) > 0 {
		more = fill(w.Others, "n", len(s.Then))
	}
	more += unpriced
	return language.Clip(text, maxShort-len([]rune(more))) + more
}

// maxShort is how long a line is, and maxShortWords how much of a message it has.
const maxShort, maxShortWords = 120, 60

// Money writes an amount with commas between thousands.
func Money(locale string, a rules.Amount) string {
	w := effectWordsOf.In(locale)
	switch {
	case a.Why == rules.WhyMissing:
		return w.Unstated
	case !a.Known():
		return w.Unknown
	case a.Currency == "":
		return w.NoMoney
	case a.Currency == "JPY":
		return "¥" + Grouped(string(a.Value))
	}
	return Grouped(withDecimals(string(a.Value))) + " " + a.Currency
}

// withDecimals gives a number that has decimals two at least: 4,200.50 USD, as people write it.
func withDecimals(number string) string {
	if _, decimals, _ := strings.Cut(number, "."); len(decimals) == 1 {
		number += "0"
	}
	return number
}

// Grouped writes a number with commas between thousands. What is no number stays as it is.
func Grouped(number string) string {
	whole, decimals, point := strings.Cut(number, ".")
	digits := strings.TrimPrefix(whole, "-")
	if strings.Trim(digits, "0123456789") != "" {
		return number
	}
	sign := whole[:len(whole)-len(digits)]
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if point {
		decimals = "." + decimals
	}
	return sign + digits + decimals
}

// Change is what a later version of steps does otherwise: one value. What is nil was not there, or isn't any more.
type Change struct{ Name, Was, Is []Piece }

// Between says what differs between two versions of the steps of one task: of each call that both have the arguments
// and whether it is asked about once more, calls that only one has, their order, and last what all of them move, which
// of a form is first. What
// became the same in several places it tells once, with their names. It returns nothing only if both versions do the
// same in the same order.
func Between(locale string, was, is []task.Step) (all []Change) {
	old, now := tellers(locale, was), tellers(locale, is)
	var matched []*teller
	before := map[*teller]*teller{} // the same call, or else another of its tool
	for _, same := range []bool{true, false} {
		for _, t := range now {
			i := slices.IndexFunc(old, func(o *teller) bool {
				return before[t] == nil && o.step.Tool == t.step.Tool && !slices.Contains(matched, o) &&
					(!same || o.step.ToolInput == t.step.ToolInput)
			})
			if i >= 0 {
				matched, before[t] = append(matched, old[i]), old[i]
			}
		}
	}
	numbers := map[int]int{}        // of the calls that both have, by the number that each has now
	renumbered := slices.Clone(was) // as they are numbered now; what is gone below 0
	for i := range renumbered {
		renumbered[i].Order *= -1
	}
	for t, o := range before {
		numbers[t.step.Order] = o.step.Order
		renumbered[slices.IndexFunc(was, func(s task.Step) bool { return s.Order == o.step.Order })].Order = t.step.Order
	}
	same := tellers(locale, renumbered)
	for _, t := range now {
		if i := slices.Index(old, before[t]); i >= 0 {
			all = append(all, changes(old[i], same[i], t)...)
		} else {
			all = append(all, Change{Name: stepName(t), Is: t.e.Sentence})
		}
	}
	for _, o := range old {
		if !slices.Contains(matched, o) {
			all = append(all, Change{Name: stepName(o), Was: o.e.Sentence})
		}
	}
	all = append(once(all), moved(locale, numbers)...)
	_, moved := task.Leads(was)
	_, moves := task.Leads(is)
	if moved != moves {
		name := effectWordsOf.In(locale).Total
		at := len(all)
		if len(now) == 1 && now[0].step.Tool == tenancy.DecideTool {
			name, at = argumentName(locale, *now[0].step, "amount"), 0
		}
		all = slices.Insert(all, at, Change{[]Piece{{Words, name}}, []Piece{{Words, Money(locale, moved)}},
			[]Piece{{Words, Money(locale, moves)}}})
	}
	return all
}

// once joins changes of one value to another, and lists their names.
func once(all []Change) (out []Change) {
	var names [][][]Piece // of each that is told
	for _, c := range all {
		i := slices.IndexFunc(out, func(o Change) bool {
			return c.Was != nil && c.Is != nil && reflect.DeepEqual(o.Was, c.Was) && reflect.DeepEqual(o.Is, c.Is)
		})
		if i < 0 {
			out, names = append(out, c), append(names, [][]Piece{c.Name})
			continue
		}
		if !slices.ContainsFunc(names[i], func(n []Piece) bool { return reflect.DeepEqual(n, c.Name) }) {
			names[i] = append(names[i], c.Name)
			out[i].Name = slices.Concat(out[i].Name, []Piece{{Words, ", "}}, c.Name)
		}
	}
	return out
}

// moved tells of calls that come in another order than before, by the numbers that they had then.
func moved(locale string, numbers map[int]int) []Change {
	var is []int
	for _, now := range slices.Sorted(maps.Keys(numbers)) {
		is = append(is, numbers[now])
	}
	was := slices.Sorted(slices.Values(is))
	for len(is) > 0 && is[0] == was[0] {
		is, was = is[1:], was[1:]
	}
	for n := len(is) - 1; n >= 0 && is[n] == was[n]; n-- {
		is, was = is[:n], was[:n]
	}
	if len(is) == 0 {
		return nil
	}
	list := func(n []int) []Piece {
		return []Piece{{Words, strings.ReplaceAll(strings.Trim(fmt.Sprint(n), "[]"), " ", ", ")}}
	}
	return []Change{{[]Piece{{Words, effectWordsOf.In(locale).Moved}}, list(was), list(is)}}
}

func stepName(t *teller) []Piece { return []Piece{{Words, fill(t.w.Step, "n", t.step.Order)}} }

// tellers returns the calls of steps, writes before reads.
func tellers(locale string, steps []task.Step) (all []*teller) {
	for _, reads := range []bool{false, true} {
		for i := range steps {
			if reads == (steps[i].Access == aggregate.Read) {
				all = append(all, tellerOf(locale, &steps[i], nil, steps[:i], true))
			}
		}
	}
	return all
}

// Differences says what differs between the steps of a version and those before, and in their form: its files, and its
// description, of which it tells the lines that changed.
func Differences(a *task.Aggregate, locale string, at int) []Change {
	was, is := a.Processes[at-1], a.Processes[at]
	all := Between(locale, was.Steps, is.Steps)
	before, now := a.MatterOf(was), a.MatterOf(is)
	if before == nil || now == nil {
		return all
	}
	if before.Description != now.Description {
		all = append(all, descriptions(locale, before.Description, now.Description))
	}
	old, files := a.FilesOf(was.ID), a.FilesOf(is.ID)
	for _, f := range without(files, old) {
		all = append(all, Change{Name: fileField(locale), Is: fileNamed(f)})
	}
	for _, f := range without(old, files) {
		all = append(all, Change{Name: fileField(locale), Was: fileNamed(f)})
	}
	return all
}

// NextLine stands between the lines of a text that changed. No value has a line's end.
const NextLine = " /\n"

// descriptions tells the lines of a description that changed.
func descriptions(locale, before, now string) Change {
	old, lines := strings.Split(before, "\n"), strings.Split(now, "\n")
	for len(old) > 0 && len(lines) > 0 && old[0] == lines[0] {
		old, lines = old[1:], lines[1:]
	}
	for len(old) > 0 && len(lines) > 0 && old[len(old)-1] == lines[len(lines)-1] {
		old, lines = old[:len(old)-1], lines[:len(lines)-1]
	}
	said := func(lines []string) (out []Piece) {
		for i, line := range lines {
			if i > 0 {
				out = append(out, Piece{Kind: Break, Text: NextLine})
			}
			out = append(out, Piece{Kind: Value, Text: line})
		}
		return out
	}
	name := []Piece{{Kind: Words, Text: effectWordsOf.In(locale).Description}}
	return Change{Name: name, Was: said(old), Is: said(lines)}
}

// without returns the files that are not among others.
func without(files, others []task.ReadFile) []task.ReadFile {
	return slices.DeleteFunc(slices.Clone(files), func(f task.ReadFile) bool {
		return slices.ContainsFunc(others, func(o task.ReadFile) bool { return o.ID == f.ID })
	})
}

func fileField(locale string) []Piece { return []Piece{{Words, effectWordsOf.In(locale).Attached}} }

func fileNamed(f task.ReadFile) []Piece {
	return []Piece{{Kind: Value, Text: language.OneLine(cmp.Or(f.Name, f.ID))}}
}

// changes compares a step in two versions, its arguments leaf by leaf. same is the old one with steps numbered as now:
// a number is no change. If arguments say nothing, or the tool is another one of this name, it tells the whole step.
func changes(old, same, now *teller) (all []Change) {
	before, alike, after := leaves(old), leaves(same), leaves(now)
	for _, a := range after {
		i := slices.IndexFunc(before, func(b Argument) bool {
			return reflect.DeepEqual(a.Name, b.Name)
		})
		if i < 0 {
			all = append(all, Change{Name: a.Name, Is: a.Value})
			continue
		}
		if !reflect.DeepEqual(a.Value, alike[i].Value) {
			all = append(all, now.told(a.Name, before[i].Value, a.Value, false))
		}
		before, alike = slices.Delete(before, i, i+1), slices.Delete(alike, i, i+1)
	}
	for _, b := range before {
		all = append(all, Change{Name: b.Name, Was: b.Value})
	}
	if is := Check(now.locale, *now.step, false); is != "" && !old.step.RequiresHumanCheck {
		all = append(all, Change{Name: stepName(now), Is: []Piece{{Words, is}}})
	} else if was := Check(old.locale, *old.step, false); was != "" && is == "" {
		all = append(all, Change{Name: stepName(now), Was: []Piece{{Words, was}}})
	}
	a, b, form := old.step, now.step, now.step.Tool == tenancy.DecideTool // whose mark and amount are the form's
	if a.ToolVersion == b.ToolVersion && a.Access == b.Access &&
		(form || a.Mark.Same(b.Mark) && (all != nil || reflect.DeepEqual(same.e, now.e))) {
		return all
	}
	return append(all, now.told(stepName(now), old.e.Sentence, now.e.Sentence,
		reflect.DeepEqual(same.e.Sentence, now.e.Sentence)))
}

// told is a change, also if what was and what is are said alike, but for numbers of steps.
func (t *teller) told(name, was, is []Piece, alike bool) Change {
	if alike || reflect.DeepEqual(was, is) {
		is = append(slices.Clone(is), Piece{Words, t.w.Anew})
	}
	return Change{name, was, is}
}

// leaves returns all arguments of a step, those of rows as well, and first whom it is for.
func leaves(t *teller) []Argument {
	own := *t
	own.gone, own.apart = map[string]bool{}, true
	own.amount() // which all of them move tells
	return append(own.rest(nil, own.args), own.left...)
}
