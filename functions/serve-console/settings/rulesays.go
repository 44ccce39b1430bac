package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// speaker says rules with the names that people know.
type speaker struct {
	web.Texts
	names    map[string]string // of people and groups by id; empty: Slack doesn't list them
	channels map[string]string // names by id of the viewer's channels
	tools    []web.KnownTool
}

// mostNamed is how many names a list has before it counts the others.
const mostNamed = 4

// person returns the name of a person or a group, or the id of one that is not listed.
func (s speaker) person(id string) string { return language.OneLine(cmp.Or(s.names[id], id)) }

func (s speaker) channel(id string) string {
	if id == rules.Direct {
		return s.Say("direct")
	}
	return cmp.Or(web.ChannelName(s.channels, id), language.OneLine(id))
}

// toldTo names the channel or the user group that is told at the end.
func (s speaker) toldTo(id string) string {
	if aggregate.IsGroup(id) {
		return s.person(id)
	}
	return s.channel(id)
}

func (s speaker) tool(t rules.Tool) string {
	if i := slices.IndexFunc(s.tools, func(x web.KnownTool) bool { return x.Tool.Same(t) }); i >= 0 {
		return s.Say("quoted", "text", language.OneLine(s.tools[i].Title))
	}
	return s.Say("quoted", "text", language.OneLine(t.String()))
}

// someOf joins names with a separator; after mostNamed it says how many others there are.
func someOf[T any](s speaker, all []T, name func(T) string, separator string) string {
	rest := max(0, len(all)-mostNamed)
	text := web.Joined(all[:len(all)-rest], name, separator)
	if rest > 0 {
		text += s.Say("more_people", "n", rest)
	}
	return text
}

// asking says for which requests a rule is: what they do, of which amount, and what else must hold.
func (s speaker) asking(r *rules.Rule) (group, first string, more []string) {
	or := s.Say("or")
	use := useOf(&r.Conditions)
	joint := map[bool]string{true: s.Say("middot"), false: or}[r.Only]
	group = s.In("groups", use, "list", someOf(s, r.Tools, s.tool, joint))
	if r.Bounded() {
		if first = s.amount(&r.Conditions); r.Below == "" {
			more = append(more, s.Say("any_amount"))
		}
	}
	if len(r.Channels) > 0 {
		more = append(more, someOf(s, r.Channels, s.channel, or))
	}
	if r.Asker() {
		below := func(code string) string { return s.Say("and_below", "department", language.OneLine(code)) }
		more = append(more, s.Say("asked_by", "list", someOf(s, slices.Concat(web.Each(r.People, s.person),
			web.Each(r.Departments, below), web.Each(r.Groups, s.person)), language.OneLine, or)))
	}
	for _, name := range r.Names() {
		more = append(more, s.Say("labelled", "name", language.OneLine(tenancy.LabelIn(s.Locale(), name)),
			"list", someOf(s, r.Labels[name], language.OneLine, or)))
	}
	if len(r.Asks) > 0 {
		more = append(more, s.Say("only_of", "list", someOf(s, r.Asks, func(k rules.Kind) string { return s.In("kinds", k) },
			or)))
	}
	if first == "" && len(more) > 0 {
		first, more = more[0], more[1:]
	}
	if r.Numbered {
		more = append(more, s.Say("gets_number"))
	}
	return group, language.Capital(cmp.Or(first, s.Say("all"))), more
}

// called makes a name of what a rule is for.
func (s speaker) called(r *rules.Rule) string {
	group, first, _ := s.asking(r)
	if first == s.Say("all") {
		return group
	}
	return group + ": " + first
}

// madeName is the name of a rule to which nobody gives one, shorter than may be: several may be for the same.
func (s speaker) madeName(r *rules.Rule) string {
	return language.Clip(s.called(r), rules.MaxName-len(" (25)"))
}

// givenName returns a rule's name, "" for one that was made of what it is for, in any language.
func (s speaker) givenName(r *rules.Rule) string {
	for _, locale := range language.All {
		if s.Texts = web.TextsOf("rules", locale); r.Name == s.madeName(r) {
			return ""
		}
	}
	return r.Name
}

// useOf is how the form names the condition on tools.
func useOf(c *rules.Conditions) string {
	switch {
	case len(c.Tools) == 0 && !c.Only:
		return useWriting
	case c.Only:
		return useOnly
	}
	return useSome
}

// How a rule's tools are used, as the form has it.
const (
	useWriting = "writing"
	useSome    = "some"
	useOnly    = "only"
)

// amount says amounts by their bounds.
func (s speaker) amount(c *rules.Conditions) string {
	low, high := s.money(c.From, c.Currency), s.money(c.Below, c.Currency)
	switch {
	case c.Below == "":
		return s.In("amounts", "from", "n", low)
	case c.From == "":
		return s.In("amounts", "below", "n", high)
	}
	return s.In("amounts", "between", "low", low, "high", high)
}

// chip is a stage at a glance.
type chip struct{ Text, Note, Class string }

// chips are the stages of an outcome; a refusal is one, too.
func (s speaker) chips(o *rules.Outcome) (all []chip) {
	if len(o.Stages) == 0 {
		return []chip{{Text: s.Say("refused"), Note: language.Clip(language.OneLine(o.Refuse), mostOfRefusal), Class: "no"}}
	}
	for i := range o.Stages {
		x := &o.Stages[i]
		note := someOf(s, sourcesOf(x.Who), s.source, s.Say("or"))
		if note == "" {
			continue // nobody is chosen yet
		}
		c := chip{Text: explain.Given(x.Name), Note: note}
		switch {
		case x.Need == 0:
			c.Note = s.Say("chip_all", "who", note)
		case x.Need > 1:
			c.Note = s.Say("chip_need", "need", x.Need, "who", note)
		}
		if c.Text == "" || c.Text == note {
			c.Text, c.Note = c.Note, ""
		}
		all = append(all, c)
	}
	if o.Tells != "" {
		all = append(all, chip{Text: s.toldTo(o.Tells), Note: s.Say("is_told"), Class: "told"})
	}
	return all
}

const mostOfRefusal = 40

// source says whom a source asks, as the form has it.
func (s speaker) source(value string) string {
	kind, of, _ := strings.Cut(value, ":")
	switch kind {
	case "superior":
		return s.In("superiors", of)
	case "post":
		department, position, _ := strings.Cut(of, between)
		key := map[bool]string{true: "post", false: "nearest"}[department != ""]
		if position == "" {
			key = "head"
		}
		return s.In("posts", key, "department", language.OneLine(department), "position", language.OneLine(position))
	case "channel":
		return s.Say("of_channel")
	case "department":
		return s.Say("and_below", "department", language.OneLine(of))
	case "group":
		return s.Say("group", "name", s.person(of))
	}
	return s.person(of)
}

var circled = []rune("①②③④⑤⑥⑦⑧")

func number(i int) string {
	if i >= 0 && i < len(circled) {
		return string(circled[i])
	}
	return fmt.Sprintf("(%d)", i+1)
}

// kindNamed says what asks, as the form has it.
func (s speaker) kindNamed(kind string) string { return s.In("kinds", kind) }

// problems says what is wrong with rules, and where.
func (s speaker) problems(all []rules.Rule, wrong aggregate.Problems) (out []web.Fault) {
	for _, p := range wrong {
		f := web.Fault{Label: s.label(p.Field), Text: s.Problem(p, s.kindNamed)}
		if at, field := ruleAt(p.Field); at >= 0 && at < len(all) {
			f = web.Fault{At: fmt.Sprintf("#r-%d", at+1), Text: f.Text,
				Label: s.Say("rule_at", "n", at+1, "name", language.OneLine(all[at].Name)) + ": " + s.label(field)}
		}
		out = append(out, f)
	}
	return out
}

var ruleField, indexed = language.Regexp{Text: `^rules\[(\d+)\]\.`}, language.Regexp{Text: `\[(\d+)\]`}

// ruleAt returns the number of the rule that a field belongs to, from 0, and the field in it; else -1.
func ruleAt(field string) (at int, rest string) {
	m := ruleField.Get().FindStringSubmatch(field)
	if m == nil {
		return -1, field
	}
	fmt.Sscan(m[1], &at)
	return at, strings.TrimPrefix(field, m[0])
}

// label names a field of a rule: its stage, what it is, and which entry of a list.
func (s speaker) label(field string) (text string) {
	for part := range strings.SplitSeq(field, ".") {
		plain := indexed.Get().ReplaceAllString(part, "")
		name := cmp.Or(s.In("fields", plain), plain)
		if m := indexed.Get().FindStringSubmatch(part); m != nil {
			i := 0
			fmt.Sscan(m[1], &i)
			name += fmt.Sprintf(" %d", i+1)
		}
		text += " " + name
	}
	return strings.TrimSpace(text)
}

// money says an amount, or as it was typed what is none.
func (s speaker) money(n rules.Decimal, currency string) string {
	if a := (rules.Amount{Value: n, Currency: currency}); a.Known() {
		return explain.Money(s.Locale(), a)
	}
	return language.OneLine(string(n))
}

// yen is the currency that a form has until somebody types another.
const yen = "JPY"

// amountTyped reads an amount as people type it, such as ¥100,000 or 44万. What it can't read stays, and is refused.
func amountTyped(text string) rules.Decimal {
	if is := task.TypedAmount(text); is.Valid() {
		return is
	}
	return rules.Decimal(strings.Trim(web.Digits(text), "¥￥円"))
}
