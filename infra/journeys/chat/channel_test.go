package chat

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// In a channel a mention with an agent's id opens a conversation in its thread. The channel's people are its people: one
// of them mentions Ringi there, another one stamps, and one proposes an action themself on the page.
func TestAConversationInAChannel(t *testing.T) {
	driver.Leave(t, running)
	root := expect.Value(running.Sandbox.Say(workspace.Sato, workspace.HR, sandbox.Mention("claude: こんにちは")))(t)
	d := &driver.Dialogue{T: t, S: running, User: workspace.Sato, Channel: workspace.HR, Root: root, Timeout: time.Minute}
	d.Shows("デモのエージェントです")
	d.Rests()
	driver.Settings(t, running, func(x *tenancy.Settings) { x.AllowSelfApproval = false })
	expect.Value(running.Sandbox.Reply(workspace.Tanaka, d.Channel, d.Root, sandbox.Mention("ファイルを作って")))(t)
	asks := d.Shows("操作 #1 の確認", "hello.js")
	d.Press(workspace.Sato, asks, card.ApproveAction)
	d.Shows("操作 #1 完了", "✅ 承認: <@"+workspace.Sato+">")
	d.Shows("結果を受け取りました", "操作 #1 が完了しました")
	d.Rests()

	desk := driver.SitDown(t, running, workspace.Tanaka)
	status, page := desk.Get("/console/agents")
	expect.That(t, status == http.StatusOK, "%d", status)
	expect.Has(t, page, "代わりにデモが答えます") // the console asked answer-message
	status, page = desk.Post(d.Page()+"/propose", url.Values{"own_type": {"shell_command"}, "own_content": {"ls hello.js"}, "own_summary": {"できたか見る"}})
	expect.Must(t, status < 400, "%d %s", status, page)
	own := d.Shows("操作 #2 の確認", "ls hello.js")
	d.Press(workspace.Sato, own, card.ApproveAction)
	d.Shows("操作 #2 完了", "hello.js")
}
