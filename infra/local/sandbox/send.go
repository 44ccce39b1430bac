package sandbox

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxAnswer is how many bytes of an app's answer are read. The largest answer has a view, which is at most 250 kB.
const maxAnswer = 1 << 20

// Sign returns the headers X-Slack-Request-Timestamp and X-Slack-Signature (version v0) for a body sent at that time.
func Sign(secret string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:", stamp)
	mac.Write(body)
	h := http.Header{}
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	return h
}

// Answer is the app's answer to an interaction.
type Answer struct {
	Attempt
	Body []byte
}

type Interaction struct {
	Kind    string
	User    string
	Channel string
	TS      string
	Payload []byte
	Form    url.Values // of a command, instead of a payload
}

// Interact sends an interaction and waits for the answer, at most for AnswerTime. Slack does not retry interactions: if
// the answer has a Reason, the person sees it as an error.
func (c *Sender) Interact(ctx context.Context, in Interaction) Answer {
	to, body := c.opts.ActionsURL(), []byte(url.Values{"payload": {string(in.Payload)}}.Encode())
	if in.Form != nil {
		to, body = c.opts.CommandsURL(), []byte(in.Form.Encode())
	}
	attempt := Attempt{Kind: in.Kind, User: in.User, Channel: in.Channel, TS: in.TS, Final: true, Payload: in.Payload}
	answer, _ := c.send(ctx, to, "application/x-www-form-urlencoded", body, nil, &attempt)
	if attempt.Reason != "" {
		answer = nil
	}
	c.opts.Record(attempt)
	return Answer{Attempt: attempt, Body: answer}
}

// sendEvent sends an event once. again reports whether the app allows a retry.
func (c *Sender) sendEvent(e Event, retry int, reason string, final bool) (a Attempt, again bool) {
	more := http.Header{}
	if retry > 0 {
		more.Set("X-Slack-Retry-Num", strconv.Itoa(retry))
		more.Set("X-Slack-Retry-Reason", reason)
	}
	a = Attempt{ID: e.ID, Kind: e.Kind, User: e.User, Channel: e.Channel, TS: e.TS, Retry: retry, Payload: e.Body}
	_, header := c.send(c.ctx, c.opts.EventsURL(), "application/json", e.Body, more, &a)
	again = header.Get("X-Slack-No-Retry") != "1"
	a.Final = final || a.Reason == "" || !again
	c.opts.Record(a)
	return a, again
}

// send posts a signed body and records the result in a.
func (c *Sender) send(ctx context.Context, to, contentType string, body []byte, more http.Header,
	a *Attempt) ([]byte, http.Header) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.AnswerTime)
	defer cancel()
	started := time.Now()
	a.At = c.opts.Now()
	defer func() { a.Millis = time.Since(started).Milliseconds() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		a.Reason = "unknown_error"
		return nil, nil
	}
	for _, h := range []http.Header{Sign(c.opts.SigningSecret, c.opts.Now(), body), more} {
		for k := range h {
			req.Header.Set(k, h.Get(k))
		}
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	resp, err := c.client.Do(req)
	if err != nil {
		a.Reason = failure(err)
		c.opts.Logger.Warn("app did not answer", "kind", a.Kind, "event_id", a.ID, "retry", a.Retry, "reason", a.Reason)
		return nil, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	a.Status, a.Answer = resp.StatusCode, answer
	switch {
	case err != nil:
		a.Reason = failure(err)
	case c.opts.Faults().Drop:
		a.Reason = "http_timeout"
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		a.Reason = "http_error"
	}
	return answer, resp.Header
}

// failure is Slack's code for a request without an answer.
func failure(err error) string {
	var netErr net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return "http_timeout"
	case errors.Is(err, context.Canceled):
		return "unknown_error"
	}
	return "connection_failed"
}
