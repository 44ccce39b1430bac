package main

import (
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// The list says what a person owes along a route, though they aren't in the channel where it was asked for.
func TestTheListHasWhatAPersonOwes(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.onRoute(webapi.Alex, webapi.Tanaka)
	list := func(user string) string { return w.said(w.typed(user, webapi.General, "list")) }
	expect.Is(t, strings.Count(list(webapi.Alex), "Steps v1"), 1, "before an entry says so")
	owes := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: webapi.Alex, Stage: 1,
		OwedSince: p.AskedAt}
	late := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: webapi.Tanaka, Stage: 1,
		OwedSince: p.AskedAt}
	expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, []*aggregate.Card{owes, late}))
	expect.Has(t, list(webapi.Alex), "Waiting for your approval (1)", "of Alex")
	expect.Is(t, strings.Count(list(webapi.Alex), "Steps v1"), 1, "with an entry")
	expect.Has(t, list(webapi.Alex), "👥 "+webapi.Alex+" (1 more) <@"+webapi.Alex+">", "stage")
	for _, user := range []string{webapi.Tanaka, webapi.Suzuki, webapi.Sato} {
		expect.That(t, !strings.Contains(list(user), "👥"), "%s: %s", user, list(user))
	}
}
