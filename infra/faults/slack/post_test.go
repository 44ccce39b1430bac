package slack

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// say makes a request whose cards may not be visible.
func say(t *testing.T, s *stack.Stack) *driver.Request { return sayAs(t, s, webapi.Sato) }

func sayAs(t *testing.T, s *stack.Stack, user string) *driver.Request {
	t.Helper()
	d := driver.Say(t, s, user, webapi.HR, "<@"+webapi.Bot+"> 従業員一覧を取得して")
	expect.Eventually(t, "the request is kept", func() bool {
		_, err := d.Store.Load(t.Context(), d.Ref)
		return err == nil
	})
	return d
}

// waits reports whether the policy waits for a stamp.
func waits(a *task.Aggregate) bool {
	return a.Prompt() != nil && a.Prompt().Status == aggregate.PendingApproval
}

// withdraw cancels a task by the menu of the message that asked for it.
func withdraw(d *driver.Request) {
	d.T.Helper()
	d.Cancel(webapi.Sato, d.Root)
	d.Until("the task is cancelled", func(a *task.Aggregate) bool { return a.Head.Ended != nil })
	d.Card("CARD#prompt#0001", "キャンセルされました")
}

func TestAPostThatFailsOnceIsOneMessage(t *testing.T) {
	type failure struct {
		name  string
		fault webapi.Fault
		posts int // of both cards together
	}
	for _, tt := range first(3, []failure{
		{"too many requests", webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Second}, 3},
		{"the connection drops after the message was posted", webapi.Fault{Kind: webapi.Lost}, 2},
		{"no answer within our time", webapi.Fault{Kind: webapi.Late, Delay: 12 * time.Second}, 2},
		{"HTTP 500", webapi.Fault{Kind: webapi.Unavailable, Status: http.StatusInternalServerError}, 3},
		{"service_unavailable", webapi.Fault{Kind: webapi.Refused, Code: "service_unavailable"}, 3},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			heard := listen(s)
			tt.fault.Method, tt.fault.Channel = "chat.postMessage", webapi.HR
			s.Sandbox.Faults().Add(tt.fault)
			d := say(t, s)
			d.Until("both cards are shown", waits)
			d.Card("CARD#task", "*優先度*")
			d.Card("CARD#prompt#0001", "approve_prompt")
			withdraw(d)
			untilQueueEmpty(t, s)
			if n := heard.count("chat.postMessage", webapi.HR); n != tt.posts {
				t.Errorf("%d posts, want %d", n, tt.posts)
			}
			if n := len(s.Sandbox.Messages(d.Channel, d.Root)); n != 3 {
				t.Errorf("the thread has %d messages, not the request and two cards", n)
			}
		})
	}
}

// A post that Slack refuses for good is not repeated until something changes. The requester is told once, and once
// cards can be shown they are.
func TestAPostThatIsRefusedForGood(t *testing.T) {
	for _, code := range []string{"msg_too_long", "channel_not_found", "not_in_channel", "is_archived",
		"restricted_action"} {
		t.Run(code, func(t *testing.T) {
			s := start(t)
			heard, told := listen(s), direct(s)
			s.Sandbox.Faults().Add(always(webapi.Fault{Method: "chat.postMessage", Channel: webapi.HR, Kind: webapi.Refused,
				Code: code}))
			d := say(t, s)
			a := d.Until("the policy waits, and what can be shown is", waits)
			untilQueueEmpty(t, s)
			if n := heard.count("chat.postMessage", webapi.HR); n > len(a.Cards)*a.Head.Rev {
				t.Errorf("%d posts of %d cards in %d revisions", n, len(a.Cards), a.Head.Rev)
			}
			if got := direct(s)[len(told):]; len(got) != 1 || !strings.Contains(got[0], code) ||
				!strings.Contains(got[0], webapi.HR) {
				t.Errorf("the requester was told %q, not once that cards can't be shown", got)
			}
			s.Sandbox.Faults().Clear("")
			withdraw(d)
			if n := len(s.Sandbox.Messages(d.Channel, d.Root)); n != 3 {
				t.Errorf("the thread has %d messages, not the request and two cards", n)
			}
		})
	}
}

// While Slack refuses the app's token, accepted work continues until it needs a person (here Slack still says who
// asks). The gate that opens then is shown once Slack accepts the token, without any change or act. Meanwhile the app
// tries less and less often.
func TestAGateThatOpensWhileSlackRefusesTheAppIsShownAfterwards(t *testing.T) {
	for _, code := range []string{"token_revoked", "invalid_auth"} {
		t.Run(code, func(t *testing.T) {
			s := start(t)
			heard := listen(s)
			for _, method := range []string{"", "conversations.open", "conversations.replies", "users.conversations"} {
				s.Sandbox.Faults().Add(always(webapi.Fault{Method: method, Kind: webapi.Refused, Code: code}))
			}
			d := say(t, s)
			var a *task.Aggregate
			expect.Eventually(t, "the policy waits, and was tried", func() bool {
				var err error
				if a, err = d.Store.Load(t.Context(), d.Ref); err != nil {
					t.Fatal(err)
				}
				return waits(a) && len(a.Waits) == 1 && heard.count("chat.postMessage", "") > 1
			})
			if n, most := heard.count("chat.postMessage", ""), 10+2*a.Head.Rev; n > most ||
				heard.count("conversations.open", "") != 0 {
				t.Errorf("%d posts in %d revisions", n, a.Head.Rev)
			}
			for _, c := range a.Cards {
				if c.State == aggregate.CardUnreachable {
					t.Errorf("%s is marked unreachable", c.Key())
				}
			}
			s.Sandbox.Faults().Clear("")
			d.Card("CARD#prompt#0001", "approve_prompt")
			untilQueueEmpty(t, s)
			if now := d.Load(); now.Head.Rev != a.Head.Rev || now.Head.ShownRev != now.Head.Rev {
				t.Errorf("rev %d, then %d, shown %d", a.Head.Rev, now.Head.Rev, now.Head.ShownRev)
			}
			withdraw(d)
		})
	}
}

// A request that is made while Slack refuses the app waits until Slack says who asks, and then continues by itself.
func TestARequestThatSlackDoesNotVouchForWaits(t *testing.T) {
	s := start(t)
	for _, method := range []string{"", "conversations.open", "conversations.replies", "users.info",
		"users.conversations", "auth.test"} {
		s.Sandbox.Faults().Add(always(webapi.Fault{Method: method, Kind: webapi.Refused, Code: "token_revoked"}))
	}
	d := sayAs(t, s, webapi.Tanaka) // not looked up within the last minute
	expect.Eventually(t, "the request waits", func() bool {
		a, err := d.Store.Load(t.Context(), d.Ref)
		return err == nil && a.Head.PausedUntil != nil && a.Task == nil && a.Head.Parked == nil
	})
	s.Sandbox.Faults().Clear("")
	d.Card("CARD#prompt#0001", "approve_prompt")
	d.Approve(webapi.Suzuki)
}

// direct returns the texts that the bot has sent to the requester.
func direct(s *stack.Stack) (out []string) {
	for _, m := range s.Sandbox.Messages(webapi.DirectMessage(webapi.Sato), "") {
		out = append(out, m.Text)
	}
	return out
}

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
	// The test of posts that are refused has every code by day.
	for _, code := range first(2, []string{"is_archived", "msg_too_long", "channel_not_found", "not_in_channel"}) {
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
