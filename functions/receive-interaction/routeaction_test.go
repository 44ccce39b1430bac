package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// newOnRoute is a conversation whose action asks these people, one after the other.
func newOnRoute(t *testing.T, db *storetest.Server, script string, users ...string) *inConversation {
	t.Helper()
	var stages []circulation.Stage
	for _, user := range users {
		stages = append(stages, pipelinetest.Desk(user, 1, user))
	}
	o := pipelinetest.Along([]string{webapi.Sato}, len(users), stages...)
	return newProposal(t, db, script, &o)
}

// pressAt clicks on a button of the action's card, at a stage. The button names what is asked.
func (k *inConversation) pressAt(user, action, stage string) inbound.Response {
	k.T.Helper()
	return k.post(at(k.click(user, action, k.x.ActionID+"/"+k.x.Gate.AskedSum), k.Ref.ID+stage))
}

func TestPeopleDecideOnActionsAlongARoute(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *storetest.Server){
		"stamped by one after the other":         testActionStamped,
		"sent back, and the agent has a turn":    testActionSentBack,
		"denied, and the agent has none":         testActionDenied,
		"of another content than was seen":       testActionAsksSomethingElse,
		"strangers decide nothing along a route": testStrangersOfARoute,
	} {
		t.Run(name, func(t *testing.T) { run(t, db) })
	}
}

func testActionStamped(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki, webapi.Alex)
	k.told(k.pressAt(webapi.Sato, card.ApproveAction, "/1"), webapi.Sato, "自分の依頼")
	k.told(k.pressAt(webapi.Tanaka, card.ApproveAction, "/1"), webapi.Tanaka, "お願いしている承認はありません")
	for range 2 {
		k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	}
	k.told(k.pressAt(webapi.Suzuki, card.ApproveAction, "/2"), webapi.Suzuki, "あなたの段階は終わっています")
	expect.Same(t, conversation.ActionPending, k.action().Status)
	for range 2 {
		k.quiet(k.pressAt(webapi.Alex, card.ApproveAction, "/2"), webapi.Alex)
	}
	x := k.action()
	expect.That(t, x.Status == conversation.ActionApproved && x.Gate.ApprovedBy == webapi.Alex && len(x.Gate.Acts) == 2,
		"%+v", x)
	k.told(k.pressAt(webapi.Tanaka, card.ApproveAction, "/2"), webapi.Tanaka, "<@"+webapi.Alex+">")
}

// rejects opens the form of the action's rejection, and submits it twice.
func (k *inConversation) rejects(user, stage string, kind circulation.Kind) *conversation.Aggregate {
	k.T.Helper()
	k.quiet(k.pressAt(user, card.RejectAction, stage), user)
	form := k.view(user)
	inForm(k.T.(*testing.T), k.sendView(user, form, reason("本番はだめ")), "このフォームは古くなっています")
	inForm(k.T.(*testing.T), k.sendView(user, form, then(strings.Repeat("あ", 1001), kind)), "1〜1000 文字")
	for range 2 {
		k.quiet(k.sendView(user, form, then("本番はだめ", kind)), user)
	}
	k.told(k.sendView(user, form, then("やはり短く", kind)), user, "反映されていません")
	return k.Load()
}

func testActionSentBack(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki, webapi.Tanaka)
	k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	a := k.rejects(webapi.Tanaka, "/2", circulation.SendBack)
	x := a.Action(k.x.ActionID)
	expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonRejected &&
		x.ErrorDetail == "本番はだめ" && x.CancelledBy == webapi.Tanaka, "%+v", x)
	expect.That(t, a.Next(k.Now()).State == conversation.StateAnswer, "the agent has no turn for the reason")
}

func testActionDenied(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki)
	a := k.rejects(webapi.Suzuki, "/1", circulation.Deny)
	x := a.Action(k.x.ActionID)
	expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonDenied &&
		x.ErrorDetail == "本番はだめ", "%+v", x)
	expect.That(t, a.Next(k.Now()).State != conversation.StateAnswer, "the agent has a turn")
	k.told(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki, "却下しました")
}

func testActionAsksSomethingElse(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki)
	for _, hash := range []string{k.x.Payload.Hash(), strings.Repeat("0", 64), ""} {
		for _, action := range []string{card.ApproveAction, card.RejectAction} {
			k.told(k.post(at(k.click(webapi.Suzuki, action, k.x.ActionID+"/"+hash), k.Ref.ID+"/1")), webapi.Suzuki,
				"最新のカードを確認して")
		}
	}
	expect.Is(t, len(k.action().Gate.Acts), 0, "acts")
}

func testStrangersOfARoute(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki, webapi.Guest)
	k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	for _, user := range []string{webapi.Guest, webapi.Stranger, "U0NOBODY"} {
		for _, action := range []string{card.ApproveAction, card.RejectAction, card.CancelAction, card.OpenActionReview} {
			k.pressAt(user, action, "/2")
		}
		expect.That(t, len(k.slack.Views(user)) == 0, "%s has a dialog", user)
	}
	x := k.action()
	expect.That(t, x.Status == conversation.ActionPending && len(x.Gate.Acts) == 1, "%+v", x.Gate)
	expect.That(t, aggregate.PendingApproval == x.Gate.Status, "it is %s", x.Gate.Status)
}

const offRoute = "回覧で承認を担当する方"

// administered makes people the tenant's administrators.
func (w *world) administered(users ...string) {
	w.T.Helper()
	tenant := tenancy.Tenant{ID: w.Ref.Tenant, Name: "x", Slug: "default", TeamID: slacktest.Team, Admins: users}
	expect.Value(w.Store.Bootstrap(w.T.Context(), tenant, w.Now()))(w.T)
}

// cancels opens the dialog that confirms a cancellation from a card's menu.
func (w *world) cancels(user string) {
	w.T.Helper()
	w.post(w.shortcut(user, map[string]any{"ts": "1776675600.000100", "thread_ts": w.root,
		"attachments": []any{map[string]any{"blocks": []any{map[string]any{"block_id": w.Ref.ID + "/1"}}}}}))
}

func TestCancellingWhatGoesRound(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"no approver who isn't asked": func(t *testing.T, w *world) {
			w.onRoute(webapi.Suzuki, webapi.Alex)
			w.told(w.post(w.shortcut(webapi.Tanaka, map[string]any{"ts": w.root, "thread_ts": w.root})),
				webapi.Tanaka, offRoute)
			expect.Is(t, len(w.slack.Views(webapi.Tanaka)), 0, "dialogs")
		},
		"whoever is asked, also outside of the channel": func(t *testing.T, w *world) {
			w.onRoute(webapi.Suzuki, webapi.Alex)
			w.cancels(webapi.Alex)
			w.quiet(w.confirm(webapi.Alex), "")
			expect.That(t, w.Load().Head.Ended.By == webapi.Alex, "%+v", w.Load().Head.Ended)
		},
		"an administrator": func(t *testing.T, w *world) {
			w.administered(webapi.Tanaka)
			w.onRoute(webapi.Suzuki)
			w.cancels(webapi.Tanaka)
			w.confirm(webapi.Tanaka)
			expect.That(t, w.Load().Head.Ended.By == webapi.Tanaka, "%+v", w.Load().Head.Ended)
		},
		"once it is settled whoever was asked, and the approvers": func(t *testing.T, w *world) {
			p := w.onRoute(webapi.Alex)
			w.stamps(webapi.Alex, p.ID, "/1")
			e := w.Begin().Execution()
			w.told(w.post(at(w.click(webapi.Guest, "cancel_execution", e.ID), w.Ref.ID)), webapi.Guest, "承認者")
			w.quiet(w.post(at(w.click(webapi.Alex, "cancel_execution", e.ID), w.Ref.ID)), webapi.Alex)
			expect.Same(t, task.ExecutionCancelled, w.Load().Execution().Status)
		},
	})
}

func TestCancellingAnActionThatGoesRound(t *testing.T) {
	db := storetest.Start(t)
	along := func() *inConversation { return newOnRoute(t, db, "make", webapi.Alex, webapi.Suzuki) }
	k := along()
	k.told(k.press(webapi.Tanaka, card.CancelAction, k.x.ActionID), webapi.Tanaka, offRoute)
	// Ending the conversation would cancel it, too.
	_, err := k.Rows.Decide(t.Context(), k.Ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Tanaka, Team: slacktest.Team, Member: true}
		return a.End(by, aggregate.Policy{Team: slacktest.Team, Mode: aggregate.ApproversChannel}, k.Now())
	})
	expect.Fails(t, err, aggregate.ErrNotAllowed{Rule: aggregate.RuleOffRoute})
	expect.Same(t, conversation.ActionPending, k.action().Status)
	for _, user := range []string{webapi.Alex, webapi.Suzuki, webapi.Sato} {
		k = along()
		k.quiet(k.press(user, card.CancelAction, k.x.ActionID), user)
		expect.Same(t, conversation.ReasonWithdrawn, k.action().CancelReason)
	}
}

// crowd is a workspace of any number of people. It keeps what each of them is told.
type crowd struct {
	Slack
	mu   sync.Mutex
	told map[string][]string
}

func (c *crowd) User(_ context.Context, id string) (slackapi.User, error) {
	return slackapi.User{ID: id, Team: slacktest.Team}, nil
}

func (c *crowd) Ephemeral(_ context.Context, _, _, user, text string, blocks ...slack.Block) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[user] = append(c.told[user], text)
	return nil
}

// atOnce has each of these clicks made at the same time, and returns whom it told something.
func (w *world) atOnce(clicks ...map[string]any) map[string][]string {
	w.T.Helper()
	all := &crowd{Slack: w.slack.Client, told: map[string][]string{}}
	w.h.Slack, w.h.People = all, &people.People{Slack: all, Now: w.Now}
	var done sync.WaitGroup
	gun := make(chan struct{})
	for _, p := range clicks {
		done.Go(func() {
			<-gun
			w.post(p)
		})
	}
	close(gun)
	done.Wait()
	return all.told
}

// TestManyStampAtOnce: 32 people click at once on a stage that needs 16 of them.
func TestManyStampAtOnce(t *testing.T) {
	expect.Patience(t)
	inWorlds(t, map[string]func(*testing.T, *world){
		"as many as are needed":          testSixteenOfThirtyTwo,
		"one less than are needed":       testFifteenOfSixteen,
		"everybody twice":                testEverybodyTwice,
		"one stamps as the other denies": testStampsAndDenies,
	})
}

// desk16 has the steps wait for 16 of these people.
func (w *world) desk16(n int) (p *task.Process, users []string) {
	w.T.Helper()
	for i := range n {
		users = append(users, fmt.Sprintf("U0MANY%02d", i))
	}
	return w.along(16, pipelinetest.Desk("全員", 16, users...)), users
}

// agrees checks that the gate is settled if and only if as many stamps count as it needs, and that each of these people
// is told that nothing was saved unless their stamp counts.
func (w *world) agrees(told map[string][]string, users ...string) {
	w.T.Helper()
	p := w.Load().Process()
	st := circulation.Walk(p.Circulating())
	stamped := map[string]bool{}
	for _, act := range st.Stamps() {
		stamped[act.Hand.User] = true
	}
	settled := p.Status == aggregate.Approved
	expect.That(w.T, len(stamped) == len(p.Acts) && len(stamped) <= 16 && settled == (len(stamped) == 16),
		"%d people by %d acts, settled: %v", len(stamped), len(p.Acts), settled)
	for _, user := range users {
		if stamped[user] {
			expect.Is(w.T, len(told[user]), 0, "notes to %s, whose stamp counts: %v", user, told[user])
			continue
		}
		expect.That(w.T, len(told[user]) == 1 && strings.Contains(told[user][0], "承認しました"),
			"%s, whose stamp does not count, is told %v", user, told[user])
	}
	n := 0
	for _, e := range expect.Value(w.Store.Audit(w.T.Context(), w.Ref.Tenant, store.AuditFilter{}, "", 100))(w.T).Items {
		if e.ResourceType == "process" && (e.Action == task.AuditProcessApproved || e.Action == "process.stamped") {
			n++
		}
	}
	expect.Is(w.T, n, len(stamped), "entries of stamps")
}

func testSixteenOfThirtyTwo(t *testing.T, w *world) {
	p, users := w.desk16(32)
	var clicks []map[string]any
	for _, user := range users {
		clicks = append(clicks, at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1"))
	}
	w.agrees(w.atOnce(clicks...), users...)
	expect.Same(t, aggregate.Approved, w.Load().Process().Status)
}

func testFifteenOfSixteen(t *testing.T, w *world) {
	p, users := w.desk16(32)
	var clicks []map[string]any
	for _, user := range users[:15] {
		clicks = append(clicks, at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1"))
	}
	w.agrees(w.atOnce(clicks...), users[:15]...)
	expect.Same(t, aggregate.PendingApproval, w.Load().Process().Status)
}

func testEverybodyTwice(t *testing.T, w *world) {
	p, users := w.desk16(16)
	var clicks []map[string]any
	for _, user := range append(users, users...) {
		clicks = append(clicks, at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1"))
	}
	w.agrees(w.atOnce(clicks...), users...)
	expect.Same(t, aggregate.Approved, w.Load().Process().Status)
}

func testStampsAndDenies(t *testing.T, w *world) {
	first, second := "U0FIRST", "U0SECOND"
	p := w.along(1, pipelinetest.Desk("課長", 1, first, second))
	form := person("view_submission", second, slacktest.Team)
	form["view"] = map[string]any{"id": "V1", "type": "modal", "callback_id": "rejection_reason_modal",
		"private_metadata": fmt.Sprintf(`{"type":"process","id":%q,"task_id":%q,"hash":%q,"stage":1,"asked":%q}`, p.ID,
			w.Ref.ID, w.Load().AskedHash(p.ID), p.AskedSum),
		"state": map[string]any{"values": then("だめ", circulation.Deny)}}
	told := w.atOnce(form, at(w.click(first, "approve_process", p.ID), w.Ref.ID+"/1"))
	got := w.Load().Process()
	expect.That(t, len(got.Acts) == 1, "%+v", got.Acts)
	expect.That(t, len(told[got.Acts[0].Hand.User]) == 0 && len(told) == 1, "%+v; told %v", got.Gate, told)
}
