package main

import (
	"testing"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/expect"
	"ringi/shared/model"
	"ringi/shared/session"
	"ringi/shared/store/storetest"
	"ringi/shared/tenancy"
)

// A model that was asked is paid for, also when its answer comes after the stop button, or after the session was closed.
func TestAnAnswerThatComesTooLateIsPaidFor(t *testing.T) {
	server := storetest.Start(t)
	by, p := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1"}, aggregate.Policy{Team: "T1", Mode: aggregate.ApproversList}
	for name, end := range map[string]session.Decision{
		"stopped": func(a *session.Aggregate) (aggregate.Change, error) { return a.Stop(by, p, time.Now()) },
		"closed":  func(a *session.Aggregate) (aggregate.Change, error) { return a.Close(by, p, time.Now()) },
	} {
		w := talking(t, server, session.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
		w.vendor.says.Usage = model.Usage{ID: "call", Input: 100, Output: 50, Cost: 1000}
		w.vendor.asked = func() { expect.Value(w.rows.Decide(t.Context(), w.ref, end))(t) }
		w.handle()
		uses := expect.Value(w.rows.Uses(t.Context(), w.ref.Tenant, w.ref.ID))(t)
		day := expect.Value(w.Store.Spent(t.Context(), w.ref.Tenant, time.Now()))(t)
		if got := w.load().Session.Usage; got.Output != 50 || len(uses) != 1 || day.Day == 0 {
			t.Errorf("%s: the session cost %+v, with %d calls, and the day %+v", name, got, len(uses), day)
		}
	}
}
