package circulation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// drawn draws a gate with up to three stages of up to four people, whoever could settle it.
func drawn(r *rand.Rand) circulation.Gate {
	users := []string{"A", "B", "C", "D"}
	var stages []circulation.Stage
	for i := range 1 + r.IntN(3) {
		r.Shuffle(len(users), func(i, j int) { users[i], users[j] = users[j], users[i] })
		s := desk(fmt.Sprint("stage ", i+1), 1+r.IntN(3), users[:1+r.IntN(4)]...)
		switch r.IntN(8) {
		case 0:
			s = channel("channel")
		case 1:
			s.LeftOut = "nobody is there"
		case 2:
			s.People = append(s.People, person("Q"), s.People[0])
		}
		if n := len(s.People); s.Mode == circulation.ModePeople && n > 1 && r.IntN(3) == 0 {
			first := 1 + r.IntN(n-1)
			s = cut(s, first, 1+r.IntN(min(first, 2)), n-first, 1)
		}
		s.NoStandIns = r.IntN(8) == 0
		if i == 1 { // that they are offered somebody changes nothing
			s.Raises = []circulation.Raise{{When: "important", To: person("G")}, {When: "other", LeftOut: "vacant"}}
		}
		stages = append(stages, s)
	}
	return gateOf(1+r.IntN(4), stages...)
}

// drawnAct draws an act, mostly one that makes sense at the present stage.
func drawnAct(r *rand.Rand, st circulation.State) circulation.Act {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	kinds := []circulation.Kind{stamp, stamp, stamp, stamp, stamp, stamp, circulation.Stand, circulation.Stand, sendBack,
		giveBack, deny, "later"}
	kind, stage, hand := kinds[r.IntN(len(kinds))], max(st.Present, 1), one("A", "B", "C", "D", "E", "F", "Q")
	if owes := st.Owes(); len(owes) > 0 && r.IntN(2) == 0 {
		hand = owes[r.IntN(len(owes))].User
	}
	if (kind == sendBack || kind == giveBack || kind == deny) && r.IntN(4) > 0 { // else hardly any walk is long
		kind = circulation.Stamp
	}
	if r.IntN(5) == 0 {
		stage = 1 + r.IntN(5)
	}
	if kind == circulation.Stand {
		return drawnSuccessor(r, stage)
	}
	act := inChannel(kind, hand, stage)
	if s := st.CurrentStage(); s != nil && s.Mode == circulation.ModeSettings {
		act = allowed(kind, one(hand, "Q"), r.IntN(2) == 0)
		act.Stage = stage
	}
	if r.IntN(4) == 0 {
		act = instead(kind, hand, one("A", "B", "C", "D", "E"), stage)
		act.Found.Channel = one("", "C1")
		act.Found.Delegation.Rules = [][]string{nil, nil, {"r"}, {"x", "r"}, {"x"}}[r.IntN(5)]
	}
	switch r.IntN(30) {
	case 0:
		act.Hash = "other"
	case 1:
		act.Form++
	case 2:
		act.Found = circulation.Found{}
	}
	return act
}

// drawnSuccessor draws an act by which another person comes to a stage.
func drawnSuccessor(r *rand.Rand, stage int) circulation.Act {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	act := successor(one("X", "A"), one("A", "B", "C", "D", "E"), one("A", "B", "C", "D", "E", "F", "Q"), stage)
	switch r.IntN(15) {
	case 0:
		act.Found.Admin = nil
	case 1:
		act.Found.Admin = &circulation.Admin{Key: one("", "TENANT"), Rev: r.IntN(2)}
	case 2:
		act.Found.Resolved = one("", "above")
	}
	return act
}

// drawnKeys draws the keys of an organisation, where some accounts are one person's and some have none.
func drawnKeys(r *rand.Rand) keys {
	k := keys{}
	for _, user := range []string{"A", "B", "C", "D", "E", "F", "G", "Q", "X"} {
		k[user] = "p-" + user
		switch r.IntN(12) {
		case 0, 1, 2:
			k[user] = "p-" + string("ABCDQ"[r.IntN(5)])
		case 3:
			k[user] = ""
		}
	}
	return k
}

// organisedAt returns a drawn gate as it is, or under an organisation, and acts as its people make them: in some of the
// walks accounts change hands.
func organisedAt(r *rand.Rand, g circulation.Gate) (circulation.Gate, func(act circulation.Act) circulation.Act) {
	if r.IntN(2) == 0 {
		return g, func(act circulation.Act) circulation.Act { return act }
	}
	k := drawnKeys(r)
	later, moves := k, r.IntN(3) > 0
	if g = k.gate(g); r.IntN(8) == 0 {
		g.Route.Org = ""
	}
	return g, func(act circulation.Act) circulation.Act {
		if later = k; moves && r.IntN(4) == 0 {
			later = drawnKeys(r)
		}
		if act = later.act(act); r.IntN(30) == 0 {
			act.Found.Org = ""
		}
		if d := act.Found.Delegation; g.Route.Org == "" && d != nil {
			d.Key = act.Hand.User + "#" + act.Principal.User + "#2026-04-01"
		}
		return act
	}
}

// walkAt draws the walk with a number; ok is false if nobody could settle its gate.
func walkAt(t testing.TB, n uint64, steps int,
	tried func(g circulation.Gate, st circulation.State, act circulation.Act, err error)) (_ circulation.Gate, ok bool) {
	r := rand.New(rand.NewPCG(expect.Seed(), n))
	g := drawn(r)
	if n%12 == 0 {
		g = bySettings(n%96 > 0)
	}
	g, tell := organisedAt(r, g)
	st := circulation.Walk(g)
	if st.Refused != nil {
		return g, false
	}
	for range steps {
		act := tell(drawnAct(r, st))
		err := circulation.Admit(g, st, act)
		tried(g, st, act, err)
		if err == nil {
			g = then(g, act)
			was := st
			st = circulation.Walk(g)
			follows(t, g, was, st)
		}
	}
	return g, true
}
