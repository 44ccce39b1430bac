package settings

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// tryData asks which rule would take a request, and has the answer.
type tryData struct {
	People, Places, Tools, Labels []web.Choice // no people: there are too many to choose among; no labels: no rule has any
	Who, Amount                   string
	Rule, Says, Fail              string
	Stages                        []chip
	How                           []string // how each of them was found
}

// trying fills in the question and, if it was asked, answers it by the draft.
func (a *asked) trying(answer bool) (d tryData, err error) {
	f := a.r.PostForm
	chosen := func(all []web.Choice, is string) []web.Choice {
		for i := range all {
			all[i].Chosen = all[i].Value == is
		}
		return all
	}
	d = tryData{Amount: f.Get("try.amount"), Who: f.Get("try.who"), People: a.peopleToTry(f.Get("try.who")),
		Places: chosen(append([]web.Choice{{Text: a.Say("elsewhere")}}, a.channelOptions()...), f.Get("try.place")),
		Labels: chosen(a.labelsToTry(), f.Get("try.label"))}
	var of web.KnownTool
	for _, t := range a.tools {
		value := t.Tool.String()
		if is := f.Get("try.tool"); value == is || is == "" && of.ID == "" && t.Allowed && t.Writes() {
			of = t
		}
		if t.Allowed {
			d.Tools = append(d.Tools, web.Choice{Value: value, Text: language.OneLine(t.Title)})
		}
	}
	chosen(d.Tools, of.Tool.String())
	if !answer || of.ID == "" {
		return d, nil
	}
	call, ok := a.callToTry(of, d.Amount, f.Get("try.label"))
	if !ok {
		d.Fail = a.Say("try_amount")
		return d, nil
	}
	facts := &rules.Facts{Kind: rules.KindSteps, Place: rules.Place{Channel: f.Get("try.place")},
		Calls: []rules.Call{call}}
	facts.Place.Direct = facts.Place.Channel == rules.Direct
	err = a.answered(&d, facts)
	if errors.Is(err, explain.ErrUnverified) {
		d.Fail, err = a.Say("silent"), nil
	}
	return d, err
}

// callToTry returns the call that was typed; false if its amount can't be read. A label of the tool whose value nobody
// chose is unknown, as is an amount that nobody typed.
func (a *asked) callToTry(of web.KnownTool, amount, label string) (c rules.Call, ok bool) {
	c = rules.Call{Tool: of.Tool, Access: of.Access, Amount: rules.Unknown(rules.WhyMissing),
		Labels: map[string][]string{}}
	for _, l := range of.Labels {
		c.Labels[l.Name] = nil
	}
	if name, value, has := strings.Cut(label, between); has {
		c.Labels[name] = []string{value}
	}
	switch typed := (rules.Amount{Value: amountTyped(amount), Currency: a.currency()}); {
	case of.Free:
		c.Amount = rules.Nothing()
	case amount == "":
	case !typed.Known():
		return c, false
	default:
		c.Amount = typed
	}
	return c, true
}

// currency is the one that the rules have first.
func (a *asked) currency() string {
	for i := range a.draft.Rules {
		if c := a.draft.Rules[i].Currency; c != "" {
			return c
		}
	}
	return yen
}

// labelsToTry are the values by which rules tell requests apart.
func (a *asked) labelsToTry() (all []web.Choice) {
	for i := range a.draft.Rules {
		for _, name := range a.draft.Rules[i].Names() {
			for _, value := range a.draft.Rules[i].Labels[name] {
				called := tenancy.LabelIn(a.Locale(), name)
				c := web.Choice{Value: name + between + value, Text: language.OneLine(called + ": " + value)}
				if !slices.ContainsFunc(all, func(x web.Choice) bool { return x.Value == c.Value }) {
					all = append(all, c)
				}
			}
		}
	}
	if all != nil {
		all = append([]web.Choice{{Text: a.Say("try_unlabelled_by")}}, all...)
	}
	return all
}

// answered says which rule would take a request, and whom its route would ask. It returns explain.ErrUnverified if
// Slack can't say that.
func (a *asked) answered(d *tryData, facts *rules.Facts) error {
	who := cmp.Or(d.Who, a.v.User)
	if d.Who != "" {
		if _, listed := a.members.Person(d.Who); !listed {
			u, found := a.members.Find(d.Who)
			if !found {
				d.Fail = a.Say("try_nobody", "who", language.OneLine(d.Who))
				return nil
			}
			who = u.ID
		}
	}
	x := a.rules()
	var found rules.Answer
	if err := a.looked(func(dir *decide.Directory) error {
		decide.AskedBy(facts, x, dir, who)
		found = x.Match(facts)
		return nil
	}); err != nil {
		return err
	}
	facts.Askers = []circulation.Person{{User: who}}
	d.Rule, d.Says = a.ruleNamed(found.Rule.ID), a.answerSaid(facts, &found, who)
	if found.Refused {
		return nil
	}
	err := a.looked(func(dir *decide.Directory) error {
		route, err := found.Resolve(facts, dir)
		if err == nil {
			a.tried(d, &route)
		}
		return err
	})
	if none, ok := errors.AsType[*rules.Unresolved](err); ok {
		stage := language.OneLine(explain.StageName(a.Locale(), none.Name))
		d.Fail = a.Say("try_refused", "who", a.person(who), "stage", cmp.Or(stage, d.Rule),
			"why", a.In("whys", none.Why, "what", language.OneLine(none.What)))
		return nil
	}
	return err
}

// answerSaid says why a request is refused, if it is.
func (a *asked) answerSaid(facts *rules.Facts, found *rules.Answer, who string) string {
	switch {
	case found.Unknown != "":
		return a.Say("try_unknown", "what", language.OneLine(found.Unknown))
	case found.Unlabelled != "":
		return a.Say("try_unlabelled", "label", language.OneLine(tenancy.LabelIn(a.Locale(), found.Unlabelled)))
	case found.Unsure:
		return a.Say("try_unsure", "who", a.person(who))
	case facts.Stranger != "":
		return a.Say("try_stranger", "who", a.person(who))
	case found.Refused:
		return strings.TrimSpace(a.Say("refused") + " " + language.OneLine(found.Refuse))
	}
	return ""
}

// tried says of each stage of a resolved route whom it asks, and how they were found.
func (a *asked) tried(d *tryData, route *circulation.Route) {
	d.Stages, d.How = nil, nil
	reader := web.Reader{Locale: a.Locale(), Person: a.person}
	for _, s := range route.Stages {
		x := chip{Text: a.Say("of_channel"), Note: explain.Given(s.Name)}
		if len(s.People) > 0 {
			x.Text = someOf(a.speaker, s.People, func(p circulation.Person) string { return a.person(p.User) }, a.Say("middot"))
		}
		switch {
		case len(s.People) > 1 && s.Need == len(s.People):
			x.Text = a.Say("chip_all", "who", x.Text)
		case len(s.People) > 1:
			x.Text = a.Say("chip_need", "need", s.Need, "who", x.Text)
		}
		if len(s.Before) > 0 {
			x.Note += " · " + language.Fill(explain.RouteOf(a.Locale()).Before, "who", web.Joined(s.Before,
				func(p circulation.Person) string { return a.person(p.User) }, a.Say("middot")))
		}
		for _, p := range s.People {
			d.How = append(d.How, a.person(p.User)+": "+reader.Via(p.Via))
		}
		d.Stages = append(d.Stages, x)
	}
	if len(route.LeftOut) > 0 {
		d.How = append(d.How, language.Fill(explain.RouteOf(a.Locale()).LeftOut, "stages",
			web.Joined(route.LeftOut, func(name string) string {
				return language.OneLine(explain.StageName(a.Locale(), name))
			}, a.Say("middot"))))
	}
}

// ruleNamed names a rule by its place and its name.
func (a *asked) ruleNamed(id string) string {
	i := slices.IndexFunc(a.draft.Rules, func(r rules.Rule) bool { return r.ID == id })
	if i < 0 {
		return a.Say("no_rule")
	}
	name := cmp.Or(a.givenName(&a.draft.Rules[i]), a.madeName(&a.draft.Rules[i]))
	return a.Say("rule_at", "n", i+1, "name", language.OneLine(name))
}

// peopleToTry are the workspace's people, the viewer first.
func (a *asked) peopleToTry(is string) (all []web.Choice) {
	if len(a.members.People) > web.MostToChoose {
		return nil
	}
	all = web.MembersToChoose(a.members, is, a.v.User, "")
	slices.SortFunc(all, web.Choice.Compare)
	return append([]web.Choice{{Value: a.v.User, Text: a.person(a.v.User)}}, all...)
}
