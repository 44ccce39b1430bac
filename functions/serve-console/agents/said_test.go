package agents_test

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

	pages "ringi/functions/serve-console/agents"
	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

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

// pageOfChanges: a person changes and deletes messages in Slack; the page says so and keeps them as they were.
func pageOfChanges(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	k.Answers(conversation.Answer{Text: "はい"})
	w.Later(time.Second)
	root := k.Load().Conversation.ThreadTS
	k.Says(webapi.Sato, "集計用のスクリプトを二つ書いて", root)
	sato := w.As(webapi.Sato)
	page := sato.Get(k.Page())
	page.Holds(t, "前に書いたメッセージの書き換え", "集計用のスクリプトを二つ書いて", "集計用のスクリプトを書いて")
	page.Lacks(t, "書いた人が Slack で削除しました")
	k.Says(webapi.Sato, "", root)
	sato.Get(k.Page()).Holds(t, "前に書いたメッセージの削除", "書いた人が Slack で削除しました", "集計用のスクリプトを書いて")
}

// pageOfThread: the page has what the agent was given of the thread.
func pageOfThread(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.ThreadBefore = "1776675600.000100"
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
	})
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.GiveThread(a.Head.Run, []conversation.Earlier{{User: webapi.Suzuki, At: w.Now(), Text: "<b>赤い</b>"}},
			aggregate.Thread{Read: 1, Cut: 1, Earlier: true}, w.Now())
	})
	w.As(webapi.Sato).Get(k.Page()).Holds(t, "これまでのメッセージ 1 件をエージェントに渡しました",
		"うち 1 件は長いため、終わりを読んでいません。それより前にも発言がありますが、読んでいません。",
		"スレッドのこれまでのメッセージ (1)", "鈴木", "&lt;b&gt;赤い")
}

func strangersSeeNoTalk(t *testing.T, w *consoletest.World) {
	// Only the person who wrote a direct message may read the conversation.
	d := w.Direct()
	w.As(webapi.Tanaka).Get(d.Page()).Says(t, http.StatusNotFound)
	w.As(webapi.Sato).Get(d.Page()+"?before=x").Says(t, http.StatusNotFound) // a key of no message
	for _, act := range []aggregate.Act{conversation.ActReopen, conversation.ActClose,
		conversation.ActReopen} { // while it is open, then once it is closed
		w.As(webapi.Tanaka).Post(d.Page()+"/act", consoletest.ActOn(act, nil, "")).Says(t, http.StatusNotFound)
		if d.Load().Conversation.Status == conversation.Open {
			w.As(webapi.Sato).Post(d.Page()+"/act", consoletest.ActOn(conversation.ActClose, nil, ""))
		}
	}
	if a := d.Load(); a.Conversation.Status != conversation.Closed || a.Head.ForgottenAt == nil {
		t.Errorf("another's direct message was begun anew: %+v", a.Conversation)
	}
	for _, id := range []string{"x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "..%2f..", conversation.ID("T", "C", "1.2")} {
		w.As(webapi.Sato).Get("/console/sessions/"+id).Says(t, http.StatusNotFound)
	}
}

func longTalk(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計の相談")
	for from := range 40 {
		var rows []aggregate.Row
		for i := range 25 {
			n := from*25 + i
			m := &conversation.Message{MessageID: conversation.MessageID("T", "C", fmt.Sprint(n)), SessionID: k.Ref.ID,
				Sender: conversation.FromUser, User: webapi.Sato, Content: fmt.Sprintf("メッセージ %d 番", n),
				CreatedAt: w.Now().Add(time.Duration(n-2000) * time.Second)}
			rows = append(rows, m)
		}
		expect.NoError(t, w.Console.Conversations.PutListed(t.Context(), k.Ref.Tenant, conversation.MessagesList, k.Ref.ID,
			rows, nil))
	}
	all := expect.Value(w.Console.Conversations.Messages(t.Context(), k.Ref.Tenant, k.Ref.ID, ""))(t)
	expect.Must(t, len(all) == 1001, "%d messages", len(all))
	k.Says(webapi.Sato, "まとめて")
	k.Answers(conversation.Answer{Text: "はい", Summary: "集計の話をしました", Through: all[800].Key()})
	b := w.As(webapi.Sato)
	page := b.Get(k.Page())
	page.Holds(t, "集計の話をしました", "元のメッセージを読む", "はい")
	n := strings.Count(page.Body, `<li id="said-`)
	expect.That(t, n <= pages.SaidOfPage && n >= pages.SaidOfPage-1, "a page has %d messages", n)
	page.Lacks(t, "メッセージ 0 番")
	seen, next := 0, k.Page()+"?before="+url.QueryEscape(all[800].Key()+"!")
	for range 20 {
		page = b.Get(next)
		seen += strings.Count(page.Body, `<li id="said-`)
		_, rest, more := strings.Cut(page.Body, `<a class="button" href="`+k.Page()+"?before=")
		if !more {
			break
		}
		key, _, _ := strings.Cut(rest, "#said")
		next = k.Page() + "?before=" + key
	}
	page.Holds(t, "メッセージ 0 番")
	expect.That(t, seen == 801, "%d of 801 original messages can be read", seen)
}

func longOutput(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	w.As(webapi.Sato).Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
	k.Begins()
	k.Prints(x, 0, 700)
	page := w.As(webapi.Sato).Get(k.Page())
	page.Holds(t, "行 699", `data-line="700"`, "行 200<", "200 行は残っていません")
	page.Lacks(t, "行 199<")
	one := 1
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonExit,
		ExitCode: &one, Lines: 700, Dropped: 200})
	w.As(webapi.Sato).Get(k.Page()).Holds(t, "プログラムがエラーで終了しました", "200 行は残っていません")
	y := k.Proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "")
	page = w.As(webapi.Sato).Get(k.Page())
	page.Holds(t, "?log=1#action-1")
	page.Lacks(t, "行 699")
	w.As(webapi.Sato).Get(k.Page()+"?log=1").Holds(t, "行 699", `name="hash" value="`+y.Payload.Hash()+`"`)
}

func listsTalks(t *testing.T, w *consoletest.World) {
	empty := w.As(webapi.Sato).Get("/console/agents")
	empty.Holds(t, "まだ会話がありません", "例: codex: ", "参加しているチャンネルの会話を表示します")
	in := w.Talked(webapi.Sato, webapi.HR, "channel", "チャンネルの会話")
	mine := w.Direct()
	mine.Proposes(conversation.ShellCommand, consoletest.Script, "")
	for user, want := range map[string][2]bool{webapi.Suzuki: {true, true}, webapi.Sato: {true, true},
		webapi.Tanaka: {true, false}, webapi.Alex: {false, false}} {
		a := w.As(user).Get("/console/agents")
		for i, k := range []*consoletest.Conversation{in, mine} {
			expect.That(t, strings.Contains(a.Body, k.Ref.ID) == want[i], "%s: conversation %d is listed: %v", user, i, !want[i])
		}
	}
	b := w.As(webapi.Suzuki)
	b.Get("/console/agents").Holds(t, "承認待ち", "Codex", "佐藤", "$0.0056", `data-live="/console/agents"`)
	b.Get("/console/agents?cursor=x").Says(t, http.StatusBadRequest) // a cursor of nothing
	for range pages.RowsOfPage {
		w.Direct()
	}
	a := b.Get("/console/agents")
	if n := strings.Count(a.Body, `<th scope="row" class="what"><a href="/console/sessions/`); n != pages.RowsOfPage ||
		!strings.Contains(a.Body, `rel="next"`) {
		t.Errorf("a page has %d conversations", n)
	}
}

// everyAddressAsksWho: whatever address a conversation has, nobody but who may see it gets anything there. Addresses
// come from the pages themselves, so that a new one is asked, too.
func everyAddressAsksWho(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計用のスクリプトを書いて")
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	other, logs := w.Found("T0OTHER", "U0OTHER"), consoletest.Logged(t)
	fill := strings.NewReplacer("{id}", k.Ref.ID, "{use}", "1")
	asked := 0
	for _, route := range (&pages.Pages{}).Routes() {
		if !strings.Contains(route.Pattern, "{id}") {
			continue
		}
		method, pattern, _ := strings.Cut(route.Pattern, " ")
		path := fill.Replace(pattern)
		expect.Must(t, !strings.Contains(path, "{"), "%s has a part that this test doesn't know", pattern)
		for name, b := range map[string]*consoletest.Browser{
			"another workspace's administrator": w.Of(other, "U0OTHER"), "a member who is not in the channel": w.As(webapi.Alex),
		} {
			var a consoletest.Answer
			if method == http.MethodGet {
				a = b.Get(path)
			} else {
				a = b.Post(path, url.Values{"act": {"approve"}})
			}
			expect.That(t, a.Status == http.StatusNotFound || a.Status == http.StatusForbidden,
				"%s %s for %s is answered %d", method, path, name, a.Status)
			a.Lacks(t, "スクリプト", "make test")
		}
		asked++
	}
	expect.That(t, asked >= 6 && k.Load().Current().Status == conversation.ActionPending, "%d addresses", asked)
	n := strings.Count(logs.String(), "msg=refused")
	expect.That(t, n >= 2*asked, "%d refusals are logged", n)
}
