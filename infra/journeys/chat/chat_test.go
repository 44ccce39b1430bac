// Package chat talks with agents through the front door: what people write, approve, refuse and stop in Slack, and what
// they see of it there.
package chat

import (
	"os"
	"strings"
	"testing"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/card"
	"ringi/shared/expect"
)

// running is the one stack of this package's tests.
var running *stack.Stack

func TestMain(m *testing.M) {
	o := driver.Options()
	o.Parameters = map[string]string{"Sandbox": "on"}
	os.Exit(driver.Run(m, o, func(s *stack.Stack) { running = s }))
}

// dialogue is a thread in Sato's direct messages.
type dialogue struct {
	t       *testing.T
	s       *stack.Stack
	channel string
	root    string
}

func begin(t *testing.T, text string) *dialogue {
	t.Helper()
	driver.Leave(t, running)
	d := &dialogue{t: t, s: running, channel: workspace.DirectMessage(workspace.Sato)}
	d.root = expect.Value(d.s.Sandbox.Say(workspace.Sato, d.channel, text))(t)
	return d
}

func (d *dialogue) reply(text string) {
	d.t.Helper()
	expect.Value(d.s.Sandbox.Reply(workspace.Sato, d.channel, d.root, text))(d.t)
}

// faces are the app's messages in the thread, as people see them.
func (d *dialogue) faces() (all []workspace.Message, texts []string) {
	for _, m := range d.s.Sandbox.Messages(d.channel, d.root) {
		if m.User == workspace.Bot {
			all, texts = append(all, m), append(texts, m.Text+"\n"+driver.Face(m))
		}
	}
	return all, texts
}

// shows waits for a message with all of these texts, and returns the newest.
func (d *dialogue) shows(texts ...string) workspace.Message {
	d.t.Helper()
	var found workspace.Message
	driver.Eventually(d.t, "a message with "+strings.Join(texts, ", "), func() bool {
		all, faces := d.faces()
		for i, face := range faces {
			has := true
			for _, text := range texts {
				has = has && strings.Contains(face, text)
			}
			if has {
				found = all[i]
			}
		}
		return found.TS != ""
	})
	return found
}

func (d *dialogue) count(text string) (n int) {
	_, faces := d.faces()
	for _, face := range faces {
		n += strings.Count(face, text)
	}
	return n
}

func (d *dialogue) status(want string) {
	d.t.Helper()
	driver.Eventually(d.t, "the agent is "+want, func() bool {
		for _, x := range d.s.Sandbox.Workspace().Sessions(d.channel) {
			if x.ThreadTS == d.root && x.Status == want {
				return true
			}
		}
		return false
	})
}

func (d *dialogue) press(m workspace.Message, action string) {
	d.t.Helper()
	expect.NoError(d.t, d.s.Sandbox.Click(workspace.Sato, d.channel, m.TS, action))
}

// What an agent wants to do is done after a person's yes alone, and it knows what came of it.
func TestAnAgentAsksActsAndKnowsTheResult(t *testing.T) {
	d := begin(t, "codex: ファイルを作って")
	d.shows("見本のファイルを 2 つ提案します")
	asks := d.shows("操作 #1 の確認", "hello.js", "hello.test.js")
	d.status("suspended")
	if n := d.count("完了"); n != 0 {
		t.Fatalf("%d messages say that something is done", n)
	}
	d.press(asks, card.ApproveAction)
	d.shows("操作 #1 完了", "✅ 承認: <@"+workspace.Sato+">")
	d.shows("結果を受け取りました", "操作 #1 が完了しました")
	d.status("active")

	d.reply("もう一度ファイルを作って")
	second := d.shows("操作 #2 の確認")
	d.press(second, card.RejectAction)
	views := d.s.Sandbox.Workspace().OpenViews(workspace.Sato)
	if len(views) != 1 {
		t.Fatalf("%d dialogs", len(views))
	}
	if problems := expect.Value(d.s.Sandbox.Submit(workspace.Sato, views[0].ID, map[string]any{card.ReasonBlock: "今はいりません"}))(t); len(problems) != 0 {
		t.Fatalf("%v", problems)
	}
	d.shows("操作 #2(却下)", "今はいりません")
	d.shows("結果を受け取りました", "操作 #2 は却下されました")

	d.reply("やっぱりファイルを作って")
	third := d.shows("操作 #3 の確認")
	d.press(third, card.CancelAction)
	d.shows("操作 #3(キャンセル)")
	d.shows("結果を受け取りました", "操作 #3 は取り消されました")
	d.status("active")
	for _, what := range []string{"操作 #1 完了", "操作 #2 は却下されました", "操作 #3 は取り消されました"} {
		if n := d.count(what); n == 0 || n > 2 { // a card's header is its text for notifications, too
			t.Errorf("%q stands %d times in the thread", what, n)
		}
	}
}

// Messages that come while the agent answers are answered next, and none is answered twice or lost.
func TestMessagesThatComeDuringAnAnswerAreAnswered(t *testing.T) {
	d := begin(t, "claude: こんにちは")
	for range 4 {
		d.reply("まだいますか")
	}
	d.shows("言葉を理解したり、考えたりすることはできません")
	d.status("active")
	if n := d.count("デモのエージェントです"); n < 1 || n > 5 {
		t.Errorf("5 messages have %d answers", n)
	}
	if d.count("操作 #") != 0 {
		t.Error("an action was proposed that nobody asked for")
	}
	other := begin(t, "今月の勤怠をまとめて")
	other.shows("タスク")
}

// A command runs once, after a yes; its output is on the card while it runs and afterwards, and it is stopped at a word.
func TestACommandIsWatchedAndStopped(t *testing.T) {
	d := begin(t, "codex: コマンド: for i in 1 2 3; do echo line $i; sleep 0.2; done; echo done > here")
	d.press(d.shows("操作 #1 の確認", "echo line $i"), card.ApproveAction)
	d.shows("操作 #1 完了", "line 3", "終了コード: 0")
	d.reply("コマンド: cat here; for i in $(seq 1 300); do echo tick $i; sleep 0.2; done")
	d.press(d.shows("操作 #2 の確認"), card.ApproveAction)
	runs := d.shows("操作 #2 を実行中", "tick")
	d.status("processing")
	d.press(runs, card.CancelAction)
	d.shows("操作 #2(キャンセル)")
	d.reply("コマンド: cat here")
	d.press(d.shows("操作 #3 の確認"), card.ApproveAction)
	d.shows("操作 #3 完了", "done")
	d.reply("コマンド: sleep 60; echo late")
	d.press(d.shows("操作 #4 の確認"), card.ApproveAction)
	d.shows("操作 #4 を実行中")
	d.status("processing")
	expect.NoError(t, d.s.Sandbox.StopAgent(workspace.Sato, d.channel, d.root))
	d.shows("操作 #4(キャンセル)")
	d.status("active")
}
