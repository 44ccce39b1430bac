package conversation_test

import (
	"net/http"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

// severalCommands: each is drawn whole with its number and its time, as it is beside, and what became of it afterwards.
func severalCommands(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	x := k.Proposes(conversation.ShellCommand, `{"commands":[{"script":"make","timeout_seconds":60},`+
		`{"script":"echo a\u200bb","timeout_seconds":20},{"script":"make report","timeout_seconds":5}]}`, "")
	sato := w.As(webapi.Sato)
	page := sato.Get(k.Page())
	page.Holds(t, "実行するコマンド (3 件", "<pre>make</pre>", "echo a⟨U&#43;200B⟩b", "make report", "制限時間 20 秒",
		`name="hash" value="`+x.Payload.Hash()+`"`, "/actions/1/2")
	sato.Get(k.Page()+"/actions/1/2").Holds(t, "echo a\u200bb")
	sato.Get(k.Page()+"/actions/1/4").Says(t, http.StatusNotFound)
	sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
	k.Begins()
	k.Prints(x, 0, 20)
	zero, two := 0, 2
	ran := []conversation.Ran{{StartedAt: k.Now(), From: 1, Lines: 12, Over: true, ExitCode: &zero, Millis: 1200}, {StartedAt: k.Now(), From: 13}}
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Began(x.ActionID, "i", ran, k.Now())
	})
	page = sato.Get(k.Page())
	page.Holds(t, "コマンド 1: 終了コード 0 · 1.2 秒 · 出力 1–12 行目", "コマンド 2: 実行中", `<div class="muted">コマンド 2</div><div data-line="13">`)
	page.Lacks(t, "コマンド 3")
	ran[1] = conversation.Ran{StartedAt: k.Now(), From: 13, Lines: 8, Over: true, ExitCode: &two, Millis: 300}
	k.Ends(x, conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonExit, Lines: 20, Commands: ran})
	sato.Get(k.Page()).Holds(t, "コマンド 2: 終了コード 2 · 0.3 秒 · 出力 13–20 行目", "コマンド 3: 実行していません")
	expect.Is(t, len(k.Load().Actions[0].Commands), 2, "commands in the row")
}
