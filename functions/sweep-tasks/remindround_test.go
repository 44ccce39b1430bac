package main

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func testRemindedAs(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	desks(w, "U1")
	other := w.Another()
	desks(other, "U2")
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}}
	today := tenancy.DateOf(w.Now().In(tenancy.Zone()))
	for hand, until := range map[string]tenancy.Date{"U2": day, "U4": today} {
		d := tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: hand,
			Principal: "U1", From: today, Until: until}
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

func testRemindedTogether(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	other := w.Another()
	for _, x := range []*pipelinetest.World{w, other} {
		x.PlannedOnRoute(tenancy.DefaultSettings(), pipelinetest.Along([]string{pipelinetest.Requester},
			circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}),
			pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	}
	until(t, w, at)
	_, ref := task.Remind(w.Ref.Tenant, pipelinetest.Team, "C0HR", day, task.Reminded{}, w.Now())
	a := expect.Value(w.Store.Load(t.Context(), ref))(t)
	told, ok := a.Reminded()
	expect.Must(t, ok && told.N == 2 && told.Shared && len(told.Items) == 2, "%+v", told)
	expect.That(t, a.Request.Channel == "C0HR" && a.Request.User == "" && a.Request.ChannelType == "channel", "%+v",
		a.Request)
	expect.That(t, told.Items[0].Channel == "C0HR" && told.Items[0].TS != "", "%+v", told.Items[0])
}

func testRemindedByAnybody(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	w.Prompted(tenancy.DefaultSettings())
	until(t, w, at)
	_, ref := task.Remind(w.Ref.Tenant, pipelinetest.Team, "C0HR", day, task.Reminded{}, w.Now())
	told, ok := expect.Value(w.Store.Load(t.Context(), ref))(t).Reminded()
	expect.That(t, ok && told.N == 1 && told.Shared && told.Items[0].ID == w.Ref.ID, "%+v", told)
}

func testRemindedByCopy(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	expect.Value(w.Store.KindStore.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x",
		TeamID: pipelinetest.Team, Admins: []string{}}, w.Now()))(t)
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

func testRemindedOfAction(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	s := store.New(dynamodb.NewFromConfig(w.Config), w.Table(), store.Kinds()...)
	tenant := aggregate.TenantID("T1")
	expect.Value(s.Bootstrap(t.Context(), tenancy.Tenant{ID: tenant, Name: "x", TeamID: "T1",
		Admins: []string{}}, w.Now()))(t)
	settings := expect.Value(s.Settings(t.Context(), tenant))(t)
	settings.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U2"}}
	settings = expect.Value(s.SaveSettings(t.Context(), tenant, settings, pipelinetest.Member("U2"), w.Now()))(t)
	rows := store.NewConversations(w.Store.Table().DB, w.Table())
	rows.Now = w.Now
	k := pipelinetest.Begin(t, rows, w.Now, pipelinetest.Heard("1776675600.000100", "U1", "x"),
		conversation.Opening{AgentID: "codex"})
	p := conversation.Payload{Script: "go test ./...", TimeoutSeconds: 60}
	x := k.Answer("試します。", &conversation.Proposal{Type: conversation.ShellCommand,
		Payload: pipelinetest.InRow(p.JSON()), Seconds: 60, Summary: "テストを動かす",
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 168, SettingsRev: settings.Rev}}).Current()
	expect.NoError(t, rows.AddCopies(t.Context(), k.Ref, []*aggregate.Card{{CardType: conversation.CardAction,
		Subject: x.Key(), User: "U2", Channel: "DU2", MessageTS: "1.000001", State: aggregate.CardPosted,
		CreatedAt: w.Now()}}))
	h := &Handler{Store: s, Reminders: s, Effects: w.Effects(), Now: w.Now}
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

func testRemindedLate(t *testing.T, w *pipelinetest.World) {
	day, at := morning(w)
	desks(w, "U1", "U2")
	other := w.Another()
	desks(other, "U1")
	stamped := other.Another()
	stamped.PlannedOnRoute(tenancy.DefaultSettings(), pipelinetest.Along([]string{pipelinetest.Requester},
		pipelinetest.Desk("経理", 1, "U3"), pipelinetest.Desk("部長", 1, "U4")),
		pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	sweep(t, w, 2*soon)
	h := handler(w)
	h.Reminders = late{h.Reminders, expect.Value(h.Reminders.Waiting(t.Context(), w.Ref.Tenant, "", store.MaxPage))(t)}
	w.Cancel()
	stamped.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p, head := *a.Process(), a.Head
		p.Gate = pipelinetest.Acted(t, p.Gate, stamped.Now(), circulation.Stamp, 1, "U3")
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

func testRemindedBesideOthers(t *testing.T, w *pipelinetest.World) {
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
