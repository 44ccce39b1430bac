package conversation_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestConversationsWithAgents(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
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
	})
}

func wholeTalk(t *testing.T, w *consoletest.World) {
	k := w.Talked(workspace.Sato, workspace.HR, "channel", "集計用のスクリプトを書いて")
	sato, suzuki := w.As(workspace.Sato), w.As(workspace.Suzuki)
	consoletest.Holds(t, sato.Get(k.Page()), "集計用のスクリプトを書いて", "返答待ち", "まだ提案はありません", `data-live="`+k.Page()+`"`)
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	page := suzuki.Get(k.Page())
	consoletest.Holds(t, page, "make test\nrm -rf build", "承認待ち", "テストを走らせて確かめます", "実行してよいですか", `name="hash" value="`+x.Payload.Hash()+`"`, "34 トークン", "$0.0056", "action.proposed", "佐藤")
	expect.Same(t, k.Page()+"?done=act_approve", suzuki.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, "")).To)
	w.Later(time.Second)
	k.Begins()
	k.Prints(x, 0, 3)
	consoletest.Holds(t, sato.Get(k.Page()), "実行中です", "行 2", "鈴木", "コンソール")
	w.Later(2 * time.Second)
	zero := 0
	k.Ends(x, conversation.Result{Status: conversation.ActionSucceeded, Summary: "12 件のテストが通りました", ExitCode: &zero, Lines: 3})
	k.Says(workspace.Sato, "これは稟議にします")
	k.Answers(conversation.Answer{Text: "すべて通りました", HandOver: "集計用のスクリプトを毎月実行する"})
	page = sato.Get(k.Page())
	consoletest.Holds(t, page, "/console/tasks/"+k.Load().Handed[0].TaskID, "集計用のスクリプトを毎月実行する", "12 件のテストが通りました", "すべて通りました", "action.completed", "終了コード", "鈴木")
	consoletest.Lacks(t, page, "✅ 承認</button>", "⏹️ 操作を取り消す</button>")
	if a := sato.Post(k.Page()+"/act", consoletest.ActOn(task.ActCancelTask, nil, "")); a.Status != http.StatusBadRequest || k.Load().Session.Status != conversation.Open {
		t.Errorf("what cancels a task, on a conversation's page: %d", a.Status)
	}
	expect.Same(t, k.Page()+"?done=act_close_session", sato.Post(k.Page()+"/act", consoletest.ActOn(conversation.ActClose, nil, "")).To)
	page = sato.Get(k.Page())
	consoletest.Holds(t, page, "session.closed", "この会話が消える日時", "この会話をもう一度始める")
	consoletest.Lacks(t, page, "data-live")
	expect.Same(t, k.Page()+"?done=act_reopen_session", sato.Post(k.Page()+"/act", consoletest.ActOn(conversation.ActReopen, nil, "")).To)
	w.Later(2 * time.Second)
	k.Says(workspace.Sato, "続きをお願い")
	consoletest.Holds(t, sato.Get(k.Page()), "ここから新しい会話です", "続きをお願い")
	en := w.As(workspace.Sato)
	en.Locale = "en"
	consoletest.Holds(t, en.Get(k.Page()), "A new conversation begins here", "Run a shell command", "Completed an agent’s action")
}

func saidIsText(t *testing.T, w *consoletest.World) {
	const markup = `<script>alert(1)</script>"><img src=x>`
	k := w.Talked(workspace.Sato, workspace.HR, "channel", markup)
	rev := expect.Value(w.Store.Settings(t.Context(), k.Talk.Tenant))(t).Rev
	by := w.Now().Add(time.Hour)
	payload := `{"files":[{"path":"a.txt","content":"` + strings.ReplaceAll(markup, `"`, `\"`) + ` \u202e"}]}`
	k.Answers(conversation.Answer{Text: markup, Proposal: &conversation.Proposal{
		Type: conversation.CodeGenerate, Payload: consoletest.Inline(payload), Summary: markup, Terms: aggregate.Terms{ApprovalRequired: true, DecideBy: &by, SettingsRev: rev},
	}})
	for _, path := range []string{k.Page(), "/console/agents", "/console/approvals"} {
		a := w.As(workspace.Suzuki).Get(path)
		if a.Status != http.StatusOK || strings.Contains(a.Body, "<script>alert") || strings.Contains(a.Body, "<img src=x") || strings.Contains(a.Body, "\u202e") {
			t.Errorf("%s (%d) has markup that somebody wrote", path, a.Status)
		}
	}
}

func listsAgents(t *testing.T, w *consoletest.World) {
	w.Ref.Tenant = w.Tenant.ID
	w.Settings(func(s *tenancy.Settings) {
		s.Agents = []agent.Definition{
			{ID: "docs", Provider: agent.HTTP, Endpoint: "https://bot.example.com/v1", Capabilities: []agent.Capability{agent.Code}, AuthRef: "docs-key", IsDefault: true, Metadata: map[string]string{"label": "書類係"}},
			{ID: "near", Provider: agent.Local, Endpoint: "http://10.0.0.1/v1", Capabilities: []agent.Capability{agent.Code}},
		}
		s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "*"}, Workspace: "main"}}
	})
	admin, member := w.As(workspace.Suzuki).Get("/console/agents"), w.As(workspace.Sato).Get("/console/agents")
	consoletest.Holds(t, member, "書類係", "例: docs: ", "Claude", "gpt-5.4", `<code class="word">*</code>`, "main")
	consoletest.Lacks(t, member, "docs-key", "bot.example.com", "near")
	consoletest.Holds(t, admin, "docs-key", "https://bot.example.com/v1", "2 行目", "near", "アドレス: この環境で許可されていないアドレスです", "この行は使われていません")
}

func saysWhyNobodyAnswers(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Refused(a.Head.Run, a.Waiting(), conversation.Refusal{Reason: task.ReasonModelKey, Text: "鍵がありません", Failed: true}, w.Now())
	})
	page := w.As(workspace.Sato).Get(k.Page())
	consoletest.Holds(t, page, "応答なし", "AI モデルの API キーが登録されていないか", "鍵がありません")
	if about, _, _ := strings.Cut(page.Body, `id="acts"`); strings.Contains(about, "再試行") {
		t.Error("a button is named that there is not")
	}
	consoletest.Holds(t, w.As(workspace.Suzuki).Get("/console/agents?status=error"), k.Talk.ID)
}

func sentIsForAdministrators(t *testing.T, w *consoletest.World) {
	k := w.Talked(workspace.Sato, workspace.HR, "channel", "集計の相談")
	k.Run()
	use, other := aggregate.NewID(), aggregate.NewID()
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "はい", Usage: aggregate.Usage{ID: use, Provider: "openai", Model: "gpt-5.4", Calls: 1, Sent: &aggregate.Blob{S3Key: "key", Bytes: 9}}}, k.Now())
	})
	k.Says(workspace.Sato, "続き")
	k.Run()
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "はい", Usage: aggregate.Usage{ID: other, Provider: "openai", Model: "gpt-5.4", Calls: 1}}, k.Now())
	})
	w.Results["key"] = `{"instructions":"<script>alert(1)</script>","input":"集計の相談"}`
	admin, opener := w.As(workspace.Suzuki), w.As(workspace.Sato)
	consoletest.Holds(t, admin.Get(k.Page()), "AI モデルに送った内容")
	list := admin.Get(k.Page() + "/sent")
	if list.Status != http.StatusOK || !strings.Contains(list.Body, k.Page()+"/sent/"+use) || strings.Contains(list.Body, other) || !strings.Contains(list.Text(), "記録なし") {
		t.Errorf("%d %s", list.Status, list.Text())
	}
	shown := admin.Get(k.Page() + "/sent/" + use)
	if shown.Status != http.StatusOK || !strings.Contains(shown.Text(), "集計の相談") || strings.Contains(shown.Body, "<script>alert") {
		t.Errorf("%d %s", shown.Status, shown.Text())
	}
	consoletest.Lacks(t, opener.Get(k.Page()), "AI モデルに送った内容")
	stranger := w.Of(w.Found("T0OTHER", "U0OTHER"), "U0OTHER")
	for path, want := range map[string]int{"/sent": http.StatusForbidden, "/sent/" + use: http.StatusForbidden} {
		if a := opener.Get(k.Page() + path); a.Status != want {
			t.Errorf("whoever opened it reads %s: %d", path, a.Status)
		}
		if a := stranger.Get(k.Page() + path); a.Status == http.StatusOK {
			t.Errorf("another workspace's reads %s", path)
		}
	}
	if a := admin.Get(k.Page() + "/sent/" + other); a.Status != http.StatusNotFound {
		t.Errorf("what was not kept: %d", a.Status)
	}
}
