package subject_test

import (
	"net/http"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// The answer to one decision doesn't show the form of another: the person's next click must not be on something unread.
func TestAnAnswerToOneDecisionAsksForNoOther(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{"a task": answersOfATask, "a conversation": answersOfATalk})
}

func answersOfATask(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	suzuki, form := w.As(webapi.Suzuki), w.Act(aggregate.ActReject, "")
	a := suzuki.Post(w.TaskPage()+"/act", form) // no reason: it is the same decision still
	expect.Same(t, http.StatusBadRequest, a.Status)
	a.Holds(t, `value="reject"`, `class="text asked"`)
	form = w.Act(aggregate.ActApprove, "")
	w.AskForSteps(consoletest.Message(1, "締切は金曜です"))
	a = w.As(webapi.Tanaka).Post(w.TaskPage()+"/act", form)
	expect.Same(t, http.StatusConflict, a.Status)
	a.Holds(t, "に承認しました", "承認待ち: 実行ステップ v1", `<a href="`+w.TaskPage()+`">今の内容を開く</a>`)
	a.Lacks(t, `value="approve"`, `value="reject"`, `value="cancel_task"`, "data-asks")
	a = suzuki.Get(w.TaskPage() + "?done=act_approve")
	a.Holds(t, "承認しました。", "承認待ち: 実行ステップ v1")
	a.Lacks(t, `value="approve"`, "data-asks")
	suzuki.Get(w.TaskPage()).Holds(t, `value="approve"`, "data-asks", "締切は金曜です")
}

func answersOfATalk(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	first := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	suzuki := w.As(webapi.Suzuki)
	expect.Same(t, http.StatusSeeOther, suzuki.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActReject, first, "だめ")).Status)
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	a := w.As(webapi.Tanaka).Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, first, ""))
	expect.Same(t, http.StatusConflict, a.Status)
	a.Holds(t, "先に決まっています: 却下", "承認待ち: シェルコマンドの実行 #2", "今の内容を開く")
	a.Lacks(t, `value="approve"`, `value="cancel_action"`, "data-asks")
	a = suzuki.Get(k.Page() + "?done=act_reject")
	a.Holds(t, "承認待ち: シェルコマンドの実行 #2")
	a.Lacks(t, `value="approve"`, "data-asks")
	suzuki.Get(k.Page()).Holds(t, `value="approve"`, "data-asks", `id="asked-2"`)
}
