package circulation_test

import (
	"reflect"
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
	back     = circulation.TakeBack
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
func gateOf(hands int, stages ...circulation.Stage) circulation.Gate {
	return circulation.Gate{AskedAt: opened, Hours: 72, Askers: people("Q"), Asked: asked,
		Route: &circulation.Route{Form: circulation.Form, Stages: stages, Hands: hands}}
}

// of returns an act of a hand for itself.
func of(kind circulation.Kind, hand string, stage int) circulation.Act {
	act := circulation.Act{Form: circulation.Form, Kind: kind, Hand: person(hand), Principal: person(hand), Stage: stage,
		Hash: asked, Surface: "slack", At: opened.Add(time.Hour)}
	if kind == circulation.SendBack || kind == circulation.Deny || kind == circulation.Stand {
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

// successor returns an administrator's act that puts to in the place of replaced.
func successor(hand, replaced, to string, stage int) circulation.Act {
	act := of(circulation.Stand, hand, stage)
	f, t := person(replaced), person(to)
	act.For, act.To = &f, &t
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
