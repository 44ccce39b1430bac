package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/card"
	"ringi/shared/slackapi/inbound"
	"ringi/shared/slackapi/slacktest"
	"ringi/shared/store/storetest"
	"ringi/shared/task"
)

// TestInteractions runs every part against one database, each in a table and a workspace of its own.
func TestInteractions(t *testing.T) {
	db := storetest.Start(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"approve a prompt", testApprovePrompt},
		{"approve a process", testApproveProcess},
		{"approve a step", testApproveStep},
		{"reject with a reason", testReject},
		{"reject a step", testRejectStep},
		{"a reason that won't do", testBadReason},
		{"reject what is decided", testRejectLate},
		{"submit what was decided meanwhile", testSubmitLate},
		{"a second click of the same person", testTwice},
		{"two approvers at once", testRace},
		{"a click on an old version", testOldVersion},
		{"cancel an execution", testCancelExecution},
		{"retry an execution", testRetryExecution},
		{"retry a generation", testRetryGeneration},
		{"the shortcut on a card", testShortcutOnCard},
		{"the shortcut on the request", testShortcutOnRequest},
		{"the shortcut on anything else", testShortcutElsewhere},
		{"who may approve", testPolicy},
		{"Slack can't say who it is", testUnverified},
		{"a Slack that lists nobody", testUnknownMethod},
		{"requesters may withdraw without Slack's help", testWithdrawUnverified},
		{"a direct message", testDirectMessage},
		{"ids of others", testForeignIDs},
		{"nothing could be saved", testUnsaved},
		{"not in time", testSlow},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, newWorld(t, db)) })
	}
}

func testApprovePrompt(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID)), workspace.Suzuki)
	if got := w.load().Prompt(); got.Status != task.Approved || got.ApprovedBy != workspace.Suzuki {
		t.Errorf("%+v", got)
	}
}

func testApproveProcess(t *testing.T, w *world) {
	p := w.planned()
	w.quiet(w.post(w.click(workspace.Suzuki, "approve_process", p.ID)), workspace.Suzuki)
	if a := w.load(); a.Process().ApprovedBy != workspace.Suzuki || a.Execution() == nil {
		t.Errorf("%+v", a.Process())
	}
}

func testApproveStep(t *testing.T, w *world) {
	g := w.gated()
	w.quiet(w.post(w.click(workspace.Tanaka, "approve_step", g.ID)), workspace.Tanaka)
	if got := w.load().Gates[0]; got.ApprovedBy != workspace.Tanaka {
		t.Errorf("%+v", got)
	}
}

func testReject(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(workspace.Suzuki, "reject_prompt", p.ID)), workspace.Suzuki)
	views := w.slack.Views(workspace.Suzuki)
	if len(views) != 1 || w.load().Prompt().Status != task.PendingApproval {
		t.Fatalf("%d forms, prompt %s", len(views), w.load().Prompt().Status)
	}
	var about card.Rejection
	if err := json.Unmarshal([]byte(views[0].PrivateMetadata), &about); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(card.Rejection{Type: task.CardPrompt, ID: p.ID, TaskID: w.ref.Task}, about); diff != "" {
		t.Error(diff)
	}
	w.quiet(w.post(w.form(workspace.Suzuki, "prompt", p.ID, " データの検証を追加して\n")), workspace.Suzuki)
	if got := w.load().Prompt(); got.Status != task.Rejected || got.RejectedBy != workspace.Suzuki || got.RejectionReason != "データの検証を追加して" {
		t.Errorf("%+v", got)
	}
}

func testRejectStep(t *testing.T, w *world) {
	g := w.gated()
	w.quiet(w.post(w.click(workspace.Suzuki, "reject_step", g.ID)), workspace.Suzuki)
	w.quiet(w.post(w.form(workspace.Suzuki, "step", g.ID, "宛先が違う")), workspace.Suzuki)
	if a := w.load(); a.Gates[0].RejectionReason != "宛先が違う" || a.Head.Ended == nil || a.Head.Ended.As != task.TaskCancelled {
		t.Errorf("%+v", a.Gates[0])
	}
}

// inForm wants the form to stay open with this beside the reason.
func inForm(t *testing.T, out inbound.Response, want string) {
	t.Helper()
	var got struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
	}
	if err := json.Unmarshal([]byte(out.Body), &got); err != nil || out.StatusCode != 200 {
		t.Fatalf("%d %q: %v", out.StatusCode, out.Body, err)
	}
	if got.Action != "errors" || len(got.Errors) != 1 || !strings.Contains(got.Errors[card.ReasonBlock], want) {
		t.Errorf("%+v, want %q", got, want)
	}
}

func testBadReason(t *testing.T, w *world) {
	p := w.prompted()
	for _, reason := range []any{nil, "", " \n\t", strings.Repeat("あ", 1001)} {
		inForm(t, w.post(w.form(workspace.Suzuki, "prompt", p.ID, reason)), "1〜1000 文字")
	}
	missing := w.form(workspace.Suzuki, "prompt", p.ID, "x")
	missing["view"].(map[string]any)["state"] = map[string]any{"values": map[string]any{}}
	inForm(t, w.post(missing), "1〜1000 文字")
	if got := w.load().Prompt(); got.Status != task.PendingApproval {
		t.Fatalf("%+v", got)
	}
	w.quiet(w.post(w.form(workspace.Suzuki, "prompt", p.ID, strings.Repeat("あ", 1000))), workspace.Suzuki)
	if got := w.load().Prompt(); got.Status != task.Rejected {
		t.Errorf("%+v", got)
	}
}

func testRejectLate(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID)), workspace.Suzuki)
	w.shown()
	w.told(w.post(w.click(workspace.Tanaka, "reject_prompt", p.ID)), workspace.Tanaka, "<@"+workspace.Suzuki+"> が <!date^")
	w.healed()
	if n := len(w.slack.Views(workspace.Tanaka)); n != 0 {
		t.Errorf("%d forms", n)
	}
}

func testSubmitLate(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(workspace.Tanaka, "reject_prompt", p.ID)), workspace.Tanaka)
	w.quiet(w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID)), workspace.Suzuki)
	w.shown()
	w.told(w.post(w.form(workspace.Tanaka, "prompt", p.ID, "遅い")), workspace.Tanaka, "<@"+workspace.Suzuki+"> が <!date^")
	w.healed()
	if got := w.load().Prompt(); got.Status != task.Approved {
		t.Errorf("%+v", got)
	}
}

func testTwice(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID)), workspace.Suzuki)
	before := w.load().Head.Rev
	w.shown()
	w.quiet(w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID)), workspace.Suzuki)
	if rev := w.load().Head.Rev; rev != before {
		t.Errorf("rev %d, then %d", before, rev)
	}
	w.healed()
}

func testRace(t *testing.T, w *world) {
	p := w.prompted()
	people := []string{workspace.Suzuki, workspace.Tanaka, workspace.Sato, workspace.Alex}
	var wg sync.WaitGroup
	for _, user := range people {
		click := w.click(user, "approve_prompt", p.ID)
		wg.Go(func() { w.post(click) })
	}
	wg.Wait()
	won := w.load().Prompt()
	for _, user := range people {
		told := w.slack.Ephemerals(user)
		if user == won.ApprovedBy && len(told) != 0 {
			t.Errorf("the winner was told %q", told[0].Text)
		}
		if user != won.ApprovedBy && (len(told) != 1 || !strings.Contains(told[0].Text, "<@"+won.ApprovedBy+">")) {
			t.Errorf("%s was told %+v, but %s decided", user, told, won.ApprovedBy)
		}
	}
}

func testOldVersion(t *testing.T, w *world) {
	first := w.prompted()
	w.quiet(w.post(w.form(workspace.Suzuki, "prompt", first.ID, "もう一度")), workspace.Suzuki)
	second := w.draft()
	if second.Version != 2 {
		t.Fatalf("version %d", second.Version)
	}
	w.told(w.post(w.click(workspace.Tanaka, "approve_prompt", first.ID)), workspace.Tanaka, "<@"+workspace.Suzuki+">")
	if got := w.load().Prompt(); got.Status != task.PendingApproval {
		t.Errorf("%+v", got)
	}
}

func testCancelExecution(t *testing.T, w *world) {
	e := w.running()
	w.quiet(w.post(w.click(workspace.Sato, "cancel_execution", e.ID)), workspace.Sato)
	if a := w.load(); a.Execution().Status != task.ExecutionCancelled || a.Execution().CancelledBy != workspace.Sato {
		t.Errorf("%+v", a.Execution())
	}
	w.shown()
	w.told(w.post(w.click(workspace.Suzuki, "cancel_execution", e.ID)), workspace.Suzuki, "<@"+workspace.Sato+"> が <!date^")
	w.healed()
}

func testRetryExecution(t *testing.T, w *world) {
	e := w.running()
	w.move(func(a *task.Aggregate) (task.Change, error) {
		return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", w.clock)
	})
	w.quiet(w.post(w.click(workspace.Sato, "retry_execution", e.ID)), workspace.Sato)
	a := w.load()
	if a.Execution().Attempt != 2 || a.Execution().RetriedBy != workspace.Sato || a.Head.Ended != nil {
		t.Fatalf("%+v", a.Execution())
	}
	w.quiet(w.post(w.click(workspace.Sato, "retry_execution", e.ID)), workspace.Sato)
	if n := len(w.load().Executions); n != 2 {
		t.Errorf("%d attempts", n)
	}
}

func testRetryGeneration(t *testing.T, w *world) {
	w.move(func(a *task.Aggregate) (task.Change, error) { return a.Park(1, task.L1, task.ReasonModelDemo, w.clock) })
	w.told(w.post(w.click(workspace.Alex, "retry_generation", task.NewID())), workspace.Alex, "見つかりません")
	w.quiet(w.post(w.click(workspace.Sato, "retry_generation", w.ref.Task)), workspace.Sato)
	if head := w.load().Head; head.Parked != nil || head.Run != 2 {
		t.Errorf("%+v", head)
	}
}

func testShortcutOnCard(t *testing.T, w *world) {
	w.prompted()
	button := map[string]any{"ts": "1776675600.000100", "thread_ts": w.root, "attachments": []any{
		map[string]any{"blocks": []any{map[string]any{"type": "header", "block_id": "Xy7"}, map[string]any{"type": "actions", "block_id": w.ref.Task}}},
	}}
	w.told(w.post(w.shortcut(workspace.Guest, button)), workspace.Guest, card.Note("ja", task.ErrNotAllowed{Rule: task.RuleNotParty}))
	if w.load().Head.Ended != nil {
		t.Fatal("a guest cancelled it")
	}
	w.told(w.post(w.shortcut(workspace.Sato, button)), workspace.Sato, "キャンセル")
	if ended := w.load().Head.Ended; ended == nil || ended.By != workspace.Sato {
		t.Errorf("%+v", ended)
	}
	// A card without buttons says in its metadata which task it shows.
	metadata := map[string]any{"ts": "1776675601.000100", "thread_ts": "1.000001", "metadata": map[string]any{
		"event_type": "ringi_card", "event_payload": map[string]any{"task": w.ref.Task, "card": "CARD#task"},
	}}
	out := w.post(w.shortcut(workspace.Suzuki, metadata))
	if told := w.slack.Ephemerals(workspace.Suzuki); out.StatusCode != 200 || len(told) != 1 || !strings.Contains(told[0].Text, "<@"+workspace.Sato+">") {
		t.Errorf("%d %+v", out.StatusCode, told)
	}
}

func testShortcutOnRequest(t *testing.T, w *world) {
	w.post(w.shortcut(workspace.Sato, map[string]any{"ts": w.root, "text": "今月の勤怠をまとめて"}))
	if ended := w.load().Head.Ended; ended == nil || ended.As != task.TaskCancelled {
		t.Errorf("%+v", ended)
	}
}

func testShortcutElsewhere(t *testing.T, w *world) {
	forged := map[string]any{"event_type": "other_app", "event_payload": map[string]any{"task": w.ref.Task}}
	w.post(w.shortcut(workspace.Sato, map[string]any{"ts": "1776675600.000100", "thread_ts": "1776675500.000100", "metadata": forged}))
	if told := w.slack.Ephemerals(workspace.Sato); len(told) != 1 || told[0].Text != card.Note("ja", task.ErrNotFound) {
		t.Errorf("%+v", told)
	}
	if w.load().Head.Ended != nil {
		t.Error("it was cancelled")
	}
	// A reply in the request's thread means the request.
	w.post(w.shortcut(workspace.Sato, map[string]any{"ts": "1776675600.000100", "thread_ts": w.root}))
	if w.load().Head.Ended == nil {
		t.Error("it was not cancelled")
	}
}

func testPolicy(t *testing.T, w *world) {
	p := w.prompted()
	list := func(users, groups []string) func(*task.Settings) {
		return func(s *task.Settings) {
			s.Approvers = task.Approvers{Mode: task.ApproversList, Users: users, Usergroups: groups}
		}
	}
	channel := func(s *task.Settings) { s.Approvers.Mode = task.ApproversChannel }
	for _, tt := range []struct {
		name     string
		settings func(*task.Settings)
		user     string
		team     string
		rule     task.Rule // empty: allowed
	}{
		{"another workspace's person", channel, workspace.Stranger, workspace.StrangerTeam, task.RuleForeign},
		{"a guest", channel, workspace.Guest, slacktest.Team, task.RuleGuest},
		{"a person who left the channel", channel, workspace.Tanaka, slacktest.Team, task.RuleNotMember},
		{"who is not listed", list([]string{workspace.Suzuki}, nil), workspace.Alex, slacktest.Team, task.RuleNotListed},
		{"an empty list", list(nil, nil), workspace.Suzuki, slacktest.Team, task.RuleNobody},
		{"who is in no listed group", list(nil, []string{workspace.Approvers}), workspace.Alex, slacktest.Team, task.RuleNotListed},
		{"the requester, when that is off", func(s *task.Settings) { channel(s); s.AllowSelfApproval = false }, workspace.Sato, slacktest.Team, task.RuleSelf},
		{"who is in a listed group, though not in the channel", list(nil, []string{workspace.Approvers}), workspace.Tanaka, slacktest.Team, ""},
	} {
		if tt.user == workspace.Tanaka {
			if err := w.slack.SetMember(workspace.HR, workspace.Tanaka, false); err != nil {
				t.Fatal(err)
			}
		}
		w.settle(tt.settings)
		w.shown()
		click := w.click(tt.user, "approve_prompt", p.ID)
		click["user"].(map[string]any)["team_id"] = tt.team
		w.slack.Calls()
		w.post(click)
		status := w.load().Prompt().Status
		if tt.rule == "" {
			if status != task.Approved {
				t.Errorf("%s: %s", tt.name, status)
			}
			continue
		}
		if status != task.PendingApproval {
			t.Fatalf("%s: %s", tt.name, status)
		}
		if calls := len(w.slack.Calls("chat.postEphemeral")); calls != 1 {
			t.Errorf("%s: told %d times", tt.name, calls)
		}
		told, want := w.slack.Ephemerals(tt.user), card.Note("ja", task.ErrNotAllowed{Rule: tt.rule})
		if member := slices.Contains(members(t, w), tt.user); member && (len(told) == 0 || told[len(told)-1].Text != want) {
			t.Errorf("%s: told %+v", tt.name, told)
		}
		w.healed()
	}
}

// members are those whom Slack lets an app whisper to.
func members(t *testing.T, w *world) []string {
	t.Helper()
	var out []string
	for id, err := range w.slack.Client.ChannelMembers(t.Context(), workspace.HR) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, id)
	}
	return out
}

func testUnverified(t *testing.T, w *world) {
	p := w.prompted()
	for _, method := range []string{"conversations.members", "users.info"} {
		w.slack.Faults.Add(webapi.Fault{Method: method, Kind: webapi.Unavailable})
		before := len(w.slack.Ephemerals(workspace.Suzuki))
		w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID))
		told := w.slack.Ephemerals(workspace.Suzuki)
		if len(told) != before+1 || told[before].Text != card.Note("ja", card.ErrUnverified) {
			t.Errorf("%s: %+v", method, told)
		}
	}
	w.slack.Faults.Add(webapi.Fault{Method: "users.info", Kind: webapi.Refused, Code: "missing_scope"})
	inForm(t, w.post(w.form(workspace.Suzuki, "prompt", p.ID, "x")), card.Note("ja", card.ErrUnverified))
	if got := w.load().Prompt(); got.Status != task.PendingApproval {
		t.Errorf("%+v", got)
	}
}

func testUnknownMethod(t *testing.T, w *world) {
	p := w.prompted()
	for _, method := range []string{"users.info", "conversations.members"} {
		w.slack.Faults.Add(webapi.Fault{Method: method, Kind: webapi.Refused, Code: "unknown_method", Times: -1})
	}
	elsewhere := w.click(workspace.Suzuki, "approve_prompt", p.ID)
	elsewhere["container"].(map[string]any)["channel_id"] = workspace.General
	w.post(elsewhere)
	if got := w.load().Prompt(); got.Status != task.PendingApproval {
		t.Fatal("a click in another channel counts")
	}
	w.quiet(w.post(w.click(workspace.Tanaka, "approve_prompt", p.ID)), workspace.Tanaka)
	if got := w.load().Prompt(); got.ApprovedBy != workspace.Tanaka {
		t.Errorf("%+v", got)
	}
}

func testWithdrawUnverified(t *testing.T, w *world) {
	e := w.running()
	w.slack.Faults.Add(webapi.Fault{Method: "users.info", Kind: webapi.Unavailable, Times: -1})
	w.quiet(w.post(w.click(workspace.Sato, "cancel_execution", e.ID)), workspace.Sato)
	if got := w.load().Execution(); got.Status != task.ExecutionCancelled {
		t.Errorf("%+v", got)
	}
}

func testDirectMessage(t *testing.T, w *world) {
	dm := workspace.DirectMessage(workspace.Sato)
	w.root = w.slack.Say(t, workspace.Sato, dm, "従業員一覧")
	w.ref = w.receive(dm, "im", w.root)
	p := w.prompted()
	other := w.click(workspace.Suzuki, "approve_prompt", p.ID)
	w.post(other)
	if got := w.load().Prompt(); got.Status != task.PendingApproval {
		t.Fatal("who is not in the conversation approved")
	}
	w.slack.Calls()
	w.quiet(w.post(w.click(workspace.Sato, "approve_prompt", p.ID)), workspace.Sato)
	if got := w.load().Prompt(); got.ApprovedBy != workspace.Sato {
		t.Errorf("%+v", got)
	}
	if n := len(w.slack.Calls("conversations.members")); n != 0 {
		t.Errorf("the members of a conversation of two were asked for")
	}
}

func testForeignIDs(t *testing.T, w *world) {
	p := w.prompted()
	from := func(team string, payload map[string]any) map[string]any {
		payload["team"] = map[string]any{"id": team}
		payload["user"].(map[string]any)["team_id"] = team
		return payload
	}
	action := func(p map[string]any, block, value string) map[string]any {
		a := p["actions"].([]any)[0].(map[string]any)
		a["block_id"], a["value"] = block, value
		return p
	}
	for name, payload := range map[string]map[string]any{
		"another tenant's person":      from("T0OTHER", w.click(workspace.Suzuki, "approve_prompt", p.ID)),
		"another tenant's execution":   from("T0OTHER", w.click(workspace.Suzuki, "cancel_execution", task.NewID())),
		"another tenant's form asked":  from("T0OTHER", w.click(workspace.Suzuki, "reject_prompt", p.ID)),
		"no such prompt":               w.click(workspace.Suzuki, "approve_prompt", task.NewID()),
		"no such task":                 action(w.click(workspace.Suzuki, "approve_prompt", p.ID), task.NewID(), p.ID),
		"a task id that is none":       action(w.click(workspace.Suzuki, "approve_prompt", p.ID), "x#HEAD", p.ID),
		"an id that is none":           action(w.click(workspace.Suzuki, "approve_prompt", p.ID), w.ref.Task, ""),
		"a process's button, a prompt": w.click(workspace.Suzuki, "approve_process", p.ID),
	} {
		before := len(w.slack.Ephemerals(workspace.Suzuki))
		out := w.post(payload)
		told := w.slack.Ephemerals(workspace.Suzuki)
		if out.StatusCode != 200 || len(told) != before+1 || told[before].Text != card.Note("ja", task.ErrNotFound) {
			t.Errorf("%s: %d, told %+v", name, out.StatusCode, told[before:])
		}
	}
	inForm(t, w.post(from("T0OTHER", w.form(workspace.Suzuki, "prompt", p.ID, "x"))), card.Note("ja", task.ErrNotFound))
	if got := w.load().Prompt(); got.Status != task.PendingApproval || len(w.slack.Views(workspace.Suzuki)) != 0 {
		t.Errorf("%+v", got)
	}
}

func testUnsaved(t *testing.T, w *world) {
	p := w.prompted()
	w.h.Store = failing{Store: w.store, err: errors.New("throttled")}
	w.told(w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID)), workspace.Suzuki, card.Note("ja", card.ErrUnsaved))
	inForm(t, w.post(w.form(workspace.Suzuki, "prompt", p.ID, "x")), card.Note("ja", card.ErrUnsaved))
	w.h.Store = w.store
	w.slack.Faults.Add(webapi.Fault{Method: "views.open", Kind: webapi.Refused, Code: "expired_trigger_id"})
	w.post(w.click(workspace.Tanaka, "reject_prompt", p.ID))
	if told := w.slack.Ephemerals(workspace.Tanaka); len(told) != 1 || told[0].Text != card.Note("ja", card.ErrUnsaved) {
		t.Errorf("%+v", told)
	}
}

func testSlow(t *testing.T, w *world) {
	p := w.prompted()
	w.h.Store = failing{Store: w.store, hang: true}
	began := time.Now()
	w.told(w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID)), workspace.Suzuki, card.Note("ja", card.ErrUnsaved))
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("answered after %s", took)
	}
}

// nobody refuses to be asked anything: what is refused or ignored must not get this far.
type nobody struct {
	Store
	Slack
}

func idle() *Handler {
	now := time.Unix(1776675600, 0)
	clock := func() time.Time { return now }
	return &Handler{Store: nobody{}, Slack: nobody{}, Edge: inbound.Edge{Secret: signingSecret, Now: clock}, Now: clock}
}

func TestNonsenseAndStrangeKinds(t *testing.T) {
	payload := func(s string) string { return url.Values{"payload": {s}}.Encode() }
	const who = `"team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"}`
	for _, tt := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"Slack checks the certificate", "ssl_check=1", 200, ""},
		{"no form", "%zz", 400, `{"error":"body is not a form"}`},
		{"no payload", "a=b", 400, `{"error":"payload is required"}`},
		{"nothing", "", 400, `{"error":"payload is required"}`},
		{"no JSON", payload("x"), 400, `{"error":"payload is not a JSON object"}`},
		{"no type", payload(`{}`), 400, `{"error":"payload.type is required"}`},
		{"a number for a type", payload(`{"type":1}`), 400, `{"error":"payload.type must not be a JSON number"}`},
		{"another kind", payload(`{"type":"view_closed","user":7}`), 200, ""},
		{"no team", payload(`{"type":"block_actions","user":{"id":"U1"}}`), 400, `{"error":"payload.team.id must have 1 to 64 letters and digits"}`},
		{"a null team", payload(`{"type":"block_actions","team":null,"user":{"id":"U1"}}`), 400, `{"error":"payload.team.id must have 1 to 64 letters and digits"}`},
		{"a user that forges a mention", payload(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1><!here"}}`), 400, `{"error":"payload.user.id must have 1 to 64 letters and digits"}`},
		{"actions that are no list", payload(`{"type":"block_actions",` + who + `,"actions":"x"}`), 400, `{"error":"payload.actions must not be a JSON string"}`},
		{"no actions", payload(`{"type":"block_actions",` + who + `}`), 400, `{"error":"payload.actions must not be empty"}`},
		{"no channel", payload(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"actions":[{"action_id":"approve_prompt"}]}`), 400, `{"error":"payload.channel.id must have 1 to 64 letters and digits"}`},
		{"an unknown button", payload(`{"type":"block_actions",` + who + `,"actions":[{"action_id":"approve_everything"}]}`), 200, ""},
		{"a shortcut's name on a button", payload(`{"type":"block_actions",` + who + `,"actions":[{"action_id":"cancel_task"}]}`), 200, ""},
		{"an unknown rejection", payload(`{"type":"block_actions",` + who + `,"actions":[{"action_id":"reject_task"}]}`), 200, ""},
		{"an unknown shortcut", payload(`{"type":"message_action","callback_id":"x",` + who + `}`), 200, ""},
		{"an unknown form", payload(`{"type":"view_submission",` + who + `,"view":{"callback_id":"x"}}`), 200, ""},
		{"a form without metadata", payload(`{"type":"view_submission",` + who + `,"view":{"callback_id":"rejection_reason_modal"}}`), 400, `{"error":"payload.view.private_metadata must be the JSON object of a rejection"}`},
		{"a form of another kind", payload(`{"type":"view_submission",` + who + `,"view":{"callback_id":"rejection_reason_modal","private_metadata":"{\"type\":\"task\"}"}}`), 400, `{"error":"payload.view.private_metadata.type must be prompt, process or step"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := idle()
			out, err := h.Handle(t.Context(), signed(tt.body, h.Now()))
			if err != nil || out.StatusCode != tt.status || out.Body != tt.want {
				t.Errorf("%d %s %v, want %d %s", out.StatusCode, out.Body, err, tt.status, tt.want)
			}
		})
	}
	h := idle()
	unsigned := signed("ssl_check=1", h.Now())
	unsigned.Headers["x-slack-signature"] = "v0=00"
	if out, err := h.Handle(t.Context(), unsigned); err != nil || out.StatusCode != 401 {
		t.Errorf("%d %v", out.StatusCode, err)
	}
}

// empty is a tenant without any task.
type empty struct{ Store }

func (empty) Settings(context.Context, string) (task.Settings, error) {
	return task.DefaultSettings(), nil
}
func (empty) Load(context.Context, task.Ref) (*task.Aggregate, error) { return nil, task.ErrNotFound }
func (empty) Decide(context.Context, task.Ref, func(*task.Aggregate) (task.Change, error)) (*task.Aggregate, error) {
	return nil, task.ErrNotFound
}

// mute is a Slack that nobody hears.
type mute struct{ Slack }

func (mute) Ephemeral(context.Context, string, string, string, string) error { return nil }

// FuzzInteraction: whatever Slack signs, the answer is 200 or 400, never a fault of ours.
func FuzzInteraction(f *testing.F) {
	const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	f.Add(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"},"actions":[{"action_id":"approve_prompt","block_id":"` + id + `","value":"` + id + `"}]}`)
	f.Add(`{"type":"message_action","callback_id":"cancel_task","team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"},"message":{"ts":"1776675600.000100","metadata":{"event_type":"ringi_card","event_payload":{"task":"` + id + `"}}}}`)
	f.Add(`{"type":"view_submission","team":{"id":"T1"},"user":{"id":"U1"},"view":{"callback_id":"rejection_reason_modal","private_metadata":"{\"type\":\"prompt\"}","state":{"values":{"a":{"b":{"value":null}}}}}}`)
	f.Fuzz(func(t *testing.T, payload string) {
		h := idle()
		h.Store, h.Slack = empty{}, mute{}
		out, err := h.Handle(context.Background(), signed(url.Values{"payload": {payload}}.Encode(), h.Now()))
		if err != nil || out.StatusCode != 200 && out.StatusCode != 400 && len(payload) < 1<<18 {
			t.Fatalf("%d %v for %q", out.StatusCode, err, payload)
		}
	})
}
