package agents_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestConversationsWithAgents(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"from a message to a result":                        wholeTalk,
		"nobody else's":                                     strangersSeeNoTalk,
		"decided here as in Slack":                          decidesActions,
		"changes of files are shown whole":                  showsDifferences,
		"what can't be approved has no button":              refusesDifferences,
		"who may not decide is told why":                    refusesActions,
		"what people, agents and commands write is text":    saidIsText,
		"what a model was sent is for administrators":       sentIsForAdministrators,
		"every address":                                     everyAddressAsksWho,
		"a late click is told what was decided":             saysWhatWasDecided,
		"a thousand messages":                               longTalk,
		"a summary whose time is over":                      pageAfterItsSummary,
		"what was said in the thread before":                pageOfThread,
		"what people change and delete":                     pageOfChanges,
		"what the agent read, and wants to request":         pageOfReads,
		"the newest five hundred lines":                     longOutput,
		"large content is read whole before it is approved": largePayload,
		"files leave":                                       filesLeave,
		"only listed files leave":                           strangersGetNoFile,
		"the list":                                          listsTalks,
		"agents and rules":                                  listsAgents,
		"nobody answers":                                    saysWhyNobodyAnswers,
		"what waits":                                        waitsForActions,
	})
}

func wholeTalk(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計用のスクリプトを書いて")
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	sato.Get(k.Page()).Holds(t, "集計用のスクリプトを書いて", "返答待ち", `data-live="`+k.Page()+`"`)
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	page := suzuki.Get(k.Page())
	page.Holds(t, "make test\nrm -rf build", "承認待ち", `<a class="button" href="#decide">`, "テストを走らせて確かめます", "実行してよいですか",
		`name="hash" value="`+x.Payload.Hash()+`"`, "34 トークン", "$0.0056", "action.proposed", "佐藤")
	expect.Same(t, k.Page()+"?done=act_approve", suzuki.Post(k.Page()+"/act",
		consoletest.ActOn(aggregate.ActApprove, x, "")).To)
	w.Later(time.Second)
	k.Begins()
	k.Prints(x, 0, 3)
	sato.Get(k.Page()).Holds(t, "実行中です", "行 2", "鈴木", "コンソール")
	w.Later(2 * time.Second)
	zero := 0
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Tests: &conversation.Tests{Passed: 12},
		ExitCode: &zero, Lines: 3})
	k.Says(webapi.Sato, "これは稟議にします")
	k.Answers(conversation.Answer{Text: "すべて通りました", Request: "集計用のスクリプトを毎月実行する"})
	made := k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.MakeRequest(a.OpenOffer().ID, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato,
			Team: a.Conversation.TeamID, Member: true}, aggregate.Policy{Team: a.Conversation.TeamID}, w.Now())
	})
	page = sato.Get(k.Page())
	page.Holds(t, "/console/tasks/"+made.Offered[0].TaskID, "集計用のスクリプトを毎月実行する", "テスト: 成功 12 件", "すべて通りました",
		"action.completed", "終了コード", "鈴木", `<details id="older-1">`)
	page.Lacks(t, "✅ 承認</button>", "⏹️ 操作を取り消す</button>", `id="action-1"`)
	sato.Get(k.Page()+"?log=1").Holds(t, `id="action-1"`) // one that the reader chose stands in full
	sato.Post(k.Page()+"/act", consoletest.ActOn(task.ActCancelTask, nil, "")).Says(t, http.StatusBadRequest)
	expect.That(t, k.Load().Conversation.Status == conversation.Open, "what cancels a task, on a conversation's page")
	expect.Same(t, k.Page()+"?done=act_close_session", sato.Post(k.Page()+"/act",
		consoletest.ActOn(conversation.ActClose, nil, "")).To)
	page = sato.Get(k.Page())
	page.Holds(t, "session.closed", "次の日時に開けなくなり、内容が削除されます", "35 日後まで", "読める人", "この会話を再開する")
	page.Lacks(t, "data-live")
	expect.Same(t, k.Page()+"?done=act_reopen_session", sato.Post(k.Page()+"/act",
		consoletest.ActOn(conversation.ActReopen, nil, "")).To)
	w.Later(2 * time.Second)
	k.Says(webapi.Sato, "続きをお願い")
	sato.Get(k.Page()).Holds(t, "ここから新しい会話です", "続きをお願い")
	en := w.As(webapi.Sato)
	en.Locale = "en"
	en.Get(k.Page()).Holds(t, "A new conversation starts here", "Run a shell command", "Completed an agent")
}

func saidIsText(t *testing.T, w *consoletest.World) {
	const markup = `<script>alert(1)</script>"><img src=x>`
	k := w.Talked(webapi.Sato, webapi.HR, "channel", markup)
	rev := expect.Value(w.Store.Settings(t.Context(), k.Ref.Tenant))(t).Rev
	by := w.Now().Add(time.Hour)
	payload := completed(t, conversation.Payload{Files: []files.File{{Path: "a.txt", Content: markup + " \u202e"}}})
	k.Answers(conversation.Answer{Text: markup, Proposal: &conversation.Proposal{Type: conversation.CodeGenerate,
		Payload: consoletest.Inline(payload), Summary: markup,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by, SettingsRev: rev}}})
	for _, path := range []string{k.Page(), "/console/agents", "/console"} {
		a := w.As(webapi.Suzuki).Get(path)
		expect.That(t, a.Status == http.StatusOK && !strings.Contains(a.Body, "<script>alert") &&
			!strings.Contains(a.Body, "<img src=x") && !strings.Contains(a.Body, "\u202e"),
			"%s (%d) has markup that somebody wrote", path, a.Status)
	}
	w.As(webapi.Suzuki).Get(k.Page()).Says(t, http.StatusOK, "の説明 (実行内容ではありません)", "期限 2026-")
}

func listsAgents(t *testing.T, w *consoletest.World) {
	w.Ref.Tenant = w.Tenant.ID
	w.Settings(func(s *tenancy.Settings) {
		s.Agents = []agent.Definition{
			{ID: "docs", Provider: agent.HTTP, Endpoint: "https://bot.example.com/v1",
				Capabilities: []agent.Capability{agent.Code}, AuthRef: "docs-key", IsDefault: true,
				Metadata: map[string]string{"label": "書類係"}},
			{ID: "near", Provider: agent.Local, Endpoint: "http://10.0.0.1/v1", Capabilities: []agent.Capability{agent.Code}},
		}
	})
	w.As(webapi.Sato).Get("/console/agents").Holds(t, "書類係", "例: docs: ", "Claude").
		Lacks(t, "docs-key", "bot.example.com", "near")
}

func saysWhyNobodyAnswers(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Refused(a.Head.Run, a.Waiting(), conversation.Refusal{Reason: task.ReasonModelKey, Text: "鍵がありません",
			Failed: true}, w.Now())
	})
	page := w.As(webapi.Sato).Get(k.Page())
	page.Holds(t, "応答なし", "AI モデルの API キーが登録されていないか", "鍵がありません")
	about, _, _ := strings.Cut(page.Body, `id="asked"`)
	expect.That(t, !strings.Contains(about, "再試行"), "a button is named that there is not")
	w.As(webapi.Suzuki).Get("/console/agents").Holds(t, k.Ref.ID)
}

func sentIsForAdministrators(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計の相談")
	k.Run()
	use, other := aggregate.NewID(), aggregate.NewID()
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "いいえ、<b>できません</b> tanaka@example.com",
			Request: "別の依頼", Usage: aggregate.Usage{ID: use, Provider: "openai", Model: "gpt-5.4", Calls: 1,
				Sent: &aggregate.Blob{S3Key: "key", Bytes: 9}}}, k.Now())
	})
	k.Says(webapi.Sato, "続き")
	k.Run()
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "はい",
			Usage: aggregate.Usage{ID: other, Provider: "openai", Model: "gpt-5.4", Calls: 1}}, k.Now())
	})
	w.Results["key"] = `{"instructions":"<script>alert(1)</script>","input":"集計の相談"}`
	admin, opener := w.As(webapi.Suzuki), w.As(webapi.Sato)
	admin.Get(k.Page()).Holds(t, "AI モデルに送った内容")
	admin.Get(k.Page()+"/sent").Says(t, http.StatusOK).Holds(t, "集計の相談").Lacks(t, "<script>")
	opener.Get(k.Page()).Lacks(t, "AI モデルに送った内容")
	stranger := w.Of(w.Found("T0OTHER", "U0OTHER"), "U0OTHER")
	opener.Get(k.Page()+"/sent").Says(t, http.StatusForbidden) // whoever opened it
	expect.That(t, stranger.Get(k.Page()+"/sent").Status != http.StatusOK, "another workspace's are read")
}

// pageOfReads lists what the agent read of files, as text, and a request that a person may make of it.
func pageOfReads(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "読んで")
	k.Answers(conversation.Answer{Text: "読みました", Request: "<b>買う</b>",
		Files: []conversation.Read{{Tool: "read_file", Path: "名簿/<i>.csv", From: 3, To: 1200},
			{Tool: "search", Text: "佐藤 <b>"}, {Tool: "list_files", Failed: true}}})
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	page := sato.Get(k.Page())
	page.Holds(t, "エージェントが読んだファイル (3)</summary>", "名簿/&lt;i&gt;.csv", "3–1,200 行目", "佐藤 &lt;b&gt;",
		"ファイルの一覧", "読めませんでした", "&lt;b&gt;買う&lt;/b&gt;", "📝 依頼にする</button>")
	o := k.Load().OpenOffer()
	form := consoletest.ActOn(conversation.ActMakeRequest, nil, "")
	form.Set("id", o.ID)
	expect.Same(t, k.Page()+"?done=act_make_request", suzuki.Post(k.Page()+"/act", form).To)
	a := k.Load()
	expect.That(t, len(a.Offered) == 1 && a.Offered[0].MadeBy == webapi.Suzuki && a.OpenOffer() == nil, "%+v", a.Offered)
	sato.Get(k.Page()).Lacks(t, "📝 依頼にする</button>")
	sato.Post(k.Page()+"/act", form).Holds(t, "鈴木")
	expect.Is(t, len(k.Load().Offered), 1)
}
