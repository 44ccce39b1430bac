package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/agent"
	"ringi/shared/aggregate"
	"ringi/shared/chat"
	"ringi/shared/expect"
	"ringi/shared/language"
	"ringi/shared/session"
	"ringi/shared/store/storetest"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

func TestConversationsWithAgents(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"from a message to a result":                        wholeTalk,
		"nobody else's":                                     strangersSeeNoTalk,
		"decided here as in Slack":                          decidesActions,
		"who may not decide is told why":                    refusesActions,
		"two at once make one decision":                     oneActionDecision,
		"what people, agents and commands write is text":    saidIsText,
		"what a model was sent is for administrators":       sentIsForAdministrators,
		"a thousand messages":                               longTalk,
		"the newest five hundred lines":                     longOutput,
		"large content is read whole before it is approved": largePayload,
		"the list":         listsTalks,
		"agents and rules": listsAgents,
		"nobody answers":   saysWhyNobodyAnswers,
		"what waits":       waitsForActions,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

// talking is a conversation of the world's.
type talking struct {
	*world
	ref aggregate.Ref
	in  session.Inbound
}

// talked begins a conversation.
func (w *world) talked(user, channel, kind, text string) *talking {
	w.T.Helper()
	w.said++
	ts := fmt.Sprintf("%d.%06d", w.Now().Unix(), w.said)
	k := &talking{world: w, in: session.Inbound{Team: w.tenant.TeamID, Channel: channel, ChannelType: kind, Thread: ts, TS: ts, User: user, Text: text}}
	k.ref = k.in.Ref()
	c, err := session.Begin(k.in, session.Opening{AgentID: agent.Codex, Locale: "ja", IdleDays: 14}, w.Now())
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.c.Sessions.Begin(w.T.Context(), c))
	return k
}

// direct is one of Sato's in a direct message.
func (w *world) direct() *talking {
	w.T.Helper()
	return w.talked(workspace.Sato, "D0SATO", "im", "集計用のスクリプトを書いて")
}

func (k *talking) page() string { return "/console/sessions/" + k.ref.ID }

func (k *talking) load() *session.Aggregate {
	k.T.Helper()
	return expect.Value(k.c.Sessions.Load(k.T.Context(), k.ref))(k.T)
}

func (k *talking) decide(f session.Decision) *session.Aggregate {
	k.T.Helper()
	return expect.Value(k.c.Sessions.Decide(k.T.Context(), k.ref, f))(k.T)
}

// run opens a run if none is.
func (k *talking) run() {
	k.T.Helper()
	if k.load().Head.Resting {
		k.decide(func(a *session.Aggregate) (aggregate.Change, error) { return a.StartRun(k.Now()) })
	}
}

func (k *talking) answers(x session.Answer) *session.Aggregate {
	k.T.Helper()
	k.run()
	x.Usage = aggregate.Usage{ID: aggregate.NewID(), Provider: "openai", Model: "gpt-5.4", Calls: 1, Input: 1200, Output: 34, Cost: 5600}
	return k.decide(func(a *session.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), x, k.Now())
	})
}

// says adds a message of a person's.
func (k *talking) says(user, text string) {
	k.T.Helper()
	k.said++
	in := k.in
	in.TS, in.User, in.Text = fmt.Sprintf("%d.%06d", k.Now().Unix(), k.said), user, text
	c, err := session.Tell(in, session.Opening{IdleDays: 14}, k.Now())
	expect.NoError(k.T, err)
	expect.NoError(k.T, k.c.Sessions.Tell(k.T.Context(), k.ref, c))
}

// proposes has the agent propose something.
func (k *talking) proposes(typ session.ActionType, payload, rule string) *session.Action {
	k.T.Helper()
	return k.proposed(typ, aggregate.Blob{JSON: aggregate.JSON(payload), Bytes: len(payload)}, rule)
}

func (k *talking) proposed(typ session.ActionType, payload aggregate.Blob, rule string) *session.Action {
	k.T.Helper()
	by := k.Now().Add(24 * time.Hour)
	rev := expect.Value(k.c.Store.Settings(k.T.Context(), k.ref.Tenant))(k.T).Rev
	p := &session.Proposal{
		Type: typ, Payload: payload, Seconds: 60, Rule: rule, Summary: "テストを走らせて確かめます",
		Terms: aggregate.Terms{ApprovalRequired: true, DecideBy: &by, SettingsRev: rev},
	}
	return k.answers(session.Answer{Text: "実行してよいですか", Tokens: 34, Proposal: p}).Current()
}

// begins has what was approved executed.
func (k *talking) begins() {
	k.T.Helper()
	k.run()
	k.decide(func(a *session.Aggregate) (aggregate.Change, error) {
		return a.Claim(a.Head.Run, "i", k.Now().Add(2*time.Minute), k.Now())
	})
}

func (k *talking) ends(x *session.Action, r session.Result) {
	k.T.Helper()
	k.decide(func(a *session.Aggregate) (aggregate.Change, error) { return a.Finish(x.ActionID, "i", r, k.Now()) })
}

func (k *talking) prints(x *session.Action, from, n int) {
	k.T.Helper()
	for ; n > 0; n -= 100 {
		var lines []session.LogEntry
		for i := range min(n, 100) {
			lines = append(lines, session.LogEntry{LogID: fmt.Sprint(from + i), ActionID: x.ActionID, Order: from + i, Text: fmt.Sprintf("行 %d", from+i), CreatedAt: k.Now(), DeleteAfter: time.Now().Add(24 * time.Hour).Unix()})
		}
		expect.NoError(k.T, k.c.Sessions.AppendLog(k.T.Context(), k.ref.Tenant, x.ActionID, lines))
		from += 100
	}
}

func actOn(act talkAct, x *session.Action, reason string) url.Values {
	form := url.Values{"act": {string(act)}, "reason": {reason}}
	if x != nil {
		form.Set("id", x.ActionID)
		form.Set("hash", x.Payload.Hash())
	}
	return form
}

const script = `{"script":"make test\nrm -rf build","timeout_seconds":60}`

func wholeTalk(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "集計用のスクリプトを書いて")
	sato, suzuki := w.as(workspace.Sato), w.as(workspace.Suzuki)
	holds(t, sato.get(k.page()), "集計用のスクリプトを書いて", "返答待ち", "まだ提案はありません", `data-live="`+k.page()+`"`)
	x := k.proposes(session.ShellCommand, script, "")
	page := suzuki.get(k.page())
	holds(t, page, "make test\nrm -rf build", "承認待ち", "テストを走らせて確かめます", "実行してよいですか", `name="hash" value="`+x.Payload.Hash()+`"`, "34 トークン", "$0.0056", "action.proposed", "佐藤")
	expect.Same(t, k.page()+"?done=act_approve", suzuki.post(k.page()+"/act", actOn(approveAction, x, "")).to)
	w.Later(time.Second)
	k.begins()
	k.prints(x, 0, 3)
	holds(t, sato.get(k.page()), "実行中です", "行 2", "鈴木", "コンソール")
	w.Later(2 * time.Second)
	zero := 0
	k.ends(x, session.Result{Status: session.ActionSucceeded, Summary: "12 件のテストが通りました", ExitCode: &zero, Lines: 3})
	k.says(workspace.Sato, "これは稟議にします")
	k.answers(session.Answer{Text: "すべて通りました", HandOver: "集計用のスクリプトを毎月実行する"})
	page = sato.get(k.page())
	holds(t, page, "/console/tasks/"+k.load().Handed[0].TaskID, "集計用のスクリプトを毎月実行する", "12 件のテストが通りました", "すべて通りました", "action.completed", "終了コード", "鈴木")
	lacks(t, page, "✅ 承認</button>", "⏹️ 操作を取り消す</button>")
	expect.Same(t, k.page()+"?done=act_close_session", sato.post(k.page()+"/act", actOn(closeSession, nil, "")).to)
	page = sato.get(k.page())
	holds(t, page, "session.closed", "この会話が消える日時", "この会話をもう一度始める")
	lacks(t, page, "data-live")
	expect.Same(t, k.page()+"?done=act_reopen_session", sato.post(k.page()+"/act", actOn(reopenSession, nil, "")).to)
	w.Later(2 * time.Second)
	k.says(workspace.Sato, "続きをお願い")
	holds(t, sato.get(k.page()), "ここから新しい会話です", "続きをお願い")
	en := w.as(workspace.Sato)
	en.locale = "en"
	holds(t, en.get(k.page()), "A new conversation begins here", "Run a shell command", "Completed an agent’s action")
}

func strangersSeeNoTalk(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "集計用のスクリプトを書いて")
	x := k.proposes(session.ShellCommand, script, "")
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
		for _, act := range []talkAct{approveAction, rejectAction, cancelAction} {
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
	for _, act := range []talkAct{reopenSession, closeSession, reopenSession} { // while it is open, then once it is closed
		if a := w.as(workspace.Tanaka).post(d.page()+"/act", actOn(act, nil, "")); a.status != http.StatusNotFound {
			t.Errorf("a member gets %d for %s of another's direct message", a.status, act)
		}
		if d.load().Session.Status == session.Open {
			w.as(workspace.Sato).post(d.page()+"/act", actOn(closeSession, nil, ""))
		}
	}
	if a := d.load(); a.Session.Status != session.Closed || a.Head.ForgottenAt == nil {
		t.Errorf("another's direct message was begun anew: %+v", a.Session)
	}
	for _, id := range []string{"x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "..%2f..", session.ID("T", "C", "1.2")} {
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
	if k.load().Current().Status != session.ActionPending {
		t.Error("something was decided")
	}
}

func decidesActions(t *testing.T, w *world) {
	k := w.direct()
	sato := w.as(workspace.Sato)
	x := k.proposes(session.TestRun, `{"argv":["go","test","./a b/..."],"timeout_seconds":60}`, "")
	holds(t, sato.get(k.page()), `<code class="word">go</code>`, `<code class="word">./a b/...</code>`)
	expect.Same(t, k.page()+"?done=act_reject", sato.post(k.page()+"/act", actOn(rejectAction, x, "先にファイルを見せて")).to)
	holds(t, sato.get(k.page()), "先にファイルを見せて", "却下", "action.rejected")
	if a := k.load(); a.Session.PendingActionID != "" || len(a.Inbox) != 1 {
		t.Errorf("the agent does not learn of the rejection: %+v", a.Inbox)
	}

	x = k.proposes(session.CodeGenerate, `{"files":[{"path":"a.txt","content":"一行目\n二行目"}]}`, "")
	holds(t, sato.get(k.page()), "a.txt", "一行目\n二行目")
	expect.Same(t, k.page()+"?done=act_cancel_action", sato.post(k.page()+"/act", actOn(cancelAction, x, "")).to)

	x = k.proposes(session.ShellCommand, script, "")
	sato.post(k.page()+"/act", actOn(approveAction, x, ""))
	k.begins()
	busy := sato.post(k.page()+"/act", actOn(closeSession, nil, ""))
	if busy.status == http.StatusSeeOther || !strings.Contains(busy.body, "先にその操作を取り消してください") {
		t.Errorf("a session is closed under a running action: %d %s", busy.status, busy.text())
	}
	expect.Same(t, k.page()+"?done=act_cancel_action", sato.post(k.page()+"/act", actOn(cancelAction, x, "")).to)
	one := 1
	k.ends(x, session.Result{Status: session.ActionFailed, ErrorDetail: "止められました", ExitCode: &one})
	holds(t, sato.get(k.page()), "取り消した後に分かったこと", "止められました")

	x = k.proposes(session.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "go test")
	holds(t, sato.get(k.page()), "規則による自動承認", "承認済み")
}

func refusesActions(t *testing.T, w *world) {
	w.Ref.Tenant = w.tenant.ID
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	x := k.proposes(session.ShellCommand, script, "")
	form := actOn(approveAction, x, "")
	sato, suzuki := w.as(workspace.Sato), w.as(workspace.Suzuki)
	page := sato.get(k.page())
	holds(t, page, "自分の依頼は自分で承認できません", `value="reject"`)
	lacks(t, page, "✅ 承認</button>")
	for name, tt := range map[string]struct {
		by     *browser
		form   url.Values
		status int
		says   string
	}{
		"one's own":                   {sato, form, 403, "自分の依頼は自分で承認できません"},
		"content that was not shown":  {suzuki, with(form, "hash", strings.Repeat("0", 64)), 409, ""},
		"another content's rejection": {suzuki, with(actOn(rejectAction, x, "だめ"), "hash", "x"), 409, "だめ"},
		"no reason":                   {suzuki, actOn(rejectAction, x, " "), 400, "却下理由は 1〜1000 文字"},
		"a reason too long":           {suzuki, actOn(rejectAction, x, strings.Repeat("長", 1001)), 400, strings.Repeat("長", 1001)},
		"an action that is not there": {suzuki, with(form, "id", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 404, ""},
		"an act that there is not":    {suzuki, with(form, "act", "execute"), 400, ""},
		"a guest":                     {w.as(workspace.Guest), form, 403, ""},
	} {
		if a := tt.by.post(k.page()+"/act", tt.form); a.status != tt.status || !strings.Contains(a.body, tt.says) {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
	}
	if a := suzuki.send("POST", k.page()+"/act", form); a.status != 403 {
		t.Errorf("without the session's token: %d", a.status)
	}
	if k.load().Current().Status != session.ActionPending {
		t.Error("something was decided")
	}
}

func oneActionDecision(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	x := k.proposes(session.ShellCommand, script, "")
	by := map[string]*browser{string(approveAction): w.as(workspace.Suzuki), string(cancelAction): w.as(workspace.Sato), string(rejectAction): w.as(workspace.Tanaka)}
	var all sync.WaitGroup
	answers := sync.Map{}
	for act, b := range by {
		all.Go(func() { answers.Store(act, b.post(k.page()+"/act", actOn(talkAct(act), x, "だめ"))) })
	}
	all.Wait()
	var done, told int
	answers.Range(func(_, v any) bool {
		switch a := v.(answer); {
		case a.status == http.StatusSeeOther:
			done++
		case strings.Contains(a.body, "先に決まっています"):
			told++
		}
		return true
	})
	// What was approved may still be cancelled; nothing else goes together.
	got := k.load().Action(x.ActionID)
	if done+told != 3 || done > 2 || done == 2 && (got.Status != session.ActionCancelled || got.ApprovedBy == "") {
		t.Errorf("%d decided, %d were told: %+v", done, told, got)
	}
}

func saidIsText(t *testing.T, w *world) {
	const markup = `<script>alert(1)</script>"><img src=x>`
	k := w.talked(workspace.Sato, workspace.HR, "channel", markup)
	rev := expect.Value(w.Store.Settings(t.Context(), k.ref.Tenant))(t).Rev
	by := w.Now().Add(time.Hour)
	payload := `{"files":[{"path":"a.txt","content":"` + strings.ReplaceAll(markup, `"`, `\"`) + ` \u202e"}]}`
	k.answers(session.Answer{Text: markup, Proposal: &session.Proposal{
		Type: session.CodeGenerate, Payload: inline(payload), Summary: markup, Terms: aggregate.Terms{ApprovalRequired: true, DecideBy: &by, SettingsRev: rev},
	}})
	for _, path := range []string{k.page(), "/console/agents", "/console/approvals"} {
		a := w.as(workspace.Suzuki).get(path)
		if a.status != http.StatusOK || strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "<img src=x") || strings.Contains(a.body, "\u202e") {
			t.Errorf("%s (%d) has markup that somebody wrote", path, a.status)
		}
	}
}

func longTalk(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "集計の相談")
	for from := range 40 {
		var rows []aggregate.Row
		for i := range 25 {
			n := from*25 + i
			m := &session.Message{
				MessageID: session.MessageID("T", "C", fmt.Sprint(n)), SessionID: k.ref.ID, Sender: session.FromUser, User: workspace.Sato,
				Content: fmt.Sprintf("メッセージ %d 番", n), CreatedAt: w.Now().Add(time.Duration(n-2000) * time.Second),
			}
			rows = append(rows, m)
		}
		expect.NoError(t, w.c.Sessions.PutListed(t.Context(), k.ref.Tenant, session.MessagesList, k.ref.ID, rows, nil))
	}
	all := expect.Value(w.c.Sessions.Messages(t.Context(), k.ref.Tenant, k.ref.ID, ""))(t)
	if len(all) != 1001 {
		t.Fatalf("%d messages", len(all))
	}
	k.says(workspace.Sato, "まとめて")
	k.answers(session.Answer{Text: "はい", Summary: "集計の話をしました", Through: all[800].Key()})
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
	x := k.proposes(session.ShellCommand, script, "")
	w.as(workspace.Sato).post(k.page()+"/act", actOn(approveAction, x, ""))
	k.begins()
	k.prints(x, 0, 700)
	page := w.as(workspace.Sato).get(k.page())
	holds(t, page, "行 699", "行 200<", "古い 200 行は残っていません")
	lacks(t, page, "行 199<")
	one := 1
	k.ends(x, session.Result{Status: session.ActionFailed, Error: session.ReasonExit, ExitCode: &one, Lines: 700, Dropped: 200})
	holds(t, w.as(workspace.Sato).get(k.page()), "プログラムがエラーで終わりました", "古い 200 行は残っていません")
	y := k.proposes(session.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "")
	page = w.as(workspace.Sato).get(k.page())
	holds(t, page, "?log=1#action-1")
	lacks(t, page, "行 699")
	holds(t, w.as(workspace.Sato).get(k.page()+"?log=1"), "行 699", `name="hash" value="`+y.Payload.Hash()+`"`)
}

// largePayload: what stands beside the table is opened; where it is gone nobody can approve.
func largePayload(t *testing.T, w *world) {
	k := w.direct()
	text := `{"script":"` + strings.Repeat("echo x\\n", 1500) + `echo end","timeout_seconds":60}`
	hash := aggregate.HashOf(text)
	key := "arguments/" + k.ref.Tenant + "/" + hash + ".json"
	x := k.proposed(session.ShellCommand, aggregate.Blob{S3Key: key, Bytes: len(text)}, "")
	sato := w.as(workspace.Sato)
	page := sato.get(k.page())
	holds(t, page, "ここでは承認できません", `value="reject"`)
	lacks(t, page, "✅ 承認</button>")
	if a := sato.post(k.page()+"/act", actOn(approveAction, x, "")); a.status != http.StatusBadRequest {
		t.Errorf("what nobody could read is approved: %d", a.status)
	}
	w.results[key] = aggregate.JSON(text)
	holds(t, sato.get(k.page()), "echo end", "✅ 承認</button>")
	expect.Same(t, k.page()+"?done=act_approve", sato.post(k.page()+"/act", actOn(approveAction, x, "")).to)
}

func listsTalks(t *testing.T, w *world) {
	empty := w.as(workspace.Sato).get("/console/agents")
	holds(t, empty, "まだ会話がありません", "例: codex: ", "あなたが参加しているチャンネルの会話です")
	in := w.talked(workspace.Sato, workspace.HR, "channel", "チャンネルの会話")
	mine := w.direct()
	mine.proposes(session.ShellCommand, script, "")
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
	in.decide(func(a *session.Aggregate) (aggregate.Change, error) {
		return a.Close(aggregate.System(), aggregate.Policy{Team: w.tenant.TeamID}, w.Now())
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

func listsAgents(t *testing.T, w *world) {
	w.Ref.Tenant = w.tenant.ID
	w.Settings(func(s *tenancy.Settings) {
		s.Agents = []agent.Definition{
			{ID: "docs", Provider: agent.HTTP, Endpoint: "https://bot.example.com/v1", Capabilities: []agent.Capability{agent.Code}, AuthRef: "docs-key", IsDefault: true, Metadata: map[string]string{"label": "書類係"}},
			{ID: "near", Provider: agent.Local, Endpoint: "http://10.0.0.1/v1", Capabilities: []agent.Capability{agent.Code}},
		}
		s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "*"}, Workspace: "main"}}
	})
	admin, member := w.as(workspace.Suzuki).get("/console/agents"), w.as(workspace.Sato).get("/console/agents")
	holds(t, member, "書類係", "例: docs: ", "Claude", "gpt-5.4", `<code class="word">*</code>`, "main")
	lacks(t, member, "docs-key", "bot.example.com", "near")
	holds(t, admin, "docs-key", "https://bot.example.com/v1", "2 行目", "near", "アドレス: この環境で許可されていないアドレスです", "この行は使われていません")
}

func saysWhyNobodyAnswers(t *testing.T, w *world) {
	k := w.direct()
	k.decide(func(a *session.Aggregate) (aggregate.Change, error) {
		return a.Refused(a.Head.Run, a.Waiting(), session.Refusal{Reason: task.ReasonModelKey, Text: "鍵がありません", Failed: true}, w.Now())
	})
	page := w.as(workspace.Sato).get(k.page())
	holds(t, page, "応答なし", "AI モデルの API キーが登録されていないか", "鍵がありません")
	if about, _, _ := strings.Cut(page.body, `id="acts"`); strings.Contains(about, "再試行") {
		t.Error("a button is named that there is not")
	}
	holds(t, w.as(workspace.Suzuki).get("/console/agents?status=error"), k.ref.ID)
}

func waitsForActions(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	k.proposes(session.ShellCommand, script, "")
	holds(t, w.as(workspace.Suzuki).get("/console/approvals?for=me"), k.page(), "エージェントの操作", "コマンドの実行: テストを走らせて確かめます", "あなたの判断待ち")
	lacks(t, w.as(workspace.Alex).get("/console/approvals"), k.page())
	holds(t, w.as(workspace.Suzuki).get("/console/audit"), `<a href="`+k.page()+`">会話を開く</a>`, "エージェントの操作を提案した")
}

func TestEveryReasonOfAnUnreadFileHasWords(t *testing.T) {
	for i, words := range talkWords {
		for _, cause := range chat.Causes {
			if words.WhyUnread[cause] == "" {
				t.Errorf("%s has no words for %s", language.All[i], cause)
			}
		}
		if got := words.unread("files.info: file_deleted: the file can't be read"); got != words.WhyUnread[chat.Unreadable] {
			t.Errorf("%s shows %q", language.All[i], got)
		}
	}
}

func sentIsForAdministrators(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "集計の相談")
	k.run()
	use, other := aggregate.NewID(), aggregate.NewID()
	k.decide(func(a *session.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), session.Answer{Text: "はい", Usage: aggregate.Usage{ID: use, Provider: "openai", Model: "gpt-5.4", Calls: 1, Sent: &aggregate.Blob{S3Key: "key", Bytes: 9}}}, k.Now())
	})
	k.says(workspace.Sato, "続き")
	k.run()
	k.decide(func(a *session.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), session.Answer{Text: "はい", Usage: aggregate.Usage{ID: other, Provider: "openai", Model: "gpt-5.4", Calls: 1}}, k.Now())
	})
	w.results["key"] = `{"instructions":"<script>alert(1)</script>","input":"集計の相談"}`
	admin, opener := w.as(workspace.Suzuki), w.as(workspace.Sato)
	holds(t, admin.get(k.page()), "AI モデルに送った内容")
	list := admin.get(k.page() + "/sent")
	if list.status != http.StatusOK || !strings.Contains(list.body, k.page()+"/sent/"+use) || strings.Contains(list.body, other) || !strings.Contains(list.text(), "記録なし") {
		t.Errorf("%d %s", list.status, list.text())
	}
	shown := admin.get(k.page() + "/sent/" + use)
	if shown.status != http.StatusOK || !strings.Contains(shown.text(), "集計の相談") || strings.Contains(shown.body, "<script>alert") {
		t.Errorf("%d %s", shown.status, shown.text())
	}
	lacks(t, opener.get(k.page()), "AI モデルに送った内容")
	stranger := w.of(w.found("T0OTHER", "U0OTHER"), "U0OTHER")
	for path, want := range map[string]int{"/sent": http.StatusForbidden, "/sent/" + use: http.StatusForbidden} {
		if a := opener.get(k.page() + path); a.status != want {
			t.Errorf("whoever opened it reads %s: %d", path, a.status)
		}
		if a := stranger.get(k.page() + path); a.status == http.StatusOK {
			t.Errorf("another workspace's reads %s", path)
		}
	}
	if a := admin.get(k.page() + "/sent/" + other); a.status != http.StatusNotFound {
		t.Errorf("what was not kept: %d", a.status)
	}
}
