package slack

import (
	"net/http"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// atGate makes a request whose run waits for the policy's stamp, with all cards shown.
func atGate(t *testing.T) (*driver.Request, callCounter) {
	t.Helper()
	s := start(t)
	d := say(t, s)
	d.Until("a run waits for the policy's stamp", func(a *task.Aggregate) bool { return waits(a) && len(a.Waits) == 1 })
	d.Card("CARD#prompt#0001", "approve_prompt")
	untilQueueEmpty(t, s)
	return d, listen(s)
}

func TestAnUpdateThatFailsIsDoneAgain(t *testing.T) {
	type failure struct {
		name  string
		fault webapi.Fault
	}
	for _, tt := range first(2, []failure{
		{"too many requests", webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Second}},
		{"the answer is lost", webapi.Fault{Kind: webapi.Lost}},
		{"HTTP 500", webapi.Fault{Kind: webapi.Unavailable, Status: http.StatusInternalServerError}},
		{"no answer within our time", webapi.Fault{Kind: webapi.Late, Delay: 12 * time.Second}},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			d, heard := atGate(t)
			tt.fault.Method, tt.fault.Channel = "chat.update", webapi.HR
			d.S.Sandbox.Faults().Add(tt.fault)
			withdraw(d)
			untilQueueEmpty(t, d.S)
			if n := heard.count("chat.postMessage", webapi.HR); n != 0 {
				t.Errorf("%d new messages", n)
			}
			if n := heard.count("chat.update", webapi.HR); n > 6 {
				t.Errorf("%d updates of two cards", n)
			}
		})
	}
}

// A deleted card is posted again, once; so is one that can't be updated any more.
func TestAMessageThatIsGoneIsPostedAnewOnce(t *testing.T) {
	t.Run("deleted by a person", func(t *testing.T) {
		d, heard := atGate(t)
		old := d.Card("CARD#prompt#0001", "")
		expect.NoError(t, d.S.Sandbox.Workspace().Delete(d.Channel, old.TS, webapi.Bot))
		withdraw(d)
		untilQueueEmpty(t, d.S)
		if n := heard.count("chat.postMessage", webapi.HR); n != 1 {
			t.Errorf("%d posts, want one", n)
		}
	})
	for _, code := range []string{"message_not_found", "cant_update_message", "edit_window_closed"} {
		t.Run(code, func(t *testing.T) {
			d, heard := atGate(t)
			d.S.Sandbox.Faults().Add(webapi.Fault{Method: "chat.update", Channel: webapi.HR, Kind: webapi.Refused, Code: code})
			d.Cancel(webapi.Sato, d.Root)
			d.Until("cancelled and shown", func(a *task.Aggregate) bool { return a.Head.Ended != nil })
			untilQueueEmpty(t, d.S)
			if n := heard.count("chat.postMessage", webapi.HR); n != 1 {
				t.Errorf("%d posts, want one", n)
			}
		})
	}
}

// An archived channel: its messages stay as they are and the work continues. Once the channel is open again, a click on
// an old card updates every card.
func TestAnUpdateThatIsRefusedForGood(t *testing.T) {
	for _, code := range []string{"is_archived", "channel_not_found", "not_in_channel", "msg_too_long"} {
		t.Run(code, func(t *testing.T) {
			d, heard := atGate(t)
			told := direct(d.S)
			for _, method := range []string{"chat.update", "chat.postMessage"} {
				d.S.Sandbox.Faults().Add(always(webapi.Fault{Method: method, Channel: webapi.HR, Kind: webapi.Refused, Code: code}))
			}
			before := d.Load().Head.Rev
			d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			a := d.Until("the steps wait", func(a *task.Aggregate) bool {
				return a.Process() != nil && a.Process().Status == aggregate.PendingApproval
			})
			untilQueueEmpty(t, d.S)
			if n, most := heard.count("chat.update", webapi.HR)+heard.count("chat.postMessage",
				webapi.HR), len(a.Cards)*(a.Head.Rev-before+1); n > most {
				t.Errorf("%d calls of %d cards in %d revisions", n, len(a.Cards), a.Head.Rev-before)
			}
			if got := direct(d.S)[len(told):]; len(got) != 1 {
				t.Errorf("the requester was told %d times: %q", len(got), got)
			}
			d.S.Sandbox.Faults().Clear("")
			d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt") // the button is still to be seen
			d.Card("CARD#prompt#0001", "✅ 承認: <@"+webapi.Suzuki+">")
			d.Card("CARD#process#0001", "approve_process")
			d.Cancel(webapi.Sato, d.Root)
			d.Card("CARD#process#0001", "キャンセルされました")
			d.Until("all is shown", func(a *task.Aggregate) bool { return a.Head.Ended != nil })
		})
	}
}
