package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// noReminders has none.
type noReminders struct{ Reminders }

func (noReminders) DueReminders(context.Context, time.Time) iter.Seq2[tenancy.Reminding, error] {
	return func(func(tenancy.Reminding, error) bool) {}
}

// What agents want to do waits as well.
var _, _ asking = &task.Aggregate{}, &conversation.Aggregate{}

func (noReminders) SaveReminding(context.Context, tenancy.Reminding, tenancy.Reminding) error {
	return nil
}

func TestPeopleAreRemindedOfWhatWaits(t *testing.T) {
	pipelinetest.Each(t, map[string]func(*testing.T, *pipelinetest.World){
		"by name, once on each working day":          testReminded,
		"as stand-ins, in the same message":          testRemindedAs,
		"as listed approvers who got a copy":         testRemindedByCopy,
		"of what an agent wants to do":               testRemindedOfAction,
		"together, where anybody of a channel may":   testRemindedTogether,
		"also where no rule asks":                    testRemindedByAnybody,
		"but not of what they were just asked":       testJustAsked,
		"or of what was decided meanwhile":           testRemindedDecided,
		"though the index is late":                   testRemindedLate,
		"whatever is wrong with others":              testRemindedBesideOthers,
		"unless the workspace wants none":            testRemindedNever,
		"all of them in one sweep":                   testRemindedAtOnce,
		"once, by two sweeps at once":                testRemindedByTwo,
		"once, though a sweep dies at any write":     testRemindedThoughItDies,
		"and only of the first twenty that are due":  testRemindedOfMany,
		"as long as anything waits in the workspace": testRemindedWhileItWaits,
	})
}

// morning moves the clock past the time of a reminder, and returns the day and time of the next one.
func morning(w *pipelinetest.World) (tenancy.Date, time.Time) {
	s := tenancy.DefaultSettings()
	_, at := s.NextReminder(0, w.Now())
	w.Later(at.Sub(w.Now()) + time.Hour)
	return s.NextReminder(0, w.Now())
}

func desks(w *pipelinetest.World, users ...string) {
	w.T.Helper()
	w.PlannedOnRoute(tenancy.DefaultSettings(),
		pipelinetest.Along([]string{pipelinetest.Requester}, pipelinetest.Desk("経理", 1, users...)),
		pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
}

// until sweeps two minutes from now, when what was committed is due, and then at a time.
func until(t *testing.T, w *pipelinetest.World, at time.Time) {
	t.Helper()
	sweep(t, w, 2*soon)
	sweep(t, w, at.Sub(w.Now()))
}

// of returns of what somebody was reminded on a day.
func of(w *pipelinetest.World, user string, day tenancy.Date) (told task.Reminded, ok bool) {
	w.T.Helper()
	_, ref := task.Remind(w.Ref.Tenant, pipelinetest.Team, user, day, task.Reminded{}, w.Now())
	a, err := w.Store.Load(w.T.Context(), ref)
	if errors.Is(err, aggregate.ErrNotFound) {
		return told, false
	}
	expect.NoError(w.T, err)
	expect.That(w.T, a.Request.User == user && a.Head.Rev == 1, "%+v", a.Request)
	return a.Reminded()
}

// reminded fails unless somebody is, or is not, reminded on a day.
func reminded(w *pipelinetest.World, user string, day tenancy.Date, want bool, says string, args ...any) {
	w.T.Helper()
	_, is := of(w, user, day)
	expect.That(w.T, is == want, says, args...)
}

func testReminded(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	desks(w, "U1", "U3")
	until(t, w, at.Add(-time.Second))
	reminded(w, "U1", day, false, "reminded before the time")
	for range 3 {
		sweep(t, w, time.Minute)
	}
	a := w.Load()
	for _, user := range []string{"U1", "U3"} {
		told, ok := of(w, user, day)
		expect.Must(t, ok && told.N == 1 && told.As == 0 && len(told.Items) == 1, "%s: %+v", user, told)
		x := told.Items[0]
		expect.That(t, x.Title == a.Task.Title && x.Title != "" && x.Asker == pipelinetest.Requester && x.ID == w.Ref.ID &&
			x.Until.Equal(*a.Process().Terms.DecideBy) && x.Amount == a.Head.Glance.Amount && x.Channel == "C0HR" && x.TS != "",
			"%+v", x)
	}
	reminded(w, pipelinetest.Requester, day, false, "who asks is reminded")
	again, next := tenancy.DefaultSettings().NextReminder(day+1, w.Now())
	for d := day + 1; d < again; d++ {
		sweep(t, w, 24*time.Hour-3*time.Minute)
		reminded(w, "U1", d, false, "reminded on %s, which is off", d)
	}
	sweep(t, w, next.Sub(w.Now()))
	reminded(w, "U1", again, true, "not reminded on the next working day")
}

func testJustAsked(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	w.Later(at.Sub(w.Now()) - justAsked + time.Minute)
	desks(w, "U1")
	until(t, w, at)
	reminded(w, "U1", day, false, "reminded of what came less than 4 hours ago")
	again, next := tenancy.DefaultSettings().NextReminder(day+1, w.Now())
	sweep(t, w, next.Sub(w.Now()))
	reminded(w, "U1", again, true, "nor on the next working day")
}

func testRemindedDecided(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	desks(w, "U1")
	sweep(t, w, 2*soon)
	w.Later(at.Sub(w.Now()))
	other := w.Another()
	desks(other, "U3")
	w.Cancel()
	sweep(t, w, time.Second)
	for _, user := range []string{"U1", "U3"} {
		reminded(w, user, day, false, "%s is reminded", user)
	}
}

func testRemindedNever(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	expect.Value(w.Store.KindStore.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x",
		TeamID: pipelinetest.Team, Admins: []string{}}, w.Now()))(t)
	w.Settings(func(s *tenancy.Settings) { s.RemindAt = "" })
	desks(w, "U1")
	until(t, w, at)
	reminded(w, "U1", day, false, "reminded")
	w.Settings(func(s *tenancy.Settings) { s.RemindAt = "09:30" })
	sweep(t, w, 24*time.Hour)
	again, next := tenancy.DefaultSettings().NextReminder(0, w.Now())
	sweep(t, w, next.Sub(w.Now()))
	reminded(w, "U1", again, true, "not reminded once it is on again")
}

// crowd lets three requests wait for 20 people each.
func crowd(w *pipelinetest.World) (users []string) {
	for i := range 3 {
		var some []string
		for n := range 20 {
			some = append(some, fmt.Sprintf("U%02d", 20*i+n))
		}
		desks(w, some...)
		users = append(users, some...)
		w = w.Another()
	}
	return users
}

func testRemindedAtOnce(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	users := crowd(w)
	until(t, w, at)
	for _, user := range users {
		reminded(w, user, day, true, "%s is not reminded", user)
	}
	before := w.Transport.Count("TransactWriteItems")
	sweep(t, w, time.Minute)
	expect.Is(t, w.Transport.Count("TransactWriteItems"), before, "writes once all are reminded")
}

func testRemindedByTwo(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	desks(w, "U1", "U2", "U3")
	sweep(t, w, 2*soon)
	w.Later(at.Sub(w.Now()))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { expect.NoError(t, handler(w).Sweep(t.Context())) })
	}
	all.Wait()
	expect.Value(handler(w).remindTenant(t.Context(), tenancy.Reminding{TenantID: w.Ref.Tenant, Day: day}))(t) // again
	for _, user := range []string{"U1", "U2", "U3"} {
		reminded(w, user, day, true, "%s is not reminded", user)
	}
}

// A sweep dies after one more write each time, before or after it arrives; the next minute goes on.
func testRemindedThoughItDies(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	desks(w, "U1", "U2", "U3")
	sweep(t, w, 2*soon)
	w.Later(at.Sub(w.Now()))
	for n := range 8 {
		ctx, cancel := context.WithCancel(t.Context())
		for range n / 2 {
			w.Transport.Before("TransactWriteItems", func() {})
		}
		w.Transport.Before("TransactWriteItems", cancel)
		if n%2 == 0 {
			w.Transport.DropAnswers("TransactWriteItems", 1)
		}
		_ = handler(w).Sweep(ctx)
		cancel()
		w.Transport.ClearFaults()
		w.Later(time.Minute)
	}
	sweep(t, w, time.Minute)
	for _, user := range []string{"U1", "U2", "U3"} {
		reminded(w, user, day, true, "%s is not reminded", user)
	}
}

func testRemindedOfMany(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	first := w.Ref.ID
	for range mostItems + 2 {
		desks(w, "U1")
		w = w.Another()
	}
	until(t, w, at)
	told, ok := of(w, "U1", day)
	expect.Must(t, ok && told.N == mostItems+2 && len(told.Items) == mostItems, "%+v", told)
	expect.Is(t, told.Items[0].ID, first, "due first")
}

// A workspace where something waits costs a few calls a day; one where nothing waits, none but the question which ones
// are due.
func testRemindedWhileItWaits(t *testing.T, w *pipelinetest.World) {
	_, at := morning(w)
	rows := func() (n int) {
		for _, err := range w.Store.KindStore.DueReminders(t.Context(), w.Now().AddDate(1, 0, 0)) {
			expect.NoError(t, err)
			n++
		}
		return n
	}
	calls := func(after time.Duration) (queries, reads, writes int) {
		q, g, x := w.Transport.Count("Query"), w.Transport.Count("GetItem"), w.Transport.Count("TransactWriteItems")
		sweep(t, w, after)
		return w.Transport.Count("Query") - q, w.Transport.Count("GetItem") - g, w.Transport.Count("TransactWriteItems") - x
	}
	w.Extracted()
	show(t, w)
	sweep(t, w, 2*soon)
	expect.Is(t, rows(), 0, "rows while nothing waits")
	desks(w, "U1", "U2")
	show(t, w)
	sweep(t, w, 2*soon)
	sweep(t, w, time.Second)
	expect.Is(t, rows(), 1)
	idle, reads, writes := calls(time.Minute)
	expect.That(t, idle == store.Shards+1 && reads == 0 && writes == 0, "an idle sweep: %d, %d, %d", idle, reads, writes)
	q, reads, writes := calls(at.Sub(w.Now()))
	// What waits, who stands in for whom, and the request; the settings; two people and the row.
	expect.That(t, q-idle == 3 && reads == 1 && writes == 3, "a day's: %d, %d, %d", q-idle, reads, writes)
	w.Cancel()
	show(t, w)
	sweep(t, w, 2*soon)
	_, next := tenancy.DefaultSettings().NextReminder(0, w.Now())
	sweep(t, w, next.Sub(w.Now()))
	expect.Is(t, rows(), 0, "rows once nothing waits")
}
