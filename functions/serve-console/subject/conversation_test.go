package subject_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/subject"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// How many messages, and rows of a list, a page has.
const saidOfPage = 100

func TestConversationsWithAgents(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"from a message to a result":                       wholeTalk,
		"nobody else's":                                    strangersSeeNoTalk,
		"decided here as in Slack":                         decidesActions,
		"changes of files are shown whole":                 showsDifferences,
		"who may not decide is told why":                   refusesActions,
		"what people, agents and commands write is text":   saidIsText,
		"what a model was sent is for administrators":      sentIsForAdministrators,
		"a thousand messages":                              longTalk,
		"a summary whose time is over":                     pageAfterItsSummary,
		"what people say in the thread, change and delete": pageOfOthersWords,
		"what the agent read, and wants to request":        pageOfReads,
		"the newest five hundred lines":                    longOutput,
		"content is read whole before it is approved":      unreadPayload,
		"files leave":             filesLeave,
		"only listed files leave": onlyListedFiles,
		"the list":                listsTalks,
		"agents and rules":        listsAgents,
		"nobody answers":          saysWhyNobodyAnswers,
		"a pull request":          showsPullRequest,
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
	k.Acted(suzuki, aggregate.ActApprove, x, "")
	w.Later(time.Second)
	k.Begins()
	prints(k, x, 3)
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
	k.Acted(sato, conversation.ActClose, nil, "")
	page = sato.Get(k.Page())
	page.Holds(t, "session.closed", "次の日時に開けなくなり、内容が削除されます", "35 日後まで", "読める人", "この会話を再開する")
	page.Lacks(t, "data-live")
	k.Acted(sato, conversation.ActReopen, nil, "")
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
	p := &conversation.Proposal{Type: conversation.CodeGenerate, Summary: markup, Payload: consoletest.Inline(completed(t,
		conversation.Payload{Files: []files.File{{Path: "a.txt", Content: markup + " \u202e"}}}))}
	by := w.Now().Add(time.Hour)
	p.Terms = aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by, SettingsRev: w.SettingsNow().Rev}
	k.Answers(conversation.Answer{Text: markup, Proposal: p})
	suzuki := w.As(webapi.Suzuki)
	for _, path := range []string{k.Page(), "/console/agents", "/console"} {
		consoletest.Harmless(t, path, suzuki.Get(path).Says(t, http.StatusOK))
	}
	suzuki.Get(k.Page()).Says(t, http.StatusOK, "の説明 (実行内容ではありません)", "期限 2026-")
	k.Acted(suzuki, aggregate.ActReject, k.Load().Current(), "<@"+webapi.Tanaka+"> に聞いて")
	suzuki.Get(k.Page()).Says(t, http.StatusOK, "@田中 恵 に聞いて").Lacks(t, "&lt;@U")
	call := conversation.Payload{Tool: "list_employees", Arguments: `{"department":"<img src=x>\u202e","status":"all"}`}
	call.Base, call.Called = new(string), conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Read}
	p.Type, p.Tool, p.Access, p.Rule = conversation.ToolCall, call.Tool, call.Access, "listed"
	p.Payload = consoletest.Inline(call.JSON())
	k.Answers(conversation.Answer{Text: markup, Proposal: p})
	page := suzuki.Get(k.Page()).Says(t, 200, "その下の部署の従業員一覧を読みます", "承認の対象になる引数", `\u202e`)
	consoletest.Harmless(t, "a call", page)
}

func listsAgents(t *testing.T, w *consoletest.World) {
	w.Settings(func(s *tenancy.Settings) {
		s.Agents = []tenancy.Agent{
			{ID: "docs", Provider: tenancy.HTTPEndpoint, Endpoint: "https://bot.example.com/v1",
				Capabilities: []tenancy.Capability{tenancy.CanCode}, AuthRef: "docs-key", IsDefault: true,
				Metadata: map[string]string{"label": "書類係"}},
			{ID: "near", Provider: tenancy.LocalEndpoint, Endpoint: "http://10.0.0.1/v1",
				Capabilities: []tenancy.Capability{tenancy.CanCode}},
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
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "いいえ",
			Usage: aggregate.Usage{ID: aggregate.NewID(), Provider: "openai", Model: "gpt-5.4", Calls: 1,
				Sent: &aggregate.Blob{S3Key: "key", Bytes: 9}}}, k.Now())
	})
	w.Results["key"] = `{"instructions":"<script>alert(1)</script>","input":"集計の相談"}`
	admin, opener := w.As(webapi.Suzuki), w.As(webapi.Sato)
	admin.Get(k.Page()).Holds(t, "AI モデルに送った内容")
	admin.Get(k.Page()+"/sent").Says(t, http.StatusOK).Holds(t, "集計の相談").Lacks(t, "<script>")
	opener.Get(k.Page()).Lacks(t, "AI モデルに送った内容")
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

// pageAfterItsSummary: the messages of a conversation that people continue for months expire one by one, the row with
// the summary among them.
func pageAfterItsSummary(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	first := k.Load().Inbox[0].Message
	s := k.Answers(conversation.Answer{Text: "はい", Summary: "これまでの話", Through: first}).Conversation
	sato := w.As(webapi.Sato)
	sato.Get(k.Page()).Holds(t, "これまでの話")
	key := map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: conversation.MessagesList + k.Ref.Tenant + "#" + k.Ref.ID},
		"SK": &types.AttributeValueMemberS{Value: s.SummaryKey},
	}
	expect.Value(w.DB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(w.Table), Key: key}))(t)
	w.Later(time.Second)
	k.Says(webapi.Sato, "続けて")
	k.Answers(conversation.Answer{Text: "続けます"})
	page := sato.Get(k.Page())
	expect.Same(t, http.StatusOK, page.Status)
	page.Holds(t, "続けます", "要約は、保存期間を過ぎたため削除しました")
	page.Lacks(t, "これまでの話")
}

// pageOfOthersWords: the page has what the agent was given of the thread; a person changes and deletes messages in
// Slack,
// which it says, and keeps them as they were.
func pageOfOthersWords(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.ThreadBefore = "1776675600.000100"
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
	})
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.GiveThread(a.Head.Run, []conversation.Earlier{{User: webapi.Suzuki, At: w.Now(), Text: "<b>赤い</b>"}},
			aggregate.Thread{Read: 1, Cut: 1, Earlier: true}, w.Now())
	})
	sato.Get(k.Page()).Holds(t, "これまでのメッセージ 1 件をエージェントに渡しました",
		"うち 1 件は長いため、終わりを読んでいません。それより前にも発言がありますが、読んでいません。",
		"スレッドのこれまでのメッセージ (1)", "鈴木", "&lt;b&gt;赤い")
	k.Answers(conversation.Answer{Text: "はい"})
	w.Later(time.Second)
	root := k.Load().Conversation.ThreadTS
	const was, is, deleted = "集計用のスクリプトを書いて", "集計用のスクリプトを二つ書いて", "書いた人が Slack で削除しました"
	k.Says(webapi.Sato, is, root)
	sato.Get(k.Page()).Holds(t, "前に書いたメッセージの書き換え", is, was).Lacks(t, deleted)
	k.Says(webapi.Sato, "", root)
	sato.Get(k.Page()).Holds(t, "前に書いたメッセージの削除", deleted, was)
}

// strangersSeeNoTalk: only the person who wrote a direct message may read the conversation, or begin it anew.
func strangersSeeNoTalk(t *testing.T, w *consoletest.World) {
	d, sato, tanaka := w.Direct(), w.As(webapi.Sato), w.As(webapi.Tanaka)
	tanaka.Get(d.Page()).Says(t, http.StatusNotFound)
	sato.Get(d.Page()+"?before=x").Says(t, http.StatusNotFound) // a key of no message
	tanaka.Post(d.Page()+"/act", consoletest.ActOn(conversation.ActClose, nil, "")).Says(t, http.StatusNotFound)
	sato.Post(d.Page()+"/act", consoletest.ActOn(conversation.ActClose, nil, ""))
	tanaka.Post(d.Page()+"/act", consoletest.ActOn(conversation.ActReopen, nil, "")).Says(t, http.StatusNotFound)
	a := d.Load()
	expect.That(t, a.Conversation.Status == conversation.Closed && a.Head.ForgottenAt != nil, "%+v", a.Conversation)
	for _, id := range []string{"x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "..%2f..", conversation.ID("T", "C", "1.2")} {
		sato.Get("/console/sessions/"+id).Says(t, http.StatusNotFound)
	}
}

func longTalk(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計の相談")
	for from := 0; from < 1000; from += 25 {
		var rows []aggregate.Row
		for n := from; n < from+25; n++ {
			rows = append(rows, &conversation.Message{MessageID: conversation.MessageID("T", "C", fmt.Sprint(n)),
				SessionID: k.Ref.ID, Sender: conversation.FromUser, User: webapi.Sato,
				Content: fmt.Sprintf("メッセージ %d 番", n), CreatedAt: w.Now().Add(time.Duration(n-2000) * time.Second)})
		}
		expect.NoError(t, w.Console.Conversations.PutListed(t.Context(), k.Ref.Tenant, conversation.MessagesList, k.Ref.ID,
			rows, nil))
	}
	all := expect.Value(w.Console.Conversations.Messages(t.Context(), k.Ref.Tenant, k.Ref.ID, ""))(t)
	expect.Must(t, len(all) == 1001, "%d messages", len(all))
	k.Says(webapi.Sato, "まとめて")
	k.Answers(conversation.Answer{Text: "はい", Summary: "集計の話をしました", Through: all[800].Key()})
	b := w.As(webapi.Sato)
	page := b.Get(k.Page()).Holds(t, "集計の話をしました", "元のメッセージを読む", "はい").Lacks(t, "メッセージ 0 番")
	const one = `<li id="said-`
	n := strings.Count(page.Body, one)
	expect.That(t, n <= saidOfPage && n >= saidOfPage-1, "a page has %d messages", n)
	seen, next := 0, k.Page()+"?before="+url.QueryEscape(all[800].Key()+"!")
	for next != "" {
		page = b.Get(next)
		next, _, _ = strings.Cut(page.Link("prev"), "#")
		seen += strings.Count(page.Body, one)
	}
	page.Holds(t, "メッセージ 0 番")
	expect.That(t, seen == 801, "%d of 801 original messages can be read", seen)
}

func longOutput(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	k.Acted(sato, aggregate.ActApprove, x, "")
	k.Begins()
	prints(k, x, 700)
	sato.Get(k.Page()).Holds(t, "行 699", `data-line="700"`, "行 200<", "200 行は残っていません").Lacks(t, "行 199<")
	one := 1
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonExit,
		ExitCode: &one, Lines: 700, Dropped: 200})
	sato.Get(k.Page()).Holds(t, "プログラムがエラーで終了しました", "200 行は残っていません")
	y := k.Proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "")
	sato.Get(k.Page()).Holds(t, "?log=1#action-1").Lacks(t, "行 699")
	sato.Get(k.Page()+"?log=1").Holds(t, "行 699", `name="hash" value="`+y.Payload.Hash()+`"`)
}

func listsTalks(t *testing.T, w *consoletest.World) {
	w.As(webapi.Sato).Get("/console/agents").Holds(t, "まだ会話がありません", "例: codex: ", "参加しているチャンネルの会話を表示します")
	in, mine := w.Talked(webapi.Sato, webapi.HR, "channel", "<@"+webapi.Tanaka+"> と <#"+webapi.HR+">"), w.Direct()
	mine.Proposes(conversation.ShellCommand, consoletest.Script, "")
	for user, want := range map[string][2]bool{webapi.Suzuki: {true, true}, webapi.Sato: {true, true},
		webapi.Tanaka: {true, false}, webapi.Alex: {false, false}} {
		a := w.As(user).Get("/console/agents")
		for i, k := range []*consoletest.Conversation{in, mine} {
			expect.That(t, strings.Contains(a.Body, k.Ref.ID) == want[i], "%s: conversation %d is listed: %v", user, i, !want[i])
		}
	}
	b := w.As(webapi.Suzuki)
	in.Proposes(conversation.ShellCommand, consoletest.Script, "")
	for _, path := range []string{"/console/agents", in.Page(), "/console"} {
		b.Get(path).Holds(t, "@田中 恵 と #人事")
	}
	b.Get("/console/agents").Holds(t, "承認待ち", "Codex", "佐藤", "$0.0056", `data-live="/console/agents"`)
	b.Get("/console/agents?cursor=x").Says(t, http.StatusBadRequest) // a cursor of nothing
	for range subject.RowsOfPage {
		w.Direct()
	}
	a := b.Get("/console/agents").Holds(t, `rel="next"`)
	expect.Is(t, strings.Count(a.Body, `<th scope="row" class="what"><a href="/console/sessions/`), subject.RowsOfPage)
}

// prints has an action print so many lines.
func prints(k *consoletest.Conversation, x *conversation.Action, most int) {
	for from := 0; from < most; from += 100 {
		var lines []conversation.LogEntry
		var gone []int
		for n := from; n < min(most, from+100); n++ {
			if old := n - conversation.MostLines; old >= 0 {
				gone = append(gone, old)
			}
			lines = append(lines, conversation.LogEntry{LogID: fmt.Sprint(n), ActionID: x.ActionID, Order: n,
				Text: fmt.Sprintf("行 %d", n), CreatedAt: k.Now(), DeleteAfter: time.Now().Add(24 * time.Hour).Unix()})
		}
		expect.NoError(k.T, k.Console.Conversations.AppendLog(k.T.Context(), k.Ref, x.ActionID, lines, gone))
	}
}
