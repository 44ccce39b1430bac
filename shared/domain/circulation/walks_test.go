package circulation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// stands is what stands of a gate, as both languages write it down.
type stands struct {
	Refused    *refused     `json:"refused,omitempty"` // then nothing else is said
	Present    *int         `json:"present,omitempty"`
	Owed       *int         `json:"owed,omitempty"`
	Owes       []string     `json:"owes,omitzero"`
	Times      []*[2]string `json:"times,omitzero"`  // when each stage was opened and is to be decided
	Stamps     [][3]any     `json:"stamps,omitzero"` // stage, hand and principal
	Successors [][3]any     `json:"successors,omitzero"`
	As         string       `json:"as,omitempty"` // settled, or how it ended
	By         string       `json:"by,omitempty"`
	At         string       `json:"at,omitempty"`
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
	out := stands{Present: &st.Present, Owed: new(int), Owes: []string{}, Times: []*[2]string{}, Stamps: [][3]any{},
		Successors: [][3]any{}}
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
	for _, act := range st.Stands {
		out.Successors = append(out.Successors, [3]any{act.Stage, act.For.User, act.To.User})
	}
	if st.Last != nil {
		out.As, out.By, out.At = "settled", st.Last.Hand.User, textOf(st.Last.At)
		if st.Ended() != "" {
			out.As = string(st.Ended())
		}
	}
	return out
}

// drawnWalk draws a walk: of half of them the last act, or the route, is one that makes no sense, for the reason that
// was seen least.
func drawnWalk(r *rand.Rand, seen map[circulation.Why]int) circulation.Gate {
	g, tell := organisedAt(r, drawn(r))
	for circulation.Walk(g).Refused != nil && r.IntN(30) > 0 {
		g, tell = organisedAt(r, drawn(r))
	}
	switch r.IntN(160) {
	case 0, 1, 2, 3:
		g.Route.Form++
	case 4, 5, 6, 7:
		g.Route.Stages[0].Mode = "together"
	case 8, 9, 10, 11:
		g.Route = nil
		return g
	case 12, 13, 14, 15, 16, 17:
		g, tell = replacedOften(), func(act circulation.Act) circulation.Act { return act }
	case 18:
		return full(g, r)
	case 19, 20, 21, 22:
		g.Rule = nil
	case 23, 24, 25, 26, 27, 28, 29, 30:
		g, tell = organisedAt(r, bySettings(r.IntN(8) > 0))
	}
	if r.IntN(8) == 0 {
		g.Hours = []int{350 * 24, 3}[r.IntN(2)]
	}
	st := circulation.Walk(g)
	for range 2 + r.IntN(12) {
		if act := tell(drawnAct(r, st)); circulation.Admit(g, st, act) == nil {
			g = then(g, act)
			st = circulation.Walk(g)
		}
	}
	if r.IntN(2) == 0 {
		return g
	}
	last, least := g, circulation.Why("")
	for range 200 {
		act := tell(drawnAct(r, st))
		if r.IntN(10) == 0 {
			act.Text = strings.Repeat("長", r.IntN(2)*(circulation.MaxText+1))
		}
		refused, ok := errors.AsType[*circulation.Refusal](circulation.Admit(g, st, act))
		if ok && (least == "" || seen[refused.Why] < seen[least]) {
			last, least = then(g, act), refused.Why
		}
	}
	seen[least]++
	return last
}

// replacedOften returns a gate on which as many people were replaced as may be.
func replacedOften() circulation.Gate {
	g := gateOf(1, desk("one", 1, "A", "B"))
	for range circulation.MaxStands / 2 {
		g = after(g, successor("X", "A", "D", 1), successor("X", "D", "A", 1))
	}
	return g
}

// full returns the gate with a stage left out for a reason so long that hardly anything fits beside the rest, or one
// character too much, and what fits then.
func full(g circulation.Gate, r *rand.Rand) circulation.Gate {
	with := func(n int) circulation.Gate {
		route := *g.Route
		left := circulation.Stage{Name: "left out", Mode: circulation.ModePeople,
			LeftOut: strings.Repeat("<\"長𩸽\u2028", n/5) + strings.Repeat("&", n%5)}
		route.Stages = append(route.Stages[:len(route.Stages):len(route.Stages)], left)
		full := g
		full.Route = &route
		return full
	}
	most := sort.Search(100<<10, func(n int) bool { return circulation.Walk(with(n+1)).Refused != nil })
	if g = with(most + r.IntN(2)); circulation.Walk(g).Refused == nil {
		st := circulation.Walk(g)
		act := of(deny, "", st.Present)
		if owes := st.Owes(); len(owes) > 0 {
			act.Hand, act.Principal, act.Found.Org = owes[0], owes[0], "v8"
			act.Text = strings.Repeat("<", circulation.MaxText)
			return then(g, act)
		}
	}
	return g
}

// differs has verify.py walk gates, and returns what differs from this package; "" if nothing does.
func differs(t *testing.T, walks []circulation.Gate, seen map[string]int) string {
	t.Helper()
	var gates, errs bytes.Buffer
	var want []string
	for _, walk := range walks {
		kept := expect.Value(json.Marshal(walk))(t)
		gates.Write(append(kept, '\n'))
		var g circulation.Gate
		expect.NoError(t, json.Unmarshal(kept, &g))
		is := standsOf(g)
		want = append(want, sorted(t, expect.Value(json.Marshal(is))(t)))
		for _, what := range covered(g, is) {
			seen[what]++
		}
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
		if says := sorted(t, got[n]); says != want[n] {
			return fmt.Sprintf("%s: verify.py says\n%s, not\n%s", lines[n], says, want[n])
		}
	}
	return ""
}

// Of 10,000 walks drawn at random, verify.py says what this package says; of a million at night.
func TestBothLanguagesWalkAlike(t *testing.T) {
	t.Parallel()
	why, seen, times := map[circulation.Why]int{}, map[string]int{}, uint64(10_000)
	if expect.Long() {
		times = 1_000_000
	}
	for from := uint64(0); from < times; from += 1000 {
		var walks []circulation.Gate
		for n := range uint64(1000) {
			walks = append(walks, drawnWalk(rand.New(rand.NewPCG(expect.Seed(), from+n)), why))
		}
		is := differs(t, walks, seen)
		expect.Must(t, is == "", "seed %d, one of the walks from %d on, %s", expect.Seed(), from, is)
	}
	for _, what := range []string{"", "settled", "send_back", "give_back", "deny", "unknown", "hash", "again", "ended", "settled",
		"self", "stage",
		"found", "text", "bounds", "not_on_route", "turn", "twice", "hands", "party", "not_asked", "already_asked", "enough",
		"a successor", "nothing found of a successor", "an account with two keys", "a principal's hand", "hardly any room",
		"an asker's end", "a part has enough", "by the settings", "an asker's stamp", "nobody is asked", "the rule is gone", "another rule's delegation"} {
		expect.That(t, seen[what] > 0, "no walk is %q: %v", what, seen)
	}
	for _, kind := range circulation.Kinds {
		expect.That(t, seen["did "+string(kind)] > 0, "nobody did %s: %v", kind, seen)
	}
	t.Log(seen)
}

// sorted is JSON with its keys in order.
func sorted(t *testing.T, text []byte) string {
	var v any
	expect.NoError(t, json.Unmarshal(text, &v))
	return string(expect.Value(json.Marshal(v))(t))
}

// beyond says what came to a walk beside its route.
func beyond(g circulation.Gate) (what []string) {
	st := circulation.Walk(g)
	for i := range st.Stages {
		s := &st.Stages[i]
		if s.Owed > 0 && slices.ContainsFunc(s.PartStates(), func(p circulation.PartState) bool { return p.Owed == 0 }) {
			what = append(what, "a part has enough")
		}
	}
	return what
}

// covered says what a walk is an example of.
func covered(g circulation.Gate, is stands) (what []string) {
	if is.Refused == nil {
		what = append(what, is.As)
	} else {
		what = append(what, string(is.Refused.Why))
	}
	for _, act := range g.Acts {
		what = append(what, "did "+string(act.Kind))
	}
	switch {
	case g.Rule != nil || g.Route == nil:
	case is.Refused != nil && is.Refused.Act == 0:
		what = append(what, "the rule is gone")
	case len(g.Route.Stages) == 0:
		what = append(what, "nobody is asked")
	default:
		what = append(what, "by the settings")
		if is.As == "settled" && slices.ContainsFunc(g.Askers, g.Acts[0].Hand.Is) {
			what = append(what, "an asker's stamp")
		}
	}
	what = append(what, beyond(g)...)
	if len(is.Successors) > 0 {
		what = append(what, "a successor")
	}
	if g.Route != nil && len(circulation.OpenedText(g)) > 80<<10 {
		what = append(what, "hardly any room")
	}
	if len(g.Acts) == 0 || g.Route == nil {
		return what
	}
	k, people, last := keys{}, slices.Clone(g.Askers), g.Acts[len(g.Acts)-1]
	for _, s := range g.Route.Stages {
		people = append(people, s.People...)
	}
	for _, act := range g.Acts {
		people = append(people, act.Hand, act.Principal)
	}
	for _, p := range people {
		if was, known := k[p.User]; known && was != p.Person && is.Refused == nil {
			what = append(what, "an account with two keys")
		}
		k[p.User] = p.Person
	}
	if is.Refused == nil && last.Ends() && slices.ContainsFunc(g.Askers, last.Hand.Is) {
		what = append(what, "an asker's end")
	}
	if is.Refused != nil && is.Refused.Why == circulation.WhyFound && last.Kind == circulation.Stand &&
		last.Found.Org != "" {
		what = append(what, "nothing found of a successor")
	}
	if is.Refused != nil && is.Refused.Why == circulation.WhyFound && !last.Found.Delegation.Covers(g.Rule) {
		what = append(what, "another rule's delegation")
	}
	if is.Refused != nil && is.Refused.Why == circulation.WhyTwice &&
		slices.ContainsFunc(g.Acts, func(act circulation.Act) bool {
			return act.Kind == stamp && act.Stage == last.Stage && act.Principal.User == last.Hand.User &&
				act.Hand.User != last.Hand.User
		}) {
		what = append(what, "a principal's hand")
	}
	return what
}
