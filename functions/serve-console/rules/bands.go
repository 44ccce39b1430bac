package rules

import (
	"cmp"

	"ringi/shared/domain/rules"
	"ringi/shared/words/legible"
)

// chip is a stage at a glance.
type chip struct{ Text, Note, Class string }

// asking says for which requests a rule is: what they do, of which amount, and what else must hold.
func (s speaker) asking(r *rules.Rule) (group, band string, more []string) {
	c := &r.When
	use, tools := s.uses(c)
	group = s.In("groups", use, "list", tools)
	group += s.In("kinds_said", kindsValue(c.Kinds))
	if b := c.Amount; b != nil && b.Bounded() {
		if band = s.amount(*b, "band_"); b.AtMost+b.Below == "" {
			more = append(more, s.Say("band_unread"))
		}
	}
	if c.Places != nil {
		more = append(more, s.placed(c.Places))
	}
	if c.Requester != nil {
		more = append(more, s.who(c.Requester))
	}
	if d := c.Destinations; d != nil {
		more = append(more, s.In("band_to", d.Go, "list", s.sent(d, s.Say("middot"))))
	}
	for _, l := range c.Labels {
		more = append(more, s.In("band_labels", l.Is, s.labelled(l)...))
	}
	if band == "" && len(more) > 0 {
		band, more = more[0], more[1:]
	}
	if band == "" {
		band = s.Say("all")
	}
	if r.Numbered {
		more = append(more, s.Say("band_numbered"))
	}
	return group, legible.Capital(band), more
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
		if x.Share != "" {
			return s.Say("chip_share", "share", s.In("shares", x.Share), "n", n)
		}
		if x.Need <= 0 {
			return s.Say("chip_all", "n", n)
		}
		return s.Say("chip_need", "need", x.Need, "n", n)
	}
	switch w := x.Who; {
	case len(w.Instead) > 0:
		c.Note = s.asked(w)
	case w.Kind == rules.WhoPeople && len(w.People) == 1:
		c.Note = s.person(w.People[0])
	case w.Kind == rules.WhoPeople && len(w.People) > 0:
		c.Note = some(len(w.People))
	case w.Kind == rules.WhoGroup && s.counts[w.Group] > 1:
		c.Note = some(s.counts[w.Group])
	case w.Kind == rules.WhoGroup && w.Group != "":
		c.Note = s.person(w.Group)
	case w.Kind == rules.WhoManager:
		c.Note = s.manager(w.Level)
	case w.Kind == rules.WhoPosition:
		c.Note = s.asked(w)
	case w.Kind == rules.WhoChannel:
		c.Note = s.Say("who_channel")
	case w.Kind == rules.WhoAny:
		c.Note = s.asked(w)
	default:
		c.Note = s.Say("not_chosen")
	}
	if n := len(x.Beside); n > 0 {
		c.Note = s.Say("chip_beside", "note", c.Note, "n", n)
	}
	if c.Text == "" {
		c.Text, c.Note = c.Note, ""
	}
	if c.Note == c.Text {
		c.Note = ""
	}
	return c
}

// least says how many different people an outcome needs, "" if it asks nobody. Of several stages it says how many
// approve, and the people only where the rule does: one of them may stamp at several.
func (s speaker) least(o *rules.Outcome) string {
	if o.Route == nil {
		return ""
	}
	stages, n := o.Route.Approving()
	if len(stages) == 1 && n == 0 {
		return cmp.Or(s.In("shares", stages[0].Share), s.Say("stage_all_of"))
	}
	n = max(n, o.Route.LeastHands())
	people := s.In("people", map[bool]string{true: "one", false: "many"}[n == 1], "n", n)
	switch n := len(stages); {
	case n < 2:
		return people
	case o.Route.Hands == 0:
		return s.Say("stages_of", "n", n)
	default:
		return s.Say("stages_of", "n", n) + s.Say("middot") + people
	}
}

// called makes a name of what a rule is for.
func (s speaker) called(r *rules.Rule) string {
	c, text, kinds := &r.When, s.what(&r.When, true), s.In("kinds_said", kindsValue(r.When.Kinds))
	if text == s.In("uses", "any") && kinds == "" && c.Places == nil && c.Requester == nil {
		text = s.In("groups", "any")
	}
	return legible.Capital(text)
}
