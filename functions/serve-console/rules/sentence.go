package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/words/legible"
)

// speaker says rules in sentences, with the names that people know.
type speaker struct {
	web.Texts
	names    map[string]string // of people and groups by id; empty: Slack doesn't list them
	counts   map[string]int    // how many people are in a group, by id
	whole    bool              // every name is said, however many they are
	file     bool              // it is about a file
	channels map[string]string // names by id of the viewer's channels
	tools    []knownTool
	// departments are names by code; empty while no organisation stands.
	departments map[string]string
}

// mostNamed is how many names a sentence has before it counts the others.
const mostNamed = 4

// person returns the name of a person or a group, or the id of one that is not listed.
func (s speaker) person(id string) string {
	return legible.OneLine(cmp.Or(s.names[id], id))
}

func (s speaker) channel(id string) string {
	if name := web.ChannelName(s.channels, id); name != "" {
		return name
	}
	return legible.OneLine(id)
}

func (s speaker) tool(t rules.Tool) string {
	x, _ := find(s.tools, t)
	return s.Say("quoted", "text", legible.OneLine(cmp.Or(x.Title, strings.TrimSpace(toolValue(t)))))
}

// list joins names with a separator of the texts; after mostNamed it says how many others there are, unless s is whole.
func list[T any](s speaker, all []T, name func(T) string, separator string) string {
	rest := max(0, len(all)-mostNamed)
	if s.whole {
		rest = 0
	}
	text := web.Joined(all[:len(all)-rest], name, separator)
	if rest > 0 {
		text += s.Say("others", "n", rest)
	}
	return text
}

func (s speaker) rule(r *rules.Rule) string {
	text := s.Say("sentence", "who", s.who(r.When.Requester),
		"where", s.where(r.When.Places), "what", s.what(&r.When, false), "route", s.outcome(&r.Outcome))
	return text + s.In("kinds_said", kindsValue(r.When.Kinds))
}

func (s speaker) who(r *rules.Requester) string {
	if r == nil {
		return s.Say("anybody")
	}
	below := func(code string) string { return s.Say("and_below", "department", s.department(code)) }
	of := slices.Concat(web.Each(r.Departments, below), web.Each(r.Groups, s.person))
	if len(r.People) == 0 {
		return s.Say("somebody_of", "list", list(s, of, legible.OneLine, s.Say("or")))
	}
	people := list(s, r.People, s.person, s.Say("or"))
	if of == nil {
		return people
	}
	return people + s.Say("or") + s.Say("somebody_of", "list", list(s, of, legible.OneLine, s.Say("or")))
}

// labelled returns what a condition on a kind says, for a table of texts.
func (s speaker) labelled(l rules.Labelled) []any {
	return []any{"name", legible.OneLine(l.Name), "list", list(s, l.List, legible.OneLine, s.Say("middot"))}
}

// department returns the name of a department, or the code of one that the organisation doesn't have.
func (s speaker) department(code string) string {
	return legible.OneLine(cmp.Or(s.departments[code], code))
}

func (s speaker) position(department, position string) string {
	if position = legible.OneLine(position); department == "" {
		return s.Say("who_nearest", "position", position)
	}
	return s.Say("who_position", "department", s.department(department), "position", position)
}

func (s speaker) manager(level int) string {
	if level == 1 {
		return s.Say("who_manager")
	}
	return s.Say("who_above", "n", level)
}

func (s speaker) group(id string) string {
	if n := s.counts[id]; n > 1 {
		return s.Say("who_group_of", "name", s.person(id), "n", n)
	}
	return s.Say("who_group", "name", s.person(id))
}

func (s speaker) where(p *rules.Places) string {
	if p == nil {
		return ""
	}
	return s.Say("in_place", "list", s.placed(p))
}

func (s speaker) placed(p *rules.Places) string {
	places := slices.Clone(p.Channels)
	if p.Direct {
		places = append(places, "")
	}
	return list(s, places, func(id string) string {
		if id == "" {
			return s.Say("direct")
		}
		return s.channel(id)
	}, s.Say("or"))
}

// uses says which tools are used, and how.
func (s speaker) uses(c *rules.Conditions) (use, called string) {
	if c.Tools == nil {
		return "any", ""
	}
	separator := s.Say("or")
	if c.Tools.Use == rules.UseOnly {
		separator = s.Say("and")
	}
	return string(c.Tools.Use), cmp.Or(list(s, c.Tools.List, s.tool, separator), s.Say("not_chosen"))
}

// what says what is asked for: the use of tools, of which kind, for how much: in a sentence or as a name.
func (s speaker) what(c *rules.Conditions, name bool) string {
	use, called := s.uses(c)
	amount := ""
	if c.Amount != nil {
		amount = s.Say("of_amount", "amount", s.amount(*c.Amount, ""))
	}
	to := web.Joined(c.Labels, func(l rules.Labelled) string { return s.Say("labelled", s.labelled(l)...) },
		s.Say("labels_and"))
	if use == "any" && amount+to != "" {
		use = "any_such"
	}
	uses := s.In("uses", use, "list", called)
	if name && called != "" {
		uses = s.In("groups", use, "list", called)
	}
	return s.Say("asked_for", "to", to, "amount", amount, "use", uses)
}

// amount says amounts by their bounds: in a sentence or, with the form "glance_", by the bounds alone.
func (s speaker) amount(b rules.Between, form string) string {
	bare := form != ""
	if b.AtLeast == "" || b.Below == "" {
		form = ""
	}
	low, high := "", ""
	if b.AtLeast != "" {
		low = s.In("amounts", form+"at_least", "n", s.money(b.AtLeast, b.Currency))
	}
	if b.Below != "" {
		high = s.In("amounts", form+"below", "n", s.money(b.Below, b.Currency))
	}
	switch {
	case low != "" && high != "":
		return s.In("amounts", form+"between", "low", low, "high", high)
	case high == "" && !bare:
		return s.In("amounts", "unread", "low", low)
	}
	return low + high
}

func (s speaker) outcome(o *rules.Outcome) string {
	if o.Route == nil {
		if o.Refuse == "" {
			return s.Say("refused")
		}
		return s.Say("refused_saying", "text", legible.OneLine(o.Refuse))
	}
	text := s.route(o.Route)
	if o.Numbered {
		text += s.Say("numbered")
	}
	return text
}

var circled = []rune("①②③④⑤⑥⑦⑧")

func (s speaker) route(p *rules.Policy) string {
	var stages []string
	for i := range p.Stages {
		stage := s.stage(&p.Stages[i])
		if len(p.Stages) > 1 {
			stage = s.Say("mark", "n", number(i), "stage", stage)
		}
		stages = append(stages, stage)
	}
	text := s.Say("one_stage", "stage", strings.Join(stages, ""))
	if len(stages) > 1 {
		text = s.Say("stages", "stages", strings.Join(stages, " → "))
	}
	if p.Tells != "" {
		text += s.Say("told", "where", s.toldTo(p.Tells))
	}
	return text
}

// toldTo names the channel or the user group that is told at the end.
func (s speaker) toldTo(id string) string {
	if strings.HasPrefix(id, "S") {
		return s.person(id)
	}
	return s.channel(id)
}

func number(i int) string {
	if i >= 0 && i < len(circled) {
		return string(circled[i])
	}
	return fmt.Sprintf("(%d)", i+1)
}

func (s speaker) stage(x *rules.Stage) string {
	name, who := legible.OneLine(x.Name), cmp.Or(s.asked(x.Who), s.Say("not_chosen"))
	n := 2
	switch w := x.Who; w.Kind {
	case rules.WhoPeople:
		n = len(w.People)
	case rules.WhoManager, rules.WhoChannel:
		n = 1
	}
	switch {
	case n <= 1 && name == who:
		return name
	case n <= 1:
		return called(name, who)
	case x.Need == 0:
		return s.Say("stage_all", "name", name, "who", who)
	}
	return s.Say("stage_some", "name", name, "who", who, "need", cmp.Or(wholeShown(x.Need), s.Say("not_chosen")))
}

// asked says who is asked, whoever that is.
func (s speaker) asked(w rules.Who) string {
	switch w.Kind {
	case rules.WhoPeople:
		return list(s, w.People, s.person, s.Say("middot"))
	case rules.WhoGroup:
		return s.group(w.Group)
	case rules.WhoManager:
		return s.manager(w.Level)
	case rules.WhoPosition:
		return s.position(w.Department, w.Position)
	case rules.WhoChannel:
		return s.Say("who_channel")
	}
	return strings.Join(web.Each(w.Any, s.asked), s.Say("who_or"))
}
