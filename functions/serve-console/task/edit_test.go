package task_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// Whoever asked edits on a page what was given back to them there. Nobody else has the form, and what can't be saved
// stays typed, with the reason at its field.
func editsWhatWasGivenBack(t *testing.T, w *consoletest.World) {
	w.Steps(consoletest.Message(1, "締め切りは金曜です。"), consoletest.Message(2, consoletest.Payloads[0]))
	form := w.Act(aggregate.ActReject, "宛先を直してください")
	form.Set("act", string(aggregate.ActGiveBack))
	w.As(webapi.Suzuki).Get(w.TaskPage()).Holds(t, "↩️ 差し戻し")
	long := w.Act(aggregate.ActReject, strings.Repeat("長い理由", 300))
	long.Set("act", string(aggregate.ActGiveBack)) // stays typed where it can be made shorter
	w.As(webapi.Suzuki).Post(w.TaskPage()+"/act", long).Holds(t, `name="reason"`)
	w.As(webapi.Suzuki).Post(w.TaskPage()+"/act", form).Says(t, http.StatusSeeOther)
	p := w.Load().Process()
	expect.That(t, p.GivenBack() && p.RejectionReason == "宛先を直してください", "%+v", p.Gate)
	path := w.TaskPage() + "/edit/" + p.ID
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	sato.Get(w.TaskPage()).Holds(t, "依頼者の修正待ち", path, "✏️ 修正する")
	suzuki.Get(w.TaskPage()).Holds(t, "依頼者の修正待ち").Lacks(t, path)
	sato.Get("/console/tasks").Holds(t, "依頼者の修正待ち", "宛先を直してください")
	consoletest.Harmless(t, path, sato.Get(path))
	sato.Get(path).Holds(t, "締め切りは金曜です。", "ステップの追加・削除・並べ替え", `name="edit_1_1"`, "🔒", "田中 恵</option>")
	w.As(webapi.Sato).In("en").Get(path).Holds(t, "Send the edit")
	expect.That(t, suzuki.Get(path).Status != http.StatusOK, "an approver has the form")
	w.As(webapi.Alex).Get(path).Says(t, http.StatusNotFound)

	hash := w.Load().AskedHash(p.ID)
	to, text := "edit_1_1", "edit_1_2"
	typed := url.Values{"hash": {hash}, to: {webapi.Tanaka}, text: {"締め切りは月曜です。\r\n以上"},
		"edit_2_1": {webapi.Tanaka}, "edit_2_2": {"x"}}
	with := func(name, value string) url.Values {
		form := url.Values{}
		for key := range typed {
			form[key] = typed[key]
		}
		form.Set(name, value)
		return form
	}
	sato.Post(path, with(to, "経理部")).Says(t, http.StatusUnprocessableEntity).Holds(t, "ワークスペースのメンバーを選んでください",
		"締め切りは月曜です。", `aria-invalid="true"`)
	for name, form := range map[string]url.Values{
		"another step's": with("edit_9_0", "x"), "stale": with("hash", "other"),
	} {
		got := sato.Post(path, form)
		expect.That(t, got.Status >= 400 && w.Load().Process().Version == 1, "%s: %d", name, got.Status)
	}
	expect.That(t, suzuki.Post(path, typed).Status >= 400, "edited by an approver")
	expect.Is(t, w.Load().Process().Version, 1)
	sato.Post(path, typed).Says(t, http.StatusSeeOther)
	sato.Post(path, typed).Says(t, http.StatusSeeOther) // a second click
	n := w.Load().Process()
	expect.That(t, n.Version == 2 && n.EditedBy == webapi.Sato && len(w.Load().Processes) == 2 &&
		strings.Contains(string(n.Steps[0].ToolInput), `月曜です。\n以上`), "%+v", n)
	late := sato.Post(path, with(text, "別の文")).Holds(t, "が修正したため、あなたの修正は使われていません")
	expect.That(t, late.Status >= 400, "a stale form counts")
	expect.Is(t, len(w.Load().Processes), 2)
	expect.Is(t, w.Load().Head.Noted, task.StatusDrafting)
	for locale, words := range map[string][]string{"ja": {"差し戻し", "は却下されました", "却下理由", "却下の理由"},
		"en": {"Returned", "was rejected", "rejecting the previous", "Why it was rejected"}} {
		w.As(webapi.Sato).In(locale).Get(w.TaskPage()).Holds(t, words[0]).Lacks(t, words[1:]...)
	}
}
