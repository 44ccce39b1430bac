package main

import (
	"context"
	"fmt"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Rules cost a tenant nothing that has none.
func TestWhatATenantWithoutRulesPays(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, c := range map[string]struct {
		bring func(w *pipelinetest.World)
		want  string
	}{
		"a new request":   {func(*pipelinetest.World) {}, "1 Query, 5 GetItem, 3 TransactWriteItems"},
		"before a policy": {func(w *pipelinetest.World) { w.Extracted() }, "1 Query, 1 GetItem, 0 TransactWriteItems"},
		"before steps": {func(w *pipelinetest.World) {
			w.Prompted(tenancy.DefaultSettings())
			w.Approve()
		}, "1 Query, 1 GetItem, 0 TransactWriteItems"},
		"steps wait": {func(w *pipelinetest.World) {
			w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", "read", "{}"))
		}, "1 Query, 0 GetItem, 0 TransactWriteItems"},
	} {
		w := server.World(t)
		c.bring(w)
		h, in := handler(w), w.In()
		actions := []string{"Query", "GetItem", "TransactWriteItems"}
		var before, n []any
		for _, action := range actions {
			before = append(before, w.Transport.Count(action))
		}
		h.Store = unruled{h.Store, t}
		expect.Value(h.Handle(t.Context(), in))(t)
		for i, action := range actions {
			n = append(n, w.Transport.Count(action)-before[i].(int))
		}
		got := fmt.Sprintf("%d Query, %d GetItem, %d TransactWriteItems", n...)
		expect.That(t, got == c.want, "%s: %s, want %s", name, got, c.want)
	}
}

// unruled is the table of a tenant without rules, of which nothing is read because of rules.
type unruled struct {
	Store
	t *testing.T
}

func (u unruled) Rules(context.Context, string) (*rules.Rules, int, error) {
	u.t.Error("rules are read")
	return nil, 0, nil
}

func (u unruled) ToolPermissions(context.Context, string) ([]tenancy.ToolPermission, error) {
	u.t.Error("permissions are read")
	return nil, nil
}

// Rules cost one read before a request is accepted, and where its people are looked up that, the settings, and a query
// of the marks.
func TestWhatATenantWithRulesPays(t *testing.T) {
	server := pipelinetest.Start(t)
	calls := func(w *ruledWorld) []int {
		var n []int
		actions := []string{"Query", "GetItem", "TransactWriteItems"}
		for _, action := range actions {
			n = append(n, -w.Transport.Count(action))
		}
		w.resume()
		for i, action := range actions {
			n[i] += w.Transport.Count(action)
		}
		return n
	}
	had, has := newRuled(t, server), newRuled(t, server)
	for _, w := range []*ruledWorld{had, has} {
		w.rules(asks(desk("経理", group("S0KEIRI"))))
	}
	had.rules(nil)
	without, with := calls(had), calls(has)
	expect.Same(t, with, []int{without[0], without[1] + 1, without[2]})
	expect.Same(t, has.slack.asked, had.slack.asked)
	has.unrouted()
	expect.Same(t, calls(has), []int{2, 2, 1})
}
