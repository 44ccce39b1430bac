package circulation_test

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/circulation"
)

const asked = "the hash of what is asked"

type (
	act  = circulation.Act
	gate = circulation.Gate
)

const (
	stamp    = circulation.Stamp
	sendBack = circulation.SendBack
	giveBack = circulation.GiveBack
	deny     = circulation.Deny
)

var opened = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)

func person(user string) circulation.Person { return circulation.Person{User: user} }

func people(users ...string) (out []circulation.Person) {
	for _, u := range users {
		out = append(out, person(u))
	}
	return out
}

func desk(name string, need int, users ...string) circulation.Stage {
	return circulation.Stage{Name: name, Mode: circulation.ModePeople, People: people(users...), Need: need}
}

// cut returns a stage cut into parts: for each the number of people, and of stamps.
func cut(s circulation.Stage, of ...int) circulation.Stage {
	s.Need = 0
	for i := 0; i < len(of); i += 2 {
		s.Parts, s.Need = append(s.Parts, circulation.Part{N: of[i], Of: of[i+1]}), s.Need+of[i+1]
	}
	return s
}

// strict returns a stage where nobody acts for another.
func strict(s circulation.Stage) circulation.Stage {
	s.NoStandIns = true
	return s
}

func channel(name string) circulation.Stage {
	return circulation.Stage{Name: name, Mode: circulation.ModeChannel, Need: 1}
}

// gateOf returns a gate that Q asks.
func gateOf(hands int, stages ...circulation.Stage) circulation.Gate {
	return circulation.Gate{Rule: &circulation.Rule{ID: "r"}, AskedAt: opened, Hours: 72, Askers: people("Q"),
		AskedSum: asked, Route: &circulation.Route{Form: circulation.Form, Stages: stages, Hands: hands}}
}

// bySettings returns a gate without a rule that Q asks.
func bySettings(required bool) circulation.Gate {
	route, g := circulation.BySettings(required), gateOf(1)
	g.Rule, g.Route = nil, &route
	return g
}

// allowed returns an act of a hand whom the settings allow it, self also as an asker.
func allowed(kind circulation.Kind, hand string, self bool) circulation.Act {
	act := of(kind, hand, 1)
	act.Found.Allowed = &circulation.Allowed{Rev: 3, As: "channel", Self: self}
	return act
}

// of returns an act of a hand for itself.
func of(kind circulation.Kind, hand string, stage int) circulation.Act {
	act := circulation.Act{Form: circulation.Form, Kind: kind, Hand: person(hand), Principal: person(hand), Stage: stage,
		Hash: asked, Surface: "slack", At: opened.Add(time.Hour)}
	if kind != stamp {
		act.Text = "a reason"
	}
	return act
}

// instead returns an act of a hand that stands in for somebody.
func instead(kind circulation.Kind, hand, principal string, stage int) circulation.Act {
	act := of(kind, hand, stage)
	act.Principal = person(principal)
	act.Found.Delegation = &circulation.Delegation{Key: hand + "#" + principal + "#2026-04-01", Rev: 3}
	return act
}

// forRules limits the delegation of an act to rules. That of gateOf is r.
func forRules(ids ...string) func(*circulation.Act) {
	return func(act *circulation.Act) { act.Found.Delegation.Rules = ids }
}

// inChannel returns an act of a hand whom Slack calls a member of the channel.
func inChannel(kind circulation.Kind, hand string, stage int) circulation.Act {
	act := of(kind, hand, stage)
	act.Found.Channel = "C1"
	return act
}

// successor returns an administrator's act that puts to in the place of replaced.
func successor(hand, replaced, to string, stage int) circulation.Act {
	act := of(circulation.Stand, hand, stage)
	f, t := person(replaced), person(to)
	t.Via = "group S1"
	act.For, act.To = &f, &t
	act.Found.Admin, act.Found.Resolved = &circulation.Admin{Key: "TENANT", Rev: 7}, t.Via
	return act
}

// keys are those of accounts in an organisation.
type keys map[string]string

func (k keys) person(p circulation.Person) circulation.Person {
	p.Person = k[p.User]
	return p
}

func (k keys) people(people []circulation.Person) (out []circulation.Person) {
	for _, p := range people {
		out = append(out, k.person(p))
	}
	return out
}

// gate returns the gate under an organisation.
func (k keys) gate(g circulation.Gate) circulation.Gate {
	route := *g.Route
	route.Org, route.Stages = "v7", slices.Clone(route.Stages)
	for i := range route.Stages {
		s := &route.Stages[i]
		s.People = k.people(s.People)
	}
	g.Route, g.Askers = &route, k.people(g.Askers)
	return g
}

// act returns the act as people with these keys make it.
func (k keys) act(act circulation.Act) circulation.Act {
	act.Hand, act.Principal, act.Found.Org = k.person(act.Hand), k.person(act.Principal), "v8"
	for _, p := range []**circulation.Person{&act.For, &act.To} {
		if *p != nil {
			*p = new(k.person(**p))
		}
	}
	if d := act.Found.Delegation; d != nil {
		act.Found.Delegation = &circulation.Delegation{Key: act.Hand.Person + "#" + act.Principal.Person + "#2026-04-01",
			Rev: d.Rev, Rules: d.Rules}
	}
	return act
}

// after returns the gate with these acts, an hour apart.
func after(g circulation.Gate, acts ...circulation.Act) circulation.Gate {
	for _, act := range acts {
		g = then(g, act)
	}
	return g
}

// then returns the gate with one more act, an hour after the last.
func then(g circulation.Gate, act circulation.Act) circulation.Gate {
	act.At = opened.Add(time.Duration(len(g.Acts)+1) * time.Hour)
	g.Acts = append(g.Acts[:len(g.Acts):len(g.Acts)], act)
	return g
}

// fieldsOf returns the names of the fields of these structures, as rows have them.
func fieldsOf(of ...any) string {
	var names []string
	for _, x := range of {
		for f := range reflect.TypeOf(x).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}
