package rules

import (
	"cmp"

	"ringi/shared/domain/rules"
	"ringi/shared/words/legible"
)

// chip is a stage at a glance.
type chip struct{ Text, Note, Class string }

// asking says for which requests a rule is: what they do, of which amount, and what else must hold.
func (s speaker) asking(r *rules.Rule) (group, first string, more []string) {
	c := &r.When
	use, tools := s.uses(c)
	group = s.In("groups", use, "list", tools)
	group += s.In("kinds_said", kindsValue(c.Kinds))
	if b := c.Amount; b != nil && b.Bounded() {
		if first = s.amount(*b, "glance_"); b.Below == "" {
			more = append(more, s.Say("glance_unread"))
		}
	}
	if c.Places != nil {
		more = append(more, s.placed(c.Places))
	}
	if c.Requester != nil {
		more = append(more, s.who(c.Requester))
	}
	for _, l := range c.Labels {
		more = append(more, s.Say("glance_labelled", s.labelled(l)...))
	}
	if first == "" && len(more) > 0 {
		first, more = more[0], more[1:]
	}
	if first == "" {
		first = s.Say("all")
	}
	if r.Numbered {
		more = append(more, s.Say("glance_numbered"))
	}
	return group, legible.Capital(first), more
}

// chips are the stages of an outcome; a refusal is one, too.
func (s speaker) chips(o *rules.Outcome) (all []chip) {
	if o.Route == nil {
		why := legible.Clip(legible.OneLine(o.Refuse), mostOfRefusal)
		return []chip{{Text: s.Say("chip_refused"), Note: why, Class: "no"}}
	}
	for i := range o.Route.Stages {
		all = append(all, s.chip(&o.Route.Stages[i]))
	}
	return all
}

const mostOfRefusal = 40

func (s speaker) chip(x *rules.Stage) chip {
	c := chip{Text: legible.OneLine(x.Name)}
	some := func(n int) string {
		if x.Need <= 0 {
			return s.Say("chip_all", "n", n)
		}
		return s.Say("chip_need", "need", x.Need, "n", n)
	}
	switch w := x.Who; {
	case w.Kind == rules.WhoPeople && len(w.People) == 1:
		c.Note = s.person(w.People[0])
	case w.Kind == rules.WhoPeople && len(w.People) > 0:
		c.Note = some(len(w.People))
	case w.Kind == rules.WhoGroup && s.counts[w.Group] > 1:
		c.Note = some(s.counts[w.Group])
	case w.Kind == rules.WhoGroup && w.Group != "":
		c.Note = s.person(w.Group)
	default:
		c.Note = cmp.Or(s.asked(w), s.Say("not_chosen"))
	}
	if c.Text == "" {
		c.Text, c.Note = c.Note, ""
	}
	if c.Note == c.Text {
		c.Note = ""
	}
	return c
}

// called makes a name of what a rule is for.
func (s speaker) called(r *rules.Rule) string {
	c, text, kinds := &r.When, s.what(&r.When, true), s.In("kinds_said", kindsValue(r.When.Kinds))
	if text == s.In("uses", "any") && kinds == "" && c.Places == nil && c.Requester == nil {
		text = s.In("groups", "any")
	}
	return legible.Capital(text)
}
