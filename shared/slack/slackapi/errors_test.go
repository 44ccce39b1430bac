package slackapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

func client(t *testing.T, address string, timeout time.Duration) *slackapi.Client {
	t.Helper()
	return slackapi.With(ringitest.Keys{Token: "xoxb-test", Address: address}, timeout)
}

// TestErrorsSayWhatIsKnown: an error says whether a message may have been posted.
func TestErrorsSayWhatIsKnown(t *testing.T) {
	answers := func(status int, header, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if header != "" {
				w.Header().Set("Retry-After", header)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   error
	}{
		{"rate limited", answers(429, "7", `{"ok":false,"error":"ratelimited"}`),
			slackapi.RateLimited{RetryAfter: 7 * time.Second}},
		{"rate limited by a proxy", answers(429, "0.5", "slow down"),
			slackapi.RateLimited{RetryAfter: 500 * time.Millisecond}},
		{"rate limited until long ago", answers(429, "Wed, 21 Oct 2015 07:28:00 GMT", ""),
			slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"rate limited for a date far away", answers(429, "Fri, 31 Dec 2999 23:59:59 GMT", ""),
			slackapi.RateLimited{RetryAfter: 24 * time.Hour}},
		{"rate limited for less than nothing", answers(429, "-7", ""), slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"rate limited for nobody knows how long", answers(429, "soon", ""),
			slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"rate limited for ages", answers(429, "99999999999999999999", ""), slackapi.RateLimited{RetryAfter: 24 * time.Hour}},
		{"rate limited, without a time", answers(429, "", ""), slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"rate limited in the body alone", answers(200, "", `{"ok":false,"error":"ratelimited"}`),
			slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"no such channel", answers(200, "", `{"ok":false,"error":"channel_not_found"}`),
			slackapi.Refused{Code: "channel_not_found", Permanent: true}},
		{"too long", answers(200, "", `{"ok":false,"error":"msg_too_long"}`),
			slackapi.Refused{Code: "msg_too_long", Permanent: true}},
		{"a code of tomorrow", answers(200, "", `{"ok":false,"error":"never_heard"}`),
			slackapi.Refused{Code: "never_heard", Permanent: true}},
		{"a token that is no more", answers(200, "", `{"ok":false,"error":"token_revoked"}`),
			slackapi.Refused{Code: "token_revoked", App: true}},
		{"a token of another", answers(200, "", `{"ok":false,"error":"invalid_auth"}`),
			slackapi.Refused{Code: "invalid_auth", App: true}},
		{"a scope that was not asked for", answers(200, "", `{"ok":false,"error":"missing_scope","needed":"chat:write"}`),
			slackapi.Refused{Code: "missing_scope", App: true}},
		{"keys that an organization took away", answers(200, "", `{"ok":false,"error":"ekm_access_denied"}`),
			slackapi.Refused{Code: "ekm_access_denied", App: true}},
		{"a conversation without the app", answers(200, "", `{"ok":false,"error":"no_permission"}`),
			slackapi.Refused{Code: "no_permission", Permanent: true}},
		{"out of service", answers(200, "", `{"ok":false,"error":"service_unavailable"}`),
			slackapi.Refused{Code: "service_unavailable"}},
		{"a fault in the middle", answers(200, "", `{"ok":false,"error":"fatal_error"}`),
			slackapi.Unknown{Cause: "fatal_error", Over: true}},
		{"another fault in the middle", answers(200, "", `{"ok":false,"error":"internal_error"}`),
			slackapi.Unknown{Cause: "internal_error", Over: true}},
		{"Slack's own fault", answers(500, "", "<html>"), slackapi.Unknown{Cause: "http 500", Over: true}},
		{"a gateway that gave up", answers(504, "", "<html>"), slackapi.Unknown{Cause: "http 504"}},
		{"a gateway's fault", answers(502, "", "<html>"), slackapi.Unknown{Cause: "http 502"}},
		{"no such address", answers(404, "", ""), slackapi.Refused{Code: "http_404"}},
		{"ok without a timestamp", answers(200, "", `{"ok":true}`), slackapi.Unknown{Cause: "answer without ts"}},
		{"the connection drops", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			slackapi.Unknown{}},
		{"no JSON", answers(200, "", "<html>"), slackapi.Unknown{}},
		{"a redirect is not followed", func(w http.ResponseWriter, r *http.Request) {
			expect.That(t, r.URL.Path != "/elsewhere", "the token went elsewhere")
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, slackapi.Refused{Code: "http_307"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := expect.Server(t, tt.answer)
			_, err := client(t, server.URL+"/api/", time.Minute).Post(t.Context(), "C1", "1.000001", slack.Msg{Text: "x"},
				slackapi.Metadata{})
			check(t, err, tt.want)
		})
	}
}

func check(t *testing.T, err, want error) {
	t.Helper()
	switch want := want.(type) {
	case slackapi.RateLimited:
		var got slackapi.RateLimited
		expect.That(t, errors.As(err, &got) && got == want, "got %v, want %v", err, want)
	case slackapi.Refused:
		var got slackapi.Refused
		expect.That(t, errors.As(err, &got) && got == want, "got %v, want %v", err, want)
	case slackapi.Unknown:
		var got slackapi.Unknown
		expect.That(t, errors.As(err, &got) && (want.Cause == "" || got == want), "got %v, want %v", err, want)
	}
}

func TestNobodyListens(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := client(t, server.URL+"/api/", time.Minute).Post(t.Context(), "C1", "1.000001", slack.Msg{Text: "x"},
		slackapi.Metadata{})
	check(t, err, slackapi.Refused{Code: "unreached"})
}

func TestASlowAnswerIsUnknown(t *testing.T) {
	done := make(chan struct{})
	server := expect.Server(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer close(done)
	_, err := client(t, server.URL+"/api/", 20*time.Millisecond).Post(t.Context(), "C1", "1.000001",
		slack.Msg{Text: "x"}, slackapi.Metadata{})
	check(t, err, slackapi.Unknown{Cause: "timeout"})
}

func TestAddressesThatSlackGoWouldMisread(t *testing.T) {
	for _, address := range []string{"", "https://slack.com/api", "slack.com/api/", "://"} {
		_, err := client(t, address, time.Minute).Team(t.Context())
		check(t, err, slackapi.Refused{Code: slackapi.CodeNoToken, App: true})
	}
}

// keys has a bot's token, and the one that replaces it.
type keys struct {
	token, next, address string
	err                  error
	refused              int
}

func (r *keys) Bot(context.Context) (string, string, error) { return r.token, r.address, r.err }

func (r *keys) Refused(context.Context) bool {
	r.refused++
	changed := r.next != "" && r.next != r.token
	if changed {
		r.token = r.next
	}
	return changed
}

// with returns a client of a workspace whose bot has the token xoxb-test.
func with(t *testing.T, r *keys) (*slackapi.Client, *ringitest.Slack) {
	t.Helper()
	s := ringitest.StartSlack(t)
	r.address = s.URL
	return slackapi.With(r, time.Minute), s
}

func TestACallIsMadeAgainWithTheTokenThatReplacedARefusedOne(t *testing.T) {
	r := &keys{token: "xoxb-old", next: "xoxb-test"}
	c, _ := with(t, r)
	ts, err := c.Post(t.Context(), webapi.HR, "", message("one"), about) // a form
	expect.Must(t, err == nil && ts != "" && r.refused == 1, "%q, %v, asked %d times", ts, err, r.refused)
	r.token = "xoxb-old"
	_, err = c.User(t.Context(), webapi.Sato)
	expect.That(t, err == nil && r.refused == 2, "%v, asked %d times", err, r.refused)
	err = c.Update(t.Context(), webapi.HR, ts, message("two"), about)
	expect.That(t, err == nil && r.refused == 2, "%v, asked %d times", err, r.refused)
}

// Slack is asked only once which workspace a token belongs to.
func TestWhoseTheTokenIs(t *testing.T) {
	c, w := with(t, &keys{token: "xoxb-test"})
	for calls := range 2 {
		team, err := c.Team(t.Context())
		n := len(w.Calls())
		expect.That(t, err == nil && team == ringitest.Team && n == 1-calls, "%q, %v after %d calls", team, err, n)
	}
}

func TestARefusedTokenWithoutAnotherIsSaid(t *testing.T) {
	r := &keys{token: "xoxb-old"}
	c, w := with(t, r)
	_, err := c.Post(t.Context(), webapi.HR, "", message("one"), about)
	n := len(w.Calls())
	expect.That(t, slackapi.Code(err) == "invalid_auth" && r.refused == 1 && n <= 1, "%v after %d calls, asked %d times",
		err, n, r.refused)
}

func TestWithoutATokenNothingIsSent(t *testing.T) {
	r := &keys{err: errors.New("bot_token: not pasted")}
	c, w := with(t, r)
	_, err := c.Post(t.Context(), webapi.HR, "", message("one"), about)
	expect.That(t, slackapi.Code(err) == slackapi.CodeNoToken && len(w.Calls()) == 0, "%v, or a call", err)
	var refused slackapi.Refused
	expect.That(t, errors.As(err, &refused) && !refused.Permanent && refused.App,
		"%+v: it is pasted sooner or later, and somebody has to", refused)
}

// A new token may belong to another bot with other messages.
func TestAnotherTokenIsAnotherBot(t *testing.T) {
	asked := 0
	server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked++
		bot := "U0" + q.FormValue("token")
		if q.URL.Path == "/api/auth.test" {
			w.Write([]byte(`{"ok":true,"user_id":"` + bot + `","bot_id":""}`))
			return
		}
		w.Write([]byte(`{"ok":true,"messages":[{"ts":"2.000001","user":"U0new","metadata":{"event_type":"ringi_card",` +
			`"event_payload":{"task":"01TASK","card":"CARD#task"}}}]}`))
	}))
	r := &keys{token: "old", address: server.URL + "/api/"}
	c := slackapi.With(r, time.Minute)
	for _, want := range []struct {
		token string
		found int
	}{{"old", 0}, {"new", 1}, {"new", 1}} {
		r.token = want.token
		found, err := c.FindCards(t.Context(), "C1", "1.000001", about)
		expect.That(t, err == nil && len(found) == want.found, "as %s: %v, %v", want.token, found, err)
	}
	expect.That(t, asked == 6, "%d calls: whose a token is, is asked once for each", asked)
}

// One message of an unusual form in a thread must not hide the others from the model, nor the card that is looked for.
// The first two forms were reported by users of other clients: rusq/slackdump#492 (id), slack-go/slack#1292 (color).
func TestOneOddMessageHidesNoThread(t *testing.T) {
	const root = "1776675000.000100"
	for name, more := range map[string]string{
		"an attachment's id is a text":   `"text":"a","attachments":[{"id":"1","text":"a"}]`,
		"an attachment's color a number": `"text":"a","attachments":[{"id":1,"color":123,"text":"a"}]`,
		"a field's value is a number": `"text":"a","attachments":[{"id":1,
			"fields":[{"title":"期間","value":4,"short":true}]}]`,
		"a younger element of a context":      `"text":"a","blocks":[{"type":"context","elements":[{"type":"brand_new"}]}]`,
		"a younger element of actions":        `"text":"a","blocks":[{"type":"actions","elements":[{"type":"brand_new"}]}]`,
		"its metadata is a list":              `"metadata":[1],"text":"a"`,
		"its user is no text":                 `"user":7,"subtype":[],"text":"a"`,
		"an app that users.info doesn't know": `"user":"U9","app_id":"A9","text":"a"`,
	} {
		s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			odd := `{"type":"message","bot_id":"B7","ts":"1776675005.000100","thread_ts":"` + root + `",` + more + `}`
			switch {
			case strings.HasSuffix(r.URL.Path, "conversations.replies"):
				io.WriteString(w, `{"ok":true,"has_more":false,"messages":[
				{"type":"message","user":"U1","ts":"`+root+`","thread_ts":"`+root+`","text":"対象は営業だけ"},`+
					odd+`,{"type":"message","user":"UB","bot_id":"BB","ts":"1776675006.000100","thread_ts":"`+root+`",
				"text":"card","metadata":{"event_type":"ringi_card","event_payload":{"task":"01TASK","card":"CARD#task"}}}]}`)
			case strings.HasSuffix(r.URL.Path, "conversations.history"):
				io.WriteString(w, `{"ok":true,"messages":[]}`)
			case strings.HasSuffix(r.URL.Path, "auth.test"):
				io.WriteString(w, `{"ok":true,"user_id":"UB","bot_id":"BB","team_id":"T"}`)
			default:
				io.WriteString(w, `{"ok":false,"error":"user_not_found"}`)
			}
		}))
		c := client(t, s.URL+"/api/", time.Minute)
		got, err := c.Before(t.Context(), "C1", root, "1776675009.000100", 20)
		expect.That(t, err == nil && len(got) == 2, "%s: %d messages of the thread, %v", name, len(got), err)
		cards, err := c.FindCards(t.Context(), "C1", root, about)
		expect.That(t, err == nil && len(cards) == 1, "%s: its card is found %d times, %v", name, len(cards), err)
	}
}
