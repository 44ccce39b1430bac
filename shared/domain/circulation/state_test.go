package circulation_test

import (
	"encoding/json"
	"errors"
	"sort"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func why(g circulation.Gate, act circulation.Act) circulation.Why {
	return whyAt(g, circulation.Walk(g), act)
}

// whyAt is why in the gate's state st, for several acts.
func whyAt(g circulation.Gate, st circulation.State, act circulation.Act) circulation.Why {
	if refused, ok := errors.AsType[*circulation.Refusal](circulation.Admit(g, st, act)); ok {
		return refused.Why
	}
	return ""
}

func walked(g circulation.Gate, acts ...circulation.Act) circulation.State {
	return circulation.Walk(after(g, acts...))
}

// Each stage has its own time from when it opened.
func TestEachStageHasItsOwnTime(t *testing.T) {
	g := gateOf(2, desk("one", 2, "A", "B"), desk("two", 1, "C"))
	is := func(st circulation.State, stage int, hours int) {
		t.Helper()
		s := st.Stages[stage-1]
		if hours < 0 {
			expect.That(t, s.OpenedAt == nil && s.DecideBy == nil, "stage %d opened at %v", stage, s.OpenedAt)
			return
		}
		want := opened.Add(time.Duration(hours) * time.Hour)
		expect.Must(t, s.OpenedAt != nil && s.OpenedAt.Equal(want) && s.DecideBy.Equal(want.Add(72*time.Hour)),
			"stage %d is open from %v to %v, not from %v", stage, s.OpenedAt, s.DecideBy, want)
	}
	st := walked(g, of(stamp, "A", 1))
	is(st, 1, 0)
	is(st, 2, -1)
	st = walked(g, of(stamp, "A", 1), of(stamp, "B", 1))
	is(st, 1, 0)
	is(st, 2, 2)

	g.Hours = 300 * 24
	st = walked(g, of(stamp, "A", 1), of(stamp, "B", 1))
	expect.That(t, st.Stages[1].DecideBy.Equal(opened.Add(300*24*time.Hour)), "together it takes until %v",
		st.Stages[1].DecideBy)
}

func TestWhatStandsIsRead(t *testing.T) {
	g := gateOf(2, desk("one", 2, "A", "B", "C"), desk("two", 1, "C", "D"))
	st := walked(g, of(stamp, "A", 1), successor("X", "B", "E", 1), instead(stamp, "Z", "E", 1))
	expect.Same(t, saidAllOf(st.Stamps()), []string{"stamp of A for A at 1", "stamp of Z for E at 1"})
	expect.Same(t, saidAllOf(st.Stands), []string{"stand of X for X at 1 B>E"})
	expect.Same(t, st.Owes(), people("C", "D"))
	expect.That(t, st.Last == nil && st.Present == 2 && st.CurrentStage().Owed == 1 && st.Ended() == "", "%+v", st)

	st = walked(g, of(stamp, "A", 1), of(stamp, "B", 1), of(stamp, "D", 2))
	expect.That(t, st.Settled && st.Last.Hand == person("D") && st.Last.At.Equal(opened.Add(3*time.Hour)) &&
		st.Ended() == "", "%+v", st)
	st = walked(g, of(stamp, "A", 1), of(sendBack, "B", 1))
	expect.That(t, !st.Settled && st.Ended() == sendBack && st.Last.Hand == person("B"), "%+v", st)
}

// Admit changes neither the gate nor the state that it is given.
func TestAStateIsNeverChanged(t *testing.T) {
	g := after(gateOf(2, desk("one", 2, "A", "B", "C"), desk("two", 1, "C", "D")), of(stamp, "A", 1), of(stamp, "B", 1))
	st := circulation.Walk(g)
	was := stateOf(st)
	for _, act := range []act{of(stamp, "D", 2), successor("X", "C", "E", 2), of(deny, "C", 2)} {
		expect.NoError(t, circulation.Admit(g, st, act))
		expect.Is(t, stateOf(st), was)
	}
}

// What else is done keeps nobody from stamping or ending it.
func TestStampsAndEndsAlwaysFit(t *testing.T) {
	g := gateOf(1, crowd(100)...)
	first := g.Route.Stages[0].People[0].User
	g = after(g, of(stamp, first, 1))
	second := g.Route.Stages[0].People[1].User
	for n := range circulation.MaxActs - 101 {
		g = after(g, successor("X", []string{second, "F"}[n%2], []string{"F", second}[n%2], 1))
	}
	expect.Is(t, why(g, successor("X", "F", "G", 1)), circulation.WhyBounds)
	last := circulation.Walk(g)
	for _, p := range last.Stages[0].People[1:] {
		st := circulation.Walk(g)
		expect.Is(t, whyAt(g, st, of(deny, p.User, 1)), "")
		expect.Is(t, whyAt(g, st, of(stamp, p.User, 1)), "")
		g = then(g, of(stamp, p.User, 1))
	}
	expect.That(t, circulation.Walk(g).Settled && len(g.Acts) < circulation.MaxActs, "%d acts", len(g.Acts))
}

func TestSuccessorsAndTextsAreBounded(t *testing.T) {
	g := gateOf(1, desk("one", 1, "U00", "B"))
	for n := range circulation.MaxStands {
		act := successor("X", "U"+string(rune('0'+n/10))+string(rune('0'+n%10)),
			"U"+string(rune('0'+(n+1)/10))+string(rune('0'+(n+1)%10)), 1)
		expect.Is(t, why(g, act), "")
		g = then(g, act)
	}
	expect.Is(t, why(g, successor("X", "U20", "U21", 1)), circulation.WhyBounds)
	expect.Is(t, why(g, of(stamp, "U20", 1)), "")

	g = gateOf(1, crowd(100)...)
	users, texts := g.Route.Stages[0].People, 0
	for _, p := range users {
		act := instead(stamp, "Z"+p.User, p.User, 1)
		act.Found.Delegation.Key += strings.Repeat("0", 67) // as long as a stamp without a text is taken to be
		without, st := act, circulation.Walk(g)
		act.Text = strings.Repeat("𩸽", circulation.MaxText)
		if refused := whyAt(g, st, act); refused != "" {
			expect.Is(t, refused, circulation.WhyBounds)
			act = without
			without.Found.Delegation = &circulation.Delegation{Key: act.Found.Delegation.Key + strings.Repeat("0", 8<<10),
				Rev: 1}
			expect.Is(t, whyAt(g, st, without), "")
		}
		expect.Is(t, whyAt(g, st, act), "")
		texts += len(act.Text)
		g = then(g, act)
		end := of(deny, p.User, 1)
		end.Text = strings.Repeat("𩸽", circulation.MaxText)
		n := len(expect.Value(json.Marshal([]any{g.Route, g.Acts, end}))(t))
		expect.Must(t, n <= 96<<10, "with an end it has %d bytes", n)
	}
	expect.That(t, circulation.Walk(g).Settled && texts > 8<<10, "texts of %d bytes", texts)
	t.Log(texts, len(expect.Value(json.Marshal([]any{g.Route, g.Acts}))(t)))
}

// A gate so full that only what is owed and an end fit takes a denial with the longest reason.
func TestAFullGateTakesTheLongestDenial(t *testing.T) {
	for name, longest := range map[string]string{"four bytes each": "𩸽", "escaped": "<", "control characters": "\x01",
		"broken": "\xff"} {
		with := func(n int) circulation.Gate {
			left := desk("left out", 1, "F")
			left.LeftOut = strings.Repeat(longest, n)
			return gateOf(1, desk("one", 1, "A"), left)
		}
		most := sort.Search(100<<10, func(n int) bool { return circulation.Walk(with(n+1)).Refused != nil })
		g, end := with(most), of(deny, "A", 1)
		end.Text = strings.Repeat(longest, circulation.MaxText)
		expect.Is(t, why(g, end), "", name)
		expect.Is(t, why(g, of(stamp, "A", 1)), "", name)
		expect.Is(t, why(g, changed(of(stamp, "A", 1), func(a *act) { a.Text = end.Text })), circulation.WhyBounds, name)
		n := len(expect.Value(json.Marshal(then(g, end)))(t))
		expect.That(t, n <= 96<<10 && n > 92<<10, "%s: with the denial it has %d bytes", name, n)
	}
}

// Askers are in the gate's row, too.
func TestAskersAreCounted(t *testing.T) {
	g := gateOf(1, desk("one", 1, "A"))
	g.Askers = people(strings.Repeat("q", 100<<10))
	expect.That(t, circulation.Walk(g).Refused != nil, "a gate of 100 KiB opens")
}

func TestTheHashOfActsIsThatOfTheirRow(t *testing.T) {
	acts := after(gateOf(1), of(stamp, "A", 1), successor("X", "A", "B", 1)).Acts
	same := append([]act{}, acts...)
	same[0].At = same[0].At.In(time.FixedZone("JST", 9*3600)).Add(999 * time.Microsecond)
	expect.Is(t, circulation.Hash(same), circulation.Hash(acts))
	same[1].Text = "another reason"
	expect.That(t, circulation.Hash(same) != circulation.Hash(acts) &&
		circulation.Hash(acts[:1]) != circulation.Hash(acts), "two have one hash")
}

// Without a rule the settings say who may act, at the time of the act, which says how they allowed it.
func TestAGateBySettingsAsksWhomTheyAllow(t *testing.T) {
	g, none := bySettings(true), bySettings(false)
	stamped := after(g, allowed(stamp, "A", false))
	unlisted := allowed(stamp, "A", true)
	unlisted.Found.Allowed.As = ""
	standIn := instead(stamp, "A", "B", 1)
	standIn.Found.Allowed = allowed(stamp, "A", true).Found.Allowed
	for name, c := range map[string]struct {
		gate circulation.Gate
		act  act
		why  circulation.Why
	}{
		"a stamp":                        {g, allowed(stamp, "A", false), ""},
		"a stamp that nobody looked up":  {g, of(stamp, "A", 1), circulation.WhyFound},
		"a stamp by nothing":             {g, unlisted, circulation.WhyFound},
		"a stamp for somebody else":      {g, standIn, circulation.WhyFound},
		"an asker's":                     {g, allowed(stamp, "Q", false), circulation.WhySelf},
		"an asker's, who may":            {g, allowed(stamp, "Q", true), ""},
		"an asker sends back":            {g, allowed(sendBack, "Q", false), ""},
		"sent back, nobody looked it up": {g, of(sendBack, "A", 1), circulation.WhyFound},
		"a denial":                       {g, allowed(deny, "A", true), circulation.WhyUnknown},
		"a successor":                    {g, successor("X", "A", "B", 1), circulation.WhyStage},
		"a second stamp":                 {stamped, allowed(stamp, "B", true), circulation.WhySettled},
		"the same again":                 {stamped, allowed(stamp, "A", false), circulation.WhyAgain},
		"a stamp after a rejection": {after(g, allowed(sendBack, "Q", false)), allowed(stamp, "A", true),
			circulation.WhyEnded},
		"nobody is asked":            {none, allowed(stamp, "A", true), circulation.WhySettled},
		"nobody is asked, sent back": {none, allowed(sendBack, "A", true), circulation.WhySettled},
	} {
		err := circulation.Admit(c.gate, circulation.Walk(c.gate), c.act)
		refused, _ := errors.AsType[*circulation.Refusal](err)
		expect.That(t, c.why == "" && err == nil || refused != nil && refused.Why == c.why, "%s: %v, not %q", name, err,
			c.why)
	}
	st := circulation.Walk(stamped)
	expect.That(t, st.Settled && st.Last.Hand == person("A") && len(st.Stamps()) == 1, "%+v", st)
	st = circulation.Walk(none)
	expect.That(t, st.Settled && st.Last == nil && st.Present == 0, "%+v", st)
	g.Hours = 364 * 24
	st = circulation.Walk(g)
	expect.Is(t, *st.Stages[0].DecideBy, opened.AddDate(0, 0, 364))
}

// A field of the rows is a form of its own: who adds one raises Form, since a canary's other version would not see it.
func TestAnotherFieldIsAnotherForm(t *testing.T) {
	expect.Is(t, fieldsOf(circulation.Route{}, circulation.Stage{}, circulation.Person{}, circulation.Act{},
		circulation.Part{}, circulation.Raise{}, circulation.Found{}, circulation.Delegation{}, circulation.Admin{}, circulation.Allowed{}),
		"form stages hands readers org name mode people need left_out filled parts no_stand_ins raises user person via "+
			"form kind hand principal at stage hash surface text found for to n of when to left_out "+
			"delegation org channel allowed admin resolved key rev rules key rev rev as self",
		"are these fields those of form %d?", circulation.Form)
}

// A is at three desks, and stands in for B and C. Whatever A presses, in whatever order, the gate needs another hand.
func TestOnePersonAtManyDesksSettlesNothing(t *testing.T) {
	for hands := 2; hands <= 3; hands++ {
		g := gateOf(hands, desk("section", 1, "A", "B"), desk("accounts", 1, "A", "C"), desk("head", 1, "A", "D"))
		var moves []circulation.Act
		for stage := 1; stage <= 3; stage++ {
			moves = append(moves, of(stamp, "A", stage))
			for _, principal := range []string{"B", "C", "D"} {
				moves = append(moves, instead(stamp, "A", principal, stage))
			}
		}
		states := 0
		var walk func(g circulation.Gate, depth int)
		walk = func(g circulation.Gate, depth int) {
			st := circulation.Walk(g)
			states++
			expect.Must(t, st.Refused == nil && !st.Settled, "%d hands: A settled it alone: %+v", hands, g.Acts)
			if depth == 0 {
				return
			}
			for _, act := range moves {
				if circulation.Admit(g, st, act) == nil {
					walk(then(g, act), depth-1)
				}
			}
		}
		walk(g, 7)
		expect.That(t, states > 2, "only %d states", states)

		alone := gateOf(hands, desk("section", 1, "A"), desk("accounts", 1, "A"), desk("head", 1, "A"))
		expect.That(t, circulation.Walk(alone).Refused != nil, "%d hands: a route of one person opens", hands)
		g = after(g, of(stamp, "A", 1), of(stamp, "A", 2))
		if hands == 2 {
			expect.That(t, circulation.Walk(then(g, of(stamp, "D", 3))).Settled, "D's stamp doesn't settle it")
		}
	}
}

// Nobody stamps at any desk with another account of theirs, as or for an asker, or where the organisation has no row of
// them; and nobody whom the stage doesn't ask, by a delegation of somebody whom it does, for somebody else.
func TestWhoNeverStampsAtAnyDesk(t *testing.T) {
	org := keys{"Q": "q", "Q2": "q", "A": "a", "A2": "a", "B": "b", "C": "c", "X": "x"}
	stages := []circulation.Stage{desk("people", 2, "A", "B", "C", "Q2"), channel("channel"), desk("last", 1, "C", "Q")}
	for n := range stages {
		g := org.gate(gateOf(1, stages[n:n+1]...))
		st := circulation.Walk(g)
		expect.Must(t, st.Refused == nil, "stage %d: %v", n, st.Refused)
		none := org.act(inChannel(stamp, "A", 1)) // of whom the organisation knows nothing
		none.Hand.Person, none.Principal.Person = "", ""
		noOrg := org.act(inChannel(stamp, "C", 1))
		noOrg.Found.Org = ""
		for name, act := range map[string]circulation.Act{
			"the asker":                   org.act(inChannel(stamp, "Q", 1)),
			"the asker's second account":  org.act(inChannel(stamp, "Q2", 1)),
			"for the asker":               org.act(instead(stamp, "X", "Q", 1)),
			"the asker for somebody":      org.act(instead(stamp, "Q", "C", 1)),
			"the second account for C":    org.act(instead(stamp, "Q2", "C", 1)),
			"no row in the organisation":  none,
			"nobody asked about that row": noOrg,
			"a leaver, as nobody says more of them than that they were asked": func() circulation.Act {
				act := org.act(of(stamp, "C", 1))
				act.Found.Org = ""
				return act
			}(),
		} {
			expect.That(t, circulation.Admit(g, st, act) != nil, "stage %d, %s: the stamp counts", n, name)
		}
		twice := then(g, org.act(inChannel(stamp, "A", 1)))
		if n == 0 {
			again := org.act(inChannel(stamp, "A2", 1))
			expect.That(t, circulation.Admit(twice, circulation.Walk(twice), again) != nil, "A stamps twice, by two accounts")
		}
	}
}
