package providers

import (
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// managed adds Managed Agents to Anthropic's other endpoints.
func managed(others http.Handler) http.Handler {
	sessions = models.NewAgents()
	sessions.Key = vendors.Key
	m := http.NewServeMux()
	m.Handle("/", others)
	for _, kind := range []string{"agents", "environments", "sessions"} {
		m.Handle("/anthropic/v1/"+kind, http.StripPrefix("/anthropic", sessions))
		m.Handle("/anthropic/v1/"+kind+"/", http.StripPrefix("/anthropic", sessions))
	}
	return m
}

func setManaged(t *testing.T, model string) {
	t.Helper()
	driver.Leave(t, running)
	putKey(t)
	driver.Settings(t, running, func(x *tenancy.Settings) { x.Executor, x.Model = tenancy.ExecutorManaged, model })
}

// newest returns a task's newest session.
func newest(t *testing.T, d *driver.Request) *models.Session {
	t.Helper()
	var found *models.Session
	for _, x := range sessions.Sessions() {
		if x.Made.Metadata["ringi_task"] == d.Load().Head.TaskID {
			if found != nil {
				t.Error("the task has two sessions")
			}
			found = x
		}
	}
	if found == nil {
		t.Fatal("the task has no session")
	}
	return found
}

func TestTheHappyPathThroughAManagedSession(t *testing.T) {
	setManaged(t, "claude-sonnet-4-6")
	d := driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "すべてのステップを実行しました。")
	a := d.Until("completed, and its session closed", func(a *task.Aggregate) bool {
		return a.Task != nil && a.Task.Status == task.TaskCompleted && a.Execution().SessionClosed
	})
	e := a.Execution()
	if e.Usage == nil || e.Usage.Cost == 0 {
		t.Errorf("the session cost %+v", e.Usage)
	}
	x := newest(t, d)
	if x.ID != e.SessionID || len(x.Messages) != 1 || x.Refused > 0 || len(x.Answers) != len(a.Process().Steps) {
		t.Errorf("session %s was told %d times and got %d answers, %d made no sense", x.ID, len(x.Messages), len(x.Answers), x.Refused)
	}
	for _, answer := range x.Answers {
		if answer.Error || strings.Contains(answer.Text, "@example") {
			t.Errorf("it got %+v", answer)
		}
	}
	d.RanOnce()
}

func TestACancelStopsTheSession(t *testing.T) {
	setManaged(t, "claude-sonnet-4-6")
	sessions.Script = func(told []models.Step) []models.Act { return nil } // it thinks for ever
	t.Cleanup(func() { sessions.Script = nil })
	d := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	d.Approve(webapi.Suzuki)
	d.Until("a session", func(a *task.Aggregate) bool { return a.Execution() != nil && a.Execution().SessionID != "" })
	d.Click(webapi.Sato, "CARD#execution", "cancel_execution")
	d.Until("its session closed", func(a *task.Aggregate) bool { return a.Execution().SessionClosed })
	if n := newest(t, d).Interrupts; n == 0 {
		t.Error("the session was not told to stop")
	}
}

func TestAManagedSessionNeedsAModelOfAnthropics(t *testing.T) {
	setManaged(t, "gpt-5.4")
	d := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "Anthropic のモデルが必要です (gpt-5.4)")
	if err := d.Load().Execution().Error; err != task.ReasonSessionModel {
		t.Errorf("it failed for %s", err)
	}
}
