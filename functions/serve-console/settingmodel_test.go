package main

import (
	"net/http"
	"testing"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store/storetest"
)

// The field is not all that decides: what was really asked stands beside it.
func TestSettingsSayWhichModelIsReallyAsked(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	b := w.as(workspace.Suzuki)
	words := web.TextsOf("settings", "ja")
	b.get("/console/settings").says(t, http.StatusOK, words.Say("model_unused"))
	w.made(requested{user: workspace.Sato, channel: workspace.HR, title: "勤怠"})
	b.get("/console/settings").says(t, http.StatusOK, words.Say("model_unused")) // its rows name none
	used := func(id, provider, model string) {
		w.Later(time.Minute)
		w.Decide(task.Charge(aggregate.Usage{ID: id, Provider: provider, Model: model, Calls: 1, Cost: 1}, w.Now(), func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	}
	used("02", "demo", "demo")
	b.get("/console/settings").says(t, http.StatusOK, "実際に使われたモデル: demo(")
	used("01", "anthropic", "claude-x")
	b.get("/console/settings").says(t, http.StatusOK, "実際に使われたモデル: claude-x("+w.Now().In(zone).Format("2006-01-02 15:04")+")")
	other := w.found("T0OTHER", workspace.Tanaka)
	w.of(other, workspace.Tanaka).get("/console/settings").says(t, http.StatusOK, words.Say("model_unused"))
}
