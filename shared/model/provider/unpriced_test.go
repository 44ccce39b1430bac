package provider_test

import (
	"errors"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/turn"
)

// A limit of costs can't be held for a model whose price nobody knows. These are all ways by which a deployment opens
// one.
func TestAModelOfUnknownPriceIsNotOpenedUnderALimit(t *testing.T) {
	const unheard = "claude-unheard-of"
	c := provider.Config{}
	ways := map[string]func(tenancy.Settings, string) error{
		"a task's": func(s tenancy.Settings, name string) error { // also the summary of its execution
			return second(model.Within(s, c.Open, "anthropic:"+name, nil))
		},
		"an agent's": func(s tenancy.Settings, name string) error { // also what folds a long conversation away
			return second(c.OpenAgent(agent.Definition{ID: "a", Provider: agent.Anthropic, Model: name}, "", s))
		},
		// leaders, members, evaluators, the judge: a contest has a budget always
		"a contest's": func(_ tenancy.Settings, name string) error {
			return second(provider.Wires{Config: c, Demo: turn.Demo{}}.Open("anthropic:" + name))
		},
	}
	for about, tt := range map[string]struct {
		settings       tenancy.Settings
		task, sessions bool // what of is limited
	}{
		"nothing is limited":                 {},
		"what a request may cost":            {tenancy.Settings{MaxCostUSD: 1}, true, false},
		"what a conversation may cost":       {tenancy.Settings{MaxSessionCostUSD: 1}, false, true},
		"what a day may cost":                {tenancy.Settings{MaxCostDayUSD: 1}, true, true},
		"what a month may cost":              {tenancy.Settings{MaxCostMonthUSD: 1}, true, true},
		"a further workspace without limits": {tenancy.Settings{FurtherDay: aggregate.USD(5)}, true, true},
	} {
		limited := map[string]bool{"a task's": tt.task, "an agent's": tt.sessions, "a contest's": true}
		for way, open := range ways {
			err := open(tt.settings, unheard)
			if e := new(model.Error); limited[way] != (errors.As(err, &e) && e.Kind == model.Unpriced) || !limited[way] && err != nil {
				t.Errorf("%s, %s: %v", about, way, err)
			}
			if err := open(tt.settings, "claude-sonnet-4-6"); err != nil {
				t.Errorf("%s, %s of a known price: %v", about, way, err)
			}
		}
	}
}
