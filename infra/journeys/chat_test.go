package journeys

import (
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func begin(t *testing.T, text string) *driver.Dialogue {
	t.Helper()
	driver.Leave(t, running)
	return driver.Talk(t, running, webapi.Sato, text)
}

// An agent's action runs only after a person's approval, and the agent learns the result.
func TestAnAgentAsksActsAndKnowsTheResult(t *testing.T) {
	d := begin(t, "codex: ファイルを作って")
	d.Shows("見本のファイルを 2 つ提案します")
	asks := d.Shows("操作 #1 の確認", "hello.js", "hello.test.js")
	d.Status("suspended")
	n := d.Count("完了")
	expect.Must(t, n == 0, "%d messages say that something is done", n)
	d.Press(webapi.Sato, asks, card.ApproveAction)
	d.Shows("操作 #1 完了", "✅ 承認: <@"+webapi.Sato+">")
	d.Shows("完了しました: ファイル 2 件を変更")
	d.Status("active")

	d.Reply("もう一度ファイルを作って")
	second := d.Shows("操作 #2 の確認")
	d.Reject(webapi.Sato, second, "今はいりません")
	d.Shows("操作 #2(却下)", "今はいりません")
	d.Shows("結果を受け取りました", "操作 #2 は却下されました")

	d.Reply("やっぱりファイルを作って")
	third := d.Shows("操作 #3 の確認")
	d.Cancel(webapi.Sato, third)
	d.Shows("操作 #3(キャンセル)")
	d.Shows("結果を受け取りました", "操作 #3 は取り消されました")
	d.Status("active")
	for _, what := range []string{"操作 #1 完了", "操作 #2 は却下されました", "操作 #3 は取り消されました"} {
		if n := d.Count(what); n == 0 || n > 2 { // a card's header is also its text for notifications
			t.Errorf("%q stands %d times in the thread", what, n)
		}
	}
}

// Messages that arrive while the agent answers are answered next; none is answered twice or lost.
func TestMessagesThatComeDuringAnAnswerAreAnswered(t *testing.T) {
	expect.AtNight(t)
	d := begin(t, "claude: こんにちは")
	for range 4 {
		d.Reply("まだいますか")
	}
	d.Shows("言葉を理解したり、考えたりすることはできません")
	d.Status("active")
	n := d.Count("デモのエージェントです")
	expect.That(t, n >= 1 && n <= 5, "5 messages have %d answers", n)
	expect.That(t, d.Count("操作 #") == 0, "an action was proposed that nobody asked for")
	other := begin(t, "今月の勤怠をまとめて")
	other.Shows("タスク")
}

// A command runs once, after an approval; the card shows its output during and after the run, and one click stops it.
func TestACommandIsWatchedAndStopped(t *testing.T) {
	d := begin(t, "codex: コマンド: for i in 1 2 3; do echo line $i; sleep 0.2; done; echo 'x[1:n:2] 2**3 HEAD~1' @here; "+
		"echo done > here")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "echo line $i"), card.ApproveAction)
	d.Shows("操作 #1 完了", "line 3\nx[1:n:2] 2**3 HEAD~1 @here\n```", "終了コード: 0")
	d.Reply("コマンド: cat here; for i in $(seq 1 300); do echo tick $i; sleep 0.2; done")
	d.Press(webapi.Sato, d.Shows("操作 #2 の確認"), card.ApproveAction)
	runs := d.Shows("操作 #2 を実行中", "tick")
	d.Status("processing")
	d.Press(webapi.Sato, runs, card.CancelAction)
	d.Shows("操作 #2(キャンセル)")
	d.Reply("コマンド: cat here")
	d.Press(webapi.Sato, d.Shows("操作 #3 の確認"), card.ApproveAction)
	d.Shows("操作 #3 完了", "done")
	d.Reply("コマンド: sleep 60; echo late")
	d.Press(webapi.Sato, d.Shows("操作 #4 の確認"), card.ApproveAction)
	d.Shows("操作 #4 を実行中")
	d.Status("processing")
	driver.UntilTaken(t, "the agent is stopped", func() { _ = running.Sandbox.StopAgent(webapi.Sato, d.Channel, d.Root) },
		func() bool { return d.Count("操作 #4(キャンセル)") > 0 })
	d.Status("active")
}

// Messages during a command are answered after it.
func TestAMessageDuringACommandIsAnsweredAfterIt(t *testing.T) {
	expect.AtNight(t)
	d := begin(t, "codex: コマンド: for i in $(seq 1 40); do echo tick $i; sleep 0.2; done")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
	d.Shows("操作 #1 を実行中", "tick")
	d.Reply("まだですか")
	d.Reply("聞こえていますか")
	d.Shows("操作 #1 完了", "tick 40")
	d.Shows("デモのエージェントです")
	d.Status("active")
}

// In a channel a mention with an agent's id opens a conversation in its thread. The channel's people are its people:
// one of them mentions Ringi there, and another one stamps.
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
	d.Shows("依頼")
	expect.That(t, d.Rests().OpenOffer() != nil, "it is made without anybody's press")
}

// In a channel an agent's id may name a source; one that is not listed begins nothing.
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

	for text, says := range map[string]string{"claude@shopp: 直して": "「shopp」というソースは"} {
		none := say(text)
		none.Shows(says)
		expect.That(t, expect.Err(none.Rows().Load(t.Context(), none.Ref())) != nil, "%q begins a conversation", text)
	}
}
