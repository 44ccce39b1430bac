package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// A workspace has fetched 99 sources today. The hundredth is tried twice, which counts once; the next is refused until
// the day ends, at midnight UTC.
func testDay(t *testing.T, db *storetest.Server) {
	w := newWorld(t, db, nil)
	midnight := w.now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	w.now = midnight.Add(-time.Hour)
	most := expect.Value(w.rows.Settings(t.Context(), w.ref.Tenant))(t).MaxSourcesPerDay
	expect.Same(t, 100, most)
	hundredth, of := w.ref, func(i int) string { return fmt.Sprintf("1775034001.%06d", i) }
	for i := range most - 1 {
		w.begin(of(i), listed())
		expect.Value(w.rows.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.TrySource(a.Head.Run, most, w.now)
		}))(t)
	}
	w.ref, w.kept.err = hundredth, errors.New("the bucket is down")
	_, err := w.run()
	expect.That(t, err != nil, "no error")
	w.kept.err = nil
	expect.Value(w.run())(t)
	s := w.load().Conversation.Source
	expect.That(t, s.State == conversation.SourceThere && s.Tries == 2, "the hundredth: %+v", s)

	w.now = midnight.Add(-2 * time.Second)
	w.begin(of(100), listed())
	before := w.called("token")
	expect.Same(t, conversation.StateAnswer, expect.Value(w.run())(t).State)
	w.failed(tenancy.ReasonSourcesDay)
	expect.Same(t, before, w.called("token"))
	said := w.says()[0]
	expect.Has(t, said.Content, "can fetch sources 100 times a day")
	expect.Has(t, said.Content, "after midnight UTC")
	for _, p := range said.Pieces() {
		expect.That(t, p.Quoted != strings.Contains(p.Text, "100 times"), "%+v is said as another's words", p)
	}
	expect.Value(w.run())(t) // a repetition says nothing more
	expect.Same(t, 1, len(w.says()))

	w.now = midnight.Add(-time.Second)
	w.begin(of(101), listed())
	expect.Value(w.run())(t)
	expect.Same(t, conversation.SourceThere, w.load().Conversation.Source.State)
}

// Without a limit the hundred and first is fetched, too, and counted all the same.
func testNoLimit(t *testing.T, db *storetest.Server) {
	w := newWorld(t, db, nil)
	x := expect.Value(w.rows.Settings(t.Context(), w.ref.Tenant))(t)
	x.MaxSourcesPerDay = 0
	expect.Value(w.rows.SaveSettings(t.Context(), w.ref.Tenant, x, aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"},
		w.now))(t)
	expect.Value(w.run())(t)
	expect.Same(t, conversation.SourceThere, w.load().Conversation.Source.State)
	expect.Same(t, 1, expect.Value(w.rows.Quota(t.Context(), w.ref.Tenant, tenancy.SourceFetched(0, w.now).Key))(t))
}
