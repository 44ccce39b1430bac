// Package slacktest gives tests a Slack workspace in memory behind a real Web API.
package slacktest

import (
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// Team is the workspace's id.
const Team = "T0SANDRING"

// Slack is a workspace with its Web API and a client.
type Slack struct {
	*webapi.Workspace
	Faults webapi.Faults
	Client *slackapi.Client
	URL    string           // of the Web API, with a slash at the end
	Now    func() time.Time // clock of the rate limits; nil: time.Now

	mu    sync.Mutex
	calls []webapi.Call
}

// Start starts a workspace that ends with the test.
func Start(t testing.TB) *Slack {
	t.Helper()
	s := &Slack{Workspace: webapi.NewWorkspace(webapi.Config{TeamID: Team, AppID: "A0RINGI"})}
	server := httptest.NewServer(webapi.New(webapi.Options{
		Workspace: s.Workspace, BotToken: "xoxb-test", Faults: &s.Faults, Now: s.now,
		Self: func() string { return "https://ringi-sandbox.slack.com" }, Heard: s.hear,
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL + "/api/"
	s.Client = slackapi.With(Keys{Token: "xoxb-test", Address: s.URL}, time.Minute)
	return s
}

func (s *Slack) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s *Slack) hear(c webapi.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

// Calls returns the methods that were called since the last call of Calls, or only the requested ones of them.
func (s *Slack) Calls(of ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.calls {
		if len(of) == 0 || slices.Contains(of, c.Method) {
			out = append(out, c.Method)
		}
	}
	s.calls = nil
	return out
}

// Refusals returns the errors of the calls since the last call of Calls.
func (s *Slack) Refusals() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.Error != "" {
			out = append(out, c.Error)
		}
	}
	return out
}

// Say posts a person's message and returns its timestamp.
func (s *Slack) Say(t testing.TB, user, channel, text string) string {
	t.Helper()
	m := expect.Value(s.Post(webapi.Draft{Channel: channel, User: user, Text: text}))(t)
	return m.TS
}

// Thread returns the bot's messages in a thread, in order.
func (s *Slack) Thread(t testing.TB, channel, ts string) []webapi.Message {
	t.Helper()
	all := expect.Value(s.Replies(channel, ts, webapi.Range{}))(t)
	return slices.DeleteFunc(all, func(m webapi.Message) bool { return m.User != webapi.Bot })
}
