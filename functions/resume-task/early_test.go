package main

import (
	"context"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// What the rules refuse whatever its steps will be is refused before a model is called.
func TestRulesRefuseARequestBeforeItIsAccepted(t *testing.T) {
	server := pipelinetest.Start(t)
	mine := asks(desk("課長", ofPeople(pipelinetest.Requester)))
	here := asks(rules.Stage{Name: "みんな", Who: rules.Who{Kind: rules.WhoChannel}, Need: 1},
		desk("部長", ofPeople("U0BUCHO")))
	for name, c := range map[string]struct {
		kind   string
		o      *rules.Outcome
		reason aggregate.Reason
		detail string
	}{
		"a rule refuses":              {"channel", &rules.Outcome{Refuse: "購買部へ"}, task.ReasonRuleRefuses, "すべて\n購買部へ"},
		"a route of the asker":        {"channel", mine, task.ReasonNoRoute, "課長"},
		"a route of others":           {"channel", asks(desk("課長", ofPeople("U0BUCHO"))), "", ""},
		"a group that may have some":  {"channel", asks(desk("経理", group("S0KEIRI"))), "", ""},
		"in a direct message, too":    {"im", &rules.Outcome{Refuse: "購買部へ"}, task.ReasonRuleRefuses, "すべて\n購買部へ"},
		"named people need no home":   {"im", asks(desk("課長", ofPeople("U0BUCHO"))), "", ""},
		"a channel without a home":    {"im", here, task.ReasonNoHome, ""},
		"a channel with its members":  {"channel", here, "", ""},
		"no rules, after there were":  {"channel", nil, "", ""},
		"where Slack isn't asked yet": {"channel", asks(desk("課長", ofPeople("U0LEFT"))), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRuled(t, server)
			if c.kind == "im" {
				w.Receive(task.Request{User: pipelinetest.Requester, Channel: "D0", ChannelType: "im",
					MessageTS: "1775034000.000200", ThreadTS: "1775034000.000200"})
				w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = true })
			}
			if c.o == nil {
				w.rules(mine)
			}
			w.rules(c.o)
			next := w.resume()
			a := w.Load()
			if e := a.Head.Ended; c.reason != "" {
				expect.That(t, next.State == task.StateFinish && next.Outcome == "refused" && a.Head.AcceptedAt == nil &&
					e != nil && e.As == task.TaskRefused && e.Reason == c.reason && e.Detail == c.detail, "%+v, %+v", next, e)
				expect.Same(t, w.resume(), next)
				return
			}
			expect.That(t, next.State == task.StateExtractTask && a.Head.AcceptedAt != nil, "%+v, %+v", next, a.Head.Ended)
		})
	}
}

// A request in direct messages is accepted if there is a home, and says before a model is called where it is shown. Its
// gate asks that home.
func TestARequestInDirectMessagesAsksTheHome(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, home := range map[string]rules.Home{
		"a channel": {Channel: "C0HOME"}, "people": {Users: []string{pipelinetest.Requester, "U0TANAKA"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRuled(t, server)
			w.Receive(task.Request{User: pipelinetest.Requester, Channel: "D0", ChannelType: "im",
				MessageTS: "1775034000.000200", ThreadTS: "1775034000.000200"})
			w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval, s.DirectApprovers = true, home })
			w.rules(asks(rules.Stage{Name: "みんな", Who: rules.Who{Kind: rules.WhoChannel}, Need: 1},
				desk("部長", ofPeople("U0BUCHO"))))
			next := w.resume()
			a := w.Load()
			expect.That(t, next.State == task.StateExtractTask, "%+v, %+v", next, a.Head.Ended)
			shown := home.Users
			if home.Channel != "" {
				shown = []string{home.Channel}
			}
			expect.Same(t, a.Head.ShownTo, shown)
			w.unrouted()
			w.resume()
			p := w.Load().Process()
			expect.That(t, p.Status == aggregate.PendingApproval, "%+v", p)
			expect.Is(t, p.Home, home.Channel)
			stage := p.Route.Stages[0]
			expect.That(t, home.Channel != "" || len(stage.People) == 1 && stage.People[0].User == "U0TANAKA", "%+v",
				stage)
		})
	}
}

// Rules that are saved while a request is turned away by others are read anew.
func TestARefusalReliesOnTheRules(t *testing.T) {
	w := newRuled(t, pipelinetest.Start(t))
	w.rules(&rules.Outcome{Refuse: "購買部へ"})
	w.store = func(s Store) Store {
		return &reading{Store: s, then: func() { w.rules(asks(desk("課長", ofPeople("U0BUCHO")))) }}
	}
	expect.Is(t, w.resume().State, task.StateExtractTask, "state")
}

// reading is a table in which something changes just after the rules were read once.
type reading struct {
	Store
	then func()
}

func (r *reading) Rules(ctx context.Context, tenant string) (*rules.Rules, int, error) {
	x, rev, err := r.Store.Rules(ctx, tenant)
	if then := r.then; then != nil {
		r.then = nil
		then()
	}
	return x, rev, err
}
