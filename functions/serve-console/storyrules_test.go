package main

import (
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// onHold: no draft has failed, and whoever tries again is told what is done.
func onHold(t *testing.T, w *world) {
	w.ask()
	w.Extracted()
	set := w.settingsNow()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.ParkUndecidable(a.Head.Run, set, w.Now()) })
	sato := w.as(workspace.Sato)
	page := sato.get(w.page())
	holds(t, page, ">保留<", "承認できる人がいません", "次の案の作成を保留した")
	lacks(t, page, "作成に失敗", "作成できませんでした", "[↻]")
	a := sato.post(w.page()+"/act", w.act(task.ActRetryGeneration, ""))
	if to := a.to; a.status != http.StatusSeeOther || !strings.HasSuffix(to, "?done=act_check_approvers") {
		t.Fatalf("%d %s", a.status, to)
	}
	holds(t, sato.get(w.page()+"?done=act_check_approvers"), "承認できる人がいるかを、もう一度確認します。")
}

// What the settings page says of a change: who may approve is asked of the settings of now, also about what already waits.
func holdsAtOnce(t *testing.T, w *world) {
	for locale, labels := range map[string][2]string{"ja": {"「承認できる人」", "「自分の依頼を自分で承認できる」"}, "en": {"“Who may approve”", "“People may approve their own requests”"}} {
		words := settingsTexts{web.TextsOf("settings", locale)}
		for i, field := range []string{"approvers.mode", "allow_self_approval"} {
			if !strings.Contains(words.Say("lead"), labels[i]) || !strings.Contains(labels[i], words.label(field)) {
				t.Errorf("%s: %q does not name %q", locale, words.Say("lead"), words.label(field))
			}
		}
	}
	w.ask()
	w.Prompted(tenancy.DefaultSettings())
	form, sato := w.act(aggregate.ActApprove, ""), w.as(workspace.Sato)
	holds(t, sato.get(w.page()), "✅ 承認</button>")
	w.Settings(func(s *tenancy.Settings) {
		s.AllowSelfApproval, s.Approvers = false, tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{workspace.Sato}}
	})
	page, click := sato.get(w.page()), sato.post(w.page()+"/act", form)
	for _, a := range []answer{page, click} {
		holds(t, a, "承認できる人: 今の設定では、いません", "自分の依頼は自分で承認できません。")
		lacks(t, a, "ほかの承認者に依頼")
	}
	if click.status != http.StatusForbidden {
		t.Errorf("%d %s", click.status, click.text())
	}
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = true })
	if a := sato.post(w.page()+"/act", form); a.status != http.StatusSeeOther {
		t.Errorf("%d %s", a.status, a.text())
	}
}
