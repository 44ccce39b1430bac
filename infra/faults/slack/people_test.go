package slack

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// bad are the ways in which a call about one person fails.
var bad = map[string]webapi.Fault{
	"too many requests":     {Kind: webapi.RateLimited, RetryAfter: time.Second},
	"HTTP 500":              {Kind: webapi.Unavailable, Status: http.StatusInternalServerError},
	"the answer is lost":    {Kind: webapi.Lost},
	"it takes four seconds": {Kind: webapi.Late, Delay: 4 * time.Second},
	"channel_not_found":     {Kind: webapi.Refused, Code: "channel_not_found"},
	"not_in_channel":        {Kind: webapi.Refused, Code: "not_in_channel"},
	"is_archived":           {Kind: webapi.Refused, Code: "is_archived"},
	"msg_too_long":          {Kind: webapi.Refused, Code: "msg_too_long"},
	"token_revoked":         {Kind: webapi.Refused, Code: "token_revoked"},
}

// If a note can't be shown, the person is not told why, but Slack gets its answer in time, the decision stands, and
// nothing is retried.
func TestANoteThatCantBeShown(t *testing.T) {
	d, _ := atGate(t)
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	old := d.Card("CARD#process#0001", "approve_process")
	d.Click(webapi.Suzuki, "CARD#process#0001", "approve_process")
	d.Until("done", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	for name, fault := range bad {
		t.Run(name, func(t *testing.T) {
			untilQueueEmpty(t, d.S)
			heard, before := listen(d.S), d.Load().Head.Rev
			fault.Method = "chat.postEphemeral"
			d.S.Sandbox.Faults().Add(fault)
			if code := press(t, d, webapi.Tanaka, old, "approve_process", d.Load().Process().ID); code != http.StatusOK {
				t.Errorf("answered %d", code)
			}
			if n := heard.count("chat.postEphemeral", ""); n > 1 {
				t.Errorf("%d notes were tried", n)
			}
			a := d.Until("shown", func(*task.Aggregate) bool { return true })
			if a.Head.Rev != before {
				t.Errorf("the task moved from rev %d to %d", before, a.Head.Rev)
			}
			d.S.Sandbox.Faults().Clear("")
		})
	}
}

// If Slack doesn't open a dialog, the person is told, and clicks again.
func TestADialogThatDoesNotOpen(t *testing.T) {
	faults := map[string]webapi.Fault{"expired_trigger_id": {Kind: webapi.Refused, Code: "expired_trigger_id"}}
	for _, name := range []string{"too many requests", "HTTP 500", "the answer is lost", "it takes four seconds", "token_revoked"} {
		faults[name] = bad[name]
	}
	d, _ := atGate(t)
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			fault.Method = "views.open"
			heard, noted := clicks(d, "reject_prompt", fault)
			d.S.Sandbox.Faults().Clear("")
			if n := heard.count("views.open", ""); n > 1 {
				t.Errorf("%d dialogs were asked for", n)
			}
			unknown := fault.Kind != webapi.Refused && fault.Kind != webapi.RateLimited
			told := d.Notes(webapi.Suzuki)[noted:]
			if !unknown && !slices.Equal(told, []string{card.Note("ja", explain.ErrUnavailable)}) {
				t.Errorf("the person was told %q", told)
			}
			for _, v := range d.S.Sandbox.Views(webapi.Suzuki) { // the dialog is open, but the answer was lost
				if !unknown {
					t.Error("a dialog is open")
				}
				expect.NoError(t, d.S.Sandbox.CloseView(webapi.Suzuki, v.ID))
			}
		})
	}
	d.Reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", "もっと簡潔に")
	d.Card("CARD#prompt#0002", "approve_prompt")
	withdraw2(d)
}

// withdraw2 cancels a task whose second policy waits.
func withdraw2(d *driver.Request) {
	d.T.Helper()
	d.Cancel(webapi.Sato, d.Root)
	d.Card("CARD#prompt#0002", "キャンセルされました")
}

// A step sends a direct message: after a definite failure a person retries it; after an unknown outcome the person is
// asked to check, and finds the message.
func TestADirectMessageThatAStepSends(t *testing.T) {
	type failure struct {
		name  string
		fault webapi.Fault
		shows string // on the failed card; "" if the step doesn't fail
	}
	for _, tt := range first(4, []failure{
		{"too many requests, for a second", webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Second}, ""},
		{"the connection drops after it was sent", webapi.Fault{Kind: webapi.Lost}, "結果不明"},
		{"HTTP 500", bad["HTTP 500"], "結果不明"},
		{"token_revoked", bad["token_revoked"], "❌"},
		{"too many requests, for longer than the call may take", webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Hour}, "❌"},
		{"four seconds", webapi.Fault{Kind: webapi.Late, Delay: 4 * time.Second}, ""},
		{"channel_not_found", bad["channel_not_found"], "❌"},
		{"msg_too_long", bad["msg_too_long"], "❌"},
		{"is_archived", bad["is_archived"], "❌"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			untilQueueEmpty(t, s)
			heard := listen(s)
			tt.fault.Method, tt.fault.Channel = "chat.postMessage", webapi.DirectMessage(webapi.Sato)
			s.Sandbox.Faults().Add(tt.fault)
			d := say(t, s)
			d.Approve(webapi.Suzuki)
			calls := 1
			if tt.fault.Kind == webapi.RateLimited {
				calls = 2 // Slack said that it did nothing
			}
			if tt.shows != "" {
				d.Card("CARD#execution", "retry_execution")
				if seen := driver.Face(d.Card("CARD#execution", tt.shows)); strings.Contains(seen, "xoxb") {
					t.Error("the card shows the token")
				}
				untilQueueEmpty(t, s)
				if n := heard.count("chat.postMessage", tt.fault.Channel) - outcomes(d); n != 1 {
					t.Errorf("%d direct messages were tried before anybody asked again", n)
				}
				d.Click(webapi.Sato, "CARD#execution", "retry_execution")
				calls = 2
			}
			a := d.Until("done", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
			if tt.fault.Kind == webapi.Lost {
				calls = 1 // the first was found
			}
			untilQueueEmpty(t, s)
			if n := heard.count("chat.postMessage", tt.fault.Channel) - outcomes(d); n != calls {
				t.Errorf("%d direct messages were tried, want %d", n, calls)
			}
			if n := d.Notified(a, webapi.Sato); n != 1 {
				t.Errorf("the requester has %d messages, want one", n)
			}
		})
	}
}

// outcomes counts the messages that told the requester how the task ended.
func outcomes(d *driver.Request) (n int) {
	for _, c := range d.Load().Copies {
		if c.CardType == task.CardOutcome && c.MessageTS != "" {
			n++
		}
	}
	return n
}
