package circulation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// stands is what stands of a gate, as both languages write it down.
type stands struct {
	Refused *refused     `json:"refused,omitempty"` // then nothing else is said
	Present *int         `json:"present,omitempty"`
	Owed    *int         `json:"owed,omitempty"`
	Owes    []string     `json:"owes,omitzero"`
	Times   []*[2]string `json:"times,omitzero"`  // when each stage was opened and is to be decided
	Stamps  [][3]any     `json:"stamps,omitzero"` // stage, hand and principal
	As      string       `json:"as,omitempty"`    // settled, or how it ended
	By      string       `json:"by,omitempty"`
	At      string       `json:"at,omitempty"`
}

type refused struct {
	Act int             `json:"act"`
	Why circulation.Why `json:"why"`
}

func textOf(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }

func standsOf(g circulation.Gate) stands {
	st := circulation.Walk(g)
	if st.Refused != nil {
		return stands{Refused: &refused{st.Refused.Act, st.Refused.Why}}
	}
	out := stands{Present: &st.Present, Owed: new(int), Owes: []string{}, Times: []*[2]string{}, Stamps: [][3]any{}}
	if s := st.CurrentStage(); s != nil {
		out.Owed = &s.Owed
	}
	for _, p := range st.Owes() {
		out.Owes = append(out.Owes, p.User)
	}
	for _, s := range st.Stages {
		var times *[2]string
		if s.OpenedAt != nil {
			times = &[2]string{textOf(*s.OpenedAt), textOf(*s.DecideBy)}
		}
		out.Times = append(out.Times, times)
	}
	for _, act := range st.Stamps() {
		out.Stamps = append(out.Stamps, [3]any{act.Stage, act.Hand.User, act.Principal.User})
	}
	if st.Last != nil {
		out.As, out.By, out.At = "settled", st.Last.Hand.User, textOf(st.Last.At)
		if st.Ended() != "" {
			out.As = string(st.Ended())
		}
	}
	return out
}

// drawnGate draws a gate of up to three stages of up to four people, whoever could settle it.
func drawnGate(r *rand.Rand) circulation.Gate {
	if r.IntN(10) == 0 {
		g, route := gateOf(), circulation.BySettings(r.IntN(8) > 0)
		g.Rule, g.Route = nil, &route
		return g
	}
	users := []string{"A", "B", "C", "D"}
	var stages []circulation.Stage
	for i := range 1 + r.IntN(3) {
		r.Shuffle(len(users), func(i, j int) { users[i], users[j] = users[j], users[i] })
		s := desk(fmt.Sprint("stage ", i+1), 1+r.IntN(3), users[:1+r.IntN(4)]...)
		switch r.IntN(8) {
		case 0:
			s = channel("channel")
		case 1:
			s.People = append(s.People, person("Q"), s.People[0])
		}
		stages = append(stages, s)
	}
	g := gateOf(stages...)
	g.Hours = []int{72, 72, 72, 350 * 24}[r.IntN(4)]
	return g
}

// spoiled returns a gate that makes no sense in one of many ways, or hardly any.
func spoiled(r *rand.Rand, g circulation.Gate) circulation.Gate {
	route := *g.Route
	route.Stages, g.Route = slices.Clone(route.Stages), &route
	switch r.IntN(10) {
	case 0:
		route.Form++
	case 1:
		g.Route = nil
	case 2:
		g.Rule = nil
	case 3:
		g.AskedSum = ""
	case 4:
		g.Hours = 0
	case 5:
		g.AskedAt = time.Time{}
	case 6:
		route.Stages = nil
	case 7:
		route.Stages = append(route.Stages, circulation.Stage{Name: "more", Mode: "together", Need: 1})
	case 8:
		s := desk("many", circulation.MaxStamps-3+r.IntN(5))
		for n := range 60 {
			s.People = append(s.People, person(fmt.Sprint("M", n)))
		}
		route.Stages = append(route.Stages, s)
	case 9:
		route.Stages = append(route.Stages, channel("channel"))
		route.Stages[len(route.Stages)-1].Need = r.IntN(3)
	}
	return g
}

// drawnAct draws an act, mostly one that makes sense at the present stage.
func drawnAct(r *rand.Rand, st circulation.State) circulation.Act {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	kind := []circulation.Kind{stamp, stamp, stamp, stamp, stamp, stamp, stamp, stamp, sendBack, deny}[r.IntN(10)]
	stage, hand := max(st.Present, 1), one("A", "B", "C", "D", "E", "F", "Q")
	if owes := st.Owes(); len(owes) > 0 && r.IntN(2) == 0 {
		hand = owes[r.IntN(len(owes))].User
	}
	if r.IntN(8) == 0 {
		stage = r.IntN(5)
	}
	act := of(kind, hand, stage)
	act.Found.Channel = "C1"
	if s := st.CurrentStage(); s != nil && s.Mode == circulation.ModeSettings && r.IntN(8) > 0 {
		act = of(kind, one(hand, "Q"), stage)
		act.Found.Allowed = &circulation.Allowed{Rev: 3, As: "channel", Self: r.IntN(2) == 0}
	}
	if r.IntN(4) == 0 {
		act = of(kind, hand, stage)
		act.Principal = person(one("A", "B", "C", "D", "E"))
		act.Found.Delegation = &circulation.Delegation{Key: hand + "#" + act.Principal.User + "#2026-04-01", Rev: 3}
		act.Found.Channel = one("", "C1")
	}
	switch r.IntN(60) {
	case 0:
		act.Hash = "other"
	case 1:
		act.Form++
	case 2:
		act.Found = circulation.Found{}
	case 3:
		act.Kind = "later"
	case 4:
		act.Text = strings.Repeat("長", circulation.MaxText+r.IntN(2))
	case 5:
		act.Text = ""
	case 6:
		act.Hand.User = ""
	case 7:
		if act.Found.Delegation != nil {
			act.Found.Delegation = &circulation.Delegation{Key: act.Hand.User + "#" + act.Principal.User, Rev: r.IntN(2)}
		}
	}
	return act
}

// drawnWalk draws a walk. tried hears of each act that was tried. Of half of the walks the last act, or the route, is
// one that makes no sense, for the reason that was seen least.
func drawnWalk(r *rand.Rand, seen map[circulation.Why]int, tried func(g circulation.Gate, act circulation.Act,
	err error)) circulation.Gate {
	g := drawnGate(r)
	for circulation.Walk(g).Refused != nil && r.IntN(30) > 0 {
		g = drawnGate(r)
	}
	if r.IntN(20) == 0 {
		if g = spoiled(r, g); g.Route == nil {
			return g
		}
	}
	last, least, st := g, circulation.Why(""), circulation.Walk(g)
	for range 2 + r.IntN(12) {
		act := drawnAct(r, st)
		err := circulation.Admit(g, st, act)
		tried(g, act, err)
		if err == nil {
			g = after(g, act)
			st, last, least = circulation.Walk(g), g, ""
			continue
		}
		refused, _ := errors.AsType[*circulation.Refusal](err)
		if r.IntN(2) == 0 && (least == "" || seen[refused.Why] < seen[least]) {
			last, least = after(g, act), refused.Why
		}
	}
	seen[least]++
	return last
}

// agrees says that the oracle counts what the fold folds.
func agrees(t *testing.T, g circulation.Gate, st circulation.State) {
	t.Helper()
	c := counted{g, g.Acts}
	var owes []string
	for _, p := range st.Owes() {
		owes = append(owes, p.User)
	}
	present := c.present(len(g.Acts))
	if c.ended() {
		present = 0
	}
	expect.Must(t, st.Refused == nil && c.legal() && st.Settled == c.settled() && st.Present == present &&
		(st.Ended() != "") == c.ended() && slices.Equal(owes, c.owes()), "seed %d: of %+v the fold says %+v",
		expect.Seed(), g, st)
}

// differs has verify.py walk gates, and returns what differs from this package; "" if nothing does.
func differs(t *testing.T, walks []circulation.Gate) string {
	t.Helper()
	var gates, errs bytes.Buffer
	var want []stands
	for _, walk := range walks {
		kept := expect.Value(json.Marshal(walk))(t)
		gates.Write(append(kept, '\n'))
		var g circulation.Gate
		expect.NoError(t, json.Unmarshal(kept, &g))
		want = append(want, standsOf(g))
	}
	const script = "../../../infra/audit/verify.py"
	expect.Value(os.Stat(script))(t) // go test then runs this again when that file changes
	c := exec.Command("python3", script, "--walks")
	c.Stdin, c.Stderr = bytes.NewReader(gates.Bytes()), &errs
	out, err := c.Output()
	expect.Must(t, err == nil, "verify.py: %v\n%s", err, &errs)
	got := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	expect.Must(t, len(got) == len(want), "%d answers to %d walks", len(got), len(want))
	lines := bytes.Split(gates.Bytes(), []byte("\n"))
	for n := range got {
		var is, says any
		expect.NoError(t, json.Unmarshal(got[n], &says))
		expect.NoError(t, json.Unmarshal(expect.Value(json.Marshal(want[n]))(t), &is))
		if !reflect.DeepEqual(says, is) {
			return fmt.Sprintf("%s: verify.py says\n%s, not\n%v", lines[n], got[n], is)
		}
	}
	return ""
}

// Of 5,000 walks drawn at random the fold, verify.py and the oracle say the same; at night of a million.
func TestFoldOracleAndVerifierAgree(t *testing.T) {
	t.Parallel()
	why, kinds, ends, times := map[circulation.Why]int{}, map[circulation.Kind]int{}, map[string]int{}, uint64(5000)
	if expect.Long() {
		times = 1_000_000
	}
	t.Logf("seed %d", expect.Seed())
	for from := uint64(0); from < times; from += 5000 {
		var walks []circulation.Gate
		for n := range uint64(5000) {
			walk := drawnWalk(rand.New(rand.NewPCG(expect.Seed(), from+n)), why, func(g circulation.Gate, act circulation.Act,
				err error) {
				then := after(g, act)
				if circulation.Walk(g).Refused != nil {
					expect.That(t, err != nil, "%v follows what makes no sense", act)
					return
				}
				legal := counted{then, then.Acts}.legal()
				expect.Must(t, legal == (err == nil), "seed %d: of %+v after %+v the oracle says %v, the fold %v",
					expect.Seed(), act, g, legal, err)
				if err == nil {
					kinds[act.Kind]++
					agrees(t, then, circulation.Walk(then))
				}
			})
			walks = append(walks, walk)
			ends[standsOf(walk).As]++
		}
		is := differs(t, walks)
		expect.Must(t, is == "", "seed %d, one of the walks from %d on, %s", expect.Seed(), from, is)
	}
	for _, of := range []circulation.Why{"", "again", "unknown", "hash", "settled", "ended", "text", "self",
		"stage", "found", "not_on_route", "turn", "twice", "hands"} {
		expect.That(t, why[of] > 0, "no walk is %q: %v", of, why)
	}
	for _, does := range circulation.Kinds {
		expect.That(t, kinds[does.Kind] > 0 && (!does.Ends || ends[string(does.Kind)] > 0), "nobody did %s: %v",
			does.Kind, kinds)
	}
	expect.That(t, ends["settled"] > 0, "none is settled: %v", ends)
	t.Log(why, kinds, ends)
}

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

// of returns an act of a hand for itself.
func of(kind circulation.Kind, hand string, stage int) circulation.Act {
	act := circulation.Act{Form: circulation.Form, Kind: kind, Hand: person(hand), Principal: person(hand), Stage: stage,
		Hash: asked, Surface: "slack", At: opened.Add(time.Hour)}
	if kind != stamp {
		act.Text = "a reason"
	}
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
