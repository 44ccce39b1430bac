package rules

import (
	"errors"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/explain/errorclass"
	"ringi/shared/words/legible"
)

// tryData asks which rule would take a request, and has the answer.
type tryData struct {
	Tools, Places          []option
	Amount, Currency, Who  string
	Answered               bool
	Rule, Says, Asks, Fail string
}

// mostPlaces bounds the channels that are offered.
const mostPlaces = 100

// trying fills in the question and, if it was asked, answers it by the draft.
func (a *asked) trying(answer bool) (tryData, error) {
	f := a.r.PostForm
	d := tryData{Amount: f.Get("try.amount"), Currency: yen, Who: f.Get("try.who")}
	if f.Has("try.currency") {
		d.Currency = currencyTyped(f.Get("try.currency"))
	}
	var of knownTool
	for _, x := range a.tools {
		value := toolValue(x.Tool)
		if x.Allowed {
			d.Tools = append(d.Tools, option{value, legible.OneLine(x.Title), value == f.Get("try.tool")})
		}
		if value == f.Get("try.tool") {
			of = x
		}
	}
	d.Places = a.placesToTry(f.Get("try.place"))
	if !answer || of.Tool.Name == "" {
		return d, nil
	}
	facts := &rules.Facts{Kind: rules.KindSteps, Place: rules.Place{Channel: f.Get("try.place")}, On: a.today(),
		Calls: []rules.Call{{Tool: of.Tool, Access: of.Access, Amount: rules.Unknown(rules.WhyUnmarked)}}}
	amount := rules.Amount{Value: amountTyped(d.Amount), Currency: d.Currency}
	switch {
	case d.Amount == "" && !of.writes():
		facts.Calls[0].Amount = rules.Nothing()
	case d.Amount != "" && !amount.Known():
		d.Fail = a.Say("try_amount")
		return d, nil
	case d.Amount != "":
		facts.Calls[0].Amount = amount
	}
	d.Answered = true
	found := a.draft.Rules.Match(facts)
	d.Rule, d.Says = a.ruleNamed(a.draft.Rules, found.Rule.ID), capital(a.outcome(&found.Outcome))
	if found.Refused {
		return d, nil
	}
	return d, a.walked(&d, found.Route, facts)
}

// walked says whom the route would ask today if somebody asked.
func (a *asked) walked(d *tryData, p *rules.Policy, facts *rules.Facts) error {
	who := a.v.User
	if d.Who != "" && a.members != nil {
		users, _, _ := a.members.Find(d.Who, 1)
		if len(users) == 0 {
			d.Fail = a.Say("try_nobody", "who", legible.OneLine(d.Who))
			return nil
		}
		who = users[0].ID
	}
	facts.Requester = circulation.Person{User: who}
	facts.Askers = []circulation.Person{facts.Requester}
	dir, err := a.directory(a.r.Context(), a.draft.Rules, who)
	if errors.Is(err, errorclass.ErrUnverified) {
		d.Fail = a.Say("no_slack")
		return nil
	}
	if err != nil {
		return err
	}
	route, err := p.Resolve(facts, a.draft.Rules.Floor, dir)
	if none, ok := errors.AsType[*rules.Unresolved](err); ok {
		d.Fail = a.Say("try_refused", "who", a.person(who), "stage", legible.OneLine(none.Name),
			"why", a.In("whys", none.Why))
		return nil
	}
	if err != nil {
		return err
	}
	d.Asks = a.Say("today", "who", a.person(who), "route", a.frozen(route))
	return nil
}

// frozen says whom a resolved route asks.
func (a *asked) frozen(route circulation.Route) string {
	p := &rules.Policy{Hands: route.Hands}
	for _, s := range route.Stages {
		if s.LeftOut != "" {
			continue
		}
		x := rules.Stage{Name: s.Name, Need: s.Need, Who: rules.Who{Kind: rules.WhoChannel}}
		if s.Mode != circulation.ModeChannel {
			x.Who = rules.Who{Kind: rules.WhoPeople}
			for _, person := range s.People {
				x.Who.People = append(x.Who.People, person.User)
			}
		}
		p.Stages = append(p.Stages, x)
	}
	return a.route(p)
}

// placesToTry are the channels that rules name and those of the viewer; none of them is any other channel.
func (a *asked) placesToTry(is string) (all []option) {
	all = append(all, option{"", a.Say("try_elsewhere"), is == ""})
	offered := map[string]bool{"": true}
	var ids []string
	for i := range a.draft.Rules.Rules {
		if p := a.draft.Rules.Rules[i].When.Places; p != nil {
			ids = append(ids, p.Channels...)
		}
	}
	for _, id := range append(ids, a.sortedChannels()...) {
		if !offered[id] && len(all) < mostPlaces {
			all = append(all, option{id, a.channel(id), is == id})
		}
		offered[id] = true
	}
	return all
}
