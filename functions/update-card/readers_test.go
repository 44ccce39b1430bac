package main

import (
	"encoding/json"
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

func TestARuleHasAChannelOrAGroupToldOfADecision(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"a channel gets one message, once it has its number": testToldChannel,
		"a group is named in the thread":                     testToldGroup,
		"once though an answer was lost":                     testToldLost,
		"never of what was refused":                          testToldDenied,
		"of an agent's call":                                 testToldOfCall,
	})
}

// tellsOf has steps wait for Suzuki, under a rule that has a channel or group told.
func (w *world) tellsOf(id string) {
	w.T.Helper()
	expect.Value(w.Store.Bootstrap(w.T.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x",
		TeamID: slacktest.Team, Admins: []string{}}, w.Now()))(w.T)
	o := pipelinetest.Along([]string{webapi.Sato}, pipelinetest.Desk("部長", 1, webapi.Suzuki))
	o.Route.Tells = id
	w.By.Stage = 1
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.done()
}

// heard returns the messages in a channel that tell of a decision.
func (w *world) heard(channel string) (all []webapi.Message) {
	for _, m := range expect.Value(w.slack.Everything(channel))(w.T) {
		if strings.Contains(string(expect.Value(json.Marshal(m))(w.T)), "決まりました: ") {
			all = append(all, m)
		}
	}
	return all
}

func testToldChannel(t *testing.T, w *world) {
	w.tellsOf(webapi.General)
	expect.Is(t, len(w.heard(webapi.General)), 0, "messages before the decision")
	w.Approve()
	w.done()
	expect.Is(t, len(w.heard(webapi.General)), 0, "messages before the steps began, which takes the number")
	w.Begin()
	w.done()
	all := w.heard(webapi.General)
	expect.Must(t, len(all) == 1 && all[0].ThreadTS == "", "%+v", all)
	told := string(expect.Value(json.Marshal(all[0]))(t))
	for _, text := range []string{"決まりました: ", "DM を送信", "部長", webapi.Suzuki, webapi.Sato, "/archives/" + webapi.HR} {
		expect.Has(t, told, text, "the message")
	}
	expect.That(t, !strings.Contains(told, "approve_"), "it has buttons: %s", told)
	w.done()
	w.Later(time.Minute)
	w.Cancel()
	w.done()
	expect.Is(t, len(w.heard(webapi.General)), 1, "messages")
}

func testToldGroup(t *testing.T, w *world) {
	w.tellsOf(webapi.Approvers)
	w.Approve()
	w.Begin()
	w.done()
	all := w.heard(webapi.HR)
	expect.Must(t, len(all) == 1 && all[0].ThreadTS != "", "%+v", all)
	expect.Has(t, string(expect.Value(json.Marshal(all[0].Attachments))(t)), "!subteam^"+webapi.Approvers, "the message")
}

func testToldLost(t *testing.T, w *world) {
	w.tellsOf(webapi.General)
	w.Approve()
	w.Begin()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Channel: webapi.General, Kind: webapi.Lost})
	w.deliver()
	w.Later(time.Minute)
	w.done()
	w.done()
	expect.Is(t, len(w.heard(webapi.General)), 1, "messages")
}

func testToldDenied(t *testing.T, w *world) {
	w.tellsOf(webapi.General)
	w.acts(circulation.Deny, 1, webapi.Suzuki)
	w.done()
	expect.Is(t, len(w.heard(webapi.General)), 0, "messages")
}

// toldBy has a settled gate be under a rule that has a channel told.
func toldBy(g aggregate.Gate, at time.Time) aggregate.Gate {
	o := pipelinetest.Along([]string{webapi.Sato}, pipelinetest.Desk("部長", 1, webapi.Suzuki))
	o.Route.Tells = webapi.General
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

func testToldOfCall(t *testing.T, w *world) {
	k := withCalls(w)
	a := k.asks(k.key(), "psql -f close.sql")
	_, err := k.calls.Decide(t.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		x, h := *a.Call, a.Head
		x.Gate, x.Status = toldBy(x.Gate, k.Now()), conversation.ActionApproved
		return aggregate.Change{Head: &h, Rows: []aggregate.Row{&x}, Now: k.Now()}, nil
	})
	expect.NoError(t, err)
	for range 2 {
		expect.Must(t, k.drawn(a), "it is given back")
	}
	all := k.heard(webapi.General)
	expect.Must(t, len(all) == 1, "%+v", all)
	expect.Has(t, string(expect.Value(json.Marshal(all[0]))(t)), "Bash", "what was decided")
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
		}
		told := k.direct(webapi.Sato)
		expect.Must(t, len(told) == want, "%v", told)
		if want > 0 {
			expect.Has(t, told[0], "取り消されました: ", "the message")
		}
	}
}
