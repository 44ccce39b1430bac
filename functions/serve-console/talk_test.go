package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

func TestConversationsWithAgents(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"from a message to a result":                        wholeTalk,
		"nobody else's":                                     strangersSeeNoTalk,
		"decided here as in Slack":                          decidesActions,
		"who may not decide is told why":                    refusesActions,
		"who asked for an action may withdraw it alone":     offersWhatAskersMay,
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

// talking is a world with a conversation.
type talking struct {
	*world
	ref aggregate.Ref
	in  conversation.Inbound
}

// talked begins a conversation.
func (w *world) talked(user, channel, kind, text string) *talking {
	w.T.Helper()
	w.said++
	ts := fmt.Sprintf("%d.%06d", w.Now().Unix(), w.said)
	k := &talking{world: w, in: conversation.Inbound{Team: w.tenant.TeamID, Channel: channel, ChannelType: kind, Thread: ts, TS: ts, User: user, Text: text}}
	k.ref = k.in.Ref()
	c, err := conversation.Begin(k.in, conversation.Opening{AgentID: agent.Codex, Locale: "ja", IdleDays: 14}, w.Now())
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

func (k *talking) load() *conversation.Aggregate {
	k.T.Helper()
	return expect.Value(k.c.Sessions.Load(k.T.Context(), k.ref))(k.T)
}

func (k *talking) decide(f conversation.Decision) *conversation.Aggregate {
	k.T.Helper()
	return expect.Value(k.c.Sessions.Decide(k.T.Context(), k.ref, f))(k.T)
}

// run opens a run if none is.
func (k *talking) run() {
	k.T.Helper()
	if k.load().Head.Resting {
		k.decide(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.StartRun(k.Now()) })
	}
}

func (k *talking) answers(x conversation.Answer) *conversation.Aggregate {
	k.T.Helper()
	k.run()
	x.Usage = aggregate.Usage{ID: aggregate.NewID(), Provider: "openai", Model: "gpt-5.4", Calls: 1, Input: 1200, Output: 34, Cost: 5600}
	return k.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), x, k.Now())
	})
}

// says adds a message of a person's.
func (k *talking) says(user, text string) {
	k.T.Helper()
	k.said++
	in := k.in
	in.TS, in.User, in.Text = fmt.Sprintf("%d.%06d", k.Now().Unix(), k.said), user, text
	c, err := conversation.Tell(in, conversation.Opening{IdleDays: 14}, k.Now())
	expect.NoError(k.T, err)
	expect.NoError(k.T, k.c.Sessions.Tell(k.T.Context(), k.ref, c))
}

// proposes has the agent propose something.
func (k *talking) proposes(typ conversation.ActionType, payload, rule string) *conversation.Action {
	k.T.Helper()
	return k.proposed(typ, aggregate.Blob{JSON: aggregate.JSON(payload), Bytes: len(payload)}, rule)
}

func (k *talking) proposed(typ conversation.ActionType, payload aggregate.Blob, rule string) *conversation.Action {
	k.T.Helper()
	by := k.Now().Add(24 * time.Hour)
	rev := expect.Value(k.c.Store.Settings(k.T.Context(), k.ref.Tenant))(k.T).Rev
	p := &conversation.Proposal{
		Type: typ, Payload: payload, Seconds: 60, Rule: rule, Summary: "テストを走らせて確かめます",
		Terms: aggregate.Terms{ApprovalRequired: true, DecideBy: &by, SettingsRev: rev},
	}
	return k.answers(conversation.Answer{Text: "実行してよいですか", Tokens: 34, Proposal: p}).Current()
}

// begins has what was approved executed.
func (k *talking) begins() {
	k.T.Helper()
	k.run()
	k.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Claim(a.Head.Run, "i", k.Now().Add(2*time.Minute), k.Now())
	})
}

func (k *talking) ends(x *conversation.Action, r conversation.Result) {
	k.T.Helper()
	k.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i", r, k.Now())
	})
}

func (k *talking) prints(x *conversation.Action, from, n int) {
	k.T.Helper()
	for ; n > 0; n -= 100 {
		var lines []conversation.LogEntry
		for i := range min(n, 100) {
			lines = append(lines, conversation.LogEntry{LogID: fmt.Sprint(from + i), ActionID: x.ActionID, Order: from + i, Text: fmt.Sprintf("行 %d", from+i), CreatedAt: k.Now(), DeleteAfter: time.Now().Add(24 * time.Hour).Unix()})
		}
		expect.NoError(k.T, k.c.Sessions.AppendLog(k.T.Context(), k.ref.Tenant, x.ActionID, lines))
		from += 100
	}
}

func actOn(act aggregate.Act, x *conversation.Action, reason string) url.Values {
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
	x := k.proposes(conversation.ShellCommand, script, "")
	page := suzuki.get(k.page())
	holds(t, page, "make test\nrm -rf build", "承認待ち", "テストを走らせて確かめます", "実行してよいですか", `name="hash" value="`+x.Payload.Hash()+`"`, "34 トークン", "$0.0056", "action.proposed", "佐藤")
	expect.Same(t, k.page()+"?done=act_approve", suzuki.post(k.page()+"/act", actOn(aggregate.ActApprove, x, "")).to)
	w.Later(time.Second)
	k.begins()
	k.prints(x, 0, 3)
	holds(t, sato.get(k.page()), "実行中です", "行 2", "鈴木", "コンソール")
	w.Later(2 * time.Second)
	zero := 0
	k.ends(x, conversation.Result{Status: conversation.ActionSucceeded, Summary: "12 件のテストが通りました", ExitCode: &zero, Lines: 3})
	k.says(workspace.Sato, "これは稟議にします")
	k.answers(conversation.Answer{Text: "すべて通りました", HandOver: "集計用のスクリプトを毎月実行する"})
	page = sato.get(k.page())
	holds(t, page, "/console/tasks/"+k.load().Handed[0].TaskID, "集計用のスクリプトを毎月実行する", "12 件のテストが通りました", "すべて通りました", "action.completed", "終了コード", "鈴木")
	lacks(t, page, "✅ 承認</button>", "⏹️ 操作を取り消す</button>")
	if a := sato.post(k.page()+"/act", actOn(task.ActCancelTask, nil, "")); a.status != http.StatusBadRequest || k.load().Session.Status != conversation.Open {
		t.Errorf("what cancels a task, on a conversation's page: %d", a.status)
	}
	expect.Same(t, k.page()+"?done=act_close_session", sato.post(k.page()+"/act", actOn(conversation.ActClose, nil, "")).to)
	page = sato.get(k.page())
	holds(t, page, "session.closed", "この会話が消える日時", "この会話をもう一度始める")
	lacks(t, page, "data-live")
	expect.Same(t, k.page()+"?done=act_reopen_session", sato.post(k.page()+"/act", actOn(conversation.ActReopen, nil, "")).to)
	w.Later(2 * time.Second)
	k.says(workspace.Sato, "続きをお願い")
	holds(t, sato.get(k.page()), "ここから新しい会話です", "続きをお願い")
	en := w.as(workspace.Sato)
	en.locale = "en"
	holds(t, en.get(k.page()), "A new conversation begins here", "Run a shell command", "Completed an agent’s action")
}

func saidIsText(t *testing.T, w *world) {
	const markup = `<script>alert(1)</script>"><img src=x>`
	k := w.talked(workspace.Sato, workspace.HR, "channel", markup)
	rev := expect.Value(w.Store.Settings(t.Context(), k.ref.Tenant))(t).Rev
	by := w.Now().Add(time.Hour)
	payload := `{"files":[{"path":"a.txt","content":"` + strings.ReplaceAll(markup, `"`, `\"`) + ` \u202e"}]}`
	k.answers(conversation.Answer{Text: markup, Proposal: &conversation.Proposal{
		Type: conversation.CodeGenerate, Payload: inline(payload), Summary: markup, Terms: aggregate.Terms{ApprovalRequired: true, DecideBy: &by, SettingsRev: rev},
	}})
	for _, path := range []string{k.page(), "/console/agents", "/console/approvals"} {
		a := w.as(workspace.Suzuki).get(path)
		if a.status != http.StatusOK || strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "<img src=x") || strings.Contains(a.body, "\u202e") {
			t.Errorf("%s (%d) has markup that somebody wrote", path, a.status)
		}
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

// A rule that was saved before it was refused begins nothing any more: administrators are told.
func TestARuleThatIsLeftOutIsSaid(t *testing.T) {
	s := tenancy.DefaultSettings()
	s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "*"}, Workspace: "main"}, {Type: agent.TestRun, Argv: []string{"npx", "*"}, Workspace: "main"}}
	for _, admin := range []bool{true, false} {
		p := agentsPage{}
		p.define(&Console{}, &viewer{Admin: admin, Locale: "ja"}, s)
		var told []agentWarning
		if admin {
			told = []agentWarning{{Row: 2, Field: ja.In("columns", "auto_actions.argv"), Limit: ja.rule(tenancy.Rule(agent.RuleAutoStar))}}
		}
		expect.Same(t, told, p.Warnings)
		expect.Same(t, []autoRule{{[]string{"go", "test", "*"}, "main"}}, p.Rules)
	}
}

func saysWhyNobodyAnswers(t *testing.T, w *world) {
	k := w.direct()
	k.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Refused(a.Head.Run, a.Waiting(), conversation.Refusal{Reason: task.ReasonModelKey, Text: "鍵がありません", Failed: true}, w.Now())
	})
	page := w.as(workspace.Sato).get(k.page())
	holds(t, page, "応答なし", "AI モデルの API キーが登録されていないか", "鍵がありません")
	if about, _, _ := strings.Cut(page.body, `id="acts"`); strings.Contains(about, "再試行") {
		t.Error("a button is named that there is not")
	}
	holds(t, w.as(workspace.Suzuki).get("/console/agents?status=error"), k.ref.ID)
}

func TestEveryReasonOfAnUnreadFileHasWords(t *testing.T) {
	for _, locale := range language.All {
		words := web.TextsOf("conversation", locale)
		for _, cause := range conversation.Causes {
			if words.In("why_unread", cause) == "" {
				t.Errorf("%s has no words for %s", locale, cause)
			}
		}
		if got := whyUnread(words, "files.info: file_deleted: the file can't be read"); got != words.In("why_unread", conversation.Unreadable) {
			t.Errorf("%s shows %q", locale, got)
		}
	}
}

func sentIsForAdministrators(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "集計の相談")
	k.run()
	use, other := aggregate.NewID(), aggregate.NewID()
	k.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "はい", Usage: aggregate.Usage{ID: use, Provider: "openai", Model: "gpt-5.4", Calls: 1, Sent: &aggregate.Blob{S3Key: "key", Bytes: 9}}}, k.Now())
	})
	k.says(workspace.Sato, "続き")
	k.run()
	k.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "はい", Usage: aggregate.Usage{ID: other, Provider: "openai", Model: "gpt-5.4", Calls: 1}}, k.Now())
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
