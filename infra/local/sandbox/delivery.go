package sandbox

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"ringi/shared/runtime/clock"
	"sync"
	"time"
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

// Repeat sends copies of an event at the same time, without retries, and waits for the answers.
func (c *Sender) Repeat(e Event, copies int) []Attempt {
	attempts := make([]Attempt, copies)
	var all sync.WaitGroup
	for i := range copies {
		all.Go(func() { attempts[i], _ = c.sendEvent(e, 0, "", true) })
	}
	all.Wait()
	return attempts
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
