package rules

import (
	"slices"
	"strings"

	"ringi/shared/domain/rules"
	"ringi/shared/words/legible"
)

// routed returns the rules as far as gates open by them: conversations' actions are left to the settings unless a rule
// names them, so a rule before all others takes them.
func routed(x *rules.Rules) *rules.Rules {
	if x.Actions() {
		return x
	}
	only := *x
	aside := []rules.Rule{
		{When: rules.Conditions{Kinds: []rules.Kind{rules.KindAction}}, Outcome: rules.Outcome{Refuse: "-"}},
	}
	only.Rules = slices.Concat(aside, x.Rules)
	return &only
}

// ways returns the weakest way to each tool that writes.
func (a *asked) ways(x *rules.Rules) (out []wayRow) {
	several := slices.ContainsFunc(x.Rules, func(r rules.Rule) bool { return r.When.Places != nil })
	for _, way := range routed(x).Ways(knownOf(a.tools, true)) {
		row := wayRow{Tool: a.tool(way.Tool), Refused: way.Refused}
		if !way.Refused {
			row.From, row.Rule = a.from(x, way, several), a.ruleNamed(x, way.Rule)
			row.Least = a.Say("least", "stamps", way.Stamps, "hands", max(way.Hands, 1))
			if way.With != nil {
				row.Least += a.Say("with", "tool", a.tool(*way.With))
			}
		}
		out = append(out, row)
	}
	return out
}

// from says for what and in which channels a way is open. several says that rules tell channels apart.
func (a *asked) from(x *rules.Rules, way rules.Way, several bool) string {
	requests, agents := a.places(way, rules.KindSteps, several), a.places(way, rules.KindAction, several)
	say := func(kinds, places string) string {
		return a.Say("way_of", "kinds", a.In("way_kinds", kinds), "places", places)
	}
	switch {
	case !x.Actions():
		return requests
	case requests == agents:
		return say("both", requests)
	case agents == "":
		return say(steps, requests)
	case requests == "":
		return say(actions, agents)
	}
	return say(steps, requests) + a.Say("way_and") + say(actions, agents)
}

// places says in which channels a way is open for a kind.
func (a *asked) places(way rules.Way, kind rules.Kind, several bool) string {
	var places []string
	for _, w := range way.From {
		if w.Kind != kind {
			continue
		}
		switch {
		case w.Place.Direct:
			places = append(places, a.Say("direct"))
		case w.Place.Channel != "":
			places = append(places, a.channel(w.Place.Channel))
		case !several:
			return a.Say("everywhere")
		default:
			places = append(places, a.Say("elsewhere"))
		}
	}
	return strings.Join(places, a.Say("middot"))
}

// ruleNamed names a rule by its id.
func (a *asked) ruleNamed(x *rules.Rules, id string) string {
	i := slices.IndexFunc(x.Rules, func(r rules.Rule) bool { return r.ID == id })
	if i < 0 {
		return a.Say("last_rule")
	}
	return a.Say("rule_at", "n", i+1, "name", legible.OneLine(x.Rules[i].Name))
}
