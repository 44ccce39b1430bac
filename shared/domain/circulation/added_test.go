package circulation_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

const (
	approve = circulation.AsApprove
	consult = circulation.AsConsult
)

// Who is added is asked next, beside what the route asks: nothing of that is owed less, and nobody is removed.
func TestAnAdditionIsOwedBeside(t *testing.T) {
	g := gateOf(2, desk("one", 2, "A", "B"), desk("two", 1, "C"))
	added := after(g, of(stamp, "A", 1), addition("B", "X", approve, 1), addition("B", "Y", consult, 1))
	st := circulation.Walk(added)
	expect.Same(t, st.InOrder(), []int{1, 3, 4, 2})
	expect.That(t, st.Present == 1 && st.Stages[2].Owed == 1 && st.Stages[2].By.Hand.User == "B" &&
		!st.Stages[2].Counts() && st.Stages[1].Counts(), "%+v", st)
	added = after(added, of(stamp, "B", 1))
	st = circulation.Walk(added)
	expect.That(t, st.Present == 3 && st.Stages[2].OpenedAt.Equal(added.Acts[3].At), "stage %d", st.Present)
	expect.That(t, len(st.Owes()) == 1 && st.Owes()[0].User == "X", "%v owe", st.Owes())
	expect.Is(t, why(added, of(stamp, "C", 2)), circulation.WhyStage)
	further := after(added, addition("X", "Z", approve, 3))
	st = circulation.Walk(further)
	expect.Same(t, st.InOrder(), []int{1, 3, 5, 4, 2})
	on := after(added, of(stamp, "X", 3))
	expect.Is(t, why(on, of(back, "B", 1)), circulation.WhyNext)
	st = walked(on, of(stamp, "Y", 4), of(stamp, "C", 2))
	expect.That(t, st.Settled && len(st.Stamps()) == 4 && len(st.Consents()) == 1 && st.Hands() == 3, "%+v", st.Refused)
	st = walked(added, of(deny, "X", 3))
	expect.Is(t, st.Ended(), deny, "who is added ends it as others do")
	expect.Is(t, why(on, of(deny, "Y", 4)), circulation.WhyConsult)
	st = walked(added, successor("X", "X", "Z", 3))
	expect.That(t, st.Refused != nil, "X replaces themselves")
	st = walked(added, successor("R", "X", "Z", 3))
	expect.That(t, len(st.Owes()) == 1 && st.Owes()[0].User == "Z", "%v owe", st.Owes())
	expect.That(t, st.Replaceable(3, &circulation.Person{User: "Z"}), "who was added can't be replaced")
}

// Who was added is asked in the next round, too: after the stage of that name, in the order in which they were asked,
// and whoever was put in their place in theirs.
func TestWhoWasAddedIsAskedInTheNextRound(t *testing.T) {
	g := gateOf(1, desk("one", 1, "A", "B"), desk("two", 1, "C"))
	g = after(g, addition("A", "X", approve, 1), addition("B", "Y", consult, 1), of(stamp, "A", 1),
		addition("X", "Z", approve, 3), successor("S", "X", "W", 3), of(stamp, "W", 3), of(stamp, "Z", 5), of(stamp, "Y", 4),
		addition("C", "V", approve, 2), of(giveBack, "C", 2))
	st := circulation.Walk(g)
	added := func(on circulation.Gate) (says []string) {
		for _, c := range st.Carries(on.Route, 1) {
			says = append(says, fmt.Sprint(c.By.User, " ", c.To.User, " ", c.As, " ", c.After))
		}
		return says
	}
	expect.Same(t, added(g), []string{"A W approve 1", "X Z approve 1", "B Y consult 1", "C V approve 2"})
	moved := gateOf(1, desk("zero", 1, "D"), desk("two", 1, "C"), desk("three", 1, "E"))
	expect.Same(t, added(moved), []string{"A W approve 3", "X Z approve 3", "B Y consult 3", "C V approve 2"})
	next := gateOf(1, desk("one", 1, "A", "B"), desk("two", 1, "C"))
	next.Route.Carried = st.Carries(next.Route, 1)
	st = circulation.Walk(next)
	expect.That(t, st.Refused == nil, "%+v", st.Refused)
	expect.Same(t, st.InOrder(), []int{1, 3, 4, 5, 2, 6})
	first := &st.Stages[2]
	expect.That(t, first.Carried != nil && first.By.Hand.User == "A" && !first.Counts(), "%+v", first)
	expect.Same(t, added(next), []string{"A W approve 1", "X Z approve 1", "B Y consult 1", "C V approve 2"})
	expect.Is(t, why(next, addition("A", "W", approve, 1)), circulation.WhyAgain)
	expect.Is(t, why(next, addition("B", "Z", approve, 1)), circulation.WhyTo)
	st = walked(next, of(stamp, "B", 1), of(stamp, "W", 3), of(stamp, "Z", 4), of(dissent, "Y", 5), of(stamp, "C", 2))
	expect.That(t, st.Present == 6 && st.Hands() == 2, "stage %d, %+v", st.Present, st.Refused)
}

// following returns a gate on which those are asked, too, whom people added to the one before it.
func following(before, g circulation.Gate) circulation.Gate {
	st := circulation.Walk(before)
	g.Route.Carried = st.Carries(g.Route, 1+len(before.Route.Carried))
	return g
}

// Who was added stays asked in each later round, also after one whose route needs their approval anyway, or for which
// they ask themselves.
func TestWhoWasAddedIsAskedInEachLaterRound(t *testing.T) {
	g := after(gateOf(1, desk("one", 1, "A")), addition("A", "X", approve, 1), addition("A", "Y", consult, 1),
		of(giveBack, "A", 1))
	needs := gateOf(1, desk("one", 1, "A"), desk("two", 2, "X", "Y"))
	asks := gateOf(1, desk("one", 1, "A"), desk("two", 1, "Y"))
	asks.Askers = append(asks.Askers, person("X"))
	for name, between := range map[string]circulation.Gate{"the route needs them": needs, "they ask": asks} {
		between = following(g, between)
		st := circulation.Walk(between)
		expect.That(t, st.Refused == nil && len(st.Stages) == 2, "%s: %+v", name, st.Refused)
		last := following(after(between, of(giveBack, "A", 1)), gateOf(1, desk("zero", 1, "B"), desk("one", 1, "A")))
		carried := last.Route.Carried
		expect.Must(t, len(carried) == 2, "%s: %+v", name, carried)
		expect.That(t, carried[0].To.User == "X" && carried[0].As == approve && carried[0].By.User == "A" &&
			carried[0].After == 2 && carried[1].As == consult, "%s: %+v", name, carried)
		last = after(last, of(stamp, "B", 1), of(stamp, "A", 2))
		st = circulation.Walk(last)
		expect.That(t, !st.Settled && st.Present == 3, "%s: stage %d", name, st.Present)
		expect.That(t, new(walked(last, of(stamp, "X", 3), of(stamp, "Y", 4))).Settled, "%s: it isn't settled", name)
	}
}

// Who was added to be consulted, and whose opinion the route asks for anyway, is asked once, and says which round it
// was.
func TestWhoIsConsultedAnywayIsAskedOnce(t *testing.T) {
	before := after(gateOf(1, desk("one", 1, "A")), addition("A", "X", consult, 1), of(giveBack, "A", 1))
	for name, s := range map[string]circulation.Stage{
		"alone": consulted(desk("two", 1, "X")), "of two": consulted(desk("two", 1, "X", "Y")),
		"to approve": desk("two", 1, "X"),
	} {
		g := following(before, gateOf(1, desk("one", 1, "A"), s))
		st := circulation.Walk(g)
		expect.That(t, st.Refused == nil && len(st.Stages) == 2 == (name != "of two"), "%s: %+v", name, st.Stages)
		again := following(after(g, of(giveBack, "A", 1)), gateOf(1, desk("one", 1, "A")))
		st = circulation.Walk(again)
		expect.Must(t, st.Refused == nil && len(st.Stages) == 2, "%s: forgotten: %+v", name, st.Refused)
		expect.Is(t, st.Stages[1].Carried.Round, 1, name)
	}
}

// A stage that may do without somebody's own approval doesn't stand in for that of who was added.
func TestWhoWasAddedIsNotMadeOneOfSome(t *testing.T) {
	before := after(gateOf(1, desk("one", 1, "A")), addition("A", "X", approve, 1), of(giveBack, "A", 1))
	for name, s := range map[string]circulation.Stage{
		"one of three": desk("two", 1, "X", "Y", "Z"), "two of three": desk("two", 2, "X", "Y", "Z"),
		"one of a part": cut(desk("two", 2, "Z", "X", "Y"), 1, 1, 2, 1), "consulted": consulted(desk("two", 1, "X", "Y")),
		"consulted alone": consulted(desk("two", 1, "X")),
	} {
		g := following(before, gateOf(1, desk("one", 1, "A"), s))
		st := circulation.Walk(after(g, of(stamp, "A", 1)))
		expect.Must(t, st.Refused == nil && st.Present == 3, "%s: %+v", name, st.Refused)
		expect.That(t, st.Stages[2].Carried != nil && st.Owes()[0].User == "X", "%s: %v", name, st.Owes())
	}
	for name, s := range map[string]circulation.Stage{
		"alone": desk("two", 1, "X"), "both": desk("two", 2, "X", "Y"), "beside an asker": desk("two", 1, "Q", "X"),
		"all of a part": cut(desk("two", 2, "X", "Y", "Z"), 1, 1, 2, 1),
	} {
		g := following(before, gateOf(1, desk("one", 1, "A"), s))
		st := circulation.Walk(after(g, of(stamp, "A", 1)))
		expect.That(t, st.Refused == nil && len(st.Stages) == 2, "%s: they are asked twice: %+v", name, st.Refused)
	}
}

// Who asks for it now, or whose approval the route needs anyway, isn't asked beside it. Whoever is left out stays in
// sight, and none of them is forgotten.
func TestWhoNeedNotBeAskedAgain(t *testing.T) {
	g := carrying(gateOf(1, desk("one", 1, "A"), desk("two", 1, "C")), "Q", "C", "X", "X")
	st := circulation.Walk(g)
	expect.That(t, st.Refused == nil && len(st.Stages) == 3 && st.Stages[2].People[0].User == "X", "%+v", st)
	g.Route.Carried[2].LeftOut = "standing"
	g.Route.Carried = g.Route.Carried[:3]
	st = circulation.Walk(g)
	expect.Must(t, st.Refused == nil && len(st.Stages) == 3, "%+v", st)
	expect.That(t, st.Stages[2].LeftOut != "" && st.Stages[2].Owed == 0, "%+v", st.Stages[2])
	expect.That(t, new(walked(g, of(stamp, "A", 1), of(stamp, "C", 2))).Settled, "who is left out is waited for")
	expect.That(t, len(st.Carries(g.Route, 2)) == 3, "somebody is forgotten: %+v", st.Carries(g.Route, 2))
	for name, spoil := range map[string]func(c *circulation.Carried){
		"before all":  func(c *circulation.Carried) { c.After = 0 },
		"behind all":  func(c *circulation.Carried) { c.After = 3 },
		"in no round": func(c *circulation.Carried) { c.Round = 0 },
		"as nothing":  func(c *circulation.Carried) { c.As = "" },
		"an account":  func(c *circulation.Carried) { c.To.User = "" },
		"an eleventh": func(*circulation.Carried) { g = carrying(g, strings.Split("a b c d e f g h i j", " ")...) },
	} {
		g = carrying(gateOf(1, desk("one", 1, "A"), desk("two", 1, "C")), "X")
		spoil(&g.Route.Carried[0])
		expect.That(t, circulation.Walk(g).Refused != nil, "%s: it is asked", name)
	}
	g = bySettings(true)
	expect.That(t, circulation.Walk(carrying(g, "X")).Refused != nil, "without a rule somebody is carried over")
}

// A friend's stamp replaces nobody's: not the one that a stage needs, nor another hand.
func TestAFriendIsNoSecondHand(t *testing.T) {
	g := gateOf(2, desk("one", 1, "A"), desk("two", 1, "A", "B"))
	g = after(g, addition("A", "X", approve, 1), of(stamp, "A", 1), of(stamp, "X", 3))
	st := circulation.Walk(g)
	expect.That(t, st.Hands() == 1 && st.Present == 2, "%d hands", st.Hands())
	expect.Is(t, why(g, of(stamp, "A", 2)), circulation.WhyHands)
	expect.That(t, circulation.Walk(after(g, of(stamp, "B", 2))).Settled, "B's stamp doesn't settle it")
	consulted := gateOf(2, consulted(desk("one", 1, "A")), desk("two", 1, "B"))
	expect.That(t, circulation.Walk(consulted).Refused != nil, "a consent is counted as a hand")
}

// Who is consulted consents or objects, and never ends it. Where an objection goes up, one of those who stand over them
// is asked next, once, for as long as an objection stands.
func TestADissentGoesUp(t *testing.T) {
	g := gateOf(1, consulted(desk("one", 2, "A", "B"), "U", "V", "Q"), desk("two", 1, "C"))
	for _, kind := range []circulation.Kind{deny, sendBack, giveBack} {
		expect.Is(t, why(g, of(kind, "A", 1)), circulation.WhyConsult, "%s", kind)
	}
	expect.That(t, walked(g, of(stamp, "A", 1), of(stamp, "B", 1)).Present == 2, "consents don't go on")
	one := after(g, of(dissent, "A", 1))
	st := circulation.Walk(one)
	expect.Same(t, st.InOrder(), []int{1, 3, 2})
	expect.That(t, st.Stages[2].By.Kind == dissent && len(st.Dissents()) == 1 && len(st.Stamps()) == 0, "%+v", st)
	expect.Is(t, why(one, of(dissent, "A", 1)), circulation.WhyAgain)
	expect.Is(t, why(one, of(stamp, "A", 1)), circulation.WhyTwice)
	two := after(one, of(dissent, "B", 1))
	st = circulation.Walk(two)
	expect.That(t, st.Present == 3 && len(st.Stages) == 3, "stage %d of %d", st.Present, len(st.Stages))
	expect.Same(t, st.Owes(), people("U", "V"))
	st = walked(two, of(stamp, "U", 3), of(stamp, "C", 2))
	expect.That(t, st.Settled && len(st.Stamps()) == 2 && len(st.Dissents()) == 2, "%+v", st.Refused)
	expect.Is(t, new(walked(two, of(deny, "V", 3))).Ended(), deny)
	expect.Is(t, why(after(two, of(stamp, "U", 3)), of(back, "A", 1)), circulation.WhyNext)
	back1 := after(two, of(back, "A", 1))
	st = circulation.Walk(back1)
	expect.Same(t, st.InOrder(), []int{1, 3, 2})
	back2 := after(back1, of(back, "B", 1))
	st = circulation.Walk(back2)
	expect.Same(t, st.InOrder(), []int{1, 2})
	expect.That(t, st.Stages[2].Closed && st.Stages[2].OpenedAt == nil && st.Present == 1, "%+v", st.Stages[2])
	expect.Is(t, why(back2, successor("X", "U", "Y", 3)), circulation.WhyStage)
	expect.Is(t, why(back2, of(stamp, "U", 1)), circulation.WhyRoute)
	st = walked(back2, of(dissent, "B", 1), of(stamp, "A", 1))
	expect.That(t, st.Present == 3 && len(st.Stages) == 3, "stage %d of %d", st.Present, len(st.Stages))

	noted := gateOf(1, consulted(desk("one", 1, "A")), desk("two", 1, "C"))
	expect.Same(t, new(walked(noted, of(dissent, "A", 1))).InOrder(), []int{1, 2})
	asker := gateOf(1, consulted(desk("one", 1, "A"), "Q"), desk("two", 1, "C"))
	expect.Same(t, new(walked(asker, of(dissent, "A", 1))).InOrder(), []int{1, 2})
	above := after(gateOf(1, consulted(desk("one", 1, "A"), "Q", "U"), desk("two", 1, "C")), of(dissent, "A", 1))
	expect.Is(t, why(above, of(deny, "Q", 3)), circulation.WhySelf)
	expect.Is(t, why(above, of(deny, "U", 3)), "")
}

// What somebody stamps who is asked after an objection counts at their own later stage, which asks nobody twice.
func TestWhoAnsweredAnObjectionIsNotAskedTwice(t *testing.T) {
	own := desk("two", 1, "U")
	own.Once = true
	g := gateOf(2, consulted(desk("one", 1, "A"), "U", "V"), own, desk("three", 1, "C"))
	objected := after(g, of(dissent, "A", 1))
	for name, c := range map[string]struct {
		gate    circulation.Gate
		present int
		owed    int
	}{
		"who answers":   {after(objected, of(stamp, "U", 4)), 3, 0},
		"another one":   {after(objected, of(stamp, "V", 4)), 2, 1},
		"a stand-in":    {after(objected, instead(stamp, "Z", "U", 4)), 2, 1},
		"not answered":  {objected, 4, 1},
		"nobody did":    {after(g, of(stamp, "A", 1)), 2, 1},
		"taken back":    {after(objected, of(stamp, "U", 4), of(back, "U", 4)), 4, 1},
		"as ever asked": {after(gateOf(2, consulted(desk("one", 1, "A"), "U"), desk("two", 1, "U"), desk("three", 1, "C")), of(dissent, "A", 1), of(stamp, "U", 4)), 2, 1},
	} {
		st := circulation.Walk(c.gate)
		expect.That(t, st.Refused == nil && st.Present == c.present && st.Stages[1].Owed == c.owed, "%s: %+v", name, st)
	}
	answered := after(objected, of(stamp, "U", 4))
	st := circulation.Walk(answered)
	expect.That(t, st.Hands() == 1 && len(st.Stamps()) == 1 && st.Stages[1].Stamps[0].Stage == 4, "%+v", st.Stamps())
	expect.Is(t, why(answered, of(stamp, "U", 2)), circulation.WhyStage)
	expect.Is(t, why(answered, of(back, "U", 2)), circulation.WhyNothing)
	expect.Is(t, why(answered, of(back, "A", 1)), circulation.WhyNext)
	expect.That(t, new(walked(answered, of(stamp, "C", 3))).Settled, "it isn't settled")
	for name, spoil := range map[string]func(s *circulation.Stage){
		"one of two":   func(s *circulation.Stage) { s.People = people("U", "V") },
		"consulted":    func(s *circulation.Stage) { s.As = consult },
		"with minutes": func(s *circulation.Stage) { s.Minutes = true },
		"in parts":     func(s *circulation.Stage) { s.Parts = []circulation.Part{{N: 1, Of: 1}} },
	} {
		spoiled := own
		spoil(&spoiled)
		expect.That(t, circulation.Walk(gateOf(1, desk("one", 1, "A"), spoiled)).Refused != nil, "%s", name)
	}
}

// Somebody who is consulted after all have approved settles it, whatever they say: an approver is asked before.
func TestWhoIsConsultedLastSettlesIt(t *testing.T) {
	g := after(gateOf(1, desk("one", 1, "A")), addition("A", "X", consult, 1), of(stamp, "A", 1))
	for _, kind := range []circulation.Kind{stamp, dissent} {
		st := walked(g, of(kind, "X", 2))
		expect.That(t, st.Settled && st.Last.Kind == kind && len(st.Stamps()) == 1, "%s: %+v", kind, st)
	}
}

func TestWhomPeopleAdd(t *testing.T) {
	g := gateOf(2, desk("one", 2, "A", "B"), desk("two", 1, "C"))
	g.Askers = people("Q")
	one := after(g, of(stamp, "A", 1))
	added := after(g, addition("A", "X", approve, 1))
	many := g
	for _, to := range "abcdefghij" {
		many = after(many, addition("A", string(to), consult, 1))
	}
	unfound := addition("A", "X", approve, 1)
	unfound.Found.Resolved = "otherwise"
	standIn := instead(add, "Z", "A", 1)
	standIn.To, standIn.As, standIn.Found.Resolved = unfound.To, approve, "named"
	for name, c := range map[string]struct {
		gate circulation.Gate
		act  act
		why  circulation.Why
	}{
		"somebody":                {g, addition("A", "X", approve, 1), ""},
		"by a stand-in":           {g, standIn, ""},
		"to consult":              {g, addition("A", "X", consult, 1), ""},
		"as nothing":              {g, addition("A", "X", "", 1), circulation.WhyUnknown},
		"to read":                 {g, addition("A", "X", "read", 1), circulation.WhyUnknown},
		"nobody":                  {g, changed(addition("A", "X", approve, 1), func(a *act) { a.To = nil }), circulation.WhyUnknown},
		"for somebody":            {g, changed(addition("A", "X", approve, 1), func(a *act) { a.For = a.To }), circulation.WhyUnknown},
		"a stamp as something":    {g, changed(of(stamp, "A", 1), func(a *act) { a.As = approve }), circulation.WhyUnknown},
		"whom nobody looked up":   {g, unfound, circulation.WhyFound},
		"without a reason":        {g, changed(addition("A", "X", approve, 1), func(a *act) { a.Text = "" }), circulation.WhyText},
		"an asker":                {g, addition("A", "Q", approve, 1), circulation.WhySelf},
		"by an asker":             {g, addition("Q", "X", approve, 1), circulation.WhySelf},
		"themselves":              {g, addition("A", "A", approve, 1), circulation.WhyParty},
		"by who has stamped":      {one, addition("A", "X", approve, 1), circulation.WhyTwice},
		"before their turn":       {g, addition("C", "X", approve, 1), circulation.WhyTurn},
		"at another stage":        {g, addition("C", "X", approve, 2), circulation.WhyStage},
		"who is asked beside":     {g, addition("A", "B", approve, 1), circulation.WhyTo},
		"who is asked later":      {g, addition("A", "C", approve, 1), circulation.WhyTo},
		"who has stamped":         {one, addition("B", "A", consult, 1), circulation.WhyTo},
		"who was added":           {added, addition("B", "X", approve, 1), circulation.WhyTo},
		"again":                   {added, addition("A", "X", approve, 1), circulation.WhyAgain},
		"for something else":      {added, addition("A", "X", consult, 1), circulation.WhyTo},
		"who was replaced":        {after(g, successor("S", "B", "X", 1)), addition("A", "B", approve, 1), ""},
		"an eleventh":             {many, addition("A", "X", approve, 1), circulation.WhyBounds},
		"in a channel":            {gateOf(1, channel("all")), changed(addition("A", "X", approve, 1), inAChannel), circulation.WhyRoute},
		"without a rule":          {bySettings(true), addition("A", "X", approve, 1), circulation.WhyUnknown},
		"an objection":            {g, of(dissent, "A", 1), circulation.WhyUnknown},
		"an objection, no rule":   {bySettings(true), allowed(dissent, "A", true), circulation.WhyUnknown},
		"an objection, wordless":  {gateOf(1, consulted(desk("a", 1, "A")), desk("b", 1, "B")), objection(""), circulation.WhyText},
		"an objection, with some": {gateOf(1, consulted(desk("a", 1, "A")), desk("b", 1, "B")), objection("why"), ""},
	} {
		expect.Is(t, why(c.gate, c.act), c.why, "%s", name)
	}
}

func inAChannel(a *act) { a.Found.Channel = "C1" }

func objection(text string) act {
	act := of(dissent, "A", 1)
	act.Text = text
	return act
}

// A stage is asked to approve or consulted; what follows an objection is said only of the latter.
func TestAStageThatMakesNoSenseIsNotConsulted(t *testing.T) {
	with := func(change func(s *circulation.Stage)) circulation.Gate {
		s := desk("one", 1, "A")
		change(&s)
		return gateOf(1, s, desk("two", 1, "B"))
	}
	for name, c := range map[string]struct {
		change func(s *circulation.Stage)
		opens  bool
	}{
		"consulted":               {func(s *circulation.Stage) { s.As = consult }, true},
		"noted":                   {func(s *circulation.Stage) { s.As, s.Dissent = consult, circulation.ObjectionNoted }, true},
		"approves, said so":       {func(s *circulation.Stage) { s.As = approve }, false},
		"another word":            {func(s *circulation.Stage) { s.As = "read" }, false},
		"another consequence":     {func(s *circulation.Stage) { s.As, s.Dissent = consult, "stop" }, false},
		"an approver's objection": {func(s *circulation.Stage) { s.Dissent = circulation.ObjectionNoted }, false},
		"over an approver":        {func(s *circulation.Stage) { s.Over = people("U") }, false},
	} {
		expect.Is(t, circulation.Walk(with(c.change)).Refused == nil, c.opens, "%s", name)
	}
}

// What somebody who is consulted said is taken back as a stamp is.
func TestAnObjectionIsTakenBack(t *testing.T) {
	g := after(gateOf(1, consulted(desk("one", 2, "A", "B")), desk("two", 1, "C")), of(dissent, "A", 1), of(stamp, "B", 1))
	for _, user := range []string{"A", "B"} {
		act, ok := circulation.TakesBack(g, circulation.Walk(g), user)
		expect.That(t, ok && act.Stage == 1 && act.Hand.User == user, "%s: %+v", user, act)
	}
	again := of(dissent, "A", 1)
	st := circulation.Walk(g)
	expect.That(t, st.Again(&g, &again) != nil, "the objection isn't found")
	again.Kind = stamp
	expect.That(t, st.Again(&g, &again) == nil, "an objection is called a stamp")
}
