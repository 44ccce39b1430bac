package slackapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

// A file goes to Slack's own addresses only. No other try changes an address elsewhere, so that refusal is permanent.
func TestAFileIsGivenToSlackOnly(t *testing.T) {
	away := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the file went elsewhere")
	}))
	defer away.Close()
	to, took := "", ""
	mux := http.NewServeMux()
	mux.HandleFunc("/api/files.getUploadURLExternal", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"ok":true,"upload_url":%q,"file_id":"F1"}`, to)
	})
	mux.HandleFunc("/upload/", func(w http.ResponseWriter, r *http.Request) {
		body := expect.Value(io.ReadAll(r.Body))(t)
		took = string(body)
	})
	slack := httptest.NewServer(mux)
	defer slack.Close()
	c := slackapi.With(slacktest.Keys{Token: "xoxb-1", Address: slack.URL + "/api/"}, time.Minute)
	elsewhere := slackapi.Refused{Code: "upload_elsewhere", Permanent: true}
	for _, tt := range []struct {
		to   string
		want error
	}{
		{slack.URL + "/upload/F1", nil},
		{away.URL + "/upload/F1", elsewhere},
		{"https://files.slack.com.example.com/upload/F1", elsewhere},
		{"https://a:b@files.slack.com/upload/F1", elsewhere},
		{"", elsewhere},
	} {
		to, took = tt.to, ""
		id, err := c.Upload(t.Context(), "a.txt", []byte("hello"))
		expect.That(t, err == tt.want, "%q: %v", tt.to, err)
		if tt.want == nil {
			expect.Is(t, id, "F1")
			expect.Is(t, took, "hello")
		}
	}
}
