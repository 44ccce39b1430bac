package circulation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// gates are what the tests walk along: two stages of the same three people, and routes where hands, channels and stages
// that were left out come in.
func gates() map[string]circulation.Gate {
	left := desk("left out", 1, "A")
	left.LeftOut = "the requester is above it"
	return map[string]circulation.Gate{
		"two of three, then one":          gateOf(2, desk("one", 2, "A", "B", "C"), desk("two", 1, "A", "B", "C")),
		"three hands for three stamps":    gateOf(3, desk("one", 2, "A", "B", "C"), desk("two", 1, "A", "B", "C")),
		"all of one stage, one of two":    gateOf(2, desk("one", 2, "A", "B"), desk("two", 1, "B", "C")),
		"the same two, then all":          gateOf(3, desk("one", 1, "A", "B"), desk("two", 2, "A", "B", "C")),
		"a channel, then a person":        gateOf(2, channel("one"), desk("two", 1, "A", "B", "C")),
		"a stage that was left out first": gateOf(1, left, desk("two", 1, "A", "B", "C")),
		"A has a second account, D":       two.gate(gateOf(2, desk("one", 2, "A", "B", "C"), desk("two", 1, "C", "D"))),
		"by the settings":                 bySettings(true),
		"nobody is asked":                 bySettings(false),
		"two sources, then one":           gateOf(2, cut(desk("one", 2, "A", "B", "C"), 2, 1, 1, 1), desk("two", 1, "A", "B", "C")),
		"nobody stands in":                gateOf(2, strict(desk("one", 2, "A", "B", "C")), strict(desk("two", 1, "A", "C"))),
		"A twice, of two sources": two.gate(gateOf(2, cut(desk("one", 2, "A", "B", "D", "C"), 2, 1, 2, 1),
			desk("two", 1, "C", "D"))),
		"B's account was C's": two.gate(gateOf(2, desk("one", 2, "A", "B", "C"), desk("two", 1, "B", "C"))),
	}
}

// two are keys of an organisation in which A has two accounts. In moved C has B's key.
var (
	two   = keys{"A": "p1", "B": "p2", "C": "p3", "D": "p1", "Q": "p4", "X": "p5"}
	moved = keys{"A": "p1", "B": "p2", "C": "p2", "D": "p1", "Q": "p4", "X": "p5"}
)

// everyActOn returns the acts that are tried in every state of a gate: under an organisation by people with its keys,
// and by C with B's.
func everyActOn(g circulation.Gate) (acts []circulation.Act) {
	if acts = everyAct(); g.Route.Org == "" {
		return acts
	}
	for i, act := range acts {
		acts[i] = two.act(act)
		if act.Hand.User == "C" || act.Principal.User == "C" {
			acts = append(acts, moved.act(act))
		}
	}
	return acts
}

// everyAct returns the acts that are tried in every state.
func everyAct() (acts []circulation.Act) {
	for stage := 1; stage <= 2; stage++ {
		for _, hand := range []string{"A", "B", "C", "D", "Q"} {
			acts = append(acts, allowed(stamp, hand, stage == 1), allowed(sendBack, hand, false),
				allowed(giveBack, hand, false), allowed(deny, hand, true))
			for _, kind := range []circulation.Kind{stamp, sendBack, giveBack, deny} {
				acts = append(acts, inChannel(kind, hand, stage))
				for _, principal := range []string{"A", "B", "C", "Q"} {
					if principal != hand && (hand != "C" || principal == "A") {
						acts = append(acts, instead(kind, hand, principal, stage))
					}
				}
			}
		}
		for _, to := range []string{"A", "B", "D", "Q", "X"} {
			acts = append(acts, successor("X", "A", to, stage), successor("A", "A", to, stage), successor("X", "D", to, stage))
		}
		acts = append(acts, changed(instead(stamp, "D", "A", stage), forRules("x", "r")))
		odd := []act{of(stamp, "A", stage), of("later", "A", stage), of(stamp, "A", stage),
			of(stamp, "A", stage), instead(stamp, "D", "A", stage), instead(deny, "D", "A", stage)}
		odd[0].Hash, odd[2].Form, odd[4].Found.Delegation, odd[5].Found.Delegation.Rules = "other", 1, nil, []string{"x"}
		acts = append(acts, odd...)
		for _, found := range []circulation.Found{{}, {Admin: &circulation.Admin{Key: "TENANT", Rev: 7}},
			{Resolved: "group S1"},
			{Admin: &circulation.Admin{Key: "TENANT"}, Resolved: "group S1"}, {Admin: &circulation.Admin{Rev: 7},
				Resolved: "group S1"}, {Admin: &circulation.Admin{Key: "TENANT", Rev: 7}, Resolved: "group S2"}} {
			act := successor("X", "A", "D", stage)
			act.Found = found
			acts = append(acts, act)
		}
	}
	return acts
}

// stateOf writes a state down, without times.
func stateOf(st circulation.State) string {
	var b strings.Builder
	for _, s := range st.Stages {
		for _, p := range s.People {
			b.WriteString(p.User)
		}
		var stamps []string
		for _, act := range s.Stamps {
			stamps = append(stamps, fmt.Sprint(act.Kind, act.Hand, act.Principal))
		}
		slices.Sort(stamps)
		fmt.Fprint(&b, stamps, s.Owed, s.OpenedAt != nil, "|")
	}
	fmt.Fprint(&b, st.Present, st.Settled, st.Ended(), len(st.Stands))
	return b.String()
}

// Every act is tried in every state of every gate, up to five acts deep, by day three; what is admitted goes on. The
// oracle must admit the same acts, and call the same states settled.
func TestEveryActInEveryStateAsTheOracleSays(t *testing.T) {
	t.Parallel()
	most := 3
	if expect.Long() {
		most = 5
	}
	for name, g := range gates() {
		acts := everyActOn(g)
		for _, kind := range circulation.Kinds {
			is := func(act circulation.Act) bool { return act.Kind == kind }
			expect.Must(t, slices.ContainsFunc(acts, is), "%s: nobody tries %s", name, kind)
		}
		states, tried := map[string]bool{}, 0
		level := []circulation.Gate{g}
		for depth := 0; depth <= most; depth++ {
			var next []circulation.Gate
			for _, g := range level {
				st := circulation.Walk(g)
				expect.Must(t, st.Refused == nil, "%s: %v", name, st.Refused)
				key := stateOf(st)
				if states[key] {
					continue
				}
				states[key] = true
				before := counted(g, g.Acts)
				told(t, g, before, st)
				for _, act := range acts {
					tried++
					err := circulation.Admit(g, st, act)
					if (err == nil) != admits(g, before, act) {
						t.Fatalf("%s: %s, after %v: %v", name, said(act), saidAll(g.Acts), err)
					}
					if err == nil && depth < most {
						next = append(next, then(g, act))
					}
				}
			}
			level = next
		}
		t.Logf("%s: %d states, %d acts", name, len(states), tried)
	}
}

// told compares what a state says with what the oracle counts.
func told(t testing.TB, g circulation.Gate, o *oracle, st circulation.State) {
	asksWhomItAdmits(t, g, st)
	present := o.present()
	if o.ends > 0 {
		present = 0
	}
	owes := 0
	for who := range o.on[name(present)] {
		part := o.part[name(present)][who]
		if !o.in[name(present)][who] && o.has[name(present)][part] < partsOf(o.stage(present))[part].Of &&
			o.spares(present, who) {
			owes++
		}
	}
	if st.Settled != o.settled() || st.Present != present || (st.Ended() != "") != (o.ends > 0) || len(st.Owes()) != owes ||
		len(st.Stamps()) != len(o.given) {
		t.Fatalf("settled %v, stage %d, %q, %v owe, after %v", st.Settled, st.Present, st.Ended(), st.Owes(), saidAll(g.Acts))
	}
}

// spares says whether the gate could still be settled after somebody's own stamp at a stage.
func (o *oracle) spares(stage int, who string) bool {
	for _, p := range seated(o.g, o.stage(stage), o.g.Acts, stage) {
		if o.known(p) == who && o.counted(p) {
			return counted(o.g, append(o.g.Acts[:len(o.g.Acts):len(o.g.Acts)], own(p, stage))).legal()
		}
	}
	return false
}

// own returns somebody's stamp in their own name.
func own(p circulation.Person, stage int) circulation.Act {
	act := of(stamp, p.User, stage)
	act.Hand, act.Principal, act.Found.Org = p, p, "v8"
	return act
}

// asksWhomItAdmits fails unless those who owe a stamp are the people of the present stage whose own stamp is admitted.
func asksWhomItAdmits(t testing.TB, g circulation.Gate, st circulation.State) {
	s := st.CurrentStage()
	if s == nil {
		return
	}
	owes := st.Owes()
	for _, p := range s.People {
		admitted := whyAt(g, st, own(p, st.Present)) == ""
		if slices.Contains(owes, p) != admitted {
			t.Fatalf("%v owe, and %v's stamp is admitted: %v, after %v", owes, p, admitted, saidAll(g.Acts))
		}
	}
	if s.Mode == circulation.ModePeople && len(owes) < s.Owed {
		t.Fatalf("%v owe %d stamps, after %v", owes, s.Owed, saidAll(g.Acts))
	}
}

func said(act circulation.Act) string {
	who := func(p circulation.Person) string { return strings.TrimSuffix(p.User+" "+p.Person, " ") }
	s := fmt.Sprintf("%s of %s for %s at %d", act.Kind, who(act.Hand), who(act.Principal), act.Stage)
	if act.For != nil {
		s += " " + who(*act.For) + ">" + who(*act.To)
	}
	return s
}

func saidAll(acts []circulation.Act) (all []string) {
	for _, act := range acts {
		all = append(all, said(act))
	}
	return all
}

// Where an act shows that two are one person, or that one has another account, the oracle and verify.py say the same.
func TestWhoTurnsOutToBeOneAsTheOracleSays(t *testing.T) {
	k := keys{"A": "p-a", "B": "p-b", "C": "p-c", "E": "p-e", "Q": "p-q", "X": "p-x"}
	ended := after(k.gate(gateOf(1, desk("one", 2, "A", "B", "C"))), k.act(of(stamp, "B", 1)), k.act(instead(sendBack, "A", "C", 1)))
	last := &ended.Acts[1] // A has B's key by now
	last.Hand.Person, last.Found.Delegation.Key = "p-b", "p-b#p-c#2026-04-01"
	parts := k.gate(gateOf(2, cut(desk("one", 0, "D", "A", "B", "C"), 2, 1, 2, 1))) // D has no row
	replaces := k.act(successor("X", "D", "E", 1))
	replaces.For.Person = "p-b"
	for name, c := range map[string]struct {
		gate circulation.Gate
		owes []circulation.Person
	}{
		"who stamped ends it":            {ended, nil},
		"who is replaced had no row too": {after(parts, k.act(of(stamp, "C", 1)), replaces), k.people(people("A"))},
	} {
		st := circulation.Walk(c.gate)
		expect.Must(t, st.Refused == nil, "%s: %+v", name, st.Refused)
		expect.Same(t, st.Owes(), c.owes)
		told(t, c.gate, counted(c.gate, c.gate.Acts), st)
		last := len(c.gate.Acts) - 1
		before, act := c.gate, c.gate.Acts[last]
		before.Acts = before.Acts[:last]
		expect.That(t, admits(before, counted(before, before.Acts), act), "%s: the oracle refuses it", name)
		is := differs(t, []circulation.Gate{c.gate}, map[string]int{})
		expect.That(t, is == "", "%s: %s", name, is)
	}
}

// Nobody settles a gate that the oracle doesn't, and nobody is refused whom it admits, on walks at random.
func TestRandomWalksAsTheOracleSays(t *testing.T) {
	t.Parallel()
	times, settled, ended := uint64(100_000), 0, 0
	if expect.Long() {
		times = 10_000_000
	}
	for n := range times {
		g, ok := walkAt(t, n, 12, func(g circulation.Gate, st circulation.State, act circulation.Act, err error) {
			if (err == nil) != admits(g, counted(g, g.Acts), act) {
				t.Fatalf("seed %d, walk %d: %s, after %v: %v", expect.Seed(), n, said(act), saidAll(g.Acts), err)
			}
		})
		expect.Must(t, ok == sensible(g), "seed %d, walk %d: the route %+v is walked: %v", expect.Seed(), n, g.Route, ok)
		if ok {
			st := circulation.Walk(g)
			told(t, g, counted(g, g.Acts), st)
			if st.Settled {
				settled++
			} else if st.Ended() != "" {
				ended++
			}
		}
	}
	t.Logf("seed %d: of %d walks %d are settled, %d ended", expect.Seed(), times, settled, ended)
	expect.That(t, settled > int(times)/20 && ended > int(times)/50, "few walks come to an end")
}

// sensible says whether a drawn gate has people who can settle it.
func sensible(g circulation.Gate) bool {
	asks := slices.ContainsFunc(g.Route.Stages, func(s circulation.Stage) bool { return s.LeftOut == "" })
	return (asks || g.Rule == nil) && counted(g, nil).completable(0, 0, nil)
}

func saidAllOf(acts []*circulation.Act) (all []string) {
	for _, act := range acts {
		all = append(all, said(*act))
	}
	return all
}
