package chat

import (
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// An agent lists, reads and searches the conversation's files without anybody's approval; the page says what it read.
// What it wants to request afterwards becomes a request by a person's button, once.
func TestAnAgentReadsFilesByItself(t *testing.T) {
	d := begin(t, "codex: ファイルを見せて")
	d.Shows("見つかりませんでした")
	d.Reply("ファイルを作って")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
	d.Shows("操作 #1 完了")
	d.Shows("完了しました: ファイル 2 件")
	d.Reply("ファイルを見せて")
	d.Shows("ファイルを読みました", "hello.test.js")
	d.Reply("greets を検索して")
	d.Shows("hello.test.js:5:")
	d.Reply("hello.js を読んで")
	d.Shows("1: exports.hello")
	a := d.Rests()
	expect.That(t, len(a.Actions) == 1 && a.Conversation.Reading == nil, "%+v", a.Conversation)
	status, page := driver.SitDown(t, running, webapi.Sato).Get(d.Page())
	expect.That(t, status == http.StatusOK && strings.Contains(page, "エージェントが読んだファイル (1)") && strings.Contains(page, "<code>hello.js</code>"), "the page is %d, or lacks what was read", status)

	ts := d.Reply("今月の勤怠をまとめて。これは稟議にします")
	asks := d.Shows("次の内容を依頼しようとしています", "今月の勤怠をまとめて")
	expect.Is(t, len(d.Load().Handed), 0, "requests before the button is pressed")
	d.Press(webapi.Sato, asks, card.MakeRequest)
	d.Shows("依頼にしました", "<@"+webapi.Sato+">")
	d.Eventually("a task", func() bool { a := d.Load(); return len(a.Handed) == 1 && a.Handed[0].Done })
	r := driver.At(t, running, d.Channel, ts)
	expect.Is(t, r.Ref.ID, d.Load().Handed[0].TaskID)
	r.Root = d.Root
	r.Card(driver.PromptCard, "approve_prompt")
}
