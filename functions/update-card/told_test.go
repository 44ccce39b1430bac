package main

import (
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// cancelled brings the task to an end of which its requester is told.
func (w *world) cancelled() {
	w.T.Helper()
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	w.Cancel()
}

// told checks that the requester was told of the end n times.
func (w *world) told(n int) {
	w.T.Helper()
	got := w.direct(webapi.Sato)
	expect.That(w.T, len(got) == n && strings.Count(strings.Join(got, ""), "キャンセル") >= n, "told %v, want %d", got, n)
}

func TestAnEndIsToldOnce(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"behind the cards": func(t *testing.T, w *world) {
			w.cancelled()
			w.done()
			w.told(1)
			for range 2 {
				w.done()
			}
			w.told(1)
		},
		"to administrators, if whoever asked has left": func(t *testing.T, w *world) {
			w.Prompted(tenancy.DefaultSettings())
			w.done()
			expect.Value(w.Store.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x", TeamID: ringitest.Team,
				Admins: []string{webapi.Suzuki, webapi.Sato}}, w.Now()))(t)
			s := expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.LookAgain(w.Now()) })
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Looked(a.Head.Run, a.LooksAgain(), nil, &aggregate.Refusal{Why: task.ReasonAskerLeft}, s, w.Now())
			})
			for range 2 {
				w.done()
			}
			told := w.newest(webapi.Suzuki, 1)
			expect.That(t, strings.Contains(told, "メンバーではなくなった") && !strings.Contains(told, w.Load().Task.Title), "%s", told)
			w.shows("", "メンバーではなくなった")
		},
		"and a draft that failed, with the button to try again": func(t *testing.T, w *world) {
			w.Extracted()
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", w.Now())
			})
			for range 2 {
				w.done()
			}
			expect.Has(t, w.newest(webapi.Sato, 1), `"retry_generation"`)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.RetryGeneration(aggregate.Actor{ID: webapi.Sato}, aggregate.Policy{AllowSelf: true}, w.Now())
			})
			w.done()
			told := w.newest(webapi.Sato, 1)
			expect.That(t, strings.Contains(told, "再試行は不要") && !strings.Contains(told, "retry_generation"), "%s", told)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", w.Now())
			})
			w.done()
			expect.Has(t, w.newest(webapi.Sato, 2), `"retry_generation"`)
			w.Cancel()
			w.done()
			expect.Has(t, w.newest(webapi.Sato, 3), "キャンセル")
		},
		"though the answer was lost": func(t *testing.T, w *world) {
			w.cancelled()
			w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage",
				Channel: webapi.DirectMessage(webapi.Sato), Kind: webapi.Lost})
			w.done()
			w.told(1)
		},
		"to nobody whom Slack does not let know, once": func(t *testing.T, w *world) {
			w.cancelled()
			w.slack.Faults.Add(webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "user_disabled"})
			w.slack.Calls()
			w.done()
			w.told(0)
			expect.Is(t, len(w.slack.Calls("conversations.open")), 1, "it is tried to tell them that they can't be told")
			c := w.Load().Copies[0]
			expect.That(t, c.State == aggregate.CardUnreachable && c.Refusal == "user_disabled", "%+v", c)
		},
	})
}

// listing makes these people the approvers.
func (k *inConversation) listing(users ...string) {
	k.T.Helper()
	ctx, s := k.T.Context(), k.Rows.KindStore.Store
	settings := expect.Value(s.Settings(ctx, k.Ref.Tenant))(k.T)
	settings.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: users}
	expect.Value(s.SaveSettings(ctx, k.Ref.Tenant, settings, k.By, k.Now()))(k.T)
	k.Under.Mode, k.Under.Approvers = aggregate.ApproversList, users
}

// proposes brings the conversation to a waiting action.
func (k *inConversation) proposes(script string) *conversation.Action {
	k.T.Helper()
	if a := k.Load(); len(a.Actions) > 0 {
		k.Wake()
	}
	p := conversation.Payload{Script: script, TimeoutSeconds: 60, Stamped: conversation.Stamped{Base: new("")}}
	settings := expect.Value(k.Rows.KindStore.Store.Settings(k.T.Context(), k.Ref.Tenant))(k.T)
	return k.Answer("試します。", &conversation.Proposal{Type: conversation.ShellCommand,
		Payload: ringitest.InRow(p.JSON()), Seconds: 60,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, SettingsRev: settings.Rev}}).Current()
}

// shown draws the cards and copies.
func (k *inConversation) shown() {
	k.T.Helper()
	expect.Must(k.T, k.send(k.asking()), "given back for %v s", k.queue.hidden)
}

func TestCopiesOfActions(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *inConversation){
		"go to listed approvers and shrink to a line at the decision": testActionCopiesFollow,
		"leave with the old actions of a long conversation":           testActionCopiesLeave,
	} {
		t.Run(name, func(t *testing.T) { run(t, newConversation(t, db)) })
	}
}

func testActionCopiesFollow(t *testing.T, k *inConversation) {
	k.listing(webapi.Sato, webapi.Suzuki, webapi.Tanaka)
	x := k.proposes("make test")
	k.shown()
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka} {
		got := k.newest(user, 1)
		for _, text := range []string{"approve_action", "reject_action", k.Ref.ID, x.ActionID, "make test", "と claude"} {
			expect.Has(t, got, text)
		}
		expect.That(t, !strings.Contains(got, "/archives/"), "they can't open the direct messages: %s", got)
	}
	k.Approve()
	k.shown()
	line := k.newest(webapi.Tanaka, 1)
	expect.That(t, strings.Contains(line, "承認済み") && !strings.Contains(line, "make test"), "%s", line)
	k.Wake()
	k.Claim()
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Lines: 1})
	k.shown()
	expect.Is(t, k.newest(webapi.Tanaka, 1), line)
}

func testActionCopiesLeave(t *testing.T, k *inConversation) {
	k.listing(webapi.Suzuki)
	for n := range 23 {
		k.proposes("make test")
		if n < 2 || n == 22 {
			k.shown()
		}
		k.Cancel()
	}
	a := k.Load()
	expect.That(t, len(a.Copies) == 1 && a.Copies[0].Subject == a.Actions[len(a.Actions)-1].Key(),
		"%d copies of %d actions stay", len(a.Copies), len(a.Actions))
}

// Whom a step of the request told, by a direct message, isn't told of the same end once more.
func TestAnEndIsToldByOneMessage(t *testing.T) {
	for to, told := range map[string]bool{webapi.Sato: false, webapi.Tanaka: true} {
		w := newWorld(t, storetest.Start(t))
		a := w.Approved(tenancy.DefaultSettings(), ringitest.Step(1, "send_slack_dm", aggregate.Write,
			`{"recipient":"`+to+`","text":"できました"}`))
		e := a.Execution()
		a.Steps = []*task.StepResult{{StepID: a.ProcessOf(e).Steps[0].StepID, Order: 1, Attempt: e.Attempt,
			ProcessVersion: e.ProcessVersion, Status: task.StepCompleted}}
		a.Head.Ended = &task.Ended{As: task.TaskCompleted, At: w.Now()}
		expect.That(t, (endings(a, w.Now()) != nil) == told, "after a message to %s", to)
		a.Head.Ended.As = task.TaskCancelled
		a.Copies = endings(a, w.Now())
		expect.That(t, len(a.Copies) == 1 && endings(a, w.Now()) == nil, "what the message can't say, once")
		a.Head.Ended.As = task.TaskFailed
		expect.That(t, len(endings(a, w.Now())) == 1, "another end")
		a.Execution().Attempt, a.Head.Ended.As = 2, task.TaskCancelled
		expect.That(t, len(endings(a, w.Now())) == 1, "the end of another attempt")
	}
}

// receivedOf makes the task belong to another workspace, whose message claims to be from this workspace's channel.
func (w *world) receivedOf(team string) {
	w.T.Helper()
	c, ref, err := task.Receive(aggregate.TenantID(team), task.Request{TeamID: team, Text: "従業員一覧", User: webapi.Alex,
		Channel: webapi.HR, MessageTS: w.root, ThreadTS: w.root, Source: task.SourceChannel}, w.Now())
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
}

func testForeign(t *testing.T, w *world) {
	w.receivedOf("T0FOREIGN")
	w.slack.Faults.Add(webapi.Fault{Method: "auth.test", Kind: webapi.RateLimited, RetryAfter: 20 * time.Second, Times: 1})
	w.slack.Calls()
	w.back(20, 25) // while Slack doesn't say which workspace the app belongs to
	w.done()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.Refuse(1, task.ReasonWorkspace, w.Now()) })
	w.done()
	for _, c := range w.slack.Calls() {
		expect.That(t, c == "auth.test", "called %s", c)
	}
	w.shows()
	head := w.Load().Head
	expect.That(t, head.ShownRev == head.Rev, "shown %d of %d: it would be drawn again and again", head.ShownRev, head.Rev)

	w.receivedOf("T0KNOWN")
	expect.Value(w.Store.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "T0KNOWN",
		TeamID: "T0KNOWN", Admins: []string{}}, w.Now()))(t)
	w.done()
	w.shows("受け付けました")
}

// A card is sent by the bot of its own workspace.
func TestCardsAreSentByTheirWorkspacesBot(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	client, only := w.slack.ByTenant(t)
	w.h.Slack = client
	expect.Must(t, w.deliver(), "it was given back")
	only(w.Ref.Tenant, "chat.postMessage")
}

func TestARuleHasAChannelOrAGroupToldOfADecision(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"a channel gets one message, once it has its number": testToldChannel,
		"a group is named in the thread":                     testToldGroup,
		"a group learns nothing of direct messages":          testGroupNotToldOfDirect,
		"of an agent's call":                                 testToldOfCall,
	})
}

// tellsOf has steps wait for Suzuki, under a rule that has a channel or group told.
func (w *world) tellsOf(id string) {
	w.T.Helper()
	o := ringitest.Along([]string{webapi.Sato}, ringitest.Desk("部長", 1, webapi.Suzuki))
	o.Route.Tells = id
	w.By.Stage = 1
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.done()
}

// heard returns the messages in a channel that tell of a decision.
func (w *world) heard(channel string) (all []webapi.Message) {
	for _, m := range expect.Value(w.slack.Everything(channel))(w.T) {
		if strings.Contains(expect.JSON(m), "決まりました: ") {
			all = append(all, m)
		}
	}
	return all
}

func testToldChannel(t *testing.T, w *world) {
	w.tellsOf(webapi.General)
	w.Approve()
	w.done()
	expect.Is(t, len(w.heard(webapi.General)), 0, "messages before the steps began, which takes the number")
	w.Begin()
	w.done()
	all := w.heard(webapi.General)
	expect.Must(t, len(all) == 1 && all[0].ThreadTS == "", "%+v", all)
	told := expect.JSON(all[0])
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
	expect.Has(t, expect.JSON(all[0].Attachments), "!subteam^"+webapi.Approvers, "the message")
}

func testGroupNotToldOfDirect(t *testing.T, w *world) {
	im := webapi.DirectMessage(webapi.Sato)
	root := w.slack.Say(t, webapi.Sato, im, ringitest.Text)
	w.Receive(task.Request{User: webapi.Sato, Channel: im, ChannelType: "im", MessageTS: root, ThreadTS: root})
	w.tellsOf(webapi.Approvers)
	w.Approve()
	w.Begin()
	w.done()
	expect.Is(t, len(w.heard(im)), 0, "messages")
}

// toldBy has a settled gate be under a rule that has a channel told.
func toldBy(g aggregate.Gate, at time.Time) aggregate.Gate {
	o := ringitest.Along([]string{webapi.Sato}, ringitest.Desk("部長", 1, webapi.Suzuki))
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
	expect.Value(k.calls.Decide(t.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		x, h := *a.Call, a.Head
		x.Gate, x.Status = toldBy(x.Gate, k.Now()), conversation.ActionApproved
		return aggregate.Change{Head: &h, Rows: []aggregate.Row{&x}, Now: k.Now()}, nil
	}))(t)
	for range 2 {
		expect.Must(t, k.drawn(a), "it is given back")
	}
	all := k.heard(webapi.General)
	expect.Must(t, len(all) == 1, "%+v", all)
	expect.Has(t, expect.JSON(all[0]), "Bash", "what was decided")
}

// Whoever answers for a key learns that somebody else cancelled its call, and not of what they cancelled themselves.
func TestWhoAnswersForAKeyLearnsOfACancelledCall(t *testing.T) {
	for by, want := range map[string]int{webapi.Suzuki: 1, webapi.Sato: 0} {
		k := withCalls(newWorld(t, storetest.Start(t)))
		a := k.asks(k.key(), "psql -f close.sql")
		expect.Value(k.calls.Decide(t.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
			x, h, at := *a.Call, a.Head, k.Now()
			x.Status, x.CancelReason, x.CancelledBy = conversation.ActionCancelled, conversation.ReasonWithdrawn, by
			x.CompletedAt = &at
			return aggregate.Change{Head: &h, Rows: []aggregate.Row{&x}, Now: at}, nil
		}))(t)
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
