package settings_test

import (
	"net/http"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// A parameter may override the setting: the page shows the model that was really used.
func TestSettingsSayWhichModelIsReallyAsked(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	words := web.TextsOf("settings", "ja")
	b.Get("/console/settings").Says(t, http.StatusOK, words.Say("model_unused"))
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Title: "勤怠"})
	b.Get("/console/settings").Says(t, http.StatusOK, words.Say("model_unused")) // its rows name none
	used := func(id, provider, model string) {
		w.Later(time.Minute)
		w.Decide(task.Charge(aggregate.Usage{ID: id, Provider: provider, Model: model, Calls: 1, Cost: 1}, w.Now(), func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	}
	used("02", "demo", "demo")
	b.Get("/console/settings").Says(t, http.StatusOK, "最後に使われたモデル: demo (")
	used("01", "anthropic", "claude-x")
	b.Get("/console/settings").Says(t, http.StatusOK, "最後に使われたモデル: claude-x ("+w.Now().In(tenancy.Zone()).Format("2006-01-02 15:04")+")")
	other := w.Found("T0OTHER", webapi.Tanaka)
	w.Of(other, webapi.Tanaka).Get("/console/settings").Says(t, http.StatusOK, words.Say("model_unused"))
}
