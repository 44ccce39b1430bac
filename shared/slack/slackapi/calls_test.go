package slackapi_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

// says answers with a body of a content type.
func says(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

// The bot's token is sent only to Slack's file hosts, whatever a file's address says.
func TestAFileIsReadWhereSlackKeepsIt(t *testing.T) {
	away := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the token went elsewhere")
	}))
	defer away.Close()
	type answers struct {
		info  string
		serve http.HandlerFunc
	}
	var now atomic.Pointer[answers]
	mux := http.NewServeMux()
	mux.HandleFunc("/api/files.info", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, now.Load().info)
	})
	mux.HandleFunc("/files-pri/", func(w http.ResponseWriter, r *http.Request) {
		expect.That(t, r.Header.Get("Authorization") == "Bearer xoxb-1", "the file is asked for with %q",
			r.Header.Get("Authorization"))
		now.Load().serve(w, r)
	})
	slack := httptest.NewServer(mux)
	defer slack.Close()
	file := func(address, more string) string {
		return fmt.Sprintf(`{"ok":true,"file":{"id":"F1","name":"a.txt","mimetype":"text/plain","size":5,
			"url_private_download":%q%s}}`, address, more)
	}
	here := slack.URL + "/files-pri/T1-F1/a.txt"
	c := slackapi.With(slacktest.Keys{Token: "xoxb-1", Address: slack.URL + "/api/"}, time.Minute)
	for about, tt := range map[string]struct {
		info  string
		serve http.HandlerFunc
		body  string
		err   error
	}{
		"a text":                     {file(here, ""), says("text/plain; charset=utf-8", "hello"), "hello", nil},
		"one that is elsewhere":      {file(away.URL+"/a.txt", ""), nil, "", slackapi.ErrFile},
		"one beside Slack's name":    {file("https://files.slack.com.example.com/a", ""), nil, "", slackapi.ErrFile},
		"one with a password":        {file("https://a:b@files.slack.com/a", ""), nil, "", slackapi.ErrFile},
		"one at no address":          {file("", ""), nil, "", slackapi.ErrFile},
		"another service's":          {file(here, `,"is_external":true`), nil, "", slackapi.ErrFile},
		"one that was deleted":       {file(here, `,"mode":"tombstone"`), nil, "", slackapi.ErrFile},
		"one that is not there":      {`{"ok":false,"error":"file_not_found"}`, nil, "", slackapi.ErrFile},
		"one that says it is larger": {file(here, `,"size":11`), nil, "", slackapi.ErrFile},
		"one that is larger":         {file(here, ""), says("text/plain", strings.Repeat("x", 11)), "", slackapi.ErrFile},
		"a page to sign in instead":  {file(here, ""), says("text/html; charset=utf-8", "<html>"), "", slackapi.ErrFile},
		"a way to another place": {file(here, ""), func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, away.URL, http.StatusFound)
		}, "", slackapi.ErrFile},
		"a refusal that is the app's": {`{"ok":false,"error":"missing_scope"}`, nil, "", slackapi.Refused{}},
		"a connection that breaks off": {file(here, ""), func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, "", slackapi.Unknown{}},
	} {
		t.Run(about, func(t *testing.T) {
			now.Store(&answers{tt.info, tt.serve})
			got, err := c.File(t.Context(), "F1", 10)
			if tt.err != nil {
				refusedAs(t, err, tt.err)
			} else if err != nil || string(got.Body) != tt.body || got.Name != "a.txt" || got.Type != "text/plain" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// refusedAs checks the error of reading a file. No error contains the file's address.
func refusedAs(t *testing.T, err, want error) {
	t.Helper()
	var refused slackapi.Refused
	var unknown slackapi.Unknown
	switch want.(type) {
	case slackapi.Refused:
		expect.That(t, errors.As(err, &refused), "%v", err)
	case slackapi.Unknown:
		expect.That(t, errors.As(err, &unknown) && !strings.Contains(err.Error(), "files-pri"), "%v", err)
	default:
		expect.That(t, errors.Is(err, want), "%v", err)
	}
}
