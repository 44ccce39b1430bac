package slack

import (
	"net/http"
	"slices"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Two messages are written one after the other, and the second's event arrives first: each becomes its own task with
// its own cards, even if the second replies to the first.
func TestEventsOfTwoMessagesArriveSwapped(t *testing.T) {
	for _, tt := range []struct {
		name   string
		thread bool
	}{{"in a channel", false}, {"in one thread", true}} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			team := s.Sandbox.TeamID()
			root := expect.Value(s.Sandbox.Say(webapi.Sato, webapi.HR, "一つ目"))(t) // no mention: no event of its own
			in := ""
			if tt.thread {
				in = root
			}
			ts := expect.Value(s.Sandbox.Reply(webapi.Sato, webapi.HR, in, "二つ目"))(t)
			first, second := driver.At(t, s, webapi.HR, root), driver.At(t, s, webapi.HR, ts)
			if tt.thread {
				second.Root = root
			}
			eventIn(t, s, team, in, ts, "今月の勤怠をまとめて").deliver(t, s)
			event(t, s, team, root, "従業員一覧を取得して").deliver(t, s)
			for _, d := range []*driver.Request{second, first} {
				d.Approve(webapi.Suzuki)
				a := d.Until("done", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
				for key := range a.Rows() {
					if n := len(d.Cards(key)); n > 1 {
						t.Errorf("%s is %d messages", key, n)
					}
				}
			}
			if a, b := first.Load().Request, second.Load().Request; a.Text != "従業員一覧を取得して" || b.Text != "今月の勤怠をまとめて" {
				t.Errorf("the requests are %q and %q", a.Text, b.Text)
			}
		})
	}
}

// An event that took four minutes arrives after its task has ended: it is answered and starts nothing. If its message
// is unknown, it is a new request as usual.
func TestAnEventFourMinutesOld(t *testing.T) {
	d, _ := atGate(t)
	withdraw(d)
	untilQueueEmpty(t, d.S)
	after, audit, heard := d.Load(), d.Audit(), listen(d.S)
	team := d.S.Sandbox.TeamID()
	event(t, d.S, team, d.Root, "従業員一覧を取得して").late(d.S).deliver(t, d.S)
	untilQueueEmpty(t, d.S)
	expect.Same(t, after, d.Load(), equal)
	expect.Same(t, audit, d.Audit())
	if n := heard.count("chat.postMessage", ""); n != 0 {
		t.Errorf("%d messages", n)
	}

	root, err := d.S.Sandbox.Say(webapi.Sato, webapi.HR, "Ringi に頼む前の下書き") // no mention: no event of its own
	expect.NoError(t, err)
	event(t, d.S, team, root, "従業員一覧を取得して").late(d.S).deliver(t, d.S)
	lost := driver.At(t, d.S, webapi.HR, root)
	lost.Card("CARD#prompt#0001", "approve_prompt")
	withdraw(lost)
}

// A person who clicks on a card's state of minutes ago is told what has changed; the newest version is unaffected.
func TestAClickOnAnOldCardArrivesLate(t *testing.T) {
	d, _ := atGate(t)
	team := d.S.Sandbox.TeamID()
	shown, first := d.Card("CARD#prompt#0001", "approve_prompt"), d.Load().Prompt().ID
	hash := d.Load().Asked(first).Hash
	d.Reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", "もっと簡潔に")
	d.Card("CARD#prompt#0002", "approve_prompt")
	d.Until("the run waits", func(a *task.Aggregate) bool { return len(a.Waits) == 1 && a.Waits[0].Gate == "PROMPT#0002" })
	untilQueueEmpty(t, d.S)
	rejected := card.Note("ja", sentBack(d.Load()))
	late := func(user string, payload object, note string) {
		t.Helper()
		ignored(t, d, user, interaction(t, d.S, payload).late(d.S), note)
	}
	late(webapi.Tanaka, click(team, webapi.Tanaka, shown, d.Ref.ID, "approve_prompt", first), rejected)
	notTaken := rejected + "\n" + card.Surface("ja").ReasonNotTaken()
	late(webapi.Tanaka, submission(t, team, webapi.Tanaka, task.CardPrompt, d.Ref.ID, first, hash, "遅れた理由"), notTaken)
	late(webapi.Suzuki, submission(t, team, webapi.Suzuki, task.CardPrompt, d.Ref.ID, first, hash, "別の理由"), notTaken)
	late(webapi.Suzuki, submission(t, team, webapi.Suzuki, task.CardPrompt, d.Ref.ID, first, hash, "もっと簡潔に"),
		"") // decided so before

	d.S.Vendors.Fail("list_employees", http.StatusBadRequest, true)
	d.Click(webapi.Suzuki, "CARD#prompt#0002", "approve_prompt")
	running := d.Card("CARD#process#0001", "approve_process")
	d.Click(webapi.Tanaka, "CARD#process#0001", "approve_process")
	failed := d.Card("CARD#execution", "retry_execution")
	attempt := d.Load().Execution().ID
	for _, tool := range vendors.Tools() {
		d.S.Vendors.Fail(tool, 0, false)
	}
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	a := d.Until("done", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	untilQueueEmpty(t, d.S)
	late(webapi.Sato, click(team, webapi.Sato, failed, d.Ref.ID, "retry_execution", attempt), "")
	late(webapi.Tanaka, click(team, webapi.Tanaka, failed, d.Ref.ID, "cancel_execution", attempt),
		card.Note("ja", aggregate.ErrNotLatest{Latest: 2}))
	late(webapi.Suzuki, click(team, webapi.Suzuki, running, d.Ref.ID, "approve_process", a.Process().ID),
		card.Note("ja", aggregate.ErrDecided{Status: string(aggregate.Approved), By: webapi.Tanaka,
			At: *a.Process().ApprovedAt}))
}

// ignored sends a request that must change nothing and be answered with a note; "": none.
func ignored(t *testing.T, d *driver.Request, user string, r request, note string) {
	t.Helper()
	before, audit := d.Load(), d.Audit()
	code, body, told := r.answered(t, d.S, user)
	expect.That(t, code == http.StatusOK && body == "", "answered %d %s", code, body)
	var want []string
	if note != "" {
		want = []string{note}
	}
	expect.That(t, slices.Equal(told, want), "%s was told %q, want %q", user, told, want)
	d.Until("shown", func(*task.Aggregate) bool { return true })
	untilQueueEmpty(t, d.S)
	expect.Same(t, before, d.Load(), equal)
	expect.Same(t, audit, d.Audit())
}

// Two people decide, and the later request arrives first: it counts, and the other person is told.
func TestTwoDecisionsArriveSwapped(t *testing.T) {
	for _, tt := range []struct {
		name          string
		first, second func(t *testing.T, d *driver.Request, m webapi.Message) (user string, r request) // by arrival
		stands        func(*task.Aggregate) bool
		decided       func(*task.Aggregate) error // what the other is told
		more          string
	}{
		{"a rejection after the stamp that came later", stamp, rejection,
			func(a *task.Aggregate) bool { return a.Prompts[0].Status == aggregate.Approved }, stamped,
			"\n" + card.Surface("ja").ReasonNotTaken()},
		{"a stamp after the rejection that came later", rejection, stamp,
			func(a *task.Aggregate) bool { return a.Prompts[0].Status == aggregate.Rejected }, sentBack, ""},
		{"a stamp after the withdrawal that came later", withdrawal, stamp,
			func(a *task.Aggregate) bool { return a.Head.Ended != nil && a.Process() == nil }, func(a *task.Aggregate) error {
				return aggregate.ErrDecided{Status: string(a.Head.Ended.As), By: webapi.Sato, At: a.Head.Ended.At,
					Reason: a.Head.Ended.Reason}
			}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, _ := atGate(t)
			m := d.Card("CARD#prompt#0001", "approve_prompt")
			late, second := tt.second(t, d, m)
			user, first := tt.first(t, d, m)
			if code, body, _ := first.answered(t, d.S, user); code != http.StatusOK || body != "" {
				t.Errorf("answered %d %s", code, body)
			}
			d.Until("it counts, and the run has come to rest", func(a *task.Aggregate) bool {
				_, open := a.OpenGate()
				return tt.stands(a) && (a.Head.Ended != nil || open && len(a.Waits) == 1)
			})
			untilQueueEmpty(t, d.S)
			ignored(t, d, late, second.late(d.S), card.Note("ja", tt.decided(d.Load()))+tt.more)
		})
	}
}

// stamped and sentBack check the first policy's decision.
func stamped(a *task.Aggregate) error {
	return aggregate.ErrDecided{Status: string(aggregate.Approved), By: webapi.Tanaka, At: *a.Prompts[0].ApprovedAt}
}

func sentBack(a *task.Aggregate) error {
	return aggregate.ErrDecided{Status: string(aggregate.Rejected), By: webapi.Suzuki, At: *a.Prompts[0].RejectedAt}
}

func stamp(t *testing.T, d *driver.Request, m webapi.Message) (user string, r request) {
	return webapi.Tanaka, interaction(t, d.S, click(d.S.Sandbox.TeamID(), webapi.Tanaka, m, d.Ref.ID, "approve_prompt",
		d.Load().Prompt().ID))
}

func rejection(t *testing.T, d *driver.Request, _ webapi.Message) (user string, r request) {
	id := d.Load().Prompt().ID
	return webapi.Suzuki, interaction(t, d.S, submission(t, d.S.Sandbox.TeamID(), webapi.Suzuki, task.CardPrompt,
		d.Ref.ID, id, d.Load().Asked(id).Hash, "もっと簡潔に"))
}

func withdrawal(t *testing.T, d *driver.Request, m webapi.Message) (user string, r request) {
	return webapi.Sato, interaction(t, d.S, cancellation(t, d.S.Sandbox.TeamID(), webapi.Sato,
		card.Cancellation{TaskID: d.Ref.ID, Channel: m.Channel, Thread: d.Root}))
}
