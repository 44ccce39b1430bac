package circulation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func minutes(kind circulation.Kind, user string, stage int) act {
	return changed(of(kind, user, stage), withMinutes)
}

// A stage with minutes is complete only with those of a meeting, which may come once, with any of its stamps; of what
// wasn't carried with a denial, which ends it. Elsewhere none may come.
func TestMinutesCompleteAStage(t *testing.T) {
	g := gateOf(1, minuted(desk("board", 2, "A", "B", "C")), desk("last", 1, "D"))
	first, with := after(g, of(stamp, "A", 1)), after(g, minutes(stamp, "A", 1))
	for name, c := range map[string]struct {
		gate circulation.Gate
		act  act
		why  circulation.Why
	}{
		"the first stamp":          {g, of(stamp, "A", 1), ""},
		"the last without minutes": {first, of(stamp, "B", 1), circulation.WhyMinutes},
		"the last with them":       {first, minutes(stamp, "B", 1), ""},
		"the last after them":      {with, of(stamp, "B", 1), ""},
		"a second time":            {with, minutes(stamp, "B", 1), circulation.WhyRecorded},
		"the same again":           {with, minutes(stamp, "A", 1), circulation.WhyAgain},
		"once they were taken back": {after(with, of(stamp, "B", 1), of(back, "A", 1)), of(stamp, "C", 1),
			circulation.WhyMinutes},
		"a denial without them":      {first, of(deny, "B", 1), ""},
		"a denial with them":         {first, minutes(deny, "B", 1), ""},
		"a denial after they are in": {with, minutes(deny, "B", 1), circulation.WhyRecorded},
		"where none are asked for":   {after(with, of(stamp, "B", 1)), minutes(stamp, "D", 2), circulation.WhyUnknown},
		"by whoever asks":            {g, minutes(deny, "Q", 1), circulation.WhySelf},
		"with what is sent back":     {first, minutes(sendBack, "B", 1), circulation.WhyUnknown},
	} {
		expect.Is(t, why(c.gate, c.act), c.why, "%s", name)
	}
	st := circulation.Walk(after(first, minutes(deny, "B", 1)))
	expect.That(t, st.Ended() == deny && !st.Last.Meeting.Carried, "%+v", st)
	st = circulation.Walk(with)
	expect.That(t, st.Stages[0].Recorded().Hand == person("A") && st.Present == 1, "%+v", st)
}

// Where a stage has a secretary nobody else records, and their stamp comes with minutes, whenever it is given.
func TestTheSecretaryRecords(t *testing.T) {
	g := gateOf(1, secretary(cut(desk("board", 2, "S", "A", "B"), 1, 1, 2, 1)))
	stamped := after(g, of(stamp, "A", 1))
	for name, c := range map[string]struct {
		gate circulation.Gate
		act  act
		why  circulation.Why
	}{
		"a member":                     {g, of(stamp, "A", 1), ""},
		"a member with minutes":        {g, minutes(stamp, "A", 1), circulation.WhySecretary},
		"a member who denies with any": {g, minutes(deny, "A", 1), circulation.WhySecretary},
		"a member who denies":          {g, of(deny, "A", 1), ""},
		"the secretary with minutes":   {g, minutes(stamp, "S", 1), ""},
		"without":                      {g, of(stamp, "S", 1), circulation.WhyMinutes},
		"last, without":                {stamped, of(stamp, "S", 1), circulation.WhyMinutes},
		"last, with":                   {stamped, minutes(stamp, "S", 1), ""},
		"what wasn't carried":          {stamped, minutes(deny, "S", 1), ""},
	} {
		expect.Is(t, why(c.gate, c.act), c.why, "%s", name)
	}
	st := circulation.Walk(stamped)
	expect.Same(t, st.Stages[0].Records(), people("S"))
	for name, spoil := range map[string]func(s *circulation.Stage){
		"a part that isn't there": func(s *circulation.Stage) { s.Secretary = 3 },
		"a negative one":          func(s *circulation.Stage) { s.Secretary = -1 },
		"of no minutes":           func(s *circulation.Stage) { s.Minutes = false },
	} {
		odd := gateOf(1, secretary(cut(desk("board", 2, "S", "A", "B"), 1, 1, 2, 1)))
		spoil(&odd.Route.Stages[0])
		st := circulation.Walk(odd)
		expect.That(t, st.Refused != nil, "%s", name)
	}
	channels := channel("channel")
	channels.Minutes = true
	st = circulation.Walk(gateOf(1, channels))
	expect.That(t, st.Refused != nil, "a channel keeps no minutes")
}

// Minutes that make no sense are none, and name their field.
func TestWhatMinutesSay(t *testing.T) {
	g := gateOf(1, minuted(desk("board", 1, "A", "B")))
	for name, c := range map[string]struct {
		spoil func(m *circulation.Meeting)
		field string
	}{
		"whole":            {func(*circulation.Meeting) {}, ""},
		"only a reference": {func(m *circulation.Meeting) { m.Minutes, m.Reference = "", "文書 12" }, ""},
		"the longest": {func(m *circulation.Meeting) {
			m.Minutes, m.Reference = strings.Repeat("議", circulation.MaxMinutes), strings.Repeat("場", circulation.MaxReference)
		}, ""},
		"no day":                {func(m *circulation.Meeting) { m.Held = "" }, "held"},
		"a day that isn't":      {func(m *circulation.Meeting) { m.Held = "2026-02-30" }, "held"},
		"a day to come":         {func(m *circulation.Meeting) { m.Held = opened.AddDate(0, 0, 2).Format(time.DateOnly) }, "held"},
		"nobody there":          {func(m *circulation.Meeting) { m.Present = nil }, "present"},
		"the same twice":        {func(m *circulation.Meeting) { m.Present = []string{"A", "A"} }, "present"},
		"too many there":        {func(m *circulation.Meeting) { m.Present = many(circulation.MaxPresent + 1) }, "present"},
		"neither text nor link": {func(m *circulation.Meeting) { m.Minutes = "" }, "minutes"},
		"too long a text": {func(m *circulation.Meeting) {
			m.Minutes = strings.Repeat("議", circulation.MaxMinutes+1)
		}, "minutes"},
		"too long a reference": {func(m *circulation.Meeting) {
			m.Reference = strings.Repeat("場", circulation.MaxReference+1)
		}, "reference"},
	} {
		act := minutes(stamp, "A", 1)
		c.spoil(act.Meeting)
		expect.Is(t, act.Meeting.Fault(act.At), c.field, "%s", name)
		want := circulation.Why("")
		if c.field != "" {
			want = circulation.WhyUnknown
		}
		expect.Is(t, why(g, act), want, "%s", name)
	}
	carried := minutes(stamp, "A", 1)
	carried.Meeting.Carried = false
	expect.Is(t, why(g, carried), circulation.WhyUnknown, "a stamp on what wasn't carried")
}

// The longest minutes fit wherever they are owed, however full the gate is.
func TestMinutesAlwaysFit(t *testing.T) {
	g := gateOf(1, minuted(desk("board", 1, "A", "B")))
	for full := false; !full; {
		x := of(ask, "A", 1)
		if st := circulation.Walk(g); st.Open() != nil {
			x = of(answer, "Q", 1)
		}
		x.Text = strings.Repeat("<", circulation.MaxText)
		if full = why(g, x) != ""; !full {
			g = after(g, x)
		}
	}
	act := minutes(stamp, "A", 1)
	act.Meeting.Minutes = strings.Repeat("<", circulation.MaxMinutes)
	act.Meeting.Reference = strings.Repeat("<", circulation.MaxReference)
	act.Meeting.Present = many(circulation.MaxPresent)
	expect.Is(t, why(g, act), "")
	st := circulation.Walk(after(g, act))
	expect.That(t, st.Settled, "%+v", st)
}

func many(n int) (users []string) {
	for range n {
		users = append(users, fmt.Sprintf("U%021d", len(users)))
	}
	return users
}

// Who turns out to be an asker may deny what a meeting decides, and records nothing of it.
func TestWhoTurnsOutToAskRecordsNothing(t *testing.T) {
	g := two.gate(gateOf(1, minuted(desk("board", 1, "A", "B", "Q"))))
	asks := keys{"A": two["Q"]}
	expect.Is(t, why(g, asks.act(of(deny, "A", 1))), "")
	expect.Is(t, why(g, asks.act(changed(of(deny, "A", 1), withMinutes))), circulation.WhySecretary)
	expect.Is(t, why(g, two.act(changed(of(deny, "A", 1), withMinutes))), "")
}
