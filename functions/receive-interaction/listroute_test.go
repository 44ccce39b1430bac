package main

import (
	"strings"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// The list says what a person owes along a route, though they aren't in the channel where it was asked for.
func TestTheListHasWhatAPersonOwes(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.onRoute(workspace.Alex, workspace.Tanaka)
	list := func(user string) string { return w.said(w.typed(user, workspace.General, "list")) }
	expect.Is(t, strings.Count(list(workspace.Alex), "Steps v1"), 1, "before an entry says so")
	owes := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: workspace.Alex, Stage: 1,
		OwedSince: p.AskedAt}
	late := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: workspace.Tanaka, Stage: 1,
		OwedSince: p.AskedAt}
	expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, []*aggregate.Card{owes, late}))
	expect.Has(t, list(workspace.Alex), "Waiting for your approval (1)", "of Alex")
	expect.Is(t, strings.Count(list(workspace.Alex), "Steps v1"), 1, "with an entry")
	expect.Has(t, list(workspace.Alex), "👥 "+workspace.Alex+" (1 more) <@"+workspace.Alex+">", "stage")
	for _, user := range []string{workspace.Tanaka, workspace.Suzuki, workspace.Sato} {
		expect.That(t, !strings.Contains(list(user), "👥"), "%s: %s", user, list(user))
	}
}
