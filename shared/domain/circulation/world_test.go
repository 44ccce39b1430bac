package circulation_test

import (
	"time"

	"ringi/shared/domain/circulation"
)

const asked = "the hash of what is asked"

const (
	stamp    = circulation.Stamp
	sendBack = circulation.SendBack
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

func channel(name string) circulation.Stage {
	return circulation.Stage{Name: name, Mode: circulation.ModeChannel, Need: 1}
}

// gateOf returns a gate that Q asks.
func gateOf(stages ...circulation.Stage) circulation.Gate {
	return circulation.Gate{Rule: &circulation.Rule{ID: "r"}, AskedAt: opened, Hours: 72, Askers: people("Q"),
		AskedSum: asked, Route: &circulation.Route{Form: circulation.Form, Stages: stages}}
}

// bySettings returns a gate without a rule that Q asks.
func bySettings(required bool) circulation.Gate {
	route, g := circulation.BySettings(required), gateOf()
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

// inChannel returns an act of a hand whom Slack calls a member of the channel.
func inChannel(kind circulation.Kind, hand string, stage int) circulation.Act {
	act := of(kind, hand, stage)
	act.Found.Channel = "C1"
	return act
}

// after returns the gate with these acts, an hour apart.
func after(g circulation.Gate, acts ...circulation.Act) circulation.Gate {
	for _, act := range acts {
		act.At = opened.Add(time.Duration(len(g.Acts)+1) * time.Hour)
		g.Acts = append(g.Acts[:len(g.Acts):len(g.Acts)], act)
	}
	return g
}
