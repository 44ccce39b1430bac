package edges

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
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

// session returns a task's newest session.
func session(t *testing.T, d *driver.Request) *models.Session {
	t.Helper()
	var found *models.Session
	for _, x := range sessions.Sessions() {
		if x.Made.Metadata["ringi_task"] == d.Load().Head.TaskID {
			expect.That(t, found == nil, "the task has two sessions")
			found = x
		}
	}
	expect.Must(t, found != nil, "the task has no session")
	return found
}

func TestTheHappyPathThroughAManagedSession(t *testing.T) {
	setManaged(t, "claude-sonnet-4-6")
	text := "従業員一覧を取得して"
	if expect.Long() {
		text = "今月の勤怠をまとめて" // each step waits for a poll
	}
	d := driver.Ask(t, running, webapi.Sato, text)
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "すべてのステップを実行しました。")
	a := d.Until("completed, and its session closed", func(a *task.Aggregate) bool {
		return a.Task != nil && a.Task.Status == task.TaskCompleted && a.Execution().SessionClosed
	})
	e := a.Execution()
	if e.Usage == nil || e.Usage.Cost == 0 {
		t.Errorf("the session cost %+v", e.Usage)
	}
	x := session(t, d)
	if x.ID != e.SessionID || len(x.Messages) != 1 || x.Refused > 0 || len(x.Answers) != len(a.Process().Steps) {
		t.Errorf("session %s was told %d times and got %d answers, %d made "+
			"no sense", x.ID, len(x.Messages), len(x.Answers), x.Refused)
	}
	for _, answer := range x.Answers {
		expect.That(t, !answer.Error && !strings.Contains(answer.Text, "@example"), "it got %+v", answer)
	}
	d.RanOnce()
}

// longAgo puts this many earlier messages of this size before the conversation.
func longAgo(t *testing.T, d *driver.Dialogue, messages, bytes int) {
	t.Helper()
	ref, now := d.Ref(), time.Now()
	for from := 0; from < messages; from += 25 {
		var rows []aggregate.Row
		for n := from; n < min(from+25, messages); n++ {
			text := fmt.Sprintf("%d 番目の相談です。", n)
			rows = append(rows, &conversation.Message{
				MessageID: conversation.MessageID("T", ref.ID,
					fmt.Sprint(n)), SessionID: ref.ID, Sender: conversation.FromUser, User: webapi.Sato,
				Content:   text + strings.Repeat("x", max(0, bytes-len(text))),
				CreatedAt: now.Add(time.Duration(n-messages-100) * time.Second),
			})
		}
		expect.NoError(t, d.Rows().PutListed(t.Context(), ref.Tenant, conversation.MessagesList, ref.ID, rows, nil))
	}
}

// A conversation of a thousand messages, or of very long ones, costs and takes no more than one at the limit: older
// messages are summarized once, and the page shows the newest.
func TestAThousandMessagesStayBounded(t *testing.T) {
	expect.AtNight(t)
	for name, size := range map[string]struct{ messages, bytes int }{"many": {1500, 60}, "long": {400, 2000}} {
		t.Run(name, func(t *testing.T) {
			driver.Leave(t, running)
			putKey(t)
			vendors.Scripted(models.Script{Texts: []string{"始めましょう"}})
			d := begin(t, "claude", "長い相談をします")
			d.Shows("始めましょう")
			d.Rests()
			longAgo(t, d, size.messages, size.bytes)

			before := len(vendors.Asked())
			vendors.Scripted(models.Script{Texts: []string{"ここまでの要約です"}}, models.Script{Texts: []string{"一つ目の答え"}},
				models.Script{Texts: []string{"二つ目の答え"}}, models.Script{Texts: []string{"三つ目の答え"}})
			for i, answer := range []string{"一つ目の答え", "二つ目の答え", "三つ目の答え"} {
				cost, began := d.Load().Conversation.Usage.Cost, time.Now()
				d.Reply(fmt.Sprintf("質問 %d", i+1))
				d.Shows(answer)
				took := time.Since(began)
				a := d.Rests()
				asked := heard(before)
				last := asked[len(asked)-1]
				t.Logf("turn %d: %d calls so far, the last of %d bytes with %d messages; %s to the "+
					"card, $%s", i+1, len(asked), len(last), strings.Count(last, "番目の相談です"), took.Round(time.Millisecond),
					a.Conversation.Usage.Cost-cost)
				if len(asked) != i+2 || len(last) > turn.MaxBytes*3/2 || strings.Count(last, "番目の相談です") > 1000 ||
					!strings.Contains(last, "ここまでの要約です") {
					t.Errorf("%d calls, the last of %d bytes", len(asked), len(last))
				}
			}
			desk, began := driver.SitDown(t, running, webapi.Sato), time.Now()
			status, page := desk.Get(d.Page())
			t.Logf("the page: %s, %d bytes", time.Since(began).Round(time.Millisecond), len(page))
			if status != http.StatusOK || !strings.Contains(page, "ここまでの要約です") || !strings.Contains(page, "三つ目の答え") ||
				strings.Count(page, "番目の相談です") > 100 {
				t.Errorf("the page is %d, or does not have the summary and the newest messages alone", status)
			}
		})
	}
}
