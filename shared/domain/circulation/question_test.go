package circulation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// at returns the gate with acts so many hours after it asks.
func at(g circulation.Gate, hours int, acts ...circulation.Act) circulation.Gate {
	for _, act := range acts {
		act.At = opened.Add(time.Duration(hours) * time.Hour)
		g.Acts = append(g.Acts[:len(g.Acts):len(g.Acts)], act)
	}
	return g
}

// Whoever asks when a stage's time is over has no more time.
func TestALateQuestionStopsNoClock(t *testing.T) {
	g := gateOf(1, desk("one", 1, "A", "B"))
	g.Hours = 1
	for at, hours := range map[time.Duration]int{time.Hour - time.Millisecond: 73, time.Hour: 1, 25 * time.Hour: 1} {
		asked := g
		asked.Acts = []act{changed(of(ask, "A", 1), func(a *act) { a.At = opened.Add(at) })}
		st := circulation.Walk(asked)
		by := *st.Stages[0].DecideBy
		expect.That(t, st.Open() != nil && by.Sub(opened) == time.Duration(hours)*time.Hour, "asked after %v: until %v", at, by)
	}
}

// Only the first question stops the clock of its stage, while it is asked, for as long as it waits and 72 hours at
// most.
func TestTheClockStopsOnce(t *testing.T) {
	g := gateOf(2, desk("one", 2, "A", "B"), desk("two", 1, "C"))
	until := func(g circulation.Gate, stage, hours int, what string) {
		t.Helper()
		st := circulation.Walk(g)
		expect.Must(t, st.Refused == nil && st.Stages[stage-1].DecideBy != nil, "%s: %+v", what, st.Refused)
		expect.Is(t, st.Stages[stage-1].DecideBy.Sub(opened), time.Duration(hours)*time.Hour, "%s", what)
	}
	asked := at(g, 10, of(ask, "A", 1))
	until(asked, 1, 72+72, "while it waits")
	until(at(asked, 15, of(answer, "Q", 1)), 1, 72+5, "after five hours")
	until(at(asked, 10+72, of(answer, "Q", 1)), 1, 72+72, "after three days")
	until(at(asked, 200, of(answer, "Q", 1)), 1, 72+72, "after a week")
	until(at(asked, 9, of(answer, "Q", 1)), 1, 72, "by a clock that went back")
	second := at(asked, 15, of(answer, "Q", 1), of(ask, "B", 1))
	until(second, 1, 72+5, "while the second waits")
	until(at(second, 100, of(answer, "Q", 1)), 1, 72+5, "after the second")
	stamped := at(asked, 12, of(stamp, "A", 1), of(stamp, "B", 1))
	until(stamped, 2, 12+72, "the next stage, others went on")
	until(at(stamped, 20, of(answer, "Q", 1)), 2, 12+72, "the next stage, once it is answered")
	reopened := at(stamped, 20, of(back, "A", 1))
	until(reopened, 1, 20+72, "of a stage that was opened again")
	until(at(reopened, 30, of(answer, "Q", 1)), 1, 20+72, "and answered")
	g.Hours = 299 * 24
	until(at(g, 10, of(ask, "A", 1)), 1, 300*24, "never longer than all stages may take")
	until(at(g, 10, of(ask, "A", 1), of(answer, "Q", 1)), 1, 299*24, "answered at once")
}

// An asker answers, in their own name, the question that is open, and does nothing else there.
func TestOnlyAskersAnswer(t *testing.T) {
	g := gateOf(2, desk("one", 2, "A", "B"), desk("two", 1, "C"))
	g.Askers = people("Q", "R")
	asked := after(g, of(ask, "A", 1))
	on := after(asked, of(stamp, "A", 1), of(stamp, "B", 1))
	answered := after(asked, of(answer, "Q", 1))
	many := g
	for range circulation.MaxQuestions {
		many = after(many, of(ask, "A", 1), of(answer, "Q", 1))
	}
	wide := after(gateOf(1, desk("one", 2, "A", "B", "C")), of(ask, "A", 1))
	answeredFor := after(wide, changed(of(answer, "A", 1), answers)) // whoever answers for the key by now
	wordless := of(answer, "Q", 1)
	wordless.Text = ""
	long := of(ask, "B", 1)
	long.Text = strings.Repeat("長", circulation.MaxText+1)
	for name, c := range map[string]struct {
		gate circulation.Gate
		act  circulation.Act
		why  circulation.Why
	}{
		"an answer":                   {asked, of(answer, "Q", 1), ""},
		"the other asker's":           {asked, of(answer, "R", 1), ""},
		"after others went on":        {on, of(answer, "Q", 1), ""},
		"at the stage that is asked":  {on, of(answer, "Q", 2), circulation.WhyStage},
		"by who asked":                {asked, of(answer, "A", 1), circulation.WhyNotAsker},
		"by who answers now":          {asked, changed(of(answer, "X", 1), answers), ""},
		"by who answers now and asks": {wide, changed(of(answer, "A", 1), answers), ""},
		"who is needed":               {asked, changed(of(answer, "A", 1), answers), circulation.WhyHands},
		"who has stamped":             {after(wide, of(stamp, "B", 1)), changed(of(answer, "B", 1), answers), circulation.WhyFound},
		"a stamp of who answered":     {answeredFor, of(stamp, "A", 1), circulation.WhySelf},
		"or for them":                 {answeredFor, instead(stamp, "X", "A", 1), circulation.WhySelf},
		"their addition":              {answeredFor, addition("B", "A", circulation.AsApprove, 1), circulation.WhySelf},
		"by who answers now, for one": {asked, changed(instead(answer, "X", "Q", 1), answers), circulation.WhyNotAsker},
		"by who answers now, again":   {after(asked, changed(of(answer, "X", 1), answers)), of(answer, "Q", 1), circulation.WhyNoQuestion},
		"a stamp of who answers now":  {asked, changed(of(stamp, "A", 1), answers), circulation.WhyUnknown},
		"by somebody for an asker":    {asked, instead(answer, "X", "Q", 1), circulation.WhyNotAsker},
		"by one asker for the other":  {asked, instead(answer, "Q", "R", 1), circulation.WhyNotAsker},
		"without words":               {asked, wordless, circulation.WhyText},
		"of nothing":                  {g, of(answer, "Q", 1), circulation.WhyNoQuestion},
		"again":                       {answered, of(answer, "Q", 1), circulation.WhyAgain},
		"the other asker's, too late": {answered, of(answer, "R", 1), circulation.WhyNoQuestion},
		"after the end":               {after(asked, of(deny, "A", 1)), of(answer, "Q", 1), circulation.WhyEnded},
		"a question":                  {g, of(ask, "B", 1), ""},
		"a stand-in's":                {g, instead(ask, "X", "B", 1), ""},
		"a longer one":                {g, long, circulation.WhyText},
		"the same, and others' words": {asked, of(ask, "A", 1), circulation.WhyAgain},
		"beside another":              {asked, of(ask, "B", 1), circulation.WhyOpenQuestion},
		"a second one":                {answered, of(ask, "A", 1), ""},
		"an eleventh":                 {many, of(ask, "A", 1), circulation.WhyBounds},
		"an asker's":                  {g, of(ask, "Q", 1), circulation.WhySelf},
		"of who comes later":          {g, of(ask, "C", 1), circulation.WhyTurn},
		"of nobody there":             {g, of(ask, "X", 1), circulation.WhyRoute},
		"of who has stamped":          {after(g, of(stamp, "A", 1)), of(ask, "A", 1), circulation.WhyTwice},
		"a stamp while it is open":    {asked, of(stamp, "A", 1), ""},
		"returned while it is open":   {asked, of(giveBack, "B", 1), ""},
		"without a rule":              {bySettings(true), allowed(ask, "A", true), circulation.WhyUnknown},
		"returned without a rule":     {bySettings(true), allowed(giveBack, "A", false), ""},
		"by an asker without a rule":  {bySettings(true), allowed(giveBack, "Q", false), ""},
		"returned by nobody's leave":  {bySettings(true), of(giveBack, "A", 1), circulation.WhyFound},
		"an asker's without a rule":   {bySettings(true), allowed(answer, "Q", false), circulation.WhySelf},
		"returned, then sent back":    {after(g, of(giveBack, "A", 1)), of(sendBack, "A", 1), circulation.WhyEnded},
		"returned again":              {after(g, of(giveBack, "A", 1)), of(giveBack, "A", 1), circulation.WhyAgain},
		"returned by who isn't there": {g, of(giveBack, "X", 1), circulation.WhyRoute},
		"returned by the asker":       {g, of(giveBack, "Q", 1), circulation.WhySelf},
		"a question with minutes":     {g, changed(of(ask, "A", 1), withMinutes), circulation.WhyUnknown},
		"an answer with somebody put in": {asked, changed(of(answer, "Q", 1), func(a *act) { a.To = &a.Hand }),
			circulation.WhyUnknown},
	} {
		expect.Is(t, why(c.gate, c.act), c.why, "%s", name)
	}
	st := circulation.Walk(answered)
	expect.That(t, st.Open() == nil && len(st.Questions) == 1 && st.Questions[0].Answered.Hand.User == "Q", "%+v", st)
	st = circulation.Walk(after(g, of(giveBack, "A", 1)))
	expect.That(t, st.Ended() == giveBack && !st.Settled && st.Present == 0, "%+v", st)
}

// answers is what is found of who answers now for the key of an outside agent.
func answers(a *act) { a.Found.Answers = true }

func withMinutes(a *act) {
	a.Meeting = &circulation.Meeting{Held: opened.Format(time.DateOnly), Present: []string{"A", "B"},
		Carried: a.Kind == stamp, Minutes: "出席者全員が賛成した"}
}

// Under an organisation an answer says in which version the asker has a row. One by whom somebody on the route would
// turn out to be the asker is none.
func TestAnAskerAnswersAsThemselves(t *testing.T) {
	k := keys{"A": "p1", "B": "p2", "Q": "p4"}
	g := after(k.gate(gateOf(1, desk("one", 1, "A", "B"))), k.act(of(ask, "A", 1)))
	found := k.act(of(answer, "Q", 1))
	expect.Is(t, why(g, found), "")
	joined, without := found, found
	joined.Hand.Person, joined.Principal.Person = "p2", "p2"
	without.Found.Org = ""
	for name, act := range map[string]act{"as B": joined, "without a row": without} {
		refused, _ := errors.AsType[*circulation.Refusal](circulation.Admit(g, circulation.Walk(g), act))
		expect.That(t, refused != nil && refused.Why == circulation.WhyFound && refused.Lacks == circulation.LackOrg,
			"%s: %+v", name, refused)
	}
}

// As long as a question is open its answer fits, however long it is.
func TestAnAnswerAlwaysFits(t *testing.T) {
	g := gateOf(1, crowd(90)...)
	user := g.Route.Stages[0].People[0].User
	for range circulation.MaxActs {
		question, reply := of(ask, user, 1), of(answer, "Q", 1)
		question.Text, reply.Text = strings.Repeat("<", circulation.MaxText), strings.Repeat("<", circulation.MaxText)
		st := circulation.Walk(g)
		if st.Open() == nil && whyAt(g, st, question) == circulation.WhyBounds {
			expect.That(t, len(g.Acts) >= 4, "only %d acts", len(g.Acts))
			return
		}
		g = then(g, question)
		expect.Is(t, why(g, of(deny, user, 1)), "")
		expect.Is(t, why(g, reply), "")
		g = then(g, reply)
	}
}
