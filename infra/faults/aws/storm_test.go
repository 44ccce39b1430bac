package aws

import (
	"fmt"
	"net/http"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// say makes a request, allowing more time until it is stored.
func say(t *testing.T, s *stack.Stack, user, text string) *driver.Request {
	t.Helper()
	d := driver.Say(t, s, user, webapi.HR, "<@"+webapi.Bot+"> "+text)
	expect.Eventually(t, "the request is kept", func() bool {
		_, err := d.Store.Load(t.Context(), d.Ref)
		return err == nil
	})
	return withLongTimeout(d)
}

// scenarios are what people do; each returns the expected audit log, in order.
var scenarios = map[string]func(*testing.T, *stack.Stack) (*driver.Request, []string){
	"done":                doneAtOnce,
	"rejected, then done": rejectedFirst,
	"cancelled":           withdrawn,
	"tried again":         triedAgain,
}

func doneAtOnce(t *testing.T, s *stack.Stack) (*driver.Request, []string) {
	d := say(t, s, webapi.Sato, "従業員一覧を取得して demo: mark "+markText)
	d.Approve(webapi.Tanaka)
	return d, finish(d, "task.created by system", "prompt.approved by "+webapi.Tanaka,
		"process.approved by "+webapi.Tanaka,
		"execution.started by system")
}

func rejectedFirst(t *testing.T, s *stack.Stack) (*driver.Request, []string) {
	d := say(t, s, webapi.Sato, "従業員一覧を取得して demo: mark "+markText)
	a := d.Until("a run waits", func(a *task.Aggregate) bool { return len(a.Waits) == 1 })
	planted.keep(a.Waits[0].Token)
	d.Reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", markReason)
	d.Click(webapi.Tanaka, "CARD#prompt#0002", "approve_prompt")
	d.Click(webapi.Tanaka, "CARD#process#0001", "approve_process")
	return d, finish(d, "task.created by system", "prompt.rejected by "+webapi.Suzuki, "prompt.approved by "+webapi.Tanaka,
		"process.approved by "+webapi.Tanaka, "execution.started by system")
}

func withdrawn(t *testing.T, s *stack.Stack) (*driver.Request, []string) {
	d := say(t, s, webapi.Sato, "従業員一覧を確認したい demo: mark "+markText)
	d.Click(webapi.Tanaka, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	expect.Eventually(t, "the cancel is taken", func() bool {
		_ = d.TryCancel(webapi.Sato, d.Root) // only the rows count
		return d.Load().Head.Ended != nil
	})
	d.Until("cancelled and shown", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCancelled })
	return d, []string{"task.created by system", "prompt.approved by " + webapi.Tanaka, "task.cancelled by " + webapi.Sato}
}

// triedAgain is the only scenario that reads attendance, because reading it fails at first for everybody.
func triedAgain(t *testing.T, s *stack.Stack) (*driver.Request, []string) {
	s.Vendors.Fail("list_attendance", http.StatusBadRequest, true)
	d := say(t, s, webapi.Sato, "今月の勤怠をまとめて demo: mark "+markText)
	d.Approve(webapi.Tanaka)
	d.Card("CARD#execution", "retry_execution")
	s.Vendors.Fail("list_attendance", 0, false)
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	return d, finish(d, "task.created by system", "prompt.approved by "+webapi.Tanaka,
		"process.approved by "+webapi.Tanaka,
		"execution.started by system", "execution.failed by system", "execution.retried by "+webapi.Sato, "execution.started by system")
}

// finish waits until the work is done and returns the expected audit log, which starts with log. If a fault outlasts a
// call's tries, its step fails, and a person retries it as the card says.
func finish(d *driver.Request, log ...string) []string {
	for {
		a := d.Until("done or failed", func(a *task.Aggregate) bool {
			return completed(a) || a.Task != nil && a.Task.Status == task.TaskFailed
		})
		if completed(a) {
			return append(log, "execution.completed by system")
		}
		attempt := a.Execution().Attempt
		d.Click(webapi.Sato, "CARD#execution", "retry_execution")
		if d.Load().Execution().Attempt > attempt { // else the click only found a write with an unknown outcome
			log = append(log, "execution.failed by system", "execution.retried by "+webapi.Sato, "execution.started by system")
		}
	}
}

func completed(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted }

// TestCallsToAWSFailAtRandom: one in ten calls to AWS fails, and of one in fifty every try fails. Every task still ends
// as its people decided, and nothing secret is left in logs.
func TestCallsToAWSFailAtRandom(t *testing.T) {
	s := start(t)
	rounds := 1
	if expect.Long() {
		rounds = 10
	}
	calls := s.Vendors.Calls("write_rows_to_google_sheet")
	faulty.set(0.10, 0.02, nil)
	defer func() { t.Log(faulty) }()
	var ended []*driver.Request
	told := 0
	results := make(chan *driver.Request, rounds*len(scenarios))
	t.Run("scenarios", func(t *testing.T) {
		for round := range rounds {
			for name, act := range scenarios {
				if name == "tried again" && round > 0 {
					continue // makes a tool fail for everybody
				}
				told++
				t.Run(fmt.Sprint(name, " ", round), func(t *testing.T) {
					t.Parallel()
					d, want := act(t, s)
					expect.Same(t, want, d.Audit())
					results <- d
				})
			}
		}
	})
	close(results)
	wrote := 0
	for d := range results {
		ended = append(ended, d)
		a := d.Load()
		for _, c := range a.Cards {
			if n := len(d.Cards(c.Key())); n != 1 {
				t.Errorf("%s of %s is %d messages", c.Key(), d.Ref.ID, n)
			}
		}
		if e := a.Execution(); e != nil {
			for _, x := range a.StepsOf(e) {
				if x.Tool == "write_rows_to_google_sheet" {
					wrote++
				}
			}
		}
	}
	if n := s.Vendors.Calls("write_rows_to_google_sheet") - calls; !t.Failed() && n < wrote {
		t.Errorf("%d writes are recorded, the vendor saw %d calls", wrote, n)
	}
	faulty.set(0, 0, nil)
	t.Run("tokens are renewed", renewed)
	t.Run("what is left behind", func(t *testing.T) { checkLeaks(t, ended) })
	if !t.Failed() && (len(ended) != told || len(faulty.hit) < 8) {
		t.Errorf("%d tasks ended, under %d kinds of fault", len(ended), len(faulty.hit))
	}
}
