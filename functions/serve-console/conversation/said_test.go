package conversation_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
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
		"PK": &types.AttributeValueMemberS{Value: conversation.MessagesList + k.Talk.Tenant + "#" + k.Talk.ID},
		"SK": &types.AttributeValueMemberS{Value: s.SummaryKey},
	}
	_, err := w.DB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(w.Table), Key: key})
	expect.NoError(t, err)
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
	k.Changes(webapi.Sato, root, "集計用のスクリプトを二つ書いて")
	sato := w.As(webapi.Sato)
	page := sato.Get(k.Page())
	page.Holds(t, "前に書いたメッセージの書き換え", "集計用のスクリプトを二つ書いて", "集計用のスクリプトを書いて")
	page.Lacks(t, "書いた人が Slack で削除しました")
	k.Changes(webapi.Sato, root, "")
	sato.Get(k.Page()).Holds(t, "前に書いたメッセージの削除", "書いた人が Slack で削除しました", "集計用のスクリプトを書いて")
}

// pageOfHandOver: a request that the agent handed over stands there with its task, and how that ended.
func pageOfHandOver(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	handed := k.Answers(conversation.Answer{Text: "起票します", HandOver: "ノート <PC> を買う"}).Handed[0]
	w.Later(time.Second)
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.TaskEnded(handed.TaskID, task.Ended{As: task.TaskCompleted, At: w.Now()}, w.Now())
	})
	page := w.As(webapi.Sato).Get(k.Page())
	page.Holds(t, "依頼として渡した内容:", "ノート &lt;PC&gt; を買う", `href="/console/tasks/`+handed.TaskID+`"`,
		"タスク "+handed.TaskID+" は完了しました。")
}

// pageOfThread: the page has what the agent was given of the thread.
func pageOfThread(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.ThreadBefore = "1776675600.000100"
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
	})
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.GiveThread(a.Head.Run, []conversation.Earlier{{User: webapi.Suzuki, At: w.Now(), Text: "<b>赤い</b>"}},
			aggregate.Thread{Read: 1, Cut: 1, Earlier: true}, w.Now())
	})
	w.As(webapi.Sato).Get(k.Page()).Holds(t, "これまでのメッセージ 1 件をエージェントに渡しました",
		"うち 1 件は長いため、終わりを読んでいません。 それより前にも発言がありますが、読んでいません。",
		"スレッドのこれまでのメッセージ (1)", "鈴木", "&lt;b&gt;赤い")
}
