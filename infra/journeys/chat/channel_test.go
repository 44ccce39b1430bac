package chat

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// In a channel a mention with an agent's id opens a conversation in its thread. The channel's people are its people: one
// of them mentions Ringi there, another one stamps, and one proposes an action themself on the page.
func TestAConversationInAChannel(t *testing.T) {
	driver.Leave(t, running)
	root := expect.Value(running.Sandbox.Say(webapi.Sato, webapi.HR, sandbox.Mention("claude: こんにちは")))(t)
	d := &driver.Dialogue{T: t, S: running, User: webapi.Sato, Channel: webapi.HR, Root: root, Timeout: time.Minute}
	d.Shows("デモのエージェントです")
	d.Rests()
	driver.Settings(t, running, func(x *tenancy.Settings) { x.AllowSelfApproval = false })
	expect.Value(running.Sandbox.Reply(webapi.Tanaka, d.Channel, d.Root, sandbox.Mention("ファイルを作って")))(t)
	asks := d.Shows("操作 #1 の確認", "hello.js")
	// Who spoke before the proposal asks for it, too: this click is refused.
	expect.NoError(t, running.Sandbox.Click(webapi.Sato, d.Channel, asks.TS, card.ApproveAction))
	d.Press(webapi.Suzuki, d.Shows("操作 #1 の確認", "hello.js"), card.ApproveAction)
	d.Shows("操作 #1 完了", "✅ 承認: <@"+webapi.Suzuki+">")
	d.Shows("完了しました: ファイル 2 件を変更")
	d.Rests()

	desk := driver.SitDown(t, running, webapi.Tanaka)
	status, page := desk.Get("/console/agents")
	expect.That(t, status == http.StatusOK, "%d", status)
	expect.Has(t, page, "代わりにデモが答えます") // the console asked answer-message
	status, page = desk.Post(d.Page()+"/propose", url.Values{"own_type": {"shell_command"}, "own_content": {"ls hello.js"}, "own_summary": {"できたか見る"}})
	expect.Must(t, status < 400, "%d %s", status, page)
	own := d.Shows("操作 #2 の確認", "ls hello.js")
	d.Press(webapi.Sato, own, card.ApproveAction)
	d.Shows("操作 #2 完了", "hello.js")

	// The folder has files by now, so a run holds what is typed against them, and says what can't be made.
	file := func(path, content string) {
		status, page := desk.Post(d.Page()+"/propose", url.Values{"own_type": {"code_generate"}, "own_path": {path},
			"own_content": {content}, "own_summary": {"自分で書く"}})
		expect.Must(t, status < 400, "%d %s", status, page)
	}
	file("Hello.js", "x")
	d.Shows("<@"+webapi.Tanaka+">", "操作にできませんでした", "紛らわしい名前のファイル")
	_, page = desk.Get(d.Page())
	expect.Has(t, page, "入力した内容:")
	d.Rests()
	file("hello.js", "console.log('written by hand');\n")
	d.Press(webapi.Sato, d.Shows("操作 #3 の確認", "written by hand"), card.ApproveAction)
	d.Shows("操作 #3 完了")
}

// Slack gave the channel another id, and its event was lost: a reply in the agent's thread is the agent's all the same,
// and the answer stands there.
func TestAnAgentsThreadInAChannelThatGotAnotherID(t *testing.T) {
	driver.Leave(t, running)
	was := running.Sandbox.Workspace().AddChannel("監査", webapi.Sato, webapi.Suzuki)
	root := expect.Value(running.Sandbox.Say(webapi.Sato, was, sandbox.Mention("claude: こんにちは")))(t)
	d := &driver.Dialogue{T: t, S: running, User: webapi.Sato, Channel: was, Root: root, Timeout: time.Minute}
	d.Shows("デモのエージェントです")
	d.Rests()
	r := driver.At(t, running, was, root)
	r.ChangeChannelID(true)
	expect.Value(running.Sandbox.Reply(webapi.Suzuki, r.Channel, root, sandbox.Mention("ファイルを作って")))(t)
	d.Channel = r.Channel
	d.Shows("操作 #1 の確認", "hello.js")
}

// An agent that is called within a thread is given what was said there before; people are told, and the page has it.
func TestAnAgentIsCalledWithinAThread(t *testing.T) {
	driver.Leave(t, running)
	root := expect.Value(running.Sandbox.Say(webapi.Sato, webapi.HR, "締め処理が <b>止まりました</b>"))(t)
	expect.Value(running.Sandbox.Reply(webapi.Suzuki, webapi.HR, root, "10 時からです"))(t)
	expect.Value(running.Sandbox.Reply(webapi.Tanaka, webapi.HR, root, sandbox.Mention("claude: こんにちは")))(t)
	d := &driver.Dialogue{T: t, S: running, User: webapi.Tanaka, Channel: webapi.HR, Root: root, Timeout: time.Minute}
	d.Shows("このスレッドのこれまでのメッセージ 2 件をエージェントに渡しました")
	d.Shows("デモのエージェントです")
	d.Rests()
	_, page := driver.SitDown(t, running, webapi.Tanaka).Get(d.Page())
	for _, part := range []string{"スレッドのこれまでのメッセージ (2)", "10 時からです", "止まりました"} {
		expect.Has(t, page, part)
	}
	expect.Value(running.Sandbox.Reply(webapi.Tanaka, d.Channel, d.Root, sandbox.Mention("これは稟議にします。")))(t)
	d.Shows("依頼") // what others wrote may have told the agent what to ask for, so a person makes it
	expect.That(t, len(d.Rests().Handed) == 0, "it is handed over without anybody's press")
}

// In a channel an agent's id may name a source; almost an id gets a question and begins nothing.
func TestAMentionInAChannelNamesASource(t *testing.T) {
	driver.Leave(t, running)
	say := func(text string) *driver.Dialogue {
		root := expect.Value(running.Sandbox.Say(webapi.Sato, webapi.HR, sandbox.Mention(text)))(t)
		return &driver.Dialogue{T: t, S: running, User: webapi.Sato, Channel: webapi.HR, Root: root, Timeout: time.Minute}
	}
	d := say("claude@shop: コマンド: ls tests")
	d.Shows("この会話は、次のファイルから始まります", "ringi-demo/shop@")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "ls tests"), card.ApproveAction)
	d.Shows("操作 #1 完了", "test_price.py")

	for text, says := range map[string]string{"claud: 直して": "claude", "claude@shopp: 直して": "「shopp」というソースは"} {
		none := say(text)
		none.Shows(says)
		_, err := none.Rows().Load(t.Context(), none.Ref())
		expect.That(t, err != nil, "%q begins a conversation", text)
	}
}
