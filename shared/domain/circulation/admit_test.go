package circulation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// organised returns the gate as if an organisation stood: the key of user U is of person p-u, and B has a second
// account, B2.
func organised(g circulation.Gate) circulation.Gate {
	route := *g.Route
	route.Org, route.Stages = "v7", append([]circulation.Stage{}, route.Stages...)
	for i := range route.Stages {
		route.Stages[i].People = nil
		for _, p := range g.Route.Stages[i].People {
			route.Stages[i].People = append(route.Stages[i].People, member(p.User))
		}
	}
	g.Route, g.Askers = &route, []circulation.Person{member("Q")}
	return g
}

func member(user string) circulation.Person {
	return circulation.Person{User: user, Person: "p-" + strings.ToLower(user[:1])}
}

// by returns the act as somebody with a row in the organisation makes it.
func by(act circulation.Act) circulation.Act {
	act.Hand, act.Principal, act.Found.Org = member(act.Hand.User), member(act.Principal.User), "v8"
	if act.To != nil {
		f, to := member(act.For.User), member(act.To.User)
		to.Via = act.To.Via
		act.For, act.To = &f, &to
	}
	return act
}

func changed(act circulation.Act, change func(act *circulation.Act)) circulation.Act {
	change(&act)
	return act
}

func TestWhyAnActIsRefused(t *testing.T) {
	g := gateOf(2, desk("課長", 2, "A", "B", "C"), desk("部長", 1, "C", "D"), desk("社長", 1, "E"))
	one := after(g, of(stamp, "A", 1))
	first := after(one, of(stamp, "B", 1))
	settled := after(first, of(stamp, "D", 2), of(stamp, "E", 3))
	left := desk("係長", 1, "F")
	left.LeftOut = "nobody is there"
	skipping := gateOf(1, left, channel("みんな"), desk("部長", 1, "C", "D"))
	handed := after(skipping, inChannel(stamp, "Z", 2))
	few := gateOf(2, desk("one", 1, "A", "B"), desk("two", 1, "A"))
	org := organised(g)
	for name, c := range map[string]struct {
		gate circulation.Gate
		act  circulation.Act
		why  circulation.Why
	}{
		"the first stage's stamp": {g, of(stamp, "A", 1), ""},
		"another kind":            {g, of("later", "A", 1), circulation.WhyUnknown},
		"another form":            {g, changed(of(stamp, "A", 1), func(a *act) { a.Form++ }), circulation.WhyUnknown},
		"nobody's hand":           {g, of(stamp, "", 1), circulation.WhyUnknown},
		"for nobody":              {g, instead(stamp, "Z", "", 1), circulation.WhyUnknown},
		"a stamp with a successor": {g, changed(of(stamp, "A", 1), func(a *act) { a.For = &a.Hand }),
			circulation.WhyUnknown},
		"a stamp with somebody put in": {g, changed(of(stamp, "A", 1), func(a *act) { a.To = &a.Hand }),
			circulation.WhyUnknown},
		"a successor of nobody": {g, changed(successor("X", "A", "F", 1), func(a *act) { a.For = nil }),
			circulation.WhyUnknown},
		"no successor": {g, changed(successor("X", "A", "F", 1), func(a *act) { a.To = nil }),
			circulation.WhyUnknown},
		"a successor without an account": {g, successor("X", "A", "", 1), circulation.WhyUnknown},
		"a successor put in for another": {g, changed(successor("X", "A", "F", 1),
			func(a *act) { a.Principal = person("Y") }), circulation.WhyUnknown},
		"no such stage": {g, of(stamp, "A", 4), circulation.WhyUnknown},
		"stage 0":       {g, of(stamp, "A", 0), circulation.WhyUnknown},
		"another content": {g, changed(of(stamp, "A", 1), func(a *act) { a.Hash = "other" }),
			circulation.WhyHash},
		"the same stamp again":          {one, of(stamp, "A", 1), circulation.WhyAgain},
		"the same stamp, a stage later": {first, of(stamp, "A", 1), circulation.WhyAgain},
		"the same stamp, when settled":  {settled, of(stamp, "E", 3), circulation.WhyAgain},
		"the same denial again":         {after(g, of(deny, "A", 1)), of(deny, "A", 1), circulation.WhyAgain},
		"a successor who came back": {after(g, successor("X", "A", "F", 1), successor("X", "B", "A", 1)),
			successor("X", "A", "F", 1), circulation.WhyTo},
		"a successor who was replaced": {after(g, successor("X", "A", "F", 1), successor("X", "F", "G", 1)),
			successor("X", "A", "F", 1), circulation.WhyFor},
		"a successor at a stage left out later": {gateOf(1, desk("one", 1, "A"), left), successor("X", "F", "G", 2),
			circulation.WhyStage},
		"another's denial after one": {after(g, of(deny, "A", 1)), of(deny, "B", 1), circulation.WhyEnded},
		"a denial for another after one": {after(g, instead(deny, "Z", "A", 1)), instead(deny, "Z", "B", 1),
			circulation.WhyEnded},
		"the same successor for another": {after(g, successor("X", "A", "F", 1)), successor("X", "G", "F", 1),
			circulation.WhyFor},
		"the same successor by another": {after(g, successor("X", "A", "F", 1)), successor("Y", "A", "F", 1),
			circulation.WhyFor},
		"another successor for the same": {after(g, successor("X", "A", "F", 1)), successor("X", "A", "B", 1),
			circulation.WhyFor},
		"the same successor again": {after(g, successor("X", "A", "F", 1)), successor("X", "A", "F", 1),
			circulation.WhyAgain},
		"a stamp on a settled gate":  {settled, instead(stamp, "Z", "E", 3), circulation.WhySettled},
		"a stamp after a denial":     {after(g, of(deny, "A", 1)), of(stamp, "B", 1), circulation.WhyEnded},
		"another end after a denial": {after(g, of(deny, "A", 1)), of(sendBack, "A", 1), circulation.WhyEnded},
		"a denial without a reason":  {g, changed(of(deny, "A", 1), func(a *act) { a.Text = "" }), circulation.WhyText},
		"a text that is too long": {g, changed(of(stamp, "A", 1), func(a *act) { a.Text = strings.Repeat("あ", 1001) }),
			circulation.WhyText},
		"a text as long as may be": {g, changed(of(stamp, "A", 1), func(a *act) { a.Text = strings.Repeat("あ", 1000) }),
			""},
		"an asker's hand":             {g, instead(stamp, "Q", "A", 1), circulation.WhySelf},
		"in an asker's place":         {g, instead(stamp, "A", "Q", 1), circulation.WhySelf},
		"an asker put in":             {g, successor("X", "A", "Q", 1), circulation.WhySelf},
		"a stage that was left":       {first, of(stamp, "C", 1), circulation.WhyStage},
		"a stage that is to come":     {g, of(stamp, "D", 2), circulation.WhyStage},
		"a denial at a stage to come": {g, of(deny, "D", 2), circulation.WhyStage},
		"another stage's person":      {g, of(stamp, "D", 1), circulation.WhyTurn},
		"who is at no stage":          {g, of(stamp, "Z", 1), circulation.WhyRoute},
		"a denial from outside":       {g, of(deny, "Z", 1), circulation.WhyRoute},
		"a stand-in":                  {g, instead(stamp, "Z", "A", 1), ""},
		"a stand-in without a delegation": {g, changed(instead(stamp, "Z", "A", 1),
			func(a *act) { a.Found.Delegation = nil }), circulation.WhyFound},
		"a delegation that is nobody's row": {g, changed(instead(stamp, "Z", "A", 1),
			func(a *act) { a.Found.Delegation.Rev = 0 }), circulation.WhyFound},
		"another's delegation": {g, changed(instead(stamp, "Z", "A", 1),
			func(a *act) { a.Found.Delegation.Key = "Z#B#2026" }), circulation.WhyFound},
		"a stand-in's denial":         {g, instead(deny, "Z", "A", 1), ""},
		"somebody in the channel":     {skipping, inChannel(stamp, "Z", 2), ""},
		"somebody not in the channel": {skipping, of(stamp, "Z", 2), circulation.WhyFound},
		"a stand-in in the channel": {skipping, changed(instead(stamp, "Z", "Y", 2), func(a *act) { a.Found.Channel = "C1" }),
			circulation.WhyFound},
		"a stand-in for who has stamped": {one, instead(stamp, "Z", "A", 1), circulation.WhyTwice},
		"who has stamped for another": {after(g, instead(stamp, "Z", "A", 1)), instead(stamp, "Z", "B", 1),
			circulation.WhyTwice},
		"a denial by who has stamped": {one, of(deny, "A", 1), circulation.WhyTwice},
		"a principal's own hand for another": {after(g, instead(stamp, "Z", "A", 1)), instead(stamp, "A", "B", 1),
			circulation.WhyTwice},
		"a stamp by who stood in for another": {after(g, instead(stamp, "A", "B", 1)), of(stamp, "A", 1),
			circulation.WhyTwice},
		"a stand-in for who stood in for another": {after(g, instead(stamp, "A", "B", 1)), instead(stamp, "Z", "A", 1),
			circulation.WhyTwice},
		"a denial by who stood in for another": {after(g, instead(stamp, "A", "B", 1)), of(deny, "A", 1),
			circulation.WhyTwice},
		"a successor of who stood in for another": {after(g, instead(stamp, "A", "B", 1)), successor("X", "A", "F", 1),
			circulation.WhyFor},
		"a principal's hand at another stage": {after(g, instead(stamp, "Z", "A", 1), of(stamp, "C", 1)),
			instead(stamp, "A", "D", 2), ""},
		"the last hand that is needed": {few, of(stamp, "A", 1), circulation.WhyHands},
		"a stamp that leaves it":       {few, of(stamp, "B", 1), ""},
		"a stand-in who is needed": {gateOf(1, desk("both", 2, "A", "B")), instead(stamp, "A", "B", 1),
			circulation.WhyHands},
		"a successor who is no further hand": {few, successor("X", "B", "A", 1), circulation.WhyTo},
		"a successor whose hand is used": {after(few, of(stamp, "B", 1)), successor("X", "A", "B", 2),
			circulation.WhyHands},
		"who is at a stage left out only":   {handed, of(stamp, "F", 3), circulation.WhyRoute},
		"a successor at a stage that is by": {first, successor("X", "C", "F", 1), circulation.WhyStage},
		"a successor at a stage left out":   {skipping, successor("X", "F", "G", 1), circulation.WhyStage},
		"a successor in the channel":        {skipping, successor("X", "F", "G", 2), circulation.WhyStage},
		"a successor at a stage to come":    {g, successor("X", "E", "F", 3), ""},
		"a successor put in by themselves":  {g, successor("F", "A", "F", 1), circulation.WhyParty},
		"who puts another in their place":   {g, successor("A", "A", "F", 1), circulation.WhyParty},
		"a successor of who has stamped":    {one, successor("X", "A", "F", 1), circulation.WhyFor},
		"a successor of who isn't there":    {g, successor("X", "F", "G", 1), circulation.WhyFor},
		"a successor who is there already":  {g, successor("X", "A", "B", 1), circulation.WhyTo},
		"a successor without an administrator's row": {g, changed(successor("X", "A", "F", 1),
			func(a *act) { a.Found.Admin = nil }), circulation.WhyFound},
		"a successor by a row that nobody read": {g, changed(successor("X", "A", "F", 1),
			func(a *act) { a.Found.Admin.Rev = 0 }), circulation.WhyFound},
		"a successor by a row without a key": {g, changed(successor("X", "A", "F", 1),
			func(a *act) { a.Found.Admin.Key = "" }), circulation.WhyFound},
		"a successor whom nobody looked up": {g, changed(successor("X", "A", "F", 1),
			func(a *act) { a.Found.Resolved, a.To.Via = "", "" }), circulation.WhyFound},
		"a successor found otherwise": {g, changed(successor("X", "A", "F", 1), func(a *act) { a.To.Via = "manager 1 of Q" }),
			circulation.WhyFound},
		"who was replaced":    {after(g, successor("X", "A", "F", 1)), of(stamp, "A", 1), circulation.WhyRoute},
		"a successor's stamp": {after(g, successor("X", "A", "F", 1)), of(stamp, "F", 1), ""},

		"a person of the organisation": {org, by(of(stamp, "A", 1)), ""},
		"who has no row there": {org, changed(by(of(stamp, "A", 1)), func(a *act) { a.Hand.Person = "" }),
			circulation.WhyUnknown},
		"without its version": {org, changed(by(of(stamp, "A", 1)), func(a *act) { a.Found.Org = "" }),
			circulation.WhyFound},
		"a successor without its version": {org, changed(by(successor("X", "A", "F", 1)), func(a *act) { a.Found.Org = "" }),
			circulation.WhyFound},
		"a second account": {org, by(of(stamp, "B2", 1)), ""},
		"a second account of who stamped": {after(org, by(of(stamp, "B", 1))), by(instead(stamp, "B2", "C", 1)),
			circulation.WhyFound},
		"a second account of an asker": {org, by(of(stamp, "Q2", 1)), circulation.WhySelf},
		"an asker's account of no person": {org, changed(by(of(stamp, "Q", 1)),
			func(a *act) { a.Hand.Person, a.Principal.Person = "p-a", "p-a" }), circulation.WhySelf},
		"another key's stamp by an account that stamped": {after(org, by(of(stamp, "B", 1))),
			changed(by(of(stamp, "C", 1)), func(a *act) { a.Hand.User, a.Principal.User = "B", "B" }), circulation.WhyAgain},
		"the same account as another's stand-in": {after(org, by(of(stamp, "B", 1))),
			changed(by(instead(stamp, "Z", "C", 1)), func(a *act) {
				a.Hand.User, a.Found.Delegation.Key = "B", "p-z#p-c#2026"
			}), circulation.WhyTwice},
		"who turns out to be one who stamped": {after(organised(gateOf(1, desk("one", 3, "A", "B", "C", "D"))),
			by(of(stamp, "A", 1)), by(of(stamp, "B", 1))), changed(by(instead(stamp, "Z", "C", 1)), func(a *act) {
			a.Hand.User, a.Found.Delegation.Key = "B", "p-z#p-c#2026"
		}), circulation.WhyTwice},
		"two who turn out to be one have stamped": {after(org, by(of(stamp, "A", 1)), by(of(stamp, "B", 1))),
			changed(by(of(stamp, "D", 2)), func(a *act) {
				a.Hand, a.Principal = circulation.Person{User: "A", Person: "p-b"},
					member("D")
			}), circulation.WhyFound},
		"an account that belongs to an asker's key": {org, changed(by(of(stamp, "A", 1)),
			func(a *act) { a.Hand.Person = "p-q" }), circulation.WhySelf},
		"a stamp by one account for the same": {org, changed(by(of(stamp, "A", 1)),
			func(a *act) { a.Hand.Person = "p-new" }), ""},
		"a second account as another principal": {after(org, by(of(stamp, "B", 1))), by(of(stamp, "B2", 1)),
			circulation.WhyAgain},
	} {
		err := circulation.Admit(c.gate, circulation.Walk(c.gate), c.act)
		refused, _ := errors.AsType[*circulation.Refusal](err)
		if c.why == "" {
			expect.That(t, err == nil, "%s: %v", name, err)
		} else {
			expect.That(t, refused != nil && refused.Why == c.why, "%s: %v, not %s", name, err, c.why)
		}
	}
}

func TestARefusalSaysWhatASentenceNeeds(t *testing.T) {
	g := after(gateOf(2, desk("課長", 2, "A", "B", "C"), desk("部長", 1, "A")), instead(stamp, "Z", "B", 1))
	said := func(act circulation.Act) circulation.Refusal {
		refused, _ := errors.AsType[*circulation.Refusal](circulation.Admit(g, circulation.Walk(g), act))
		return *refused
	}
	expect.Same(t, said(of(stamp, "A", 2)),
		circulation.Refusal{Why: circulation.WhyStage, Stage: 1, Name: "課長", People: people("A", "C")})
	expect.Same(t, said(of(stamp, "B", 1)),
		circulation.Refusal{Why: circulation.WhyTwice, Stage: 1, Name: "課長", People: people("Z")})
	expect.Same(t, said(instead(stamp, "Z", "C", 1)),
		circulation.Refusal{Why: circulation.WhyTwice, Stage: 1, Name: "課長", People: people("Z")})
	unfound := changed(instead(stamp, "Y", "A", 1), func(a *act) { a.Found.Delegation = nil })
	expect.Same(t, said(unfound), circulation.Refusal{Why: circulation.WhyFound, Stage: 1, Name: "課長",
		People: people("A", "C"), Lacks: circulation.LackDelegation, For: person("A")})
	self := circulation.Refusal{Why: circulation.WhySelf, Stage: 1, Name: "課長", People: people("A", "C"),
		Asker: person("Q")}
	expect.Same(t, said(of(stamp, "Q", 1)), self)
	self.For = person("Q")
	expect.Same(t, said(instead(stamp, "X", "Q", 1)), self)
	self.For, self.Put, self.Asker.Via = circulation.Person{}, true, "group S1"
	expect.Same(t, said(successor("X", "A", "Q", 1)), self)
	few := gateOf(3, desk("one", 1, "A", "B"), desk("two", 1, "A"), desk("three", 1, "C"))
	g = few
	expect.Same(t, said(of(stamp, "A", 1)),
		circulation.Refusal{Why: circulation.WhyHands, Stage: 1, Name: "one", People: people("B"), Missing: 1})
}

// What this release can't walk offers nothing, whatever was done, and nobody's act is admitted.
func TestARouteThatCannotBeWalkedSettlesNothing(t *testing.T) {
	route := func(change func(g *gate, r *circulation.Route)) circulation.Gate {
		g := gateOf(1, desk("one", 1, "A", "B"))
		change(&g, g.Route)
		return g
	}
	for name, g := range map[string]circulation.Gate{
		"no route":              route(func(g *gate, r *circulation.Route) { g.Route = nil }),
		"a later form":          route(func(g *gate, r *circulation.Route) { r.Form++ }),
		"no form":               route(func(g *gate, r *circulation.Route) { r.Form = 0 }),
		"no stages":             route(func(g *gate, r *circulation.Route) { r.Stages = nil }),
		"all stages left out":   route(func(g *gate, r *circulation.Route) { r.Stages[0].LeftOut = "why" }),
		"no hands":              route(func(g *gate, r *circulation.Route) { r.Hands = 0 }),
		"more hands than there": route(func(g *gate, r *circulation.Route) { r.Hands = 2 }),
		"a mode of later":       route(func(g *gate, r *circulation.Route) { r.Stages[0].Mode = "read" }),
		"a stage without need": route(func(g *gate, r *circulation.Route) {
			r.Stages = append(r.Stages, r.Stages[0])
			r.Stages[0].Need = 0
		}),
		"more than its people": route(func(g *gate, r *circulation.Route) { r.Stages[0].Need = 3 }),
		"a person twice": route(func(g *gate, r *circulation.Route) {
			r.Stages[0].Need, r.Stages[0].People = 2, people("A", "A")
		}),
		"only an asker":        route(func(g *gate, r *circulation.Route) { r.Stages[0].People = people("Q") }),
		"people without a row": route(func(g *gate, r *circulation.Route) { r.Org = "v7" }),
		"a mode of nobody": route(func(g *gate, r *circulation.Route) {
			r.Stages[0].Mode, r.Stages[0].People = "read",
				nil
		}),
		"a channel of people": route(func(g *gate, r *circulation.Route) { r.Stages[0].Mode = circulation.ModeChannel }),
		"a channel twice": route(func(g *gate, r *circulation.Route) {
			r.Stages[0] = channel("C")
			r.Stages[0].Need = 2
		}),
		"a channel without a rule": route(func(g *gate, r *circulation.Route) { g.Rule, r.Stages[0] = nil, channel("C") }),
		"people without a rule":    route(func(g *gate, r *circulation.Route) { g.Rule = nil }),
		"settings under a rule": route(func(g *gate, r *circulation.Route) {
			r.Stages = circulation.BySettings(true).Stages
		}),
		"settings of people": route(func(g *gate, r *circulation.Route) {
			g.Rule, r.Stages[0].Mode = nil, circulation.ModeSettings
		}),
		"settings twice": route(func(g *gate, r *circulation.Route) {
			g.Rule, r.Stages = nil, append(circulation.BySettings(true).Stages, circulation.BySettings(true).Stages...)
		}),
		"two stamps by the settings": route(func(g *gate, r *circulation.Route) {
			*r = circulation.BySettings(true)
			g.Rule, r.Stages[0].Need = nil, 2
		}),
		"nobody, of two hands": route(func(g *gate, r *circulation.Route) {
			*r = circulation.BySettings(false)
			g.Rule, r.Hands = nil, 2
		}),
		"a stage that needs no hand": route(func(g *gate, r *circulation.Route) {
			*r = circulation.BySettings(true)
			g.Rule, r.Hands = nil, 0
		}),
		"nobody under a rule": route(func(g *gate, r *circulation.Route) { *r = circulation.BySettings(false) }),
		"no hash":             route(func(g *gate, r *circulation.Route) { g.AskedSum = "" }),
		"never asked":         route(func(g *gate, r *circulation.Route) { g.AskedAt = time.Time{} }),
		"no time":             route(func(g *gate, r *circulation.Route) { g.Hours = 0 }),
		"too many stamps":     route(func(g *gate, r *circulation.Route) { r.Stages = crowd(101) }),
		"too many bytes": route(func(g *gate, r *circulation.Route) {
			r.Stages[0].Name = strings.Repeat("a",
				100<<10)
		}),
		"an act of nobody":     after(gateOf(1, desk("one", 1, "A")), of(stamp, "Z", 1)),
		"acts of another kind": after(gateOf(1, desk("one", 1, "A")), of(stamp, "A", 1), of("later", "A", 1)),
	} {
		st := circulation.Walk(g)
		expect.That(t, st.Refused != nil && !st.Settled && st.Present == 0 && st.Owes() == nil && st.Stamps() == nil,
			"%s: %+v", name, st)
		for _, act := range []circulation.Act{of(stamp, "A", 1), of(deny, "A", 1)} {
			expect.That(t, circulation.Admit(g, st, act) != nil, "%s: %s", name, act.Kind)
		}
	}
}

// crowd returns stages that need so many stamps together.
func crowd(need int) []circulation.Stage {
	var users []string
	for n := range need {
		users = append(users, "U"+strings.Repeat("0", 8)+string(rune('0'+n/10))+string(rune('0'+n%10)))
	}
	return []circulation.Stage{desk("all", need, users...)}
}

// Whose words led to what is asked may not stamp it where the route names them, but ends it as the others do there:
// nobody is silenced by being quoted. Elsewhere, and for others, they may not.
func TestAnAskerWhomAStageNamesEndsTheGate(t *testing.T) {
	g := gateOf(1, desk("first", 1, "A"), desk("second", 1, "STRICT", "FRIEND"))
	g.Askers = people("Q", "STRICT")
	first := circulation.Walk(g)
	second := circulation.Walk(after(g, of(stamp, "A", 1)))
	expect.Same(t, second.Owes(), people("FRIEND"))
	for name, c := range map[string]struct {
		st   circulation.State
		act  act
		want circulation.Why
	}{
		"stamps":               {second, of(stamp, "STRICT", 2), circulation.WhySelf},
		"sends back":           {second, of(sendBack, "STRICT", 2), ""},
		"denies":               {second, of(deny, "STRICT", 2), ""},
		"denies before":        {first, of(deny, "STRICT", 2), circulation.WhyStage},
		"denies another stage": {first, of(deny, "STRICT", 1), circulation.WhySelf},
		"denies for another":   {second, instead(deny, "STRICT", "FRIEND", 2), circulation.WhySelf},
		"another for them":     {second, instead(deny, "FRIEND", "STRICT", 2), circulation.WhySelf},
		"the requester":        {second, of(deny, "Q", 2), circulation.WhySelf},
	} {
		err := circulation.Admit(after(g, of(stamp, "A", 1)), c.st, c.act)
		got := circulation.Why("")
		if refused, is := errors.AsType[*circulation.Refusal](err); is {
			got = refused.Why
		}
		expect.Is(t, got, c.want, "%s", name)
	}
}
