package main

import (
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
)

func TestWhomARuleHasToldOfADecision(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"gets one message, once it has its number": testReaders,
		"gets none where the settings say so":      testReadersUntold,
		"gets one though an answer was lost":       testReadersLost,
		"gets none of what was refused":            testReadersDenied,
		"of an agent's call gets one":              testReadersOfCall,
	})
	t.Run("of an agent's action gets one", func(t *testing.T) { testReadersOfAction(t, newConversation(t, storetest.Start(t))) })
}

// readBy has steps wait for Suzuki, under a rule that has these people told.
func (w *world) readBy(users ...string) {
	w.T.Helper()
	expect.Value(w.Store.Bootstrap(w.T.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x", Slug: "default",
		TeamID: slacktest.Team, Admins: []string{}}, w.Now()))(w.T)
	o := pipelinetest.Along([]string{webapi.Sato}, 1, pipelinetest.Desk("部長", 1, webapi.Suzuki))
	for _, user := range users {
		o.Route.Readers = append(o.Route.Readers, circulation.Person{User: user})
	}
	w.By.Stage = 1
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.drawn()
}

func testReaders(t *testing.T, w *world) {
	w.readBy(webapi.Tanaka, webapi.Alex, webapi.Sato, webapi.Suzuki)
	expect.Is(t, len(w.direct(webapi.Tanaka)), 0, "messages before the decision")
	sato, suzuki := len(w.direct(webapi.Sato)), len(w.direct(webapi.Suzuki))
	w.Approve()
	w.drawn()
	expect.Is(t, len(w.direct(webapi.Tanaka)), 0, "messages before the steps began, which takes the number")
	w.Begin()
	w.drawn()
	told := w.newest(webapi.Tanaka, 1)
	for _, text := range []string{"決まりました: ", "DM を送信", "部長", webapi.Suzuki, webapi.Sato, "/archives/" + webapi.HR} {
		expect.Has(t, told, text, "the message")
	}
	expect.That(t, !strings.Contains(told, "approve_"), "it has buttons: %s", told)
	expect.Has(t, w.newest(webapi.Alex, 1), "Decided: ", "in the language of who reads it")
	expect.That(t, len(w.direct(webapi.Sato)) == sato && len(w.direct(webapi.Suzuki)) == suzuki,
		"whose request it is, or who approved it, is told once more")
	w.drawn()
	w.Later(time.Minute)
	w.Cancel()
	w.drawn()
	w.newest(webapi.Tanaka, 1)
}

func testReadersUntold(t *testing.T, w *world) {
	w.readBy(webapi.Tanaka)
	w.Settings(func(s *tenancy.Settings) { s.ApprovalCopies = tenancy.CopiesNone })
	w.Later(2 * time.Minute) // settings are read anew
	w.Approve()
	w.Begin()
	w.drawn()
	expect.Is(t, len(w.direct(webapi.Tanaka)), 0, "messages")
}

func testReadersLost(t *testing.T, w *world) {
	w.readBy(webapi.Tanaka)
	w.Approve()
	w.Begin()
	w.queue.sent = nil
	w.done()
	copies := w.asked()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Lost})
	w.send(copies)
	w.Later(time.Minute)
	w.send(copies)
	w.send(copies)
	w.newest(webapi.Tanaka, 1)
}

func testReadersDenied(t *testing.T, w *world) {
	w.readBy(webapi.Tanaka)
	w.acts(circulation.Deny, 1, webapi.Suzuki)
	w.drawn()
	expect.Is(t, len(w.direct(webapi.Tanaka)), 0, "messages")
}

// toldBy has a settled gate be under a rule that has Tanaka told.
func toldBy(g aggregate.Gate, at time.Time) aggregate.Gate {
	o := pipelinetest.Along([]string{webapi.Sato}, 1, pipelinetest.Desk("部長", 1, webapi.Suzuki))
	o.Route.Readers = []circulation.Person{{User: webapi.Tanaka}}
	g.Terms.Rule, g.Route, g.Askers, g.AskedSum, g.AskedAt = &o.Rule, &o.Route, o.Askers, "hash", &at
	who := circulation.Person{User: webapi.Suzuki}
	settled, err := g.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: who, Principal: who,
		At: at, Stage: 1, Hash: "hash", Surface: "slack"})
	settled.Status = aggregate.Approved
	if err != nil {
		panic(err)
	}
	return settled
}

func testReadersOfCall(t *testing.T, w *world) {
	k := withCalls(w)
	a := k.asks(k.key(), "psql -f close.sql")
	_, err := k.calls.Decide(t.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		x, h := *a.Call, a.Head
		x.Gate, x.Status = toldBy(x.Gate, k.Now()), conversation.ActionApproved
		return aggregate.Change{Head: &h, Rows: []aggregate.Row{&x}, Now: k.Now()}, nil
	})
	expect.NoError(t, err)
	for range 2 {
		k.queue.sent = nil
		expect.Must(t, k.drawn(a), "it is given back")
		for _, m := range k.queue.sent {
			k.send(*m.MessageBody)
		}
	}
	told := k.newest(webapi.Tanaka, 1)
	expect.Has(t, told, "決まりました: ", "the message")
	expect.Has(t, told, "Bash", "what was decided")
}

// Whoever answers for a key learns that somebody else cancelled its call, and not of what they cancelled themselves.
func TestWhoAnswersForAKeyLearnsOfACancelledCall(t *testing.T) {
	for by, want := range map[string]int{webapi.Suzuki: 1, webapi.Sato: 0} {
		k := withCalls(newWorld(t, storetest.Start(t)))
		a := k.asks(k.key(), "psql -f close.sql")
		_, err := k.calls.Decide(t.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
			x, h, at := *a.Call, a.Head, k.Now()
			x.Status, x.CancelReason, x.CancelledBy = conversation.ActionCancelled, conversation.ReasonWithdrawn, by
			x.CompletedAt = &at
			return aggregate.Change{Head: &h, Rows: []aggregate.Row{&x}, Now: at}, nil
		})
		expect.NoError(t, err)
		for range 2 {
			expect.Must(t, k.drawn(a), "it is given back")
			for _, m := range k.queue.sent {
				expect.Must(t, k.send(*m.MessageBody), "its copies are given back")
			}
			k.queue.sent = nil
		}
		told := k.direct(webapi.Sato)
		expect.Must(t, len(told) == want, "%v", told)
		if want > 0 {
			expect.Has(t, told[0], "取り消されました: ", "the message")
		}
	}
}

func testReadersOfAction(t *testing.T, k *inConversation) {
	k.listing(nil, webapi.Suzuki)
	k.proposes("make test")
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		x, h := *a.Current(), a.Head
		x.Gate, x.Status = toldBy(x.Gate, k.Clock()), conversation.ActionApproved
		return aggregate.Change{Head: &h, Rows: []aggregate.Row{&x}, Now: k.Clock()}, nil
	})
	k.shown()
	expect.That(t, !k.shown(), "copies are asked for, and nothing changed")
	k.sees(webapi.Tanaka, []string{"決まりました: ", webapi.Suzuki}, []string{"approve_action"})
}
