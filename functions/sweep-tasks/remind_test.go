package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// What agents want to do waits as well.
var _, _ asking = &task.Aggregate{}, &conversation.Aggregate{}

func TestPeopleAreRemindedOfWhatWaits(t *testing.T) {
	t.Parallel()
	ringitest.Each(t, map[string]func(*testing.T, *ringitest.World){
		"by name, once on each working day":          testReminded,
		"as stand-ins, in the same message":          testRemindedAs,
		"as listed approvers who got a copy":         testRemindedByCopy,
		"of what an agent wants to do":               testRemindedOfAction,
		"together, where anybody of a channel may":   testRemindedTogether,
		"but not of what they were just asked":       testJustAsked,
		"or of what was decided meanwhile":           testRemindedDecided,
		"though the index is late":                   testRemindedLate,
		"whatever is wrong with others":              testRemindedBesideOthers,
		"unless the workspace wants none":            testRemindedNever,
		"once, by two sweeps at once":                testRemindedByTwo,
		"once, though a sweep dies at any write":     testRemindedThoughItDies,
		"as long as anything waits in the workspace": testRemindedWhileItWaits,
		"and looked up again, in the same pass":      testLookedUpDaily,
		"and looked up again each day without it":    testLookedUpUnreminded,
		"and looked up again once somebody has left": testLookedUpOnceSomebodyLeft,
	})
}

// morning moves the clock past the time of a reminder, and returns the day and time of the next one.
func morning(w *ringitest.World) (tenancy.Date, time.Time) {
	s := tenancy.DefaultSettings()
	_, at := s.NextReminder(0, w.Now())
	w.Later(at.Sub(w.Now()) + time.Hour)
	return s.NextReminder(0, w.Now())
}

func desks(w *ringitest.World, users ...string) {
	w.T.Helper()
	w.PlannedOnRoute(tenancy.DefaultSettings(),
		ringitest.Along([]string{ringitest.Requester}, ringitest.Desk("経理", 1, users...)),
		ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
}

func testLookedUpDaily(t *testing.T, w *ringitest.World) {
	_, at := morning(w)
	desks(w, "U1")
	until(t, w, at.Add(-time.Second))
	expect.That(t, !w.Load().Head.LookAgain, "before the day's time")
	expect.That(t, sweep(t, w, time.Minute).Head.LookAgain, "not looked up again")
}

func testLookedUpUnreminded(t *testing.T, w *ringitest.World) {
	expect.Value(w.Store.KindStore.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x",
		TeamID: ringitest.Team, Admins: []string{}}, w.Now()))(t)
	w.Prompted(w.Settings(func(s *tenancy.Settings) { s.RemindAt = "" }))
	for range 3 {
		expect.That(t, !sweep(t, w, 2*soon).Head.LookAgain, "before a day is over")
	}
	expect.That(t, sweep(t, w, 24*time.Hour).Head.LookAgain, "not looked up again")
}

// Receive-event says it to the row that makes the tenant due, whether there is one or not.
func testLookedUpOnceSomebodyLeft(t *testing.T, w *ringitest.World) {
	leaves := func() { expect.NoError(t, w.Store.KindStore.LookAgain(t.Context(), w.Ref.Tenant, w.Now())) }
	day, at := morning(w)
	leaves()
	sweep(t, w, time.Second) // nothing waits
	desks(w, "U1")
	other := w.Another()
	other.Prompted(tenancy.DefaultSettings())
	drafted := w.Another()
	drafted.Extracted()
	leaves()
	begun := 0
	for was, err := range w.Store.KindStore.DueReminders(t.Context(), w.Now().Add(time.Second)) {
		expect.NoError(t, err)
		leaves() // a sweep that has begun doesn't take it for done
		expect.Fails(t, w.Store.KindStore.SaveReminding(t.Context(), was, was), aggregate.ErrConflict)
		begun++
	}
	expect.Is(t, begun, 1, "sweeps that have begun")
	expect.That(t, sweep(t, w, time.Second).Head.LookAgain && other.Load().Head.LookAgain &&
		drafted.Load().Head.LookAgain, "not looked up again")
	reminded(w, "U1", day, false, "reminded before the time")
	sweep(t, w, at.Sub(w.Now()))
	reminded(w, "U1", day, true, "not reminded at its time")
}

// until sweeps two minutes from now, when what was committed is due, and then at a time.
func until(t *testing.T, w *ringitest.World, at time.Time) {
	t.Helper()
	sweep(t, w, 2*soon)
	sweep(t, w, at.Sub(w.Now()))
}

// of returns of what somebody was reminded on a day.
func of(w *ringitest.World, user string, day tenancy.Date) (told task.Reminded, ok bool) {
	w.T.Helper()
	_, ref := task.Remind(w.Ref.Tenant, ringitest.Team, user, day, task.Reminded{}, w.Now())
	a, err := w.Store.Load(w.T.Context(), ref)
	if errors.Is(err, aggregate.ErrNotFound) {
		return told, false
	}
	expect.NoError(w.T, err)
	expect.That(w.T, a.Request.User == user && a.Head.Rev == 1, "%+v", a.Request)
	return a.Reminded()
}

// reminded fails unless somebody is, or is not, reminded on a day.
func reminded(w *ringitest.World, user string, day tenancy.Date, want bool, says string, args ...any) {
	w.T.Helper()
	_, is := of(w, user, day)
	expect.That(w.T, is == want, says, args...)
}

func testReminded(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	desks(w, "U1", "U3")
	until(t, w, at.Add(-time.Second))
	reminded(w, "U1", day, false, "reminded before the time")
	sweep(t, w, time.Minute)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Looked(a.Head.Run, a.LooksAgain(), nil, nil, tenancy.DefaultSettings(), w.Now())
	})
	sweep(t, w, soon)
	before := w.Transport.Count("TransactWriteItems")
	for range 2 {
		sweep(t, w, time.Minute)
	}
	expect.Is(t, w.Transport.Count("TransactWriteItems"), before, "writes once all are reminded")
	a := w.Load()
	for _, user := range []string{"U1", "U3"} {
		told, ok := of(w, user, day)
		expect.Must(t, ok && told.N == 1 && told.As == 0 && len(told.Items) == 1, "%s: %+v", user, told)
		x := told.Items[0]
		expect.That(t, x.Title == a.Task.Title && x.Title != "" && x.Asker == ringitest.Requester && x.ID == w.Ref.ID &&
			x.Until.Equal(*a.Process().Terms.DecideBy) && x.Amount == a.Head.Glance.Amount && x.Channel == "C0HR" && x.TS != "",
			"%+v", x)
	}
	reminded(w, ringitest.Requester, day, false, "who asks is reminded")
	again, next := tenancy.DefaultSettings().NextReminder(day+1, w.Now())
	sweep(t, w, next.Sub(w.Now()))
	reminded(w, "U1", again, true, "not reminded on the next working day")
}

func testJustAsked(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	w.Later(at.Sub(w.Now()) - justAsked + time.Minute)
	desks(w, "U1")
	until(t, w, at)
	reminded(w, "U1", day, false, "reminded of what came less than 4 hours ago")
	again, next := tenancy.DefaultSettings().NextReminder(day+1, w.Now())
	sweep(t, w, next.Sub(w.Now()))
	reminded(w, "U1", again, true, "nor on the next working day")
}

func testRemindedDecided(t *testing.T, w *ringitest.World) {
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

func testRemindedNever(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	expect.Value(w.Store.KindStore.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x",
		TeamID: ringitest.Team, Admins: []string{}}, w.Now()))(t)
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

func testRemindedByTwo(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	desks(w, "U1", "U2", "U3")
	sweep(t, w, 2*soon)
	w.Later(at.Sub(w.Now()))
	expect.AtOnce(4, func(int) { expect.NoError(t, handler(w).Sweep(t.Context())) })
	expect.Value(handler(w).remindTenant(t.Context(), tenancy.Reminding{TenantID: w.Ref.Tenant, Day: day}))(t) // again
	for _, user := range []string{"U1", "U2", "U3"} {
		reminded(w, user, day, true, "%s is not reminded", user)
	}
}

// A sweep dies after one more write each time, before or after it arrives; the next minute goes on.
func testRemindedThoughItDies(t *testing.T, w *ringitest.World) {
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

// created keeps what is created.
type created struct {
	Reminders
	change aggregate.Change
}

func (m *created) Create(_ context.Context, _ aggregate.Ref, c aggregate.Change) error {
	m.change = c
	return nil
}

// A message names the first twenty that are due, and counts all.
func TestAReminderNamesTheFirstThatAreDue(t *testing.T) {
	now, rows, owed := time.Now(), &created{}, []owing(nil)
	for i := range mostItems + 2 {
		until := now.Add(-time.Duration(i) * time.Hour)
		owed = append(owed, owing{RemindedItem: task.RemindedItem{ID: fmt.Sprint(i), Until: &until}, since: now})
	}
	r := &reminding{Handler: &Handler{Reminders: rows}, tenant: "T", now: now}
	expect.NoError(t, r.tell(t.Context(), "U1", 1, owed))
	told, ok := (&task.Aggregate{}).After(rows.change).(*task.Aggregate).Reminded()
	expect.Must(t, ok && told.N == mostItems+2 && len(told.Items) == mostItems, "%+v", told)
	expect.That(t, told.Items[0].ID == fmt.Sprint(mostItems+1) && told.Items[mostItems-1].ID == "2", "%+v", told.Items)
}

// A workspace where something waits costs a few calls a day; one where nothing waits, none but the question which ones
// are due.
func testRemindedWhileItWaits(t *testing.T, w *ringitest.World) {
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
	// What waits, who stands in for whom, what is drafted or was given back, and the request, for which people are looked
	// up again; the settings; two people, the request and the row.
	expect.That(t, q-idle == 6 && reads == 3 && writes == 4, "a day's: %d, %d, %d", q-idle, reads, writes)
	w.Cancel()
	show(t, w)
	sweep(t, w, 2*soon)
	_, next := tenancy.DefaultSettings().NextReminder(0, w.Now())
	sweep(t, w, next.Sub(w.Now()))
	expect.Is(t, rows(), 0, "rows once nothing waits")
}

func testRemindedAs(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	desks(w, "U1")
	other := w.Another()
	desks(other, "U2")
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}}
	today := tenancy.DateOf(w.Now().In(tenancy.Zone()))
	for hand, until := range map[string]tenancy.Date{"U2": day, "U4": today} {
		d := tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: hand, Principal: "U1", From: today, Until: until}
		expect.Value(w.Store.KindStore.SetDelegation(t.Context(), d, by, w.Now(), nil))(t)
	}
	until(t, w, at)
	told, ok := of(w, "U2", day)
	expect.Must(t, ok && told.N == 2 && told.As == 1 && len(told.Items) == 2, "%+v", told)
	for _, x := range told.Items {
		expect.That(t, x.ID == w.Ref.ID && x.For == "U1" || x.ID == other.Ref.ID && x.For == "", "%+v", x)
	}
	told, ok = of(w, "U1", day)
	expect.That(t, ok && told.N == 1 && told.As == 0, "the principal: %+v", told)
	reminded(w, "U4", day, false, "whose days are over")
}

func testRemindedByCopy(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	expect.Value(w.Store.KindStore.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x",
		TeamID: ringitest.Team, Admins: []string{}}, w.Now()))(t)
	s := w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U1", "U2"}}
	})
	p := w.Prompted(s).Prompt()
	var copies []*aggregate.Card
	for _, user := range []string{"U1", "U5"} {
		copies = append(copies, &aggregate.Card{CardType: task.CardPrompt, Subject: p.Key(), User: user, Channel: "D" + user,
			MessageTS: "1.000001", State: aggregate.CardPosted, CreatedAt: w.Now()})
	}
	expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, copies))
	until(t, w, at)
	told, ok := of(w, "U1", day)
	expect.Must(t, ok && told.N == 1, "%+v", told)
	expect.That(t, told.Items[0].Channel == "DU1" && told.Items[0].TS == "1.000001", "%+v", told)
	for _, user := range []string{"U2", "U5"} {
		reminded(w, user, day, false, "%s has no copy, or is no approver any more", user)
	}
}

func testRemindedOfAction(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	s := store.New(dynamodb.NewFromConfig(w.Config), w.Table(), store.Kinds()...)
	tenant := aggregate.TenantID("T1")
	expect.Value(s.Bootstrap(t.Context(), tenancy.Tenant{ID: tenant, Name: "x", TeamID: "T1",
		Admins: []string{}}, w.Now()))(t)
	settings := expect.Value(s.Settings(t.Context(), tenant))(t)
	settings.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U2"}}
	settings = expect.Value(s.SaveSettings(t.Context(), tenant, settings, ringitest.Member("U2"), w.Now()))(t)
	rows := store.NewConversations(w.Store.Table().DB, w.Table())
	rows.Now = w.Now
	k := ringitest.Begin(t, rows, w.Now, ringitest.Heard("1776675600.000100", "U1", "x"),
		conversation.Opening{AgentID: "codex"})
	p := conversation.Payload{Script: "go test ./...", TimeoutSeconds: 60}
	x := k.Answer("試します。", &conversation.Proposal{Type: conversation.ShellCommand,
		Payload: ringitest.InRow(p.JSON()), Seconds: 60, Summary: "テストを動かす",
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 168, SettingsRev: settings.Rev}}).Current()
	expect.NoError(t, rows.AddCopies(t.Context(), k.Ref, []*aggregate.Card{{CardType: conversation.CardAction,
		Subject: x.Key(), User: "U2", Channel: "DU2", MessageTS: "1.000001", State: aggregate.CardPosted,
		CreatedAt: w.Now()}}))
	h := &Handler{Store: s, Tasks: w.Store, Reminders: s, Effects: w.Effects(), Now: w.Now}
	for _, after := range []time.Duration{2 * soon, at.Sub(w.Now()) - 2*soon} {
		w.Later(after)
		expect.NoError(t, h.Sweep(t.Context()))
	}
	_, ref := task.Remind(tenant, "T1", "U2", day, task.Reminded{}, w.Now())
	told, ok := expect.Value(s.Load(t.Context(), ref))(t).(*task.Aggregate).Reminded()
	expect.Must(t, ok && told.N == 1, "%+v", told)
	item := told.Items[0]
	expect.That(t, item.Kind == conversation.Kind.Name && item.ID == k.Ref.ID && item.Title == "テストを動かす" &&
		item.Asker == "U1" && item.Channel == "DU2", "%+v", item)
}

// late has what waited at some time.
type late struct {
	Reminders
	page store.Page[store.WaitingItem]
}

func (l late) Waiting(context.Context, string, string, int) (store.Page[store.WaitingItem], error) {
	return l.page, nil
}

func testRemindedLate(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	desks(w, "U1", "U2")
	other := w.Another()
	desks(other, "U1")
	stamped := other.Another()
	stamped.PlannedOnRoute(tenancy.DefaultSettings(), ringitest.Along([]string{ringitest.Requester},
		ringitest.Desk("経理", 1, "U3"), ringitest.Desk("部長", 1, "U4")),
		ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	sweep(t, w, 2*soon)
	h := handler(w)
	h.Reminders = late{h.Reminders, expect.Value(h.Reminders.Waiting(t.Context(), w.Ref.Tenant, "", store.MaxPage))(t)}
	w.Cancel()
	stamped.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p, head := *a.Process(), a.Head
		p.Gate = ringitest.Acted(t, p.Gate, stamped.Now(), circulation.Stamp, 1, "U3")
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&p}, Now: stamped.Now()}, nil
	})
	w.Later(at.Sub(w.Now()))
	expect.NoError(t, h.Sweep(t.Context()))
	reminded(w, "U3", day, false, "reminded of what they have stamped")
	told, ok := of(w, "U1", day)
	expect.That(t, ok && told.N == 1 && told.Items[0].ID == other.Ref.ID, "%+v", told)
	reminded(w, "U2", day, false, "reminded of nothing that waits")
}

// unreadable fails to read some settings.
type unreadable struct{ Reminders }

func (u unreadable) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	switch tenant {
	case "AAA":
		return tenancy.Settings{}, errPoison
	case "AAB":
		panic("poison")
	}
	return u.Reminders.Settings(ctx, tenant)
}

func testRemindedBesideOthers(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	desks(w, "U1", "U2")
	other := w.Another()
	desks(other, "U2")
	sweep(t, w, 2*soon)
	w.Later(at.Sub(w.Now()))
	s := w.Store.KindStore.Store
	for _, tenant := range []string{"AAA", "AAB"} {
		first := tenancy.Reminding{TenantID: tenant, DueAt: w.Now().Add(-time.Hour)}
		expect.NoError(t, s.SaveReminding(t.Context(), first, tenancy.Reminding{}))
	}
	h := handler(w)
	h.Store, h.Reminders = poisoned{Store: h.Store, ref: w.Ref, panics: true}, unreadable{h.Reminders}
	expect.NoError(t, h.Sweep(t.Context()))
	reminded(w, "U1", day, false, "reminded of what can't be read")
	told, ok := of(w, "U2", day)
	expect.That(t, ok && told.N == 1 && told.Items[0].ID == other.Ref.ID, "%+v", told)
	for r, err := range s.DueReminders(t.Context(), w.Now().AddDate(1, 0, 0)) {
		expect.NoError(t, err)
		expect.That(t, r.DueAt.After(w.Now()), "%s is due again at once: %v", r.TenantID, r.DueAt)
	}
}

// testRemindedTogether: one request asks a channel by a rule, the other whoever the settings allow.
func testRemindedTogether(t *testing.T, w *ringitest.World) {
	day, at := morning(w)
	w.PlannedOnRoute(tenancy.DefaultSettings(), ringitest.Along([]string{ringitest.Requester},
		circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}),
		ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.Another().Prompted(tenancy.DefaultSettings())
	until(t, w, at)
	_, ref := task.Remind(w.Ref.Tenant, ringitest.Team, "C0HR", day, task.Reminded{}, w.Now())
	a := expect.Value(w.Store.Load(t.Context(), ref))(t)
	told, ok := a.Reminded()
	expect.Must(t, ok && told.N == 2 && told.Shared && len(told.Items) == 2, "%+v", told)
	expect.That(t, a.Request.Channel == "C0HR" && a.Request.User == "" && a.Request.ChannelType == "channel", "%+v",
		a.Request)
	for _, x := range told.Items {
		expect.That(t, x.Channel == "C0HR" && x.TS != "", "%+v", x)
	}
}
