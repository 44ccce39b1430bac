package circulation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// walk is a gate with what was done on it, and what stands. verify.py has to say the same.
type walk struct {
	Gate   circulation.Gate `json:"gate"`
	Stands stands           `json:"stands"`
}

// stands is what stands of a gate, as both languages write it down.
type stands struct {
	Refused    *refused     `json:"refused,omitempty"` // then nothing else is said
	Present    *int         `json:"present,omitempty"`
	Owed       *int         `json:"owed,omitempty"`
	Owes       []string     `json:"owes,omitzero"`
	Times      []*[2]string `json:"times,omitempty"` // when each stage was opened and is to be decided
	Stamps     [][3]any     `json:"stamps,omitzero"` // stage, hand and principal
	Successors [][3]any     `json:"successors,omitzero"`
	As         string       `json:"as,omitempty"` // settled, send_back or deny
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
	out := stands{Present: &st.Present, Owed: new(int), Owes: []string{}, Stamps: [][3]any{}, Successors: [][3]any{}}
	if s := st.Asked(); s != nil {
		out.Owed = &s.Owed
	}
	for _, p := range st.Owes(&g) {
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
	g := drawn(r)
	for circulation.Walk(g).Refused != nil && r.IntN(30) > 0 {
		g = drawn(r)
	}
	tell := func(act circulation.Act) circulation.Act { return act }
	switch r.IntN(40) {
	case 0:
		g.Route.Form++
	case 1:
		g.Route.Stages[0].Mode = "together"
	case 2:
		g.Route = nil
		return g
	case 3:
		g = replacedOften()
	case 4, 5, 6, 7:
		g.Hours = 200 * 24
	case 8, 9, 10, 11, 12, 13, 14, 15, 16, 17:
		g, tell = organised(g), by
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

// testdata/walks.json has 500 walks, one a line, that both languages answer alike. -update draws them anew.
func TestWalksStandAsTheyAreWritten(t *testing.T) {
	file := filepath.Join("testdata", "walks.json")
	if *update {
		var out bytes.Buffer
		why := map[circulation.Why]int{}
		for n := range uint64(500) {
			g := drawnWalk(rand.New(rand.NewPCG(*seed, n)), why)
			out.Write(expect.Value(json.Marshal(walk{g, standsOf(g)}))(t))
			out.WriteByte('\n')
		}
		expect.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
	}
	seen, n := map[string]int{}, 0
	for line := range bytes.Lines(expect.Value(os.ReadFile(file))(t)) {
		var w walk
		expect.NoError(t, json.Unmarshal(line, &w))
		is := standsOf(w.Gate)
		expect.Must(t, string(expect.Value(json.Marshal(is))(t)) == string(expect.Value(json.Marshal(w.Stands))(t)), "walk %d: %+v", n, is)
		if is.Refused != nil {
			seen[string(is.Refused.Why)]++
		} else {
			seen[is.As]++
		}
		n++
	}
	expect.Is(t, n, 500)
	for _, what := range []string{"", "settled", "send_back", "deny", "unknown", "hash", "again", "ended", "settled", "self", "stage",
		"found", "text", "bounds", "not_on_route", "turn", "twice", "hands", "nothing", "next_stamped", "party", "not_asked", "already_asked"} {
		expect.That(t, seen[what] > 0, "no walk is %q: %v", what, seen)
	}
	t.Log(seen)
}
