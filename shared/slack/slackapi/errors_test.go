package slackapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/outgoing"
	"ringi/shared/slack/slackapi/slacktest"
)

func client(t *testing.T, address string, timeout time.Duration) *slackapi.Client {
	t.Helper()
	return slackapi.With(slacktest.Keys{Token: "xoxb-test", Address: address}, timeout)
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
		{"rate limited", answers(429, "7", `{"ok":false,"error":"ratelimited"}`), slackapi.RateLimited{RetryAfter: 7 * time.Second}},
		{"rate limited by a proxy", answers(429, "0.5", "slow down"), slackapi.RateLimited{RetryAfter: 500 * time.Millisecond}},
		{"rate limited until long ago", answers(429, "Wed, 21 Oct 2015 07:28:00 GMT", ""), slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"rate limited for a date far away", answers(429, "Fri, 31 Dec 2999 23:59:59 GMT", ""), slackapi.RateLimited{RetryAfter: 24 * time.Hour}},
		{"rate limited for less than nothing", answers(429, "-7", ""), slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"rate limited for nobody knows how long", answers(429, "soon", ""), slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"rate limited for ages", answers(429, "99999999999999999999", ""), slackapi.RateLimited{RetryAfter: 24 * time.Hour}},
		{"rate limited, without a time", answers(429, "", ""), slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"rate limited in the body alone", answers(200, "", `{"ok":false,"error":"ratelimited"}`), slackapi.RateLimited{RetryAfter: 5 * time.Second}},
		{"no such channel", answers(200, "", `{"ok":false,"error":"channel_not_found"}`), slackapi.Refused{Code: "channel_not_found", Permanent: true}},
		{"too long", answers(200, "", `{"ok":false,"error":"msg_too_long"}`), slackapi.Refused{Code: "msg_too_long", Permanent: true}},
		{"a code of tomorrow", answers(200, "", `{"ok":false,"error":"never_heard"}`), slackapi.Refused{Code: "never_heard", Permanent: true}},
		{"a token that is no more", answers(200, "", `{"ok":false,"error":"token_revoked"}`), slackapi.Refused{Code: "token_revoked", App: true}},
		{"a token of another", answers(200, "", `{"ok":false,"error":"invalid_auth"}`), slackapi.Refused{Code: "invalid_auth", App: true}},
		{"a scope that was not asked for", answers(200, "", `{"ok":false,"error":"missing_scope","needed":"chat:write"}`), slackapi.Refused{Code: "missing_scope", App: true}},
		{"keys that an organization took away", answers(200, "", `{"ok":false,"error":"ekm_access_denied"}`), slackapi.Refused{Code: "ekm_access_denied", App: true}},
		{"a conversation without the app", answers(200, "", `{"ok":false,"error":"no_permission"}`), slackapi.Refused{Code: "no_permission", Permanent: true}},
		{"out of service", answers(200, "", `{"ok":false,"error":"service_unavailable"}`), slackapi.Refused{Code: "service_unavailable"}},
		{"a fault in the middle", answers(200, "", `{"ok":false,"error":"fatal_error"}`), slackapi.Unknown{Cause: "fatal_error", Over: true}},
		{"another fault in the middle", answers(200, "", `{"ok":false,"error":"internal_error"}`), slackapi.Unknown{Cause: "internal_error", Over: true}},
		{"Slack's own fault", answers(500, "", "<html>"), slackapi.Unknown{Cause: "http 500", Over: true}},
		{"a gateway that gave up", answers(504, "", "<html>"), slackapi.Unknown{Cause: "http 504"}},
		{"a gateway's fault", answers(502, "", "<html>"), slackapi.Unknown{Cause: "http 502"}},
		{"no such address", answers(404, "", ""), slackapi.Refused{Code: "http_404"}},
		{"ok without a timestamp", answers(200, "", `{"ok":true}`), slackapi.Unknown{Cause: "answer without ts"}},
		{"the connection drops", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, slackapi.Unknown{}},
		{"no JSON", answers(200, "", "<html>"), slackapi.Unknown{}},
		{"a redirect is not followed", func(w http.ResponseWriter, r *http.Request) {
			expect.That(t, r.URL.Path != "/elsewhere", "the token went elsewhere")
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, slackapi.Refused{Code: "http_307"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.answer)
			defer server.Close()
			_, err := client(t, server.URL+"/api/", time.Minute).Post(t.Context(), "C1", "1.000001", outgoing.Message{Text: "x"},
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
	_, err := client(t, server.URL+"/api/", time.Minute).Post(t.Context(), "C1", "1.000001", outgoing.Message{Text: "x"},
		slackapi.Metadata{})
	check(t, err, slackapi.Refused{Code: "unreached"})
}

func TestASlowAnswerIsUnknown(t *testing.T) {
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer server.Close()
	defer close(done)
	_, err := client(t, server.URL+"/api/", 20*time.Millisecond).Post(t.Context(), "C1", "1.000001",
		outgoing.Message{Text: "x"}, slackapi.Metadata{})
	check(t, err, slackapi.Unknown{Cause: "timeout"})
}

func TestAddressesThatSlackGoWouldMisread(t *testing.T) {
	for _, address := range []string{"", "https://slack.com/api", "slack.com/api/", "://"} {
		_, err := client(t, address, time.Minute).Team(t.Context())
		check(t, err, slackapi.Refused{Code: slackapi.CodeNoToken, App: true})
	}
}

func TestCode(t *testing.T) {
	got := []string{slackapi.Code(nil), slackapi.Code(errors.New("x")), slackapi.Code(slackapi.Refused{Code: "y"})}
	expect.Same(t, []string{"", "", "y"}, got)
}
