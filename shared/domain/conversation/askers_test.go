package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// turn delivers what somebody says, and lets the agent answer all that waits.
func (tb *table) turn(who string, x Answer) {
	tb.t.Helper()
	if who != "" {
		tb.toldBy(who, "go on")
	}
	if tb.head.Resting {
		expect.NoError(tb.t, tb.begin())
	}
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		x.Text, x.Usage = "ok", tb.used()
		return a.Answered(a.Head.Run, a.Waiting(), x, tb.now)
	})
}

// proposes returns an answer that proposes a command.
func (tb *table) proposes() Answer { return Answer{Proposal: proposal(ShellCommand, tb.now, "")} }

// makesRequest has somebody make the request that the agent offers, and returns it and that of the task which it becomes.
func (tb *table) makesRequest(by string) (*Offered, *task.Request) {
	tb.t.Helper()
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.MakeRequest(a.OpenOffer().ID, person(by), policy, tb.now)
	})
	a := tb.load()
	make := a.Effects(tb.now).Make
	expect.Must(tb.t, len(make) > 0, "nothing is made")
	made := (&task.Aggregate{}).After(make[len(make)-1].Begin).(*task.Aggregate)
	return a.Offered[len(a.Offered)-1], made.Request
}

// Suzuki dictates, and Tanaka only says please.
func TestWhoDictatesIsAnAskerOfWhatIsMade(t *testing.T) {
	tb := opened(t)
	tb.turn(suzuki, Answer{})
	tb.turn(tanaka, Answer{Request: "buy it"})
	h, r := tb.makesRequest(tanaka)
	expect.That(t, h.MadeBy == tanaka && r.User == tanaka, "%+v, %+v", h, r)
	expect.Same(t, h.RouteAskers, []string{suzuki, sato})
	expect.Same(t, r.RouteAskers, []string{suzuki, sato})
}

// Whoever sends an action back may stamp the next one, though the agent is shown why.
func TestWhoSendsAnActionBackAsksForNothing(t *testing.T) {
	tb := opened(t)
	tb.turn(suzuki, tb.proposes())
	tb.by("U_ITO", rejecting, tb.load().Current())
	tb.turn("", tb.proposes())
	of := tb.load().RouteAskersOf(tb.load().Current())
	expect.That(t, slices.Contains(of, suzuki) && !slices.Contains(of, "U_ITO"), "%v", of)
}

func TestARequestOfOnePersonNamesNobodyBesideThem(t *testing.T) {
	tb := opened(t)
	tb.turn(sato, Answer{Request: "buy it"})
	h, r := tb.makesRequest(sato)
	for _, row := range []any{h, r} {
		text := string(expect.Value(json.Marshal(row))(t))
		expect.That(t, !strings.Contains(text, "route_askers"), "%s", text)
	}
}

// Who presses the button is the requester; who wrote what it is about stays an asker.
func TestWhoDictatesIsAnAskerOfWhatAnotherPersonMakes(t *testing.T) {
	for presser, others := range map[string][]string{tanaka: {suzuki, sato}, suzuki: {sato}} {
		tb := opened(t)
		tb.turn(suzuki, Answer{Request: "buy it"})
		tb.turn("U_LATER", Answer{})
		h, r := tb.makesRequest(presser)
		expect.Is(t, h.MadeBy, presser)
		expect.Same(t, h.RouteAskers, others)
		expect.Same(t, r.RouteAskers, others)
	}
}

// finished approves the current action by somebody, and has it executed after what happens between.
func (tb *table) finished(by string, between ...func()) {
	tb.t.Helper()
	x := tb.load().Current()
	expect.NoError(tb.t, tb.approve(x, by))
	for _, do := range between {
		do()
	}
	if tb.head.Resting {
		expect.NoError(tb.t, tb.begin())
	}
	expect.NoError(tb.t, tb.claim("i1"))
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now)
	})
}

// Suzuki dictates; whatever becomes of an action in between, their words stay among what the agent is shown. Without a
// rule Tanaka's "please" makes the next action Tanaka's in each case.
func TestWhoseWordsAnActionIsMadeOf(t *testing.T) {
	for name, c := range map[string]struct {
		between func(tb *table)
		want    []string
	}{
		"nothing": {func(tb *table) {}, []string{tanaka, suzuki, sato}},
		"an action that was rejected": {func(tb *table) {
			tb.turn(suzuki, tb.proposes())
			tb.by("U_ITO", rejecting, tb.load().Current())
		}, []string{tanaka, suzuki, sato}},
		"an action that Suzuki took back": {func(tb *table) {
			tb.turn(suzuki, tb.proposes())
			tb.must(func(a *Aggregate) (aggregate.Change, error) {
				return a.Cancel(a.Current().ActionID, person(suzuki), policy, tb.now)
			})
		}, []string{tanaka, suzuki, sato}},
		"an action that people approved, and the agent's word": {func(tb *table) {
			tb.turn(suzuki, tb.proposes())
			tb.finished("U_ITO")
			tb.turn("", Answer{})
		}, []string{tanaka, suzuki, sato}},
		"an action that people approved, of which the agent has not told": {func(tb *table) {
			tb.turn(suzuki, tb.proposes())
			tb.finished("U_ITO")
		}, []string{tanaka, suzuki, sato}},
		"words beside an action that people approved": {func(tb *table) {
			tb.turn(suzuki, tb.proposes())
			tb.turn("U_ITO", Answer{})
			tb.finished("U_ITO")
			tb.turn("", Answer{})
		}, []string{tanaka, "U_ITO", suzuki, sato}},
		"words before an action that people approved has begun": {func(tb *table) {
			tb.turn(suzuki, tb.proposes())
			tb.finished("U_ITO", func() { tb.turn("U_ITO", Answer{}) })
		}, []string{tanaka, "U_ITO", suzuki, sato}},
		"a proposal that was refused": {func(tb *table) {
			tb.turn(suzuki, tb.proposes())
			tb.finished("U_ITO")
			tb.turn("", Answer{Refused: "no such tool"})
		}, []string{tanaka, suzuki, sato}},
	} {
		t.Run(name, func(t *testing.T) {
			tb := opened(t)
			tb.turn(suzuki, Answer{})
			c.between(tb)
			tb.turn(tanaka, tb.proposes())
			x := tb.load().Current()
			expect.Same(t, tb.load().RouteAskersOf(x), c.want)
		})
	}
}

// A rule of the settings that lets a test run asks nobody, so it ends nobody's part in what follows.
func TestATestThatNobodyApprovedForgetsNoAsker(t *testing.T) {
	tb := opened(t)
	p := proposal(TestRun, tb.now, "test_run")
	p.Payload.JSON = `{"argv":["make"],"timeout_seconds":60}`
	tb.turn(suzuki, Answer{Proposal: p})
	x := tb.load().Current()
	expect.NoError(t, tb.claim("i1"))
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now)
	})
	tb.turn("", Answer{})
	tb.turn(tanaka, tb.proposes())
	x = tb.load().Current()
	expect.Same(t, x.Askers, []string{tanaka})
	expect.Same(t, tb.load().RouteAskersOf(x), []string{tanaka, suzuki, sato})
}

// Tanaka types what Suzuki dictated. Along a route Suzuki and Tanaka are askers; without a rule Suzuki may approve it, as
// ever.
func TestAPersonsProposalHasTheConversationsAskersAlongARoute(t *testing.T) {
	tb := opened(t)
	tb.turn(suzuki, Answer{})
	own := *proposal(ShellCommand, tb.now, "")
	propose := func(a *Aggregate) (aggregate.Change, error) {
		return a.Propose(own, person(tanaka), policy, tb.now)
	}
	want := []string{tanaka, suzuki, sato}
	expect.Same(t, tb.load().RouteAskersAfter(nil, tanaka), want)
	tb.must(propose)
	x := tb.load().Current()
	expect.Same(t, x.Askers, []string{tanaka})
	expect.Same(t, tb.load().RouteAskersOf(x), want)
	again := expect.Value(propose(tb.load()))(t)
	expect.That(t, again.Empty(), "the same form makes %+v", again)
	strict := aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel}
	_, err := approving(tb, x, person(tanaka), strict)
	expect.Fails(t, err, aggregate.ErrNotAllowed{Rule: aggregate.RuleSelf})
	_, err = approving(tb, x, person(suzuki), strict)
	expect.NoError(t, err)

	tb.by("U_ITO", rejecting, x) // what Tanaka typed is among what the agent knows
	tb.turn(sato, tb.proposes())
	x = tb.load().Current()
	expect.Same(t, tb.load().RouteAskersOf(x), []string{sato, tanaka, suzuki})
}

// opensFor returns a proposal whose route asks Suzuki or Ito, and that names these askers.
func (tb *table) opensFor(askers []string) *Proposal {
	p := proposal(ShellCommand, tb.now, "")
	p.Terms.ApprovalHours, p.Opening = 72, along(desk(suzuki, "U_ITO"))
	p.Opening.Askers = nil
	for _, user := range askers {
		p.Opening.Askers = append(p.Opening.Askers, circulation.Person{User: user})
	}
	return p
}

// Nobody whose words the agent was shown may be missing among the askers, and none of them stamps.
func TestAnActionOpensOnlyWithAllWhoseWordsItIsMadeOf(t *testing.T) {
	want := []string{tanaka, suzuki, sato}
	agents, own := opened(t), opened(t)
	for _, tb := range []*table{agents, own} {
		tb.turn(suzuki, Answer{})
	}
	agents.toldBy(tanaka, "please")
	expect.NoError(t, agents.begin())
	for _, c := range []struct {
		tb     *table
		askers []string
		opens  func(a *Aggregate, p *Proposal) (aggregate.Change, error)
	}{
		{agents, agents.load().RouteAskersAfter(agents.load().Waiting(), ""),
			func(a *Aggregate, p *Proposal) (aggregate.Change, error) {
				return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Proposal: p}, start)
			}},
		{own, own.load().RouteAskersAfter(nil, tanaka), func(a *Aggregate, p *Proposal) (aggregate.Change, error) {
			return a.Propose(*p, person(tanaka), policy, start)
		}},
	} {
		expect.Same(t, c.askers, want)
		for i, missing := range want {
			_, err := c.opens(c.tb.load(), c.tb.opensFor(slices.Delete(slices.Clone(want), i, i+1)))
			expect.Fails(t, err, aggregate.ErrOnRoute, missing)
		}
		c.tb.must(func(a *Aggregate) (aggregate.Change, error) { return c.opens(a, c.tb.opensFor(want)) })
		c.tb.why(c.tb.acting(circulation.Stamp, suzuki), circulation.WhySelf)
		c.tb.makes(c.tb.acting(circulation.Stamp, "U_ITO"), "action.approved")
	}
}

// Others push nobody out. Of more people than may ask along a route, there are more.
func TestNobodyIsForgottenBehindOthers(t *testing.T) {
	tb := opened(t)
	tb.turn(suzuki, Answer{})
	tb.turn(suzuki, tb.proposes())
	tb.finished("U_ITO")
	for i := range 25 {
		tb.turn(fmt.Sprintf("U_%02d", i), Answer{})
	}
	askers := tb.load().RouteAskersAfter(nil, "")
	expect.That(t, len(askers) == 27 && slices.Contains(askers, suzuki) && askers[0] == "U_24", "%v", askers)
	for i := range rules.MaxAskers {
		tb.turn(fmt.Sprintf("U_%03d", i), Answer{})
	}
	expect.That(t, len(tb.load().RouteAskersAfter(nil, "")) > rules.MaxAskers, "more than may ask along a route")
	expect.Is(t, len(tb.load().Conversation.RouteAskers), rules.MaxAskers+1)
}

// The order is made of Suzuki's words, which the agent still sees after an action that others approved and a thanks.
func TestWhoDictatedNeverStampsWhatCameOfIt(t *testing.T) {
	tb := opened(t)
	tb.turn(suzuki, tb.proposes())
	tb.finished("U_ITO")
	tb.turn("", Answer{})
	tb.toldBy(tanaka, "thanks!")
	expect.NoError(t, tb.begin())
	askers := tb.load().RouteAskersAfter(tb.load().Waiting(), "")
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Proposal: tb.opensFor(askers), Usage: tb.used()}, tb.now)
	})
	tb.why(tb.acting(circulation.Stamp, suzuki), circulation.WhySelf)
	offers := opened(t)
	offers.turn(suzuki, offers.proposes())
	offers.finished("U_ITO")
	offers.turn("", Answer{})
	offers.turn(tanaka, Answer{Request: "order 40 laptops"})
	h, _ := offers.makesRequest(tanaka)
	expect.That(t, slices.Contains(h.RouteAskers, suzuki), "%+v", h)
}

// A message that comes while the agent answers is not what it answers to.
func TestWhoWritesWhileTheAgentAnswersIsNoAsker(t *testing.T) {
	tb := opened(t)
	seen := tb.load().Waiting()
	tb.toldBy(suzuki, "and this")
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		x := tb.proposes()
		x.Text, x.Usage = "ok", tb.used()
		return a.Answered(a.Head.Run, seen, x, tb.now)
	})
	x := tb.load().Current()
	expect.Same(t, tb.load().RouteAskersOf(x), []string{sato})
	tb.by("U_ITO", rejecting, x)
	tb.turn("", tb.proposes())
	expect.Same(t, tb.load().RouteAskersOf(tb.load().Current()), []string{suzuki, sato})
}

// Who changes or deletes a message has written it, and what got a fixed sentence is shown with the next message.
func TestWhoseMessageIsChangedOrNotAnsweredIsAnAsker(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		tb := opened(t)
		tb.turn("", Answer{})
		tb.toldBy(suzuki, "do it")
		in := inbound("do it now", "1775034009.000100")
		in.User, in.Changes, in.Deleted = suzuki, fmt.Sprintf("%d.%06d", tb.now.Unix(), tb.told), deleted
		tb.apply(expect.Value(Tell(in, Opening{}, tb.now))(t), tb.head)
		expect.NoError(t, tb.begin())
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Refused(a.Head.Run, a.Waiting(), Refusal{Reason: ReasonStopped, Text: "stopped"}, tb.now)
		})
		tb.turn(tanaka, tb.proposes())
		expect.Same(t, tb.load().RouteAskersOf(tb.load().Current()), []string{tanaka, suzuki, sato})
	}
}

// What people wrote in the thread before goes into what is made of it. Apps ask for nothing.
func TestWhoWroteInTheThreadBeforeIsAnAsker(t *testing.T) {
	tb := inThread(t)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.GiveThread(a.Head.Run, []Earlier{{User: suzuki, At: start, Text: "buy it"},
			{User: "B0APP", At: start, Text: "deployed"}, {User: tanaka, At: start, Text: "yes"}}, aggregate.Thread{Read: 3},
			tb.now)
	})
	tb.turn("", Answer{Request: "buy it"})
	_, r := tb.makesRequest(sato)
	expect.Same(t, r.RouteAskers, []string{tanaka, suzuki})
	tb.turn(sato, tb.proposes())
	x := tb.load().Current()
	expect.Same(t, x.Askers, []string{sato})
	expect.Same(t, tb.load().RouteAskersOf(x), []string{sato, tanaka, suzuki})
}

// The agent is told why what Suzuki typed became no action, in words that name it.
func TestWhoTypedWhatBecameNoActionIsAnAsker(t *testing.T) {
	tb := opened(t)
	tb.turn("", Answer{})
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Type("1", Own{Type: CodeGenerate, Path: "a.txt"}, person(suzuki), policy, tb.now)
	})
	expect.NoError(t, tb.begin())
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.RefuseTyped(a.Head.Run, a.WaitingTyped(), []string{"a.txt is a folder"}, "", tb.now)
	})
	tb.turn(sato, tb.proposes())
	expect.Same(t, tb.load().RouteAskersOf(tb.load().Current()), []string{sato, suzuki})
}
