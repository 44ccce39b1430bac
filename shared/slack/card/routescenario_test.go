package card_test

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
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
func desk(name string, need int, users ...string) circulation.Stage {
	s := circulation.Stage{Name: name, Mode: circulation.ModePeople, Need: need}
	for _, user := range users {
		s.People = append(s.People, circulation.Person{User: user})
	}
	return s
}

// threeStages are those of the circulation texts.
func threeStages() []circulation.Stage {
	return []circulation.Stage{desk("課長", 1, suzuki), desk("経理", 2, tanaka, takada, mori), desk("部長", 1, yamada)}
}

// routed puts a gate that waits under a rule.
func routed(g *aggregate.Gate, asked time.Time, stages ...circulation.Stage) {
	g.Terms.Rule = &circulation.Rule{ID: "r1", Name: "10万円以上の外部書き込み", Revision: 3}
	g.Terms.ApprovalHours = 72
	g.Route = &circulation.Route{Form: circulation.Form, Hands: 1, Stages: stages}
	g.Askers, g.AskedSum, g.AskedAt = []circulation.Person{{User: requester.ID}}, "hash", &asked
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
	act := circulation.Act{Form: circulation.Form, Kind: kind, Hand: circulation.Person{User: hand},
		Principal: circulation.Person{User: hand}, At: s.now, Stage: stage, Hash: g.AskedSum, Surface: "slack"}
	if act.Ends() || kind == circulation.Stand {
		act.Text = "見積書の宛名が違います"
	}
	for _, change := range more {
		change(&act)
	}
	if act.To != nil {
		act.To.Via = "group S1"
		act.Found.Admin, act.Found.Resolved = &circulation.Admin{Key: "TENANT", Rev: 7}, act.To.Via
	}
	*g = expect.Value(g.Acted(act))(s)
	switch {
	case g.ApprovedAt != nil:
		g.Status = aggregate.Approved
	case g.RejectedAt != nil:
		g.Status = aggregate.Rejected
	}
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
func sentBack(s *scenario) *scenario { return remade(s, "") }

// remade is sentBack with remarks on the second version, which has the same steps.
func remade(s *scenario, remarks string) *scenario {
	s = onRoute(s, threeStages()...).stamps(1, suzuki).stamps(2, tanaka, takada).act(circulation.SendBack, 3, yamada)
	g := s.Process().Gate
	s.do(s.BeginProcess(s.Head.Run, s.now))
	s.do(s.FinishProcess(s.Head.Run, fiveSteps(), remarks, defaults, s.now))
	s.Processes[0].Gate = g
	routed(&s.Process().Gate, s.now, threeStages()...)
	return s
}

// again brings a process to a second attempt, about which people are asked once more: two steps are done.
func again(s *scenario) *scenario {
	s = retry(started(s, fiveSteps()).steps(1, 2).failedAt(3, failed))
	g := &task.Again{ID: "01JQ9ZK4T5M6N7P8Q9R0S1T2AG", TaskID: s.Head.TaskID, ProcessVersion: 1, Attempt: 2,
		CreatedAt: s.now, Gate: aggregate.Gate{Status: aggregate.Generating}}
	s.Add(g)
	s.Add(&aggregate.Card{CardType: task.CardProcess, Subject: g.Key(), State: aggregate.CardNone, CreatedAt: s.now})
	return s
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
var byBuyers = task.Refusal{Why: task.ReasonRuleRefuses, Rule: circulation.Rule{ID: "r2", Name: "100万円以上"},
	Detail: "購買部に依頼してください。"}

// looking has people be looked up for the gate of a step.
func looking(s *scenario) *scenario {
	g := &s.Gates[0].Gate
	*g = aggregate.Gate{Status: aggregate.Generating, Terms: g.Terms}
	g.Terms.Rule, g.Terms.DecideBy = &byBuyers.Rule, nil
	return s
}
