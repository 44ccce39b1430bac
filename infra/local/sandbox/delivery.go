package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi"
)

// AnswerTime is how long Slack waits for an app's answer.
const AnswerTime = 3 * time.Second

// retryDelays are how long Slack waits before each retry of an event.
var retryDelays = [...]time.Duration{0, time.Minute, 5 * time.Minute}

// Attempt is one request to the app and its result. Reason is empty if the app answered 2xx, otherwise it is Slack's
// code for the failure.
type Attempt struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Channel string    `json:"channel,omitempty"`
	TS      string    `json:"ts,omitempty"`
	Retry   int       `json:"retry"`
	Status  int       `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Millis  int64     `json:"millis"`
	At      time.Time `json:"at"`
	Final   bool      `json:"final"`

	N int `json:"n"` // counted from 1
}

// Mention returns a text that mentions the bot.
func Mention(text string) string { return "<@" + webapi.Bot + "> " + text }

// emit wraps an event in Slack's envelope and delivers it in the background, at once and with up to three retries.
// about is the timestamp of the message that it is about.
func (s *Sandbox) emit(channel, about string, inner map[string]any) {
	id := "Ev" + rand.Text()[:9]
	body, _ := json.Marshal(map[string]any{ // what came as JSON can be encoded
		"token": "sandbox-verification-token", "team_id": s.Workspace.TeamID(), "api_app_id": s.Workspace.AppID(),
		"type": "event_callback", "event_id": id, "event_time": s.opts.Now().Unix(), "event": inner,
		"is_ext_shared_channel": channel == webapi.General,
		"authorizations": []any{map[string]any{
			"enterprise_id": nil, "team_id": s.Workspace.TeamID(), "user_id": webapi.Bot, "is_bot": true,
			"is_enterprise_install": false,
		}},
		"event_context": "4-" + strings.ToLower(id),
	})
	e := Attempt{ID: id, Kind: fmt.Sprint(inner["type"]), Channel: channel, TS: about}
	for range map[bool]int{false: 1, true: 2}[s.Toggles().Twice] {
		s.jobs.Go(func() { s.persist(e, body) })
	}
}

// persist sends one event with up to three retries, if the app allows them.
func (s *Sandbox) persist(e Attempt, body []byte) {
	reason := ""
	for e.Retry = 0; e.Retry <= len(retryDelays); e.Retry++ {
		more := http.Header{"Content-Type": {"application/json"}}
		if e.Retry > 0 {
			pause := time.Duration(float64(retryDelays[e.Retry-1]) * s.opts.TimeScale)
			if clock.Sleep(s.ctx, pause) != nil { // the sandbox is closed
				return
			}
			more.Set("X-Slack-Retry-Num", strconv.Itoa(e.Retry))
			more.Set("X-Slack-Retry-Reason", reason)
		}
		a := e
		_, header := s.send(s.ctx, s.opts.Events, body, more, &a)
		a.Final = e.Retry == len(retryDelays) || a.Reason == "" || header.Get("X-Slack-No-Retry") == "1"
		if s.record(a); a.Final {
			return
		}
		reason = a.Reason
	}
}

// deliver sends an interaction's form and waits for the answer, at most for the answer time. Slack does not retry
// interactions: the person sees an InteractionError.
func (s *Sandbox) deliver(to string, form url.Values, a Attempt) ([]byte, error) {
	a.Final = true
	answer, _ := s.send(context.Background(), to, []byte(form.Encode()),
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, &a)
	if s.record(a); a.Reason != "" {
		return nil, InteractionError{Reason: a.Reason, Status: a.Status}
	}
	return answer, nil
}

// maxAnswer is how many bytes of an app's answer are read. The largest answer has a view, which is at most 250 kB.
const maxAnswer = 1 << 20

// send posts a signed body and records the result in a.
func (s *Sandbox) send(ctx context.Context, to string, body []byte, more http.Header, a *Attempt) ([]byte,
	http.Header) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.AnswerTime)
	defer cancel()
	started := time.Now()
	a.At = s.opts.Now()
	defer func() { a.Millis = time.Since(started).Milliseconds() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		a.Reason = "unknown_error"
		return nil, nil
	}
	for k := range more {
		req.Header.Set(k, more.Get(k))
	}
	stamp := strconv.FormatInt(s.opts.Now().Unix(), 10)
	req.Header.Set(slackapi.HeaderTimestamp, stamp)
	req.Header.Set(slackapi.HeaderSignature, slackapi.Sign(stamp, body, s.opts.SigningSecret))
	req.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	resp, err := s.client.Do(req)
	if err != nil {
		a.Reason = failure(err)
		s.opts.Logger.Warn("app did not answer", "kind", a.Kind, "event_id", a.ID, "retry", a.Retry, "reason", a.Reason)
		return nil, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	a.Status = resp.StatusCode
	switch {
	case err != nil:
		a.Reason = failure(err)
	case s.Toggles().DropAnswers:
		a.Reason = "http_timeout"
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		a.Reason = "http_error"
	}
	return answer, resp.Header
}

// failure is Slack's code for a request without an answer.
func failure(err error) string {
	if late := (net.Error)(nil); errors.As(err, &late) && late.Timeout() {
		return "http_timeout"
	}
	return "connection_failed"
}

// echo tells the pages, and sends the events that Slack sends about messages where the app is: every message and its
// changes, and app_mention for those that mention the app's bot user, again after each edit. The app's own come in
// direct messages alone, so that a channel's cards don't keep the app busy.
func (s *Sandbox) echo(c webapi.Change) {
	s.hub.publish()
	of := cmp.Or(c.Previous, c.Message)
	if of == nil {
		return
	}
	about, kind := "", "channel" // in channels app_mention is the event of a message
	if strings.HasPrefix(of.Channel, "D") {
		about, kind = of.TS, "im"
	} else if of.User == webapi.Bot {
		return
	}
	if c.Message != nil && kind != "im" && strings.Contains(c.Message.Text, "<@"+webapi.Bot+">") &&
		(c.Previous == nil || c.Message.Text != c.Previous.Text) {
		// with its files and without a subtype (https://github.com/seratch/seratch-slack-types/issues/8)
		inner := s.event("app_mention", *c.Message)
		delete(inner, "subtype")
		s.emit(of.Channel, of.TS, inner)
	}
	if c.Previous == nil {
		inner := s.event("message", *c.Message)
		inner["channel_type"] = kind
		s.emit(of.Channel, about, inner)
		return
	}
	now := s.now()
	inner := map[string]any{
		"type": "message", "subtype": "message_changed", "hidden": true, "message": c.Message, "previous_message": c.Previous,
		"channel": of.Channel, "channel_type": kind, "ts": now, "event_ts": now,
	}
	if c.Message == nil {
		delete(inner, "message")
		inner["subtype"], inner["deleted_ts"] = "message_deleted", of.TS
	}
	s.emit(of.Channel, "", inner)
}

// event returns a message as an event of this type has it.
func (s *Sandbox) event(kind string, m webapi.Message) (inner map[string]any) {
	raw, _ := json.Marshal(m) // a message was made of JSON
	_ = json.Unmarshal(raw, &inner)
	inner["type"], inner["channel"], inner["event_ts"] = kind, m.Channel, m.TS
	if blocks, _ := inner["blocks"].([]any); strings.Contains(m.Text, ":bow:") { // the emoji that it knows
		inner["blocks"] = append(blocks, map[string]any{"type": "emoji", "name": "bow", "unicode": "1f647"})
	}
	if m.Team != s.Workspace.TeamID() {
		inner["user_team"], inner["source_team"] = m.Team, m.Team
	}
	return inner
}

// StopAgent presses the stop button that Slack shows in a thread while the app's agent is processing.
func (s *Sandbox) StopAgent(user, channel, thread string) error {
	for _, x := range s.Workspace.Sessions(channel) {
		if x.ThreadTS == thread && x.Status == "processing" {
			s.emit(channel, "", map[string]any{
				"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user,
				"streaming_message_ts": []string{}, "event_ts": s.now(),
			})
			return nil
		}
	}
	return fmt.Errorf("stop the agent in %s: it is not processing", thread)
}

// Toggles are faults that a person can switch on.
type Toggles struct {
	Twice       bool `json:"twice"`        // each event is delivered twice at once
	DropAnswers bool `json:"drop_answers"` // the app's answers count as timeouts
	RateLimited bool `json:"rate_limited"` // the app's writes are answered 429
	LoseAnswers bool `json:"lose_answers"` // the app's writes are done, but their answers are lost
	FailWrites  bool `json:"fail_writes"`  // tools that write fail
}

// FieldError says what is wrong with a value from the page.
type FieldError struct{ Field, Message string }

func (f FieldError) Error() string { return f.Field + ": " + f.Message }

func (s *Sandbox) Toggles() Toggles {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.toggles
}

// SetToggles sets the faults from the next delivery or call on.
func (s *Sandbox) SetToggles(t Toggles) {
	s.mu.Lock()
	s.toggles = t
	s.mu.Unlock()
	for kind, on := range map[webapi.Kind]bool{webapi.RateLimited: t.RateLimited, webapi.Lost: t.LoseAnswers} {
		if s.Faults.Clear(kind); on {
			s.Faults.Add(webapi.Fault{Kind: kind, RetryAfter: time.Second, Times: -1})
		}
	}
	if s.opts.FailWrites != nil {
		s.opts.FailWrites(t.FailWrites)
	}
	s.hub.publish()
}
