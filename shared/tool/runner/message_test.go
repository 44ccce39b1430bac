package runner_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
)

// sent returns the messages that a person got.
func (w *world) sent(t *testing.T, user string) (texts []string) {
	t.Helper()
	c := expect.Value(w.people.Channel(user))(t)
	messages := expect.Value(w.people.History(c.ID, webapi.Range{}))(t)
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func TestADirectMessageIsSentOncePerKey(t *testing.T) {
	w := newWorld(t)
	var first, again, other runner.SentDM
	_, found := w.looks(t, "send_slack_dm", dmArgs)
	expect.That(t, !found, "found before it was sent")
	w.run(t, "send_slack_dm", dmArgs, &first)
	text, found := w.looks(t, "send_slack_dm", dmArgs)
	expect.That(t, found && strings.Contains(text, first.MessageTS), "not found: %s", text)
	w.run(t, "send_slack_dm", dmArgs, &again)
	expect.Same(t, []string{"&lt;!channel&gt; done &amp; dusted\n• n: 42\n• none: "}, w.sent(t, webapi.Sato))
	expect.That(t, !first.AlreadySent && again.AlreadySent && first.MessageTS != "" &&
		again.MessageTS == first.MessageTS && first.User == webapi.Sato, "%+v, %+v", first, again)
	w.run(t, "send_slack_dm", strings.Replace(dmArgs, "U0SANDSATO", "suzuki@example.com", 1), &other)
	expect.That(t, other.User == webapi.Suzuki && len(w.sent(t, webapi.Suzuki)) == 1, "by e-mail: %+v", other)
	e := w.refuse(t, "send_slack_dm", strings.Replace(dmArgs, "U0SANDSATO", "nobody@example.com", 1))
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemNoRecipient &&
		strings.Contains(e.Detail, "nobody@example.com"), "%v", e)
}

// Members can read the key of a message. One of them could post a message with that key, to keep the real message from
// being sent.
func TestOnlyOurOwnMessageIsFoundAgain(t *testing.T) {
	w := newWorld(t)
	forged := webapi.Draft{Channel: webapi.DirectMessage(webapi.Sato), User: webapi.Sato, Text: "nothing to see",
		Metadata: map[string]any{"event_type": runner.DMEvent, "event_payload": map[string]any{"key": "p/step-1/1"}}}
	expect.Value(w.people.Post(forged))(t)
	var first, again runner.SentDM
	w.run(t, "send_slack_dm", dmArgs, &first)
	w.run(t, "send_slack_dm", dmArgs, &again)
	expect.That(t, !first.AlreadySent && again.AlreadySent && again.MessageTS == first.MessageTS &&
		len(w.sent(t, webapi.Sato)) == 2, "%+v, then %+v; %q", first, again, w.sent(t, webapi.Sato))
}

// Below a message stands who asked for it and who stamped it, in the workspace's language. The message itself stays as
// it was stamped, and only a person's id names somebody.
func TestBelowAMessageStandsWhoAskedAndWhoStamped(t *testing.T) {
	const message = "&lt;!channel&gt; done &amp; dusted\n• n: 42\n• none: "
	for name, tc := range map[string]struct{ locale, asked, stamped, want string }{
		"by several": {"ja", webapi.Sato, webapi.Suzuki + " " + webapi.Tanaka,
			"依頼: <@U0SANDSATO> · 承認: <@U0SANDSUZU>、<@U0SANDTANA>"},
		"no person": {"ja", "!channel", webapi.Suzuki, ""},
		"by a rule": {"en", webapi.Sato, "auto", "Requested by <@U0SANDSATO> · approved by nobody (automatic)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: "send_slack_dm", Arguments: given(dmArgs),
				Key: "p/step-1/1", Locale: tc.locale, Asked: tc.asked, Stamped: strings.Fields(tc.stamped)})
			expect.NoError(t, err)
			want, blocks := message, 1
			if tc.want != "" {
				want, blocks = message+"\n"+tc.want, 2
			}
			expect.Same(t, []string{want}, w.sent(t, webapi.Sato))
			c := expect.Value(w.people.Channel(webapi.Sato))(t)
			sent := expect.Value(w.people.History(c.ID, webapi.Range{}))(t)[0].Blocks
			expect.Must(t, len(sent) == blocks, "%d blocks", len(sent))
			last, _ := json.Marshal(sent[blocks-1])
			expect.That(t, tc.want == "" || strings.Contains(string(last), `"context"`), "%s", last)
		})
	}
}

func TestADirectMessageThatFails(t *testing.T) {
	post := "chat.postMessage"
	for name, test := range map[string]struct {
		fault   webapi.Fault
		outcome explain.CallOutcome
		problem explain.Problem
	}{
		"rate limit": {webapi.Fault{Method: post, Kind: webapi.RateLimited, RetryAfter: 30 * time.Second},
			explain.CallFailed, explain.ProblemRateLimited},
		"503": {webapi.Fault{Method: post, Kind: webapi.Unavailable}, explain.CallUnknown, explain.ProblemDown},
		"refused": {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "restricted_action"},
			explain.CallFailed, explain.ProblemRejected},
		"fatal_error": {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "fatal_error"}, explain.CallUnknown,
			explain.ProblemDown},
		"token revoked": {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "token_revoked"}, explain.CallFailed,
			explain.ProblemUnauthorized},
		"answer lost": {webapi.Fault{Method: post, Kind: webapi.Lost}, explain.CallUnknown, explain.ProblemLost},
		"the search fails": {webapi.Fault{Method: "conversations.history", Kind: webapi.Unavailable}, explain.CallFailed,
			explain.ProblemDown},
		"the opening fails": {webapi.Fault{Method: "conversations.open", Kind: webapi.Lost}, explain.CallFailed,
			explain.ProblemLost},
		"a disabled account": {webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "user_disabled"},
			explain.CallFailed, explain.ProblemNoRecipient},
		"search rate limited": {webapi.Fault{Method: "conversations.history", Kind: webapi.RateLimited,
			RetryAfter: 30 * time.Second}, explain.CallFailed, explain.ProblemRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.slack.Add(test.fault)
			e := w.refuse(t, "send_slack_dm", dmArgs)
			expect.That(t, e.Outcome == test.outcome && e.Problem == test.problem, "%v", e)
			expect.That(t, test.fault.RetryAfter <= 0 || e.RetryAfter == test.fault.RetryAfter, "retry after %s", e.RetryAfter)
			expect.That(t, w.called.of(post) <= 1, "posted %d times", w.called.of(post))
			// When the call is repeated, it finds the sent message, and there is only one.
			var out runner.SentDM
			w.run(t, "send_slack_dm", dmArgs, &out)
			lost := test.fault.Kind == webapi.Lost && test.fault.Method == post
			expect.That(t, out.AlreadySent == lost && len(w.sent(t, webapi.Sato)) == 1, "%+v, %v", out, w.sent(t, webapi.Sato))
		})
	}
}

func TestADirectMessageWaitsOutARateLimit(t *testing.T) {
	expect.Patience(t)
	byMail := strings.Replace(dmArgs, "U0SANDSATO", "sato@example.com", 1)
	for _, method := range []string{"users.lookupByEmail", "conversations.open", "conversations.history",
		"chat.postMessage"} {
		w := newWorld(t)
		w.slack.Add(webapi.Fault{Method: method, Kind: webapi.RateLimited, RetryAfter: time.Second})
		var out runner.SentDM
		w.run(t, "send_slack_dm", byMail, &out)
		expect.That(t, w.called.of(method) == 2 && len(w.sent(t, webapi.Sato)) == 1 && !out.AlreadySent,
			"%s was called %d times, %d messages: %+v", method, w.called.of(method), len(w.sent(t, webapi.Sato)), out)
	}
}
