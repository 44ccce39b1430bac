package card_test

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// stepRouteStates are cards of steps' gates under a rule, and of requests that a rule ended.
var stepRouteStates = []state{
	{"route_of_step_middle", stepCard, func(s *scenario) *scenario {
		s = gated(s, arguments)
		g := &s.Gates[0].Gate
		routed(&s.Process().Gate, s.now, desk("課長", 1, suzuki))
		s.Process().Terms.Rule = &byBuyers.Rule
		routed(g, s.now, desk("経理", 1, tanaka, takada), desk("部長", 1, yamada))
		*g = expect.Value(g.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Stage: 1, Hash: g.Asked,
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
