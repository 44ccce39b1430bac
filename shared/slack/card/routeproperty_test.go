package card_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"pgregory.net/rapid"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// The people of the routes below.
const (
	suzuki = "U0SUZUKI"
	tanaka = "U0TANAKA"
	takada = "U0TAKADA"
	mori   = "U0MORI"
	yamada = "U0YAMADA"
)

// desk is a stage that needs this many stamps of these people.
var desk = ringitest.Desk

// threeStages are those of the circulation texts.
func threeStages() []circulation.Stage {
	return []circulation.Stage{desk("課長", 1, suzuki), desk("経理", 2, tanaka, takada, mori), desk("部長", 1, yamada)}
}

// routed puts a gate that waits under a rule.
func routed(g *aggregate.Gate, asked time.Time, stages ...circulation.Stage) {
	g.Terms.Rule = &circulation.Rule{ID: "r1", Name: "10万円以上の外部書き込み", Revision: 3}
	g.Terms.ApprovalHours = 72
	g.Route = &circulation.Route{Form: circulation.Form, Stages: stages}
	g.Askers, g.AskedSum, g.AskedAt = []circulation.Person{{User: requester.ID}}, "hash", &asked
	if now := g.CurrentStage(); now != nil {
		g.Terms.DecideBy = now.DecideBy
	}
}

// onRoute is a process that waits under a rule.
func onRoute(s *scenario, stages ...circulation.Stage) *scenario {
	p := planned(s, fiveSteps(), defaults)
	routed(&p.Process().Gate, p.now, stages...)
	return p
}

// act adds an act on the process, half an hour after the last one.
func (s *scenario) act(kind circulation.Kind, stage int, hand string, more ...func(*circulation.Act)) *scenario {
	s.Helper()
	s.now = s.now.Add(30 * time.Minute)
	g := &s.Process().Gate
	said := func(act *circulation.Act) {
		if act.Text != "" {
			act.Text = "見積書の宛名が違います"
		}
	}
	more = slices.Concat([]func(*circulation.Act){said}, more)
	*g = ringitest.Acted(s, *g, s.now, kind, stage, hand, more...)
	return s
}

func (s *scenario) stamps(stage int, hands ...string) *scenario {
	for _, hand := range hands {
		s.act(circulation.Stamp, stage, hand)
	}
	return s
}

// numberedOnRoute is a process that all stages stamped, whose execution begins with a number.
func numberedOnRoute(s *scenario) *scenario {
	s = onRoute(s, threeStages()...).stamps(1, suzuki).stamps(2, tanaka, takada).stamps(3, yamada)
	s.Executions = append(s.Executions, &task.Execution{ID: "E1", ProcessID: s.Process().ID,
		ProcessVersion: s.Process().Version, Attempt: 1, Status: task.ExecutionRunning, StartedAt: &s.now,
		Number: "2026-000123"})
	return s
}

// standingFor has the hand stand in for somebody.
func standingFor(principal string) func(*circulation.Act) {
	return func(act *circulation.Act) {
		act.Principal.User = principal
		act.Found.Delegation = &circulation.Delegation{Key: act.Hand.User + "#" + principal + "#2026-04-01", Rev: 1}
	}
}

// sentBack brings a process that was sent back by the last stage to its second version, which waits.
func sentBack(s *scenario) *scenario {
	s = onRoute(s, threeStages()...).stamps(1, suzuki).stamps(2, tanaka, takada).act(circulation.SendBack, 3, yamada)
	return s.plansAgain(fiveSteps())
}

// stepRouteStates are cards of steps' gates under a rule, and of requests that a rule ended.
var stepRouteStates = []state{
	{"route_of_step_middle", stepCard, func(s *scenario) *scenario {
		s = gated(s, arguments)
		g := &s.Gates[0].Gate
		routed(&s.Process().Gate, s.now, desk("課長", 1, suzuki))
		s.Process().Terms.Rule = &byBuyers.Rule
		routed(g, s.now, desk("経理", 1, tanaka, takada), desk("部長", 1, yamada))
		*g = expect.Value(g.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Stage: 1, Hash: g.AskedSum,
			Hand: circulation.Person{User: tanaka}, Principal: circulation.Person{User: tanaka}, At: s.now.Add(time.Minute),
			Surface: "slack"}))(s)
		return s
	}},
	{"route_of_step_looking", stepCard, func(s *scenario) *scenario { return looking(gated(s, arguments)) }},
	{"route_of_step_over", stepCard, func(s *scenario) *scenario {
		s = looking(gated(s, arguments))
		return s.do(s.RefuseByRule(s.Head.Run, byBuyers, defaults, s.now))
	}},
	{"stopped_by_rule", executionCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1)
		return s.do(s.RefuseByRule(s.Head.Run, byBuyers, defaults, s.now))
	}},
	{"refused_by_rule", processCard, func(s *scenario) *scenario {
		s = planned(s, fiveSteps(), defaults)
		s.Process().Gate = aggregate.Gate{Status: aggregate.Generating, Terms: s.Process().Terms}
		return s.do(s.RefuseByRule(s.Head.Run, byBuyers, defaults, s.now))
	}},
}

// byBuyers is a rule that refuses a request, or one of its steps.
var byBuyers = aggregate.Refusal{Why: task.ReasonRuleRefuses, Rule: circulation.Rule{ID: "r2", Name: "100万円以上"},
	Detail: "購買部に依頼してください。"}

// looking has people be looked up for the gate of a step.
func looking(s *scenario) *scenario {
	g := &s.Gates[0].Gate
	*g = aggregate.Gate{Status: aggregate.Generating, Terms: g.Terms}
	g.Terms.Rule, g.Terms.DecideBy = &byBuyers.Rule, nil
	return s
}

// Names that others chose: long, escaped, and made to look like Ringi's own.
var hostileNames = []string{
	"課長", strings.Repeat("長", 300), strings.Repeat("&", 300), "✅ 部長 <@U0REQUESTER> → ✅", "<!channel>", "*a*\n> b", "",
	strings.Repeat("👨\u200d👩\u200d👧", 40), "👉 いま: だれもいません", "\u202e逆",
}

// anyRoute draws a route of up to eight stages of up to 50 people.
func anyRoute(t *rapid.T) (stages []circulation.Stage) {
	n := 0
	for i := range rapid.IntRange(1, rules.MaxStages).Draw(t, "stages") {
		s := circulation.Stage{Name: rapid.SampledFrom(hostileNames).Draw(t, "name"), Mode: circulation.ModePeople}
		if i > 0 && rapid.IntRange(0, 5).Draw(t, "channel") == 0 {
			s.Mode, s.Need = circulation.ModeChannel, 1
		} else {
			for range rapid.IntRange(1, 50).Draw(t, "people") {
				n++
				s.People = append(s.People, circulation.Person{User: fmt.Sprintf("U0%09d", n)})
			}
			s.Need = rapid.IntRange(1, min(len(s.People), 20)).Draw(t, "need")
		}
		stages = append(stages, s)
	}
	return stages
}

// walked adds acts to a gate until it draws that nobody acts any more.
func walked(t *rapid.T, s *scenario) {
	g := &s.Process().Gate
	for range rapid.IntRange(0, 60).Draw(t, "acts") {
		st := circulation.Walk(g.Circulating())
		asked := st.CurrentStage()
		if asked == nil {
			break
		}
		hand := circulation.Person{User: "U0ANYBODY"}
		if owes := st.Owes(); len(owes) > 0 {
			hand = owes[0]
		}
		act := circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: hand, Principal: hand,
			Stage: st.Present, At: s.now.Add(time.Minute), Hash: g.AskedSum, Surface: "slack"}
		switch rapid.IntRange(0, 9).Draw(t, "act") {
		case 0:
			act.Kind, act.Text = circulation.SendBack, strings.Repeat("&", 1000)
		case 1, 2, 3:
			if asked.Mode == circulation.ModePeople {
				act.Hand = circulation.Person{User: fmt.Sprintf("U1%09d", len(g.Acts))}
				act.Found.Delegation = &circulation.Delegation{Key: act.Hand.User + "#" + hand.User + "#x", Rev: 1}
			}
		}
		if asked.Mode == circulation.ModeChannel {
			act.Found.Channel = "C0HR"
		}
		s.now = s.now.Add(time.Minute)
		if next, err := g.Acted(act); err == nil {
			*g = next
		}
	}
	switch {
	case g.ApprovedAt != nil:
		g.Status = aggregate.Approved
	case g.RejectedAt != nil:
		g.Status = aggregate.Rejected
	}
}

// The path of any route stays within the room that cards reserve for it, names every stage that is not settled, and
// leaves a card that is full whole, with its buttons, for those who are asked in its thread and in their copies.
func TestAnyRouteFitsOnACardThatIsFull(t *testing.T) {
	t.Parallel()
	base := planned(t, fiveSteps(), defaults)
	full := map[int]task.Process{} // by the number of steps, with remarks as long as they may be
	for _, n := range []int{10, 30, 50} {
		p := *base.Process()
		p.Steps = manySteps(n, 60)
		remarks := func(n int) string { return strings.Repeat("方針", n) }
		p.Remarks = remarks(sort.Search(20_000, func(n int) bool { return !card.StepsFit(p.Steps, remarks(n+1)) }))
		full[n] = p
	}
	rapid.Check(t, func(rt *rapid.T) {
		s, p := *base, full[rapid.SampledFrom([]int{10, 30, 50}).Draw(rt, "steps")]
		a := *base.Aggregate
		s.Aggregate, s.TB = &a, t
		a.Processes = []*task.Process{&p}
		routed(&p.Gate, s.now, anyRoute(rt)...)
		p.Gate.Terms.Rule.Name = rapid.SampledFrom(hostileNames).Draw(rt, "rule")
		walked(rt, &s)
		st := circulation.Walk(p.Circulating())
		locales := language.All
		if !expect.Long() {
			locales = locales[:rapid.IntRange(1, len(locales)).Draw(rt, "languages")]
		}
		for _, locale := range locales {
			m := render(s.Aggregate, s.card(processCard), locale, s.now)
			expect.NoError(rt, ringitest.CheckCard(m))
			if st.Refused == nil && p.Status == aggregate.PendingApproval {
				expect.That(rt, offers(m, "approve_process"), "it can't be approved")
			}
			path := pathOf(rt, m, st.Refused != nil)
			for _, mark := range []string{"👉", "✅ 部長 <@U0REQUESTER>", "<!channel>"} {
				expect.That(rt, !strings.Contains(path, mark), "%q is in the path: %s", mark, path)
			}
			sent := expect.JSON(m)
			for i := range st.Stages {
				for _, p := range st.Stages[i].People { // nobody is told before their turn
					expect.That(rt, !strings.Contains(sent, p.User) || i+1 <= st.Present || st.Present == 0, "%s is told", p.User)
				}
				if x := &st.Stages[i]; x.Name == "課長" && x.Owed > 0 && st.Ended() == "" {
					expect.That(rt, strings.Contains(path, "課長"), "a stage is missing: %s", path)
				}
			}
			expect.That(rt, st.Ended() == "" || !strings.Contains(path, "⬜"), "a stage after the end: %s", path)
			r := card.Review{Type: task.CardProcess, ID: p.ID, TaskID: s.Head.TaskID, Stage: max(st.Present, 1)}
			dialog, _ := card.DialogsOf(s.Aggregate).Review(r, locale)
			expect.NoError(rt, ringitest.CheckView(dialog))
			expect.NoError(rt, ringitest.CheckView(card.DialogsOf(s.Aggregate).Rejection(r, locale)))
			for _, who := range st.Owes() {
				c := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: who.User, Stage: st.Present}
				expect.That(rt, offers(copied(&s, c, locale), "approve_process"), "the copy can't be approved")
			}
		}
	})
}

// pathOf returns a card's path. It checks the bounds of its lines: 700 characters each, and 1,400 of all but the
// seed's, with the section that says whose turn it is.
func pathOf(t *rapid.T, m card.Message, refused bool) string {
	all := 0
	bounded := func(text string) {
		n := len([]rune(text)) + strings.Count(text, "👨") + strings.Count(text, "👩") + strings.Count(text, "👧")
		expect.That(t, n <= 700 && strings.Count(text, "<") == strings.Count(text, ">"), "%d: %s", n, text)
		all += n
	}
	for _, b := range m.Attachments[0].Blocks.BlockSet {
		if s, is := b.(*slack.SectionBlock); is && s.Text != nil && strings.HasPrefix(s.Text.Text, "*👉") {
			bounded(s.Text.Text)
		}
		c, is := b.(*slack.ContextBlock)
		if !is {
			continue
		}
		first := c.ContextElements.Elements[0].(*slack.TextBlockObject).Text
		if !strings.HasPrefix(first, "回覧") && !strings.HasPrefix(first, "Route") && !strings.HasPrefix(first, "Decided") {
			continue
		}
		for _, e := range c.ContextElements.Elements {
			text := e.(*slack.TextBlockObject).Text
			if !strings.HasPrefix(text, "❌") && !strings.HasPrefix(text, "➡️") {
				bounded(text)
			}
		}
		expect.That(t, all <= 1400, "%d characters: %s", all, expect.JSON(c))
		return first
	}
	if !refused {
		t.Fatalf("no path: %s", drawn(m.Attachments[0].Blocks.BlockSet))
	}
	return ""
}
