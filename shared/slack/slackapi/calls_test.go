package slackapi_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goslack "github.com/slack-go/slack"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/outgoing"
	"ringi/shared/slack/slackapi/slacktest"
)

// Rows name a former id, which Slack doesn't know any more.
func TestACallForAFormerIDIsMadeUnderThePresentOne(t *testing.T) {
	slack := slacktest.Start(t)
	ctx := slackapi.For(t.Context(), aggregate.TenantID(slacktest.Team))
	_, _, err := slack.Client.Members(ctx, "C0FORMER", 10)
	expect.Is(t, slackapi.Code(err), "channel_not_found")
	slack.Client.Follow(func(context.Context, string) (tenancy.Channels, error) {
		return tenancy.Channels{"C0FORMER": {To: webapi.HR, At: "1612206778.000000"}}, nil
	})
	ids, _, err := slack.Client.Members(ctx, "C0FORMER", 10)
	expect.That(t, err == nil && len(ids) > 0, "%v, %v", ids, err)
	_, _, err = slack.Client.Members(ctx, "C0NOBODY", 10)
	expect.Is(t, slackapi.Code(err), "channel_not_found")
	for ch, err := range slack.Client.Channels(ctx, webapi.Suzuki, "public_channel") {
		expect.NoError(t, err)
		expect.That(t, ch.ID != webapi.HR, "listed under its present id, which rows don't know")
	}
}

// Every method that names a channel is called again under the channel's present id, in whatever form its arguments are.
func TestEveryMethodFollowsAChannel(t *testing.T) {
	moved := tenancy.Channels{"C0FORMER": {To: "C0NOW", At: "1612206778.000000"}}
	ctx := slackapi.For(t.Context(), aggregate.TenantID(slacktest.Team))
	for name, c := range map[string]struct {
		refusal string
		call    func(s *slackapi.Client) error
	}{
		"chat.postMessage": {"channel_not_found", func(s *slackapi.Client) error {
			_, err := s.Post(ctx, "C0FORMER", "", outgoing.Message{Text: "x"}, slackapi.Metadata{})
			return err
		}},
		"chat.getPermalink": {"channel_not_found", func(s *slackapi.Client) error {
			_, err := s.Permalink(ctx, "C0FORMER", "1776675600.000100")
			return err
		}},
		"files.completeUploadExternal": {"invalid_channel", func(s *slackapi.Client) error {
			return s.Share(ctx, "C0FORMER", "", "", []slackapi.Uploaded{{ID: "F1"}})
		}},
		"agents.sessions.setStatus": {"channel_not_found", func(s *slackapi.Client) error {
			return s.SetAgentStatus(ctx, "C0FORMER", "1776675600.000100", slackapi.AgentActive, "")
		}},
	} {
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			expect.NoError(t, r.ParseForm())
			id := cmp.Or(r.Form.Get("channel"), r.Form.Get("channel_id"))
			asked = append(asked, strings.TrimPrefix(r.URL.Path, "/")+" "+id)
			w.Header().Set("Content-Type", "application/json")
			if id != "C0NOW" {
				fmt.Fprintf(w, `{"ok":false,"error":%q}`, c.refusal)
				return
			}
			fmt.Fprint(w, `{"ok":true,"ts":"1776675600.000200"}`)
		}))
		client := slackapi.With(slacktest.Keys{Token: "xoxb-test", Address: server.URL + "/"}, time.Minute)
		client.Follow(func(context.Context, string) (tenancy.Channels, error) { return moved, nil })
		expect.NoError(t, c.call(client))
		expect.Same(t, asked, []string{name + " C0FORMER", name + " C0NOW"})
		server.Close()
	}
}

// What people read names and links a channel by its present id.
func TestAFormerIDIsNeitherShownNorLinked(t *testing.T) {
	slack := slacktest.Start(t)
	ctx := slackapi.For(t.Context(), aggregate.TenantID(slacktest.Team))
	slack.Client.Follow(func(context.Context, string) (tenancy.Channels, error) {
		return tenancy.Channels{"C0FORMER": {To: webapi.HR, At: "1612206778.000000"}}, nil
	})
	link := slack.Client.Link(ctx, "C0FORMER", "1776675600.000100", "1776675500.000100")
	expect.Is(t, link, "https://ringi-sandbox.slack.com/archives/"+webapi.HR+"/p1776675600000100?thread_ts="+
		"1776675500.000100&cid="+webapi.HR)
	text := func(channel string) outgoing.Message {
		in := goslack.NewTextBlockObject("mrkdwn", "in <#"+channel+">", false, false)
		block := goslack.Attachment{Blocks: goslack.Blocks{BlockSet: []goslack.Block{goslack.NewSectionBlock(in, nil, nil)}}}
		return outgoing.Message{Text: "in <#" + channel + "> and <#C0OTHER>", Attachments: []goslack.Attachment{block}}
	}
	ts := expect.Value(slack.Client.Post(ctx, webapi.HR, "", text("C0FORMER"), slackapi.Metadata{}))(t)
	said := slack.Thread(t, webapi.HR, ts)[0]
	written := string(expect.Value(json.Marshal(said))(t))
	expect.That(t, !strings.Contains(written, "FORMER") && strings.Count(written, "#"+webapi.HR) == 2 &&
		strings.Contains(written, "#C0OTHER"), "%s", written)
}

// says answers with a body of a content type.
func says(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

// The bot's token is sent only to Slack's file hosts, whatever a file's address says.
func TestAFileIsReadWhereSlackKeepsIt(t *testing.T) {
	away := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
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
		if r.Header.Get("Authorization") != "Bearer xoxb-1" {
			t.Errorf("the file is asked for with %q", r.Header.Get("Authorization"))
		}
		now.Load().serve(w, r)
	})
	slack := httptest.NewServer(mux)
	defer slack.Close()
	file := func(address, more string) string {
		return fmt.Sprintf(`{"ok":true,"file":{"id":"F1","name":"a.txt","mimetype":"text/plain","size":5,"url_private_download":%q%s}}`, address, more)
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
		"a way to another place": {file(here, ""), func(w http.ResponseWriter,
			r *http.Request) {
			http.Redirect(w, r, away.URL, http.StatusFound)
		}, "", slackapi.ErrFile},
		"a refusal that is the app's": {`{"ok":false,"error":"missing_scope"}`, nil, "", slackapi.Refused{}},
		"a connection that breaks off": {file(here, ""), func(http.ResponseWriter,
			*http.Request) {
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
