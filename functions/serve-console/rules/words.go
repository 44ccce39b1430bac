package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// problem is why rules can't be saved, in the reader's language.
type problem struct {
	Field string // below the rule that has it
	Rule  string // number of the rule from 0, "reads", "writes" or ""
	Of    string // names that rule
	web.Fault
}

// choiceTables are the tables of texts that have the choices of fields, by how the fields end.
var choiceTables = map[string]string{"kinds": "kind_choices", "use": "use_options", "kind": "kind_options"}

// limit says what a field must be. A choice is said as the form has it, and of a file as that does, too.
func (s speaker) limit(p aggregate.Problem) string {
	if strings.HasSuffix(p.Field, ".need") && p.Code == "between" && !s.file {
		p.Code = "need" // the form says all by an empty field
	}
	field := position.Get().ReplaceAllString(p.Field, "")
	table := choiceTables[field[strings.LastIndexByte(field, '.')+1:]]
	return s.Problem(p, func(value string) string {
		if text := s.In(table, value); text != "" && !s.file {
			return text
		}
		return called(s.In(table, value), value)
	})
}

var (
	ruleField = language.Regexp{Text: `^(?:rules\[(\d+)\]|last\.(reads|writes))\.`}
	stagePath = language.Regexp{Text: `^route\.stages\[(\d+)\]`}
	position  = language.Regexp{Text: `\[(\d+)\]`}
)

// problems says what is wrong with rules.
func (s speaker) problems(x *rules.Rules, all aggregate.Problems) (out []problem) {
	for _, e := range all {
		p := problem{Field: e.Field, Fault: web.Fault{Text: s.limit(e)}}
		if m := ruleField.Get().FindStringSubmatch(e.Field); m != nil {
			p.Rule, p.Field = m[1]+m[2], strings.TrimPrefix(e.Field, m[0])
		}
		p.Label = s.label(p.Field)
		if p.Of = s.ruleAt(x, p.Rule); p.Of != "" {
			p.Label = p.Of + ": " + p.Label
		}
		out = append(out, p)
	}
	return out
}

// beyond says at which stages more people have to approve than were chosen.
func (s speaker) beyond(p *rules.Policy) (all []problem) {
	if p == nil {
		return nil
	}
	for i, x := range p.Stages {
		var named []string
		for _, who := range x.Who.Each() {
			if who.Kind != rules.WhoPeople {
				named = nil
				break
			}
			named = append(named, who.People...)
		}
		slices.Sort(named)
		n := len(slices.Compact(named))
		if n == 0 || x.Need <= n {
			continue
		}
		field := fmt.Sprintf("route.stages[%d].need", i)
		all = append(all, problem{Field: field, Fault: web.Fault{Label: s.label(field),
			Text: s.Problem(aggregate.Problem{Code: "beyond", Args: []any{n}}, nil)}})
	}
	return all
}

// together says each thing that is wrong once, with all places where it is.
func together(all []problem) (out []problem) {
	for _, p := range all {
		if i := slices.IndexFunc(out, func(x problem) bool { return x.Text == p.Text }); i < 0 {
			out = append(out, p)
		} else if !slices.Contains(strings.Split(out[i].Label, " · "), p.Label) {
			out[i].Label += " · " + p.Label
		}
	}
	return out
}

// fieldIDs are where the form has fields; a stage's are at the stage.
var fieldIDs = map[string]string{"name": "name", "when.tools": "use", "when.amount": "low",
	"when.amount.below": "high", "when.amount.currency": "currency", "when.kinds": "kinds", "when.places": "place",
	"when.requester": "requester", "refuse": "refuse", "route.stages": "h-then",
	"route.tells": "tells"}

// linked names each place of what is wrong once, and leads there: it says what. at returns its id and its name.
func linked(all []problem, at func(problem) (id, name string)) (out []problem) {
	for _, p := range all {
		if id, name := at(p); id != "" {
			p.Fault = web.Fault{At: "#" + id, Label: name}
		}
		if !slices.ContainsFunc(out, func(x problem) bool { return x.Fault == p.Fault }) {
			out = append(out, p)
		}
	}
	return out
}

// ruleAt names the rule of a problem.
func (s speaker) ruleAt(x *rules.Rules, at string) string {
	i, err := strconv.Atoi(at)
	switch {
	case at == reads || at == writes:
		return s.In("last", at)
	case err != nil || x == nil || i < 0 || i >= len(x.Rules):
		return at
	}
	return s.numbered(i, &x.Rules[i])
}

// numbered names a rule by its place and its name.
func (s speaker) numbered(i int, r *rules.Rule) string {
	return s.Say("rule_at", "n", i+1, "name", legible.OneLine(r.Name))
}

// label names a field of a rule: its stage, what it is, and which entry of a list.
func (s speaker) label(field string) string {
	stage := ""
	if m := stagePath.Get().FindStringSubmatch(field); m != nil {
		var i int
		fmt.Sscan(m[1], &i) // digits; too many are 0
		field = "route.stages" + strings.TrimPrefix(field, m[0])
		stage = s.Say("stage_at", "n", number(i)) + " "
	}
	entry := ""
	if m := position.Get().FindStringSubmatch(field); m != nil {
		var i int
		fmt.Sscan(m[1], &i)
		entry = fmt.Sprintf(" (%d)", i+1)
	}
	plain := position.Get().ReplaceAllString(field, "")
	for name := plain; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		if text := s.In("fields", name); text != "" {
			return stage + text + entry
		}
	}
	return stage + plain + entry
}

func (s speaker) ruleNamed(x *rules.Rules, id string) string {
	i := slices.IndexFunc(x.Rules, func(r rules.Rule) bool { return r.ID == id })
	if i < 0 {
		return s.Say("last_rule")
	}
	return s.numbered(i, &x.Rules[i])
}

// labelNames returns the kinds by which the draft's rules tell requests apart.
func (a *asked) labelNames() (names []string) {
	for i := range a.draft.Rules.Rules {
		for _, name := range a.draft.Rules.Rules[i].When.Names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
