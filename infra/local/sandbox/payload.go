package sandbox

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ringi/infra/local/sandbox/webapi"
)

// payload returns the fields that all interactions share. The closing of a modal has no trigger_id.
func (s *Sandbox) payload(kind string, by string, channel string) (map[string]any, error) {
	u, err := s.ws.User(by)
	if err != nil {
		return nil, err
	}
	p := map[string]any{
		"type": kind, "api_app_id": s.ws.AppID(), "token": "sandbox-verification-token",
		"user":       map[string]any{"id": u.ID, "username": u.Handle, "name": u.Handle, "team_id": u.TeamID},
		"team":       map[string]any{"id": s.ws.TeamID(), "domain": "ringi-sandbox"},
		"enterprise": nil, "is_enterprise_install": false,
	}
	p["trigger_id"] = s.ws.NewTrigger(by)
	if channel != "" {
		c, err := s.ws.Channel(channel)
		if err != nil {
			return nil, err
		}
		name := s.ws.Named(c.Name, c.NameEN)
		if c.IM != "" {
			name = "directmessage"
		}
		p["channel"] = map[string]any{"id": c.ID, "name": name}
	}
	return p, nil
}

func (s *Sandbox) now() string {
	t := s.opts.Now()
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
}

func (s *Sandbox) responseURL(m webapi.Message, user string) string {
	thread := m.ThreadTS
	if thread == m.TS {
		thread = ""
	}
	id := s.ws.NewHook(webapi.HookTarget{User: user, Channel: m.Channel, TS: m.TS, ThreadTS: thread,
		Ephemeral: m.IsEphemeral})
	return fmt.Sprintf("%s/sandbox/actions/%s/%s/%s", s.endpoints().Self, s.ws.TeamID(), s.ws.AppID(), id)
}

// placed is an element with its block and attachment. Attachments are counted from 1; 0 means the message itself.
type placed struct {
	element    map[string]any
	blockID    string
	attachment int
}

// findElement searches a message's blocks, then the blocks of its attachments.
func findElement(m webapi.Message, actionID string) (placed, bool) {
	if p, ok := inBlocks(m.Blocks, actionID); ok {
		return p, true
	}
	for i, a := range m.Attachments {
		am, _ := a.(map[string]any)
		blocks, _ := am["blocks"].([]any)
		if p, ok := inBlocks(blocks, actionID); ok {
			p.attachment = i + 1
			return p, true
		}
	}
	return placed{}, false
}

func inBlocks(blocks []any, actionID string) (placed, bool) {
	for _, b := range blocks {
		bm, _ := b.(map[string]any)
		elements, _ := bm["elements"].([]any)
		for _, e := range append([]any{bm["accessory"], bm["element"]}, elements...) {
			em, _ := e.(map[string]any)
			if id, _ := em["action_id"].(string); em != nil && id == actionID {
				block, _ := bm["block_id"].(string)
				return placed{element: em, blockID: block}, true
			}
		}
	}
	return placed{}, false
}

// container describes the message or attachment that has the element.
func container(m webapi.Message, attachment int) map[string]any {
	c := map[string]any{"type": "message", "message_ts": m.TS, "channel_id": m.Channel, "is_ephemeral": m.IsEphemeral}
	if attachment > 0 {
		c["type"], c["attachment_id"], c["is_app_unfurl"] = "message_attachment", attachment, false
	}
	if m.ThreadTS != "" {
		c["thread_ts"] = m.ThreadTS
	}
	return c
}

// action returns the entry for an element in the payload's "actions".
func (s *Sandbox) action(p placed, value any) map[string]any {
	out := map[string]any{}
	if p.element["type"] != "button" {
		out = answer(p.element, value)
	}
	for _, key := range []string{"type", "action_id", "text", "value", "style", "confirm", "placeholder"} {
		if v, ok := p.element[key]; ok {
			out[key] = v
		}
	}
	out["block_id"], out["action_ts"] = p.blockID, s.now()
	return out
}

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

// hookBody is the body of an app's request to a response URL.
type hookBody struct {
	Text            string `json:"text"`
	Blocks          []any  `json:"blocks"`
	Attachments     []any  `json:"attachments"`
	ResponseType    string `json:"response_type"`
	ReplaceOriginal bool   `json:"replace_original"`
	DeleteOriginal  bool   `json:"delete_original"`
	ThreadTS        string `json:"thread_ts"`
}

// serveHook serves response URLs. Each works five times within half an hour.
func (s *Sandbox) serveHook(w http.ResponseWriter, r *http.Request) {
	target, err := s.ws.UseHook(r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	var b hookBody
	if err := json.Unmarshal(raw, &b); err != nil {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	if err := s.respond(target, b); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	// A failure means that the app has disconnected.
	_, _ = io.WriteString(w, `{"ok":true}`)
}

func (s *Sandbox) respond(t webapi.HookTarget, b hookBody) error {
	d := webapi.Draft{
		Channel: t.Channel, User: webapi.Bot, Text: b.Text, Blocks: b.Blocks, Attachments: b.Attachments,
		ThreadTS: b.ThreadTS,
	}
	switch {
	case b.DeleteOriginal && t.Ephemeral:
		s.ws.Dismiss(t.User, t.TS)
		return nil
	case b.DeleteOriginal:
		return s.ws.Delete(t.Channel, t.TS, webapi.Bot)
	case b.ReplaceOriginal && t.Ephemeral:
		_, err := s.ws.ReplaceEphemeral(t.User, t.TS, d)
		return err
	case b.ReplaceOriginal:
		p := webapi.Patch{Text: &b.Text, Blocks: b.Blocks, Attachments: b.Attachments}
		if p.Attachments == nil {
			p.Attachments = []any{}
		}
		_, err := s.ws.Update(t.Channel, t.TS, webapi.Bot, p)
		return err
	case b.Text == "" && len(b.Blocks) == 0 && len(b.Attachments) == 0:
		return webapi.Code("no_text")
	case b.ResponseType == "in_channel":
		_, err := s.ws.Post(d)
		return err
	}
	_, err := s.ws.PostEphemeral(t.User, d)
	return err
}
