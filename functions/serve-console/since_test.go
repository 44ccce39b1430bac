package main

import (
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// Where a page that refreshes itself has a form, it has the line of what happened since then, too: console.js needs it.
func TestWhereAPageRefreshesAFormItSaysWhatHappened(t *testing.T) {
	n := 0
	for _, name := range expect.Value(fs.Glob(ui, "ui/*.html"))(t) {
		page := string(expect.Value(ui.ReadFile(name))(t))
		_, live, is := strings.Cut(page, "data-live")
		if !is || !strings.Contains(live, `method="post"`) {
			continue
		}
		n++
		if !strings.Contains(live, `{{template "since" `) {
			t.Errorf("%s says nothing of what happened since a form was read", name)
		}
	}
	if n != 3 {
		t.Errorf("%d pages refresh what has forms: the task's, the conversation's and the contest's did", n)
	}
}

// An answer to one decision shows no form of another: the next click would be on something that nobody has read.
func TestAnAnswerToOneDecisionAsksForNoOther(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){"a task": answersOfATask, "a conversation": answersOfATalk} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

func answersOfATask(t *testing.T, w *world) {
	w.ask()
	w.Prompted(tenancy.DefaultSettings())
	suzuki, form := w.as(workspace.Suzuki), w.act(aggregate.ActReject, "")
	a := suzuki.post(w.page()+"/act", form) // no reason: it is the same decision still
	expect.Same(t, http.StatusBadRequest, a.status)
	holds(t, a, `value="reject"`, `class="text asked"`)
	form = w.act(aggregate.ActApprove, "")
	w.planned(dm(1, "締切は金曜です"))
	a = w.as(workspace.Tanaka).post(w.page()+"/act", form)
	expect.Same(t, http.StatusConflict, a.status)
	holds(t, a, "に承認済みです", "判断を待っています: 実行ステップ v1", `<a href="`+w.page()+`">今の内容を開く</a>`)
	lacks(t, a, `value="approve"`, `value="reject"`, `value="cancel_task"`, "data-asks")
	a = suzuki.get(w.page() + "?done=act_approve")
	holds(t, a, "承認しました。", "判断を待っています: 実行ステップ v1")
	lacks(t, a, `value="approve"`, "data-asks")
	holds(t, suzuki.get(w.page()), `value="approve"`, "data-asks", "締切は金曜です")
}

func answersOfATalk(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	first := k.proposes(conversation.ShellCommand, script, "")
	suzuki := w.as(workspace.Suzuki)
	expect.Same(t, http.StatusSeeOther, suzuki.post(k.page()+"/act", actOn(aggregate.ActReject, first, "だめ")).status)
	k.proposes(conversation.ShellCommand, script, "")
	a := w.as(workspace.Tanaka).post(k.page()+"/act", actOn(aggregate.ActApprove, first, ""))
	expect.Same(t, http.StatusConflict, a.status)
	holds(t, a, "先に決まっています: 却下", "承認待ち: シェルコマンドの実行 #2", "今の内容を開く")
	lacks(t, a, `value="approve"`, `value="cancel_action"`, "data-asks")
	a = suzuki.get(k.page() + "?done=act_reject")
	holds(t, a, "承認待ち: シェルコマンドの実行 #2")
	lacks(t, a, `value="approve"`, "data-asks")
	holds(t, suzuki.get(k.page()), `value="approve"`, "data-asks", `id="asked-2"`)
}
