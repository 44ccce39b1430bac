package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

var anybody = []string{requester, suzuki, tanaka, ito, "U_KATO", "U_MORI"}

// acts is a gate under a rule on which anybody tries anything.
type acts struct {
	*story
	rt   *rapid.T
	key  string
	open aggregate.Gate // as it opened
}

// Whatever anybody tries on a gate under a rule, it is settled by enough stamps of its people alone, each act that
// counts has one entry, and its claim takes it only as it was settled.
func TestNoOrderOfActsSettlesAGateWithoutItsStamps(t *testing.T) {
	all := []string{"approved", "rejected", "pending_approval"}
	for _, kind := range circulation.Kinds {
		all = append(all, string(kind.Kind))
	}
	expect.Walks(t, func(reached map[string]int) {
		for range 6 {
			rapid.Check(t, func(rt *rapid.T) {
				w := newActs(t, rt)
				for range rapid.IntRange(1, 25).Draw(rt, "acts") {
					w.step()
				}
				g := w.load().GateAt(w.key)
				reached[string(g.Status)]++
				for _, act := range g.Acts {
					reached[string(act.Kind)]++
				}
				if g.Status == aggregate.Approved {
					w.claims()
				}
			})
		}
	}, all...)
}

func newActs(t *testing.T, rt *rapid.T) *acts {
	var o aggregate.Opening
	for {
		var stages []circulation.Stage
		for range rapid.IntRange(1, 3).Draw(rt, "stages") {
			users := rapid.SliceOfNDistinct(rapid.SampledFrom(anybody), 1, 3, rapid.ID[string]).Draw(rt, "people")
			stages = append(stages, desk(rapid.IntRange(1, len(users)).Draw(rt, "need"), users...))
		}
		o = along(stages...)
		g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &dawn, Terms: aggregate.Terms{ApprovalHours: 1}}
		if _, err := g.Under(o, nil, func(*aggregate.Gate) string { return "sum" }); err == nil {
			break
		}
	}
	w := &acts{rt: rt}
	if rapid.Bool().Draw(rt, "of a step") {
		w.story, w.key = waitingOnRoute(t, o), GateKey(1, 1, 2)
	} else {
		s := waitingPrompt(t)
		w.story, w.key = s.do(s.approvePrompt, s.plan, s.opens(o)), ProcessKey(1)
	}
	w.open = *w.load().GateAt(w.key)
	return w
}

// step lets somebody try an act, mostly one that makes sense, sometimes on rows that were read before the last commit.
func (w *acts) step() {
	g := w.load().GateAt(w.key)
	st := circulation.Walk(g.Circulating())
	hand := rapid.SampledFrom(anybody).Draw(w.rt, "hand")
	if owes := st.Owes(); len(owes) > 0 && rapid.IntRange(0, 3).Draw(w.rt, "who owes") > 0 {
		hand = rapid.SampledFrom(owes).Draw(w.rt, "owes").User
	}
	kinds := []circulation.Kind{circulation.Stamp, circulation.Stamp, circulation.Stamp, circulation.Stamp,
		circulation.Stamp, circulation.SendBack, circulation.Deny, "other"}
	act := circulation.Act{Kind: rapid.SampledFrom(kinds).Draw(w.rt, "kind"), Hand: circulation.Person{User: hand},
		Principal: circulation.Person{User: hand}, Hash: g.AskedSum, Text: "理由",
		Stage: max(1, rapid.SampledFrom([]int{st.Present, st.Present, st.Present, 1, 2, 3}).Draw(w.rt, "stage"))}
	if rapid.IntRange(0, 5).Draw(w.rt, "instead") == 5 {
		act.Principal.User = rapid.SampledFrom(anybody).Draw(w.rt, "principal")
		act.Found.Delegation = &circulation.Delegation{Key: hand + "#" + act.Principal.User + "#2026-04-01", Rev: 1}
	}
	if rapid.IntRange(0, 15).Draw(w.rt, "another hash") == 15 {
		act.Hash = aggregate.HashOf("another")
	}
	a := w.load()
	if rapid.IntRange(0, 9).Draw(w.rt, "old rows") == 9 {
		a = w.at(w.head.Rev - 1)
	}
	c, err := a.Act(a.gateAt(w.key).Asks().ID, act, person(act.Hand.User), w.policy, w.now)
	w.known(err)
	if err == nil {
		if err = w.commit(a.Head, c); errors.Is(err, aggregate.ErrConflict) {
			return
		}
		expect.NoError(w.rt, err)
	}
	w.now = w.now.Add(time.Second)
	w.check(act, g, w.load().GateAt(w.key), c, err)
}

func (a *Aggregate) gateAt(key string) Gated { return aggregate.Find(a.gates(), key) }

// known fails on an error for which nobody has a sentence.
func (w *acts) known(err error) {
	if errors.Is(err, aggregate.ErrNotFound) { // of rows from before it opened
		return
	}
	switch err.(type) {
	case nil, *circulation.Refusal, aggregate.ErrDecided, aggregate.ErrNotLatest:
		return
	}
	w.rt.Fatalf("%v", err)
}

// check holds what an act left against the invariants, without the fold.
func (w *acts) check(act circulation.Act, was, is *aggregate.Gate, c aggregate.Change, err error) {
	n := len(is.Acts) - len(was.Acts)
	if err != nil || c.Empty() {
		expect.Must(w.rt, n == 0, "a refused act counts: %v", err)
	} else {
		expect.Must(w.rt, n == 1 && is.Acts[len(is.Acts)-1].Kind == act.Kind, "%d acts were added", n)
	}
	// 13: what it opened with stays.
	expect.Must(w.rt, reflect.DeepEqual(is.Route, w.open.Route) && reflect.DeepEqual(is.Terms.Rule,
		w.open.Terms.Rule) && is.AskedSum == w.open.AskedSum &&
		reflect.DeepEqual(is.Askers, w.open.Askers) && is.AskedAt.Equal(*w.open.AskedAt), "it is not asked as it opened")
	// 14: settled if and only if every stage has its stamps, which circulation's oracle counts.
	st := circulation.Walk(is.Circulating())
	expect.Must(w.rt, (is.Status == aggregate.Approved) == st.Settled && (is.Status == aggregate.Rejected) ==
		(st.Ended() != ""), "%s, and it stands as %+v", is.Status, st)
	w.recorded(is)
}

// recorded checks that the opening and each act have one entry, in order, which seals the acts up to it (22).
func (w *acts) recorded(g *aggregate.Gate) {
	var entries []aggregate.AuditEntry
	for _, e := range w.audit {
		if strings.Contains(string(e.Details), `"asked":`) {
			entries = append(entries, e)
		}
	}
	expect.Must(w.rt, len(entries) == len(g.Acts)+1, "%d entries of %d acts", len(entries), len(g.Acts))
	for i, e := range entries {
		var d struct {
			ActsHash  string `json:"acts_hash"`
			RouteHash string `json:"route_hash"`
		}
		expect.NoError(w.rt, json.Unmarshal([]byte(e.Details), &d))
		of, ending, _ := strings.Cut(string(e.Action), ".")
		expect.Must(w.rt, of == "process" || of == "step", "%s", e.Action)
		if i == 0 {
			expect.Must(w.rt, ending == "routed" && d.RouteHash == circulation.RouteHash(w.open.Circulating()), "%+v", e)
			continue
		}
		act, last := g.Acts[i-1], i == len(g.Acts)
		want := map[circulation.Kind]string{circulation.Stamp: "stamped", circulation.SendBack: "rejected",
			circulation.Deny: "denied"}[act.Kind]
		if last && g.Status == aggregate.Approved {
			want = "approved"
		}
		expect.Must(w.rt, ending == want && e.ActorID == act.Hand.User && e.Timestamp.Equal(act.At) &&
			d.ActsHash == circulation.Hash(g.Acts[:i]), "act %d, %+v, has the entry %+v", i, act, e)
	}
}

// claims checks that a claim takes the settled gate, and refuses it with other acts or another route (17, 18).
func (w *acts) claims() {
	if w.key == ProcessKey(1) {
		w.do(w.start)
	}
	a := w.load()
	change := []func(g *aggregate.Gate){
		nil,
		func(g *aggregate.Gate) { g.Acts = g.Acts[:len(g.Acts)-1] },
		func(g *aggregate.Gate) { g.Acts[0].Hash += "." },
		func(g *aggregate.Gate) { g.Acts = append(g.Acts, g.Acts[0]) },
		func(g *aggregate.Gate) { g.Acts[0].Form++ },
		func(g *aggregate.Gate) { g.Route.Stages[0].People[0].Via = "nobody" },
		func(g *aggregate.Gate) { g.Route.Stages = append(g.Route.Stages, desk(1, "U_EVIL")) },
		func(g *aggregate.Gate) { g.Route.Form++ },
		func(g *aggregate.Gate) { g.Terms.Rule.Name = "another" },
		func(g *aggregate.Gate) { g.Askers = []circulation.Person{{User: g.Acts[0].Hand.User}} },
		func(g *aggregate.Gate) { *g = aggregate.Gate{Status: aggregate.Approved, Verdict: g.Verdict} },
	}
	for i, c := range change {
		row := a.gateAt(w.key)
		n := row.At(row.Revision()).(Gated)
		g := n.gate()
		route, rule := *g.Route, *g.Terms.Rule
		route.Stages = slices.Clone(route.Stages)
		for j := range route.Stages {
			route.Stages[j].People = slices.Clone(route.Stages[j].People)
		}
		g.Acts, g.Route, g.Terms.Rule = slices.Clone(g.Acts), &route, &rule
		if c != nil {
			c(g)
		}
		b := a.clone()
		b.Add(n)
		_, err := w.claim(b, w.now)
		stopped, _ := errors.AsType[StopError](err)
		expect.Must(w.rt, (c == nil) == (err == nil) && (err == nil || stopped.Reason == ReasonStepsChanged),
			"change %s: %v", fmt.Sprint(i), err)
	}
	for i, change := range []func(p *Prompt){
		func(p *Prompt) { p.Content = "別の方針" }, func(p *Prompt) { p.Terms.Rule = &circulation.Rule{ID: "r1"} },
	} {
		b, p := a.clone(), *a.Prompt()
		change(&p)
		b.Add(&p)
		_, err := w.claim(b, w.now)
		stopped, _ := errors.AsType[StopError](err)
		expect.Must(w.rt, stopped.Reason == ReasonStepsChanged, "change %d of the policy above: %v", i, err)
	}
}

// coherent checks that the rows are consistent with each other after every commit.
func (w *world) coherent(a *Aggregate) {
	h := a.Head
	pending, generating := 0, 0
	shown := func(key string) { // by a card, or all of a form by one
		w.require((a.Card(key) != nil) == (a.Matter() == nil), "%s has no card, or a form has it", key)
	}
	gate := func(s aggregate.GateStatus) {
		if s == aggregate.PendingApproval {
			pending++
		}
		if s == aggregate.Generating {
			generating++
		}
	}
	for i, p := range a.Prompts {
		w.require(p.Version == i+1 && !p.CreatedAt.IsZero(), "%s is version %d of %d", p.Key(), p.Version, len(a.Prompts))
		refilled := i < len(a.Prompts)-1 && a.Prompts[i+1].Matter != nil && p.Status == aggregate.Approved
		w.require(i == len(a.Prompts)-1 || p.Status == aggregate.Rejected || refilled, "%s has a successor, and is %s",
			p.Key(), p.Status)
		shown("CARD#prompt#" + p.Key()[len("PROMPT#"):])
		gate(p.Status)
	}
	for i, p := range a.Processes {
		w.require(p.Version == i+1 && !p.CreatedAt.IsZero(), "%s is version %d of %d", p.Key(), p.Version, len(a.Processes))
		of := a.policyOf(p)
		w.require(of != nil && of.Status == aggregate.Approved, "%s is not of an approved policy", p.Key())
		w.require(p.Status == aggregate.Rejected || of == a.Prompt(), "%s is not of the newest policy", p.Key())
		w.require(i == len(a.Processes)-1 || p.Status == aggregate.Rejected, "%s has a successor, and is %s", p.Key(),
			p.Status)
		shown("CARD#process#" + p.Key()[len("PROCESS#"):])
		gate(p.Status)
	}
	for _, g := range a.Gates {
		w.require(a.Card("CARD#step#"+g.Key()[len("GATE#"):]) != nil, "%s has no card", g.Key())
		if g.Status == aggregate.PendingApproval {
			e := a.Execution()
			next := a.NextStep(e)
			w.require(e.Status == ExecutionRunning && next != nil && next.Order == g.Order && a.StepOf(e, g.Order) == nil,
				"%s waits; %s is %s, next is %+v, its row %+v", g.Key(), e.Key(), e.Status, next, a.StepOf(e, g.Order))
		}
		gate(g.Status)
	}
	w.executions(a)
	working := h.Ended == nil
	w.require(pending+generating <= 1, "%d gates wait, %d are made", pending, generating)
	w.require(working || pending == 0, "a gate waits in a task that ended")
	open, waits := a.OpenGate()
	asks := waits && open.Terms.ApprovalRequired
	w.require(h.Parked == nil || working && !asks && a.Execution() == nil, "parked, with %d gates and execution %v",
		pending, a.Execution())
	w.require(a.Card("CARD#task") != nil, "the task has no card")
	if a.Task == nil {
		w.require(len(a.Prompts) == 0 && (working || h.Ended.As == TaskCancelled), "no task, but %d prompts, ended %v",
			len(a.Prompts), h.Ended)
		return
	}
	want := TaskExtracted
	switch {
	case !working && h.Ended.As != TaskRefused: // no row has that
		want = h.Ended.As
	case !working:
		want = TaskCancelled
	case a.Execution() != nil:
		want = TaskRunning
	}
	w.require(a.Task.Status == want && !a.Task.CreatedAt.IsZero(), "the task is %s, want %s", a.Task.Status, want)
}

func (w *world) executions(a *Aggregate) {
	open := 0
	for i, e := range a.Executions {
		w.require(e.Attempt == i+1, "%s is attempt %d of %d", e.Key(), e.Attempt, len(a.Executions))
		w.require(i == len(a.Executions)-1 || e.Status == ExecutionFailed, "%s was tried again, and is %s", e.Key(), e.Status)
		running := 0
		for _, s := range a.StepsOf(e) {
			if s.Status == StepRunning {
				running++
			}
		}
		w.require(running <= 1, "%s has %d calls out", e.Key(), running)
		if !e.over() {
			open++
			continue
		}
		w.require(running == 0 || e.Status == ExecutionCancelled, "%s is %s over a call", e.Key(), e.Status)
		if rows := a.results(e, &change{}); len(rows) > 0 || len(e.Results) > 0 {
			w.require(reflect.DeepEqual(e.Results, rows), "%s keeps %+v, its rows say %+v", e.Key(), e.Results, rows)
		}
		done := a.NextStep(e) == nil
		w.require(e.Status != ExecutionCompleted || done, "%s is completed, its steps are not", e.Key())
	}
	w.require(open <= 1, "%d executions are open", open)
	w.require((open == 1) == (a.Head.Ended == nil && len(a.Executions) > 0), "%d executions are open, ended %v", open,
		a.Head.Ended)
	w.require(len(a.Executions) == 0 || a.Matter() != nil || a.Card("CARD#execution") != nil, "the execution has no card")
}
