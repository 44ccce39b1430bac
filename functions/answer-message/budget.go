package main

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
)

// agentsDay refuses messages if the agents' budget of the day is used up.
func (t *answering) agentsDay(ctx context.Context) (*conversation.Refusal, error) {
	left, err := t.leftOfDay(ctx)
	if err != nil || left {
		return nil, err
	}
	return t.overDay(), nil
}

func (t *answering) overDay() *conversation.Refusal {
	most := t.settings.MaxAgentsDay()
	return &conversation.Refusal{Reason: reasonAgentsDay, Detail: most.String(),
		Text: fmt.Sprintf(wordsIn(t.settings.Locale).day, most)}
}

// leftOfDay reports whether the agents' budget of the day has something left, besides what this turn has cost.
func (t *answering) leftOfDay(ctx context.Context) (bool, error) {
	most := t.settings.MaxAgentsDay()
	if most <= 0 {
		return true, nil
	}
	spent, err := t.Store.Quota(ctx, t.in.Tenant, tenancy.AgentsDay(t.Now()))
	if err != nil {
		return false, fmt.Errorf("what agents have cost today: %w: %w", explain.ErrUnavailable, err)
	}
	return aggregate.MicroUSD(spent)+t.cost < most, nil
}

// metered looks before each call whether the agents' budget of the day has something left.
type metered struct {
	model.Wire
	of *answering
}

// Say returns a *model.Error of kind OverBudget, and makes no call, if nothing is left.
func (m *metered) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	left, err := m.of.leftOfDay(ctx)
	if err != nil {
		return model.Response{}, &model.Error{Provider: "none", Kind: model.Overloaded, Retryable: true, Err: err}
	}
	if !left {
		return model.Response{}, &model.Error{Provider: "none", Kind: model.OverBudget}
	}
	got, err := m.Wire.Say(ctx, r, onText)
	u := got.Usage.Counted()
	if cost, known := tenancy.Cost(u, got.Prices); known {
		u.Cost += cost
	} else {
		u.Unpriced = max(1, u.Calls)
	}
	m.of.cost += tenancy.AgentsCost(u)
	return got, err
}
