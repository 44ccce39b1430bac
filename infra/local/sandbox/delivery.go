package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/clock"
)

// AnswerTime is how long Slack waits for an app's answer.
const AnswerTime = 3 * time.Second

// retryDelays are how long Slack waits before each retry of an event.
var retryDelays = [...]time.Duration{0, time.Minute, 5 * time.Minute}

// Faults are the deliveries that a Sender gets wrong on purpose.
type Faults struct {
	Twice bool          // each event is sent twice at once
	Late  time.Duration // delay before an event's first delivery
	Drop  bool          // the app's answers are ignored
	Lose  bool          // events are not sent
}

// Options configure a Sender. It calls URLs and Faults before each delivery, and Record, if set, after each attempt.
type DeliveryOptions struct {
	SigningSecret string
	EventsURL     func() string
	ActionsURL    func() string
	CommandsURL   func() string
	Faults        func() Faults
	Record        func(Attempt)
	Now           func() time.Time
	// TimeScale multiplies the delays between retries; 1 means Slack's delays.
	TimeScale float64
	// AnswerTime replaces the three seconds unless it is zero.
	AnswerTime time.Duration
	Logger     *slog.Logger
}

// Attempt is one request to the app and its result. Reason is empty if the app answered 2xx, otherwise it is Slack's
// code for the failure.
type Attempt struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	User    string    `json:"user"`
	Channel string    `json:"channel,omitempty"`
	TS      string    `json:"ts,omitempty"`
	Retry   int       `json:"retry"`
	Status  int       `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Millis  int64     `json:"millis"`
	At      time.Time `json:"at"`
	Final   bool      `json:"final"`

	N       int    `json:"n"` // set by Record, counted from 1
	Payload []byte `json:"-"` // the request as JSON
	Answer  []byte `json:"-"` // the response body
}

// Event is one event for the app.
type Event struct {
	ID      string
	Kind    string
	User    string
	Channel string
	TS      string
	Body    []byte
}

// Sender delivers to one app. Close it to end pending retries.
type Sender struct {
	opts   DeliveryOptions
	client *http.Client
	ctx    context.Context
	cancel context.CancelFunc
	jobs   sync.WaitGroup
}

func NewDelivery(opts DeliveryOptions) *Sender {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.AnswerTime = cmp.Or(opts.AnswerTime, AnswerTime)
	opts.TimeScale = cmp.Or(opts.TimeScale, 1)
	if opts.Faults == nil {
		opts.Faults = func() Faults { return Faults{} }
	}
	if opts.Record == nil {
		opts.Record = func(Attempt) {}
	}
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	return &Sender{opts: opts, client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}, ctx: ctx,
		cancel: cancel}
}

// Close cancels pending deliveries and waits for running ones.
func (c *Sender) Close() {
	c.cancel()
	c.jobs.Wait()
	c.client.CloseIdleConnections()
}

// Deliver sends an event in the background, at once and with up to three retries.
func (c *Sender) Deliver(e Event) {
	copies := 1
	m := c.opts.Faults()
	switch {
	case m.Lose:
		copies = 0
	case m.Twice:
		copies = 2
	}
	for range copies {
		c.jobs.Go(func() {
			if c.wait(m.Late) {
				c.persist(e)
			}
		})
	}
}

// persist sends one event with up to three retries.
func (c *Sender) persist(e Event) {
	reason := ""
	for retry := 0; retry <= len(retryDelays); retry++ {
		if retry > 0 && !c.wait(time.Duration(float64(retryDelays[retry-1])*c.opts.TimeScale)) {
			return
		}
		attempt, again := c.sendEvent(e, retry, reason, retry == len(retryDelays))
		if attempt.Reason == "" || !again {
			return
		}
		reason = attempt.Reason
	}
}

// wait sleeps for d and reports whether the Sender is still open.
func (c *Sender) wait(d time.Duration) bool {
	if d <= 0 {
		return c.ctx.Err() == nil
	}
	return clock.Sleep(c.ctx, d) == nil
}

// Mention returns a text that mentions the bot.
func Mention(text string) string { return "<@" + webapi.Bot + "> " + text }

// emit wraps an event in Slack's envelope and delivers it. about is the timestamp of the message that it is about.
func (s *Sandbox) emit(user, channel, about string, inner map[string]any) {
	id := "Ev" + rand.Text()[:9]
	body, err := json.Marshal(map[string]any{
		"token": "sandbox-verification-token", "team_id": s.ws.TeamID(), "api_app_id": s.ws.AppID(), "event": inner,
		"type":     "event_callback",
		"event_id": id, "event_time": s.opts.Now().Unix(), "is_ext_shared_channel": s.external(channel),
		"authorizations": []any{map[string]any{
			"enterprise_id": nil, "team_id": s.ws.TeamID(), "user_id": webapi.Bot, "is_bot": true,
			"is_enterprise_install": false,
		}},
		"event_context": "4-" + strings.ToLower(id),
	})
	if err != nil {
		s.opts.Logger.Error("encode event", "err", err)
		return
	}
	s.sender.Deliver(Event{ID: id, Kind: fmt.Sprint(inner["type"]), User: user, Channel: channel, TS: about, Body: body})
}

// external reports whether a channel is the one that is shared with another organization.
func (s *Sandbox) external(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return channel == s.shares
}

// echo sends the events that Slack sends about messages where the app is: every message and its changes, and
// app_mention
// for those that mention the app's bot user, again after each edit. The app's own come in direct messages alone, so
// that
// a channel's cards don't keep the app busy.
func (s *Sandbox) echo(c webapi.Change) {
	if c.Kind != "message" && c.Kind != "deleted" {
		return
	}
	about, kind := "", "channel" // in channels app_mention is the event of a message
	author := c.Message
	if c.Previous != nil {
		author = c.Previous
	}
	switch {
	case strings.HasPrefix(c.Channel, "D"):
		about, kind = c.TS, "im"
	case strings.HasPrefix(c.Channel, "G"):
		kind = "group"
	}
	if kind != "im" && author.User == webapi.Bot {
		return
	}
	if c.Kind == "message" && kind != "im" && strings.Contains(c.Message.Text, "<@"+webapi.Bot+">") &&
		(c.Previous == nil || c.Message.Text != c.Previous.Text) {
		s.emit(c.Message.User, c.Channel, c.TS, s.mentioned(*c.Message))
	}
	if c.Kind == "message" && c.Previous == nil {
		inner := s.event("message", *c.Message)
		inner["channel_type"] = kind
		s.emit(c.Message.User, c.Channel, about, inner)
		return
	}
	now := s.now()
	inner := map[string]any{
		"type": "message", "subtype": "message_changed", "hidden": true, "message": c.Message, "previous_message": c.Previous,
		"channel": c.Channel, "channel_type": kind, "ts": now, "event_ts": now,
	}
	if c.Kind == "deleted" {
		delete(inner, "message")
		inner["subtype"], inner["deleted_ts"] = "message_deleted", c.TS
	}
	s.emit(author.User, c.Channel, "", inner)
}

// mentioned returns a message as app_mention has it: with its files, and without a subtype
// (https://github.com/seratch/seratch-slack-types/issues/8).
func (s *Sandbox) mentioned(m webapi.Message) map[string]any {
	inner := s.event("app_mention", m)
	delete(inner, "subtype")
	if len(m.Files) > 0 {
		inner["upload"], inner["display_as_bot"] = false, false
	}
	return inner
}

// event returns a message as an event of this type has it.
func (s *Sandbox) event(kind string, m webapi.Message) map[string]any {
	inner := decoded(m)
	inner["type"], inner["channel"], inner["event_ts"] = kind, m.Channel, m.TS
	if m.Team != s.ws.TeamID() {
		inner["user_team"], inner["source_team"] = m.Team, m.Team
	}
	return inner
}

// StopAgent presses the stop button that Slack shows in a thread while the app's agent is processing.
func (s *Sandbox) StopAgent(user, channel, thread string) error {
	if _, err := s.ws.Message(channel, thread, user); err != nil {
		return fmt.Errorf("stop the agent in %s: %w", thread, err)
	}
	for _, x := range s.ws.Sessions(channel) {
		if x.ThreadTS == thread && x.Status == "processing" {
			s.emit(user, channel, "", map[string]any{
				"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user,
				"streaming_message_ts": []string{}, "event_ts": s.now(),
			})
			return nil
		}
	}
	return fmt.Errorf("stop the agent in %s: it is not processing", thread)
}

// maxLate is the longest delay of events, in seconds.
const maxLate = 60

// Toggles are the faults of Slack that a person can switch on.
type Toggles struct {
	Twice        bool `json:"twice"`         // each event is delivered twice at once
	LateSeconds  int  `json:"late_seconds"`  // delay before an event's first delivery, 0 to 60
	LoseEvents   bool `json:"lose_events"`   // events are never delivered
	DropAnswers  bool `json:"drop_answers"`  // the app's answers count as timeouts
	RateLimited  bool `json:"rate_limited"`  // the app's writes are answered 429
	LoseAnswers  bool `json:"lose_answers"`  // the app's writes are done, but their answers are lost
	EnforceRates bool `json:"enforce_rates"` // Slack's rate limits apply
}

// FieldErrors maps invalid settings to error messages.
type FieldErrors map[string]string

// Error returns the message of one field.
func (f FieldErrors) Error() string {
	for field, message := range f {
		return fmt.Sprintf("%s: %s", field, message)
	}
	return "no field is wrong"
}

func (s *Sandbox) Toggles() Toggles {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.toggles
}

// SetToggles sets Slack's faults from the next delivery or call on. It returns FieldErrors if LateSeconds is out of
// range.
func (s *Sandbox) SetToggles(t Toggles) error {
	if t.LateSeconds < 0 || t.LateSeconds > maxLate {
		return FieldErrors{"late_seconds": fmt.Sprintf("0 to %d, not %d", maxLate, t.LateSeconds)}
	}
	s.mu.Lock()
	before := s.toggles
	s.toggles = t
	s.mu.Unlock()
	s.switchFault(before.RateLimited, t.RateLimited,
		webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Second, Times: -1})
	s.switchFault(before.LoseAnswers, t.LoseAnswers, webapi.Fault{Kind: webapi.Lost, Times: -1})
	if before.EnforceRates != t.EnforceRates {
		s.faults.SetRates(webapi.Rates{Enforce: t.EnforceRates, Scale: s.opts.Rates.Scale})
	}
	s.hub.publish(webapi.Change{Kind: "toggles", Data: t})
	return nil
}

func (s *Sandbox) switchFault(before, now bool, f webapi.Fault) {
	switch {
	case before && !now:
		s.faults.Clear(f.Kind)
	case now && !before:
		s.faults.Add(f)
	}
}

func (s *Sandbox) deliveryFaults() Faults {
	t := s.Toggles()
	return Faults{Twice: t.Twice, Late: time.Duration(t.LateSeconds) * time.Second, Drop: t.DropAnswers,
		Lose: t.LoseEvents}
}
