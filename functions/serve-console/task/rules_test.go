package task_test

import (
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// onHold parks a task that nobody may approve. Its page reports no failed draft, and a retry says that approvers are
// checked again.
func onHold(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Extracted()
	set := w.SettingsNow()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.ParkUndecidable(a.Head.Run, set, w.Now()) })
	sato := w.As(webapi.Sato)
	page := sato.Get(w.TaskPage())
	page.Holds(t, ">作成できず<", "承認できる人がいません", "次の案の作成を保留した")
	page.Lacks(t, "作成に失敗", "作成できませんでした", "[↻]")
	a := sato.Post(w.TaskPage()+"/act", w.Act(task.ActRetryGeneration, ""))
	if to := a.To; a.Status != http.StatusSeeOther || !strings.HasSuffix(to, "?done=act_check_approvers") {
		t.Fatalf("%d %s", a.Status, to)
	}
	sato.Get(w.TaskPage()+"?done=act_check_approvers").Holds(t, "承認できる人がいるかを、もう一度確認します。")
}

// As the settings page says, a change of approvers also applies to what already waits.
func holdsAtOnce(t *testing.T, w *consoletest.World) {
	for locale, labels := range map[string][2]string{"ja": {"「承認できる人」", "「自分の依頼を自分で承認できる」"}, "en": {"“Who may approve”", "“People may approve their own requests”"}} {
		lead := web.TextsOf("settings", locale).Say("lead")
		for i, field := range []string{"approvers.mode", "allow_self_approval"} {
			setting, _ := tenancy.SettingNamed(field)
			if called := setting.Says.In(locale).Label; !strings.Contains(lead, labels[i]) || !strings.Contains(labels[i], called) {
				t.Errorf("%s: %q does not name %q", locale, lead, called)
			}
		}
	}
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	form, sato := w.Act(aggregate.ActApprove, ""), w.As(webapi.Sato)
	sato.Get(w.TaskPage()).Holds(t, "✅ 承認</button>")
	w.Settings(func(s *tenancy.Settings) {
		s.AllowSelfApproval, s.Approvers = false, tenancy.Approvers{Mode: aggregate.ApproversList,
			Users: []string{webapi.Sato}}
	})
	page, click := sato.Get(w.TaskPage()), sato.Post(w.TaskPage()+"/act", form)
	for _, a := range []consoletest.Answer{page, click} {
		a.Holds(t, "承認できる人: 今の設定では、いません", "自分の依頼は自分で承認できません。")
		a.Lacks(t, "ほかの承認者に依頼")
	}
	expect.That(t, click.Status == http.StatusForbidden, "%v", click)
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = true })
	sato.Post(w.TaskPage()+"/act", form).Says(t, http.StatusSeeOther)
}
