package main

import (
	"cmp"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func someone(user string) circulation.Person {
	return circulation.Person{User: user, Via: "manager of @sato"}
}

func desk(name string, need int, users ...string) circulation.Stage {
	s := circulation.Stage{Name: name, Mode: circulation.ModePeople, Need: need}
	for _, user := range users {
		s.People = append(s.People, someone(user))
	}
	return s
}

// endings are those of the entries that record acts.
var endings = map[circulation.Kind]aggregate.Action{
	circulation.Stamp: "stamped", circulation.SendBack: "rejected",
	circulation.Deny: "denied",
}

// verify.py names what every kind of act did, and knows the entry that records it.
func TestVerifyKnowsEveryKindOfAct(t *testing.T) {
	asks := "import json, verify; print(json.dumps({k: list(v) for k, v in verify.ACTS.items()}))"
	var theirs map[circulation.Kind][2]string
	expect.NoError(t, json.Unmarshal(expect.Value(exec.Command("python3", "-Bc", asks).Output())(t), &theirs))
	expect.Is(t, len(theirs), len(circulation.Kinds), "verify.py's kinds")
	for _, kind := range circulation.Kinds {
		expect.Is(t, aggregate.Action(theirs[kind.Kind][0]), endings[kind.Kind], "%s", kind.Kind)
	}
}

// settling is what is done on a route: a stamp, a stand-in's, and who settles it.
func settling() []circulation.Act {
	act := func(kind circulation.Kind, user string, stage int) circulation.Act {
		return circulation.Act{Form: circulation.Form, Kind: kind, Hand: someone(user), Principal: someone(user),
			Stage: stage, Surface: "slack"}
	}
	instead := act(circulation.Stamp, "U0MORI", 2)
	instead.Principal = someone("U0TAKADA")
	instead.Found.Delegation = &circulation.Delegation{Key: "U0MORI#U0TAKADA#2026-04-01", Rev: 4}
	return []circulation.Act{act(circulation.Stamp, "U0SUZUKI", 1), instead, act(circulation.Stamp, "U0ITO", 2),
		act(circulation.Stamp, "U0TANAKA", 3)}
}

// circulated is a gate under a rule with the entries that record what was done on it.
type circulated struct {
	aggregate.Gate
	asked string
	rows  []chain.Row
}

// circulate opens a gate of what is asked, and has these acts done on it, 10 ms apart. about are further details.
func circulate(t testing.TB, of, resource, about string, at time.Time, details map[string]any, acts []circulation.Act,
	what ...string) *circulated {
	t.Helper()
	opening := aggregate.Opening{
		Rule: circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3}, Askers: []circulation.Person{{User: "U0SATO"}},
		Route: circulation.Route{Form: circulation.Form, Tells: "C0SOUMU",
			Stages: []circulation.Stage{
				desk("課長", 1, "U0SUZUKI", "U0SATO"), desk("経理", 2, "U0TAKADA", "U0ITO"), desk("部長", 1, "U0TANAKA"),
			}},
	}
	c := &circulated{}
	put := func(action aggregate.Action, actor string, at time.Time, details map[string]any) {
		members := map[string]any{"action": action, "resource_id": resource, "task_id": about,
			"timestamp": aggregate.TimeText(at), "details": string(aggregate.Details(details)), "actor_type": "user",
			"actor_id": actor}
		content := expect.Value(chain.Canonical(members))(t)
		c.rows = append(c.rows, chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#"+of),
			Content: content, At: at})
	}
	g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &at, Terms: aggregate.Terms{ApprovalHours: 72}}
	g, err := g.Under(opening, []string{"U0SATO"}, func(g *aggregate.Gate) string {
		c.asked = circulation.AskedText(g.Terms.Rule, g.Route, what...)
		return aggregate.HashOf(circulation.AskedText(g.Terms.Rule, g.Route, what...))
	})
	expect.NoError(t, err)
	put(aggregate.Action(of+".routed"), "", at, g.OpenedDetails(details))
	for i, act := range acts {
		act.At, act.Hash = at.Add(time.Duration(i+1)*10*time.Millisecond), g.AskedSum
		if g, err = g.Acted(act); err != nil {
			t.Fatalf("act %d: %v", i+1, err)
		}
		put(g.Entry(of), act.Hand.User, act.At, g.ActDetails(details))
	}
	c.Gate = g
	return c
}

// ofSteps and ofStep are the gates of proved's steps and of its third step.
func ofSteps(t testing.TB, acts []circulation.Act) *circulated {
	return circulate(t, "process", "S1", taskID, began().Add(3500*time.Millisecond), map[string]any{"version": 1,
		"hash": aggregate.HashOf(theSteps)},
		acts, "steps", taskID, "1", policy, aggregate.HashOf(theSteps), request, "")
}

func ofStep(t testing.TB, acts []circulation.Act) *circulated {
	return ofStepAsked(t, "step-3", messageSent, 4500*time.Millisecond, acts)
}

// ofStepAsked is a gate of any step.
func ofStepAsked(t testing.TB, step, arguments string, after time.Duration, acts []circulation.Act) *circulated {
	hash := aggregate.HashOf(arguments)
	return circulate(t, "step", execution, taskID, began().Add(after),
		map[string]any{"step": step, "arguments_hash": hash}, acts, "step", taskID, "1", "1", step, hash)
}

// provedOnRoutes is proved, with its steps and the third step stamped along routes.
func provedOnRoutes(t *testing.T, steps, step *circulated) Receipt {
	t.Helper()
	old := theEntries()
	gates := namedGates(map[string]*circulated{task.ProcessKey(1): steps, task.GateKey(1, 1, 3): step})
	r := of(t, naming(t, slices.Concat(old[:4], steps.rows, step.rows, old[6:]), gates))
	r.Execution.Steps.Gate, r.Execution.Writes[1].Gate = walkOf(&steps.Gate, steps.asked), walkOf(&step.Gate, step.asked)
	return r
}

func TestAWriteUnderARuleIsProved(t *testing.T) {
	r := provedOnRoutes(t, ofSteps(t, settling()), ofStep(t, settling()))
	out, err := printed(t, r)
	expect.That(t, err == nil, "%v\n%s", err, out)
	for _, want := range []string{
		"under the rule 10万円以上 (r1), revision 3", "asked for by U0SATO", "stage 1, 課長: stamps of 1 of these 2 people",
		"      U0TAKADA (manager of @sato)",
		"told at the end: C0SOUMU",
		"stage 2: stamped by U0MORI (manager of @sato) for U0TAKADA (manager of @sato), " +
			"by the row U0MORI#U0TAKADA#2026-04-01 of the delegation, revision 4",
		"stage 2, 経理: stamps of 2 of these 2 people",
		"settled by 4 stamps",
	} {
		expect.That(t, strings.Count(out, want) >= 2, "%q is not said of both gates:\n%s", want, out)
	}
}

// What was sealed may itself be wrong: verify.py walks the route, and finds what does not settle it.
func TestVerifyWalksARouteThatWasSealed(t *testing.T) {
	var j judged
	step := ofStep(t, settling())
	add := func(name string, steps *circulated, holds bool) {
		j.add(t, name, provedOnRoutes(t, steps, step), holds)
	}
	resealed := func(change func(action string, details map[string]any)) *circulated {
		c := ofSteps(t, settling())
		c.rows = edited(t, c.rows, func(row, details map[string]any) { change(row["action"].(string), details) })
		return c
	}
	add("as it was", resealed(func(string, map[string]any) {}), true)
	for name, with := range map[string]func(details map[string]any){
		"another number of stamps": func(d map[string]any) { d["stamps"] = 3 },
		"another rule": func(d map[string]any) {
			d["rule"] = map[string]any{"id": "r1", "name": "10万円以上", "revision": 4}
		},
		"another route": func(d map[string]any) { d["route_hash"] = d["asked"] },
		"another's act": func(d map[string]any) { d["stage"] = 2 },
	} {
		add(name, resealed(func(action string, details map[string]any) {
			if action == "process.approved" {
				with(details)
			}
		}), false)
	}
	other := map[string]any{"id": "r1", "name": "すべて", "revision": 3}
	for name, in := range map[string]string{"another rule in both entries": "process.",
		"another rule in the opening": "process.routed"} {
		add(name, resealed(func(action string, d map[string]any) {
			if d["rule"] != nil && strings.HasPrefix(action, in) {
				d["rule"] = other
			}
		}), false)
	}
	opened := ofSteps(t, settling())
	opened.Terms.Rule = &circulation.Rule{ID: "r1", Name: "すべて", Revision: 3}
	sealed := resealed(func(_ string, d map[string]any) {
		if d["route_hash"] != nil {
			d["route_hash"] = circulation.RouteHash(opened.Circulating())
		}
	})
	sealed.Gate = opened.Gate
	add("another rule in the gate", sealed, false)
	hash := aggregate.HashOf(theSteps)
	for name, what := range map[string][]string{
		"another policy":  {"steps", taskID, "1", policy + ".", hash, request, ""},
		"another request": {"steps", taskID, "1", policy, hash, request + ".", ""},
		"one member more": {"steps", taskID, "1", policy, hash, request, "", ""},
		"of another kind": {"step", taskID, "1", policy, hash, request, ""},
		"another version": {"steps", taskID, "2", policy, hash, request, ""},
	} {
		add("stamped was "+name, circulate(t, "process", "S1", taskID, began().Add(3500*time.Millisecond),
			map[string]any{"version": 1, "hash": hash}, settling(), what...), false)
	}
	early := ofSteps(t, settling()[:3]) // the last stage is missing
	last := &early.rows[len(early.rows)-1]
	last.Content = []byte(strings.Replace(string(last.Content), "process.stamped", "process.approved", 1))
	add("settled too early", early, false)

	forged := ofSteps(t, settling()) // a stamp of nobody on the route, sealed as if it had been taken
	g := &forged.Gate
	g.Acts = slices.Clone(g.Acts)
	g.Acts[0].Hand, g.Acts[0].Principal = someone("U0EVIL"), someone("U0EVIL")
	n := 0
	forged.rows = edited(t, forged.rows, func(row, details map[string]any) {
		if n > 0 {
			details["acts_hash"], row["actor_id"] = circulation.Hash(g.Acts[:n]), g.Acts[n-1].Hand.User
		}
		n++
	})
	add("a stamp of nobody", forged, false)
	j.agree(t)
}

// A call about which nobody could be asked has a rule and never opened: there is nothing to walk.
func TestACallThatNeverOpenedIsProved(t *testing.T) {
	g := aggregate.Gate{Status: aggregate.Generating}
	g.Terms.Rule = &circulation.Rule{ID: "r1", Name: "経理"}
	claim := actionProof{Type: "call", Payload: content, Status: "cancelled", Gate: walkOf(&g, "")}
	cancelled := []string{"proposed", "", "cancelled", `"gate":{},"reason":"route_silent","rule":{"id":"r1","name":"経理"}`}
	var j judged
	j.add(t, "a call that never opened", actedAs(t, claim, cancelled), true)
	j.agree(t)
}

// madeCall is what a receipt claims of a call that was made.
var madeCall = actionProof{Type: "call", Status: "succeeded", ApprovedBy: "user"}

// ofCall is the gate of a call under a rule, with the receipt of how the call ended: further entries, each its name and
// its details.
func ofCall(t *testing.T, acts []circulation.Act, claim actionProof, further ...string) Receipt {
	t.Helper()
	claim.Type, claim.Payload = cmp.Or(claim.Type, "call"), content
	hash := aggregate.HashOf(content)
	c := circulate(t, "action", actionID, actionID, began().Add(1500*time.Millisecond),
		map[string]any{"type": claim.Type, "hash": hash}, acts, "action", actionID, "1", hash)
	claim.Gate = walkOf(&c.Gate, c.asked)
	r := actedAs(t, claim, append([]string{"proposed", ""}, further...))
	var rows []chain.Row
	for _, x := range r.Rows {
		rows = append(rows, chain.Row{Key: x.Key, Content: []byte(x.Content), At: x.At})
	}
	claim = *r.Action
	r = newSealer(t).seal(t, append(rows[:1:1], append(c.rows, rows[1:]...)...), 3).receipt()
	r.Action = &claim
	return r.part()
}

func TestACallUnderARuleIsProved(t *testing.T) {
	r := ofCall(t, settling(), madeCall, "started", `"base_version":""`, "completed", `"version":""`)
	out, err := printed(t, r)
	expect.That(t, err == nil && strings.Contains(out, "settled by 4 stamps") && strings.Contains(out,
		"stamped by U0TANAKA"), "%v\n%s", err, out)
	of := func(r *Receipt) *walked { return r.Action.Gate }
	var j judged
	j.add(t, "a call", r, true)
	j.changed(t, "a call", r, changedTexts(t, "call", of(&r), of))
	j.changed(t, "a call", r, changedActs("call", len(settling()), of))
	j.changed(t, "a call", r, map[string]func(*Receipt){
		"its route left out": func(r *Receipt) { r.Action.Gate = nil },
		"let go by a rule":   func(r *Receipt) { r.Action.ApprovedBy = "auto" },
	})
	for kind, end := range map[circulation.Kind]string{circulation.Deny: "denied", circulation.SendBack: "rejected"} {
		act := settling()[0]
		act.Kind, act.Text = kind, "宛先が違う"
		j.add(t, end, ofCall(t, []circulation.Act{act}, actionProof{Status: "cancelled"}), true)
		changed := ofCall(t, []circulation.Act{act}, actionProof{Status: "cancelled"})
		changed.Action.Gate.Acts = nil
		j.add(t, end+", left out", changed, false)
	}
	j.agree(t)
}
