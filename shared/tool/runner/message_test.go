package runner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
	"ringi/shared/tool/sheets"
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
		"stamped":        {"ja", webapi.Sato, webapi.Suzuki, "依頼: <@U0SANDSATO> · 承認: <@U0SANDSUZU>"},
		"in English":     {"en", webapi.Sato, webapi.Suzuki, "Requested by <@U0SANDSATO> · approved by <@U0SANDSUZU>"},
		"nobody stamped": {"ja", webapi.Sato, "", "依頼: <@U0SANDSATO> · 承認: 自動承認"},
		"no person":      {"ja", "!channel", webapi.Suzuki, ""},
		"by a rule":      {"en", webapi.Sato, "auto", "Requested by <@U0SANDSATO> · approved by nobody (automatic)"},
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
		"search not allowed": {webapi.Fault{Method: "conversations.history", Kind: webapi.Refused, Code: "missing_scope"},
			explain.CallFailed, explain.ProblemRejected},
		"a disabled account": {webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "user_disabled"},
			explain.CallFailed, explain.ProblemNoRecipient},
		"an unavailable bot": {webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "cannot_dm_bot"},
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

// An alarm watches failed calls of Slack. The answer that a recipient does not exist is not a failure.
func TestADirectMessagesCallsAreCounted(t *testing.T) {
	byMail := strings.Replace(dmArgs, "U0SANDSATO", "sato@example.com", 1)
	for name, test := range map[string]struct {
		args           string
		fault          webapi.Fault
		called, failed float64
	}{
		"all goes well":          {byMail, webapi.Fault{}, 4, 0},
		"an address of nobody":   {strings.Replace(dmArgs, "U0SANDSATO", "nobody@example.com", 1), webapi.Fault{}, 1, 0},
		"a look-up in an outage": {byMail, webapi.Fault{Method: "users.lookupByEmail", Kind: webapi.Unavailable}, 1, 1},
		"a token that is gone": {dmArgs, webapi.Fault{Method: "conversations.open", Kind: webapi.Refused,
			Code: "token_revoked"}, 1, 1},
		"a search that is lost": {dmArgs, webapi.Fault{Method: "conversations.history", Kind: webapi.Lost}, 2, 1},
		"a post in an outage":   {dmArgs, webapi.Fault{Method: "chat.postMessage", Kind: webapi.Unavailable}, 3, 1},
		"a rate limit waited out": {dmArgs, webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited,
			RetryAfter: time.Second}, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.fault.Method != "" {
				w.slack.Add(test.fault)
			}
			got := counted(t, func() {
				_, _ = w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: "send_slack_dm", Arguments: given(test.args),
					Key: "p/step-1/1", Locale: "en"})
			})
			expect.That(t, got[boot.SlackCalled] == test.called && got[boot.SlackFailed] == test.failed,
				"counted %v, want %v calls of which %v failed", got, test.called, test.failed)
		})
	}
}

// counted calls do and returns the sums of the metrics that are written for CloudWatch.
func counted(t *testing.T, do func()) map[boot.MetricName]float64 {
	t.Helper()
	file := expect.Value(os.Create(filepath.Join(t.TempDir(), "stdout")))(t)
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	do()
	b := expect.Value(os.ReadFile(file.Name()))(t)
	sums := map[boot.MetricName]float64{}
	for line := range bytes.Lines(b) {
		var fields map[string]any
		err := json.Unmarshal(line, &fields)
		expect.Must(t, err == nil, "%v: %s", err, line)
		for name, value := range fields {
			n, _ := value.(float64)
			sums[boot.MetricName(name)] += n
		}
	}
	return sums
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

func TestAnUnknownRecipient(t *testing.T) {
	w := newWorld(t)
	for _, who := range []string{"U0NOBODY", "nobody@example.com"} {
		e := w.refuse(t, "send_slack_dm", strings.Replace(dmArgs, "U0SANDSATO", who, 1))
		expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemNoRecipient &&
			strings.Contains(e.Detail, who), "%s: %v", who, e)
	}
}

// A message is sent as it was approved: no number changes its value or its notation.
func TestNumbersAreSentAsTheyWereApproved(t *testing.T) {
	w := newWorld(t)
	var sent runner.SentDM
	w.run(t, "send_slack_dm", `{"recipient":"U0SANDSATO","text":"x",
		"details":[{"label":"賞与","value":25000000},{"label":"番号","value":9007199254740993},
		{"label":"率","value":0.10}]}`, &sent)
	expect.Same(t, []string{"x\n• 賞与: 25000000\n• 番号: 9007199254740993\n• 率: 0.10"}, w.sent(t, webapi.Sato))
	var out sheets.Written
	w.run(t, sheetTool, `{"spreadsheet_id":"ringi-demo-sheet","sheet":"n","columns":[{"key":"n","title":"N"}],
		"rows":[{"n":25000000},{"n":9007199254740993},{"n":9007199254740992},{"n":0.1}]}`, &out)
	expect.Same(t, [][]any{{"N"}, {25000000.0}, {"9007199254740993"}, {9007199254740992.0}, {0.1}},
		w.vendors.Rows("ringi-demo-sheet", "n"))
}

// anyText draws texts of what Slack, cards or people could take for something else.
var anyText = rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{
	"*太字*", "@channel", "@here", "<!channel>", "<@U0SANDSUZU>", "<https://evil.example|詳細>", "&lt;", "&amp;amp;", "&", "<",
	">", "_a_", "~", "`x`", "```",
	":x:", ":white_check_mark:", "\n", "\n• 宛先: ", "\n> ", "✅", "❌", " ", "  ", "\t", "\u3000", "\u2060", "\u200b",
	"\u202e", "＊", "2**3", "HEAD~1", "https://example.com/a_b*?x=1&y=2",
	"http://a@b.example/", "#general", "mailto:a@b.example", "a@b.example", "𠮟", "1.50", "<!date^1^{date}|x>", "|",
	"[x](https://a.example)",
}), rapid.StringN(0, 8, -1)), 1, 12), func(parts []string) string { return strings.Join(parts, "") })

// What a person stamped is what its receiver reads, in the message and in its notification, and nobody is called.
func TestAMessageIsReadAsItWasStamped(t *testing.T) {
	w := newWorld(t)
	n := 0
	filled := func(s string) bool { return s != "" && utf8.RuneCountInString(s) <= 100 }
	rapid.Check(t, func(r *rapid.T) {
		text, value := anyText.Filter(filled).Draw(r, "text"), rapid.OneOf(anyText, rapid.Just("")).Draw(r, "value")
		label := anyText.Filter(filled).Draw(r, "label")
		args := expect.Value(json.Marshal(map[string]any{"recipient": webapi.Sato, "text": text, "details": []any{
			map[string]any{"label": label, "value": value}, map[string]any{"label": "無", "value": nil}}}))(r)
		n++
		_, err := w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: "send_slack_dm", Arguments: given(string(args)),
			Key: fmt.Sprint(n), Locale: "ja"})
		expect.NoError(r, err)
		c := expect.Value(w.people.Channel(webapi.Sato))(r)
		all := expect.Value(w.people.History(c.ID, webapi.Range{}))(r)
		m := all[0]
		want := runner.Reading{Shown: text + "\n• " + label + ": " + value + "\n• 無: "}
		expect.Same(r, want, runner.ReadBlocks(m.Blocks))
		expect.Same(r, want, runner.ReadText(m.Text, m.Mrkdwn == nil || *m.Mrkdwn))
	})
}
