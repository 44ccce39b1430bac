package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

func strangersSeeNoTalk(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "集計用のスクリプトを書いて")
	x := k.proposes(conversation.ShellCommand, script, "")
	other := w.found("T0OTHER", "U0OTHER")
	logs := logged(t)
	for name, b := range map[string]*browser{
		"another workspace's administrator": w.of(other, "U0OTHER"), "a member who is not in the channel": w.as(workspace.Alex),
	} {
		for _, path := range []string{"", "/message", "?log=1", "?before=" + url.QueryEscape("2026-04-18T00:00:00.000Z#"+k.ref.ID)} {
			if a := b.get(k.page() + path); a.status != http.StatusNotFound || strings.Contains(a.body, "スクリプト") {
				t.Errorf("%s gets %d of %s", name, a.status, path)
			}
		}
		for _, act := range []aggregate.Act{aggregate.ActApprove, aggregate.ActReject, conversation.ActCancel} {
			if a := b.post(k.page()+"/act", actOn(act, x, "だめ")); a.status != http.StatusNotFound {
				t.Errorf("%s gets %d for %s", name, a.status, act)
			}
		}
		lacks(t, b.get("/console/agents"), k.ref.ID)
	}
	// A direct message is its person's, and no other member's.
	d := w.direct()
	if a := w.as(workspace.Tanaka).get(d.page()); a.status != http.StatusNotFound {
		t.Errorf("a member gets %d of another's direct message", a.status)
	}
	for _, act := range []aggregate.Act{conversation.ActReopen, conversation.ActClose, conversation.ActReopen} { // while it is open, then once it is closed
		if a := w.as(workspace.Tanaka).post(d.page()+"/act", actOn(act, nil, "")); a.status != http.StatusNotFound {
			t.Errorf("a member gets %d for %s of another's direct message", a.status, act)
		}
		if d.load().Session.Status == conversation.Open {
			w.as(workspace.Sato).post(d.page()+"/act", actOn(conversation.ActClose, nil, ""))
		}
	}
	if a := d.load(); a.Session.Status != conversation.Closed || a.Head.ForgottenAt == nil {
		t.Errorf("another's direct message was begun anew: %+v", a.Session)
	}
	for _, id := range []string{"x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "..%2f..", conversation.ID("T", "C", "1.2")} {
		if a := w.as(workspace.Sato).get("/console/sessions/" + id); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", id, a.status)
		}
	}
	if a := w.as(workspace.Sato).get(k.page() + "?before=x"); a.status != http.StatusNotFound {
		t.Errorf("a key of no message: %d", a.status)
	}
	if n := strings.Count(logs.String(), "msg=refused"); n < 14 {
		t.Errorf("%d refusals are logged", n)
	}
	if k.load().Current().Status != conversation.ActionPending {
		t.Error("something was decided")
	}
}

func longTalk(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "集計の相談")
	for from := range 40 {
		var rows []aggregate.Row
		for i := range 25 {
			n := from*25 + i
			m := &conversation.Message{
				MessageID: conversation.MessageID("T", "C", fmt.Sprint(n)), SessionID: k.ref.ID, Sender: conversation.FromUser, User: workspace.Sato,
				Content: fmt.Sprintf("メッセージ %d 番", n), CreatedAt: w.Now().Add(time.Duration(n-2000) * time.Second),
			}
			rows = append(rows, m)
		}
		expect.NoError(t, w.c.Sessions.PutListed(t.Context(), k.ref.Tenant, conversation.MessagesList, k.ref.ID, rows, nil))
	}
	all := expect.Value(w.c.Sessions.Messages(t.Context(), k.ref.Tenant, k.ref.ID, ""))(t)
	if len(all) != 1001 {
		t.Fatalf("%d messages", len(all))
	}
	k.says(workspace.Sato, "まとめて")
	k.answers(conversation.Answer{Text: "はい", Summary: "集計の話をしました", Through: all[800].Key()})
	b := w.as(workspace.Sato)
	page := b.get(k.page())
	holds(t, page, "集計の話をしました", "元のメッセージを読む", "はい")
	if n := strings.Count(page.body, `<li id="said-`); n > saidOfPage || n < saidOfPage-1 {
		t.Errorf("a page has %d messages", n)
	}
	lacks(t, page, "メッセージ 0 番")
	seen, next := 0, k.page()+"?before="+url.QueryEscape(all[800].Key()+"!")
	for range 20 {
		page = b.get(next)
		seen += strings.Count(page.body, `<li id="said-`)
		_, rest, more := strings.Cut(page.body, `<a class="button" href="`+k.page()+"?before=")
		if !more {
			break
		}
		key, _, _ := strings.Cut(rest, "#said")
		next = k.page() + "?before=" + key
	}
	holds(t, page, "メッセージ 0 番", "要約された前のメッセージ")
	if seen != 801 {
		t.Errorf("%d of 801 original messages can be read", seen)
	}
}

func longOutput(t *testing.T, w *world) {
	k := w.direct()
	x := k.proposes(conversation.ShellCommand, script, "")
	w.as(workspace.Sato).post(k.page()+"/act", actOn(aggregate.ActApprove, x, ""))
	k.begins()
	k.prints(x, 0, 700)
	page := w.as(workspace.Sato).get(k.page())
	holds(t, page, "行 699", "行 200<", "古い 200 行は残っていません")
	lacks(t, page, "行 199<")
	one := 1
	k.ends(x, conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonExit, ExitCode: &one, Lines: 700, Dropped: 200})
	holds(t, w.as(workspace.Sato).get(k.page()), "プログラムがエラーで終わりました", "古い 200 行は残っていません")
	y := k.proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "")
	page = w.as(workspace.Sato).get(k.page())
	holds(t, page, "?log=1#action-1")
	lacks(t, page, "行 699")
	holds(t, w.as(workspace.Sato).get(k.page()+"?log=1"), "行 699", `name="hash" value="`+y.Payload.Hash()+`"`)
}

func listsTalks(t *testing.T, w *world) {
	empty := w.as(workspace.Sato).get("/console/agents")
	holds(t, empty, "まだ会話がありません", "例: codex: ", "あなたが参加しているチャンネルの会話です")
	in := w.talked(workspace.Sato, workspace.HR, "channel", "チャンネルの会話")
	mine := w.direct()
	mine.proposes(conversation.ShellCommand, script, "")
	for user, want := range map[string][2]bool{workspace.Suzuki: {true, true}, workspace.Sato: {true, true}, workspace.Tanaka: {true, false}, workspace.Alex: {false, false}} {
		a := w.as(user).get("/console/agents")
		for i, k := range []*talking{in, mine} {
			if strings.Contains(a.body, k.ref.ID) != want[i] {
				t.Errorf("%s: conversation %d is listed: %v", user, i, !want[i])
			}
		}
	}
	b := w.as(workspace.Suzuki)
	holds(t, b.get("/console/agents"), "承認待ち", "Codex", "佐藤", "$0.0056", `data-live="/console/agents"`)
	a := b.get("/console/agents?status=closed")
	holds(t, a, "条件に合う会話はありません")
	in.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.End(aggregate.System(), aggregate.Policy{Team: w.tenant.TeamID}, w.Now())
	})
	a = b.get("/console/agents?status=closed&person=" + workspace.Sato)
	holds(t, a, in.ref.ID)
	lacks(t, a, mine.ref.ID)
	if a := b.get("/console/agents?status=x&person=y"); a.status != http.StatusBadRequest || strings.Count(a.body, `role="alert"`) != 2 {
		t.Errorf("a filter that can't be: %d", a.status)
	}
	if a := b.get("/console/agents?cursor=x"); a.status != http.StatusBadRequest {
		t.Errorf("a cursor of nothing: %d", a.status)
	}
	for range sessionsOfPage {
		w.direct()
	}
	a = b.get("/console/agents")
	if n := strings.Count(a.body, `<th scope="row"><a href="/console/sessions/`); n != sessionsOfPage || !strings.Contains(a.body, `rel="next"`) {
		t.Errorf("a page has %d conversations", n)
	}
}
