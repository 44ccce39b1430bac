package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/legible"
)

// tryData asks which rule would take a request, and has the answer.
type tryData struct {
	People, Tools          []web.Choice // no people: there are too many to choose among
	Fields                 []web.Field  // more that may be asked: the place, what asks
	Labels                 []web.Field  // by what rules tell the requests of tools apart
	Matter                 web.Field    // of the form for a decision
	Amount, Currency, Who  string
	Rule, Says, Asks, Fail string
	Stages                 []triedStage
	Further                bool   // more is asked than by whom, for which tool and how much
	Priced                 string // that there is no amount, or that it isn't known
}

// triedStage is a stage of the answer, with whom it would ask.
type triedStage struct {
	chip
	People []triedPerson
}

type triedPerson struct{ Name, Via string }

// mostPlaces bounds the channels that are offered.
const mostPlaces = 100

// trying fills in the question and, if it was asked, answers it by the draft.
func (a *asked) trying(answer bool) (tryData, error) {
	f := a.r.PostForm
	d := tryData{Amount: f.Get("try.amount"), Currency: currencyTyped(f.Get("try.currency")), Who: f.Get("try.who"),
		People: a.peopleToTry(f.Get("try.who")),
		Fields: []web.Field{web.Select("try.place", a.Say("try_place"), "", a.placesToTry(f.Get("try.place")))}}
	var of knownTool
	d.Tools, of = a.toolsToTry(f.Get("try.tool"))
	kind := rules.KindSteps
	if a.draft.Rules.Calls() {
		kind = rules.Kind(cmp.Or(f.Get("try.kind"), steps))
		d.Fields = append(d.Fields, web.Select("try.kind", a.Say("try_kind"), "",
			a.options("kind_choices", string(kind), steps, outside)))
	}
	settings, err := a.Store.Settings(a.r.Context(), a.v.Tenant)
	if err != nil {
		return d, err
	}
	call, fail := a.callToTry(&d, of, settings)
	d.Further = d.Further || f.Get("try.place") != "" || kind != rules.KindSteps
	if !answer || of.Tool.Name == "" {
		return d, nil
	}
	facts := &rules.Facts{Kind: kind, Place: rules.Place{Channel: f.Get("try.place")}, Calls: []rules.Call{call}}
	if facts.Place.Channel == tryDirect {
		facts.Place = rules.Place{Direct: true}
	}
	if d.Fail = fail; fail != "" {
		return d, nil
	}
	err = a.answered(&d, facts)
	if errors.Is(err, explain.ErrUnverified) {
		d.Fail, err = a.Say(map[bool]string{true: "unread", false: "no_slack"}[a.unread]), nil
	}
	return d, err
}

// callToTry asks for what rules may tell of a tool's calls, and returns the call that was typed, or why there is none.
func (a *asked) callToTry(d *tryData, of knownTool, s tenancy.Settings) (c rules.Call, fail string) {
	if decision := a.decisionToTry(d, s); of.Alone {
		return decision()
	}
	c = rules.Call{Tool: of.Tool, Access: of.Access, Labels: a.labelsToTry(d, of),
		Amount: rules.Unknown(rules.WhyUnmarked)}
	amount := rules.Amount{Value: amountTyped(d.Amount), Currency: d.Currency}
	switch {
	case of.Free:
		c.Amount, d.Priced = rules.Nothing(), a.Say("try_free")
	case d.Amount == "":
		d.Priced = a.Say("try_unpriced")
	case !amount.Known():
		fail = a.Say("try_amount")
	default:
		c.Amount = amount
	}
	return c, fail
}

// decisionToTry asks what the form for a decision asks. What it returns is callToTry of that form, with the same step.
func (a *asked) decisionToTry(d *tryData, s tenancy.Settings) func() (c rules.Call, fail string) {
	typed := task.Matter{Title: catalog.Decide, Description: catalog.Decide, Amount: rules.Decimal(d.Amount),
		Currency: d.Currency, Kind: a.r.PostForm.Get("try.matter")}
	var kinds []web.Choice
	for _, name := range s.MatterNames() {
		kinds = append(kinds, web.Choice{Value: name, Text: name, Chosen: name == typed.Kind})
	}
	d.Matter = web.Select("try.matter", card.MatterLabels(a.Locale())[card.MatterKind], "", kinds)
	return func() (c rules.Call, fail string) {
		m, wrong := task.ReadMatter(typed, s)
		if slices.Contains(wrong, card.MatterAmount) {
			return c, a.Say("try_amount")
		}
		if wrong != nil {
			return c, a.Say("try_form")
		}
		d.Priced = map[rules.Decimal]string{"": a.Say("try_unpriced"), "0": a.Say("try_free")}[m.Amount]
		calls, _ := decide.CallsOf(a.v.Tenant, m.Steps(a.Locale(), "try"), nil)
		return calls[0], ""
	}
}

// answered says which rule would take a request, and whom its route would ask. It returns explain.ErrUnverified if
// Slack or the organisation can't say that.
func (a *asked) answered(d *tryData, facts *rules.Facts) error {
	who := a.v.User
	if d.Who != "" && a.members != nil {
		users, _, _ := a.members.Find(d.Who, 1)
		if u, listed := a.members.Person(d.Who); listed {
			users = []slackapi.User{u}
		}
		if len(users) == 0 {
			d.Fail = a.Say("try_nobody", "who", legible.OneLine(d.Who))
			return nil
		}
		who = users[0].ID
		d.People = a.peopleToTry(who)
	}
	x := a.draft.Rules
	var found rules.Answer
	if err := a.looked(func(dir *decide.Directory) error {
		decide.AskedBy(facts, x, dir, who)
		found = x.Match(facts)
		return nil
	}); err != nil {
		return err
	}
	facts.Askers = []circulation.Person{{User: who}}
	d.Rule, d.Says = a.ruleNamed(x, found.Rule.ID), a.answerSaid(facts, &found, who)
	if found.Refused {
		return nil
	}
	if a.members == nil {
		return fmt.Errorf("%w: the workspace's people are not listed", explain.ErrUnverified)
	}
	err := a.looked(func(dir *decide.Directory) error {
		route, err := found.Route.Resolve(facts, dir)
		if err == nil {
			d.Stages = a.tried(&route)
		}
		return err
	})
	d.Asks = a.Say("today", "who", a.person(who))
	if none, ok := errors.AsType[*rules.Unresolved](err); ok {
		d.Fail = a.Say("try_refused", "asked", d.Asks, "stage", cmp.Or(legible.OneLine(none.Name), d.Rule),
			"why", a.In("whys", none.Why, "what", legible.OneLine(none.What)))
		return nil
	}
	return err
}

// answerSaid says what an answer is, or why a rule refuses that hangs on what nobody knows.
func (a *asked) answerSaid(facts *rules.Facts, found *rules.Answer, who string) string {
	switch {
	case found.Unknown != "":
		return a.Say("try_unknown", "what", legible.OneLine(found.Unknown))
	case found.Unlabelled != "":
		return a.Say("try_unlabelled", "label", legible.OneLine(found.Unlabelled))
	case found.Unsure:
		return a.Say("try_unsure", "who", a.person(who))
	case facts.Stranger != "":
		return a.Say("try_stranger", "who", a.person(who))
	}
	return legible.Capital(a.outcome(&found.Outcome))
}

// tried says of each stage of a resolved route whom it asks, and how they were found. The first is marked.
func (a *asked) tried(route *circulation.Route) (all []triedStage) {
	reader := subject.Reader{Locale: a.Locale(), Person: a.person, Unit: func(id string) string {
		return cmp.Or(a.names[id], a.departments[id], id)
	}}
	hand := func(p circulation.Person) string { return a.person(p.User) }
	now := "now"
	for _, s := range route.Stages {
		x := triedStage{chip: chip{Text: a.Say("who_channel"), Note: legible.OneLine(s.Name), Class: now}}
		switch {
		case len(s.People) > 1 && s.Need == len(s.People):
			x.Text = a.Say("chip_each", "list", list(a.speaker, s.People, hand, a.Say("middot")))
		case len(s.People) > 1:
			x.Text = a.Say("chip_some", "list", list(a.speaker, s.People, hand, a.Say("middot")), "need", s.Need)
		case len(s.People) == 1:
			x.Text = hand(s.People[0])
		}
		now = ""
		x.People = web.Each(s.People, func(p circulation.Person) triedPerson {
			return triedPerson{a.person(p.User), reader.Via(p.Via)}
		})
		all = append(all, x)
	}
	return all
}

// toolsToTry are the tools that requests may call, and the one that is asked about. While none is, one that writes is
// offered: most rules are about those.
func (a *asked) toolsToTry(is string) (all []web.Choice, of knownTool) {
	offered := is
	for _, x := range a.tools {
		value := toolValue(x.Tool)
		if value == is {
			of = x
		} else if is == "" && x.Allowed && x.writes() {
			offered = value
		}
	}
	for _, x := range a.tools {
		if value := toolValue(x.Tool); x.Allowed {
			all = append(all, web.Choice{Value: value, Text: legible.OneLine(x.Title), Chosen: value == offered})
		}
	}
	return all, of
}

// peopleToTry are the workspace's people, the viewer first.
func (a *asked) peopleToTry(is string) (all []web.Choice) {
	if a.members == nil || len(a.members.People) > web.MostToChoose {
		return nil
	}
	all = web.MembersToChoose(*a.members, is, a.v.User, "")
	slices.SortFunc(all, web.Choice.Compare)
	return append([]web.Choice{{Value: a.v.User, Text: a.person(a.v.User)}}, all...)
}

// tryDirect stands for direct messages among the places to try. No channel has this id.
const tryDirect = "direct"

// placesToTry are direct messages, the channels that rules name and the viewer's; none is any other channel.
func (a *asked) placesToTry(is string) (all []web.Choice) {
	all = append(all, web.Choice{Value: "", Text: a.Say("elsewhere"), Chosen: is == ""},
		web.Choice{Value: tryDirect, Text: a.Say("place_direct"), Chosen: is == tryDirect})
	offered := map[string]bool{"": true}
	var ids []string
	for i := range a.draft.Rules.Rules {
		if p := a.draft.Rules.Rules[i].When.Places; p != nil {
			ids = append(ids, p.Channels...)
		}
	}
	for _, id := range append(ids, a.sortedChannels()...) {
		if !offered[id] && len(all) < mostPlaces {
			all = append(all, web.Choice{Value: id, Text: a.channel(id), Chosen: is == id})
		}
		offered[id] = true
	}
	return all
}

// labelsToTry asks for the kinds by which rules tell requests apart, and returns what was typed. One that the tool has
// is unknown as long as nothing is.
func (a *asked) labelsToTry(d *tryData, of knownTool) map[string][]string {
	labels := map[string][]string{}
	for i, name := range a.labelNames() {
		at := fmt.Sprint("try.labels.", i)
		typed, named := a.r.PostForm.Get(at), func(l rules.Label) bool { return l.Name == name }
		has := slices.ContainsFunc(of.Labels, named)
		asks := func(form bool) bool {
			is := func(x knownTool) bool { return x.Alone == form && slices.ContainsFunc(x.Labels, named) }
			return slices.ContainsFunc(a.tools, is)
		}
		if asks(true) && !asks(false) { // only the form for a decision has it
			continue
		}
		d.Labels = append(d.Labels, web.Field{Name: at, Label: legible.OneLine(name), Value: typed})
		d.Further = d.Further || typed != ""
		if values := web.Lines(typed); has || len(values) > 0 {
			labels[name] = values
		}
	}
	return labels
}
