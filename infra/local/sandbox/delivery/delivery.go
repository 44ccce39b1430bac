// Package delivery sends the workspace's events and interactions to the app as Slack does: signed,
// with three seconds to answer, and events up to three times more when the app doesn't answer.
package delivery

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"ringi/shared/runtime/sleep"
)

// AnswerTime is how long Slack waits for an app's answer.
const AnswerTime = 3 * time.Second

// retryDelays are how long Slack waits before each retry of an event.
var retryDelays = [...]time.Duration{0, time.Minute, 5 * time.Minute}

// Faults are what the sender does wrong on purpose.
type Faults struct {
	Twice bool          // every event is sent two times at once
	Late  time.Duration // events wait before their first delivery
	Drop  bool          // the app's answer counts as not given
}

// Options configure a Sender. URLs and Faults are called before each
// delivery; Record, if set, is called after every attempt.
type Options struct {
	SigningSecret string
	EventsURL     func() string
	ActionsURL    func() string
	CommandsURL   func() string
	Faults        func() Faults
	Record        func(Attempt)
	Now           func() time.Time
	// TimeScale multiplies the delays between retries; 1 is Slack's own.
	TimeScale float64
	// AnswerTime replaces the three seconds when it is not zero.
	AnswerTime time.Duration
	Logger     *slog.Logger
}

// Attempt is one request to the app and what came of it. Reason is empty when
// the app answered 2xx, else Slack's word for what went wrong.
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

	N       int    `json:"n"` // counted from 1 by whoever records it
	Payload []byte `json:"-"` // what was sent, as JSON
	Answer  []byte `json:"-"` // what came back, whatever it is
}

// Event is what an event says, and what it is about.
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
	opts   Options
	client *http.Client
	ctx    context.Context
	cancel context.CancelFunc
	jobs   sync.WaitGroup
}

// New makes a Sender; it starts nothing yet.
func New(opts Options) *Sender {
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

// Close ends what is under way and waits for it.
func (c *Sender) Close() {
	c.cancel()
	c.jobs.Wait()
	c.client.CloseIdleConnections()
}

// Deliver sends an event in the background, at once and up to three times more.
func (c *Sender) Deliver(e Event) {
	copies := 1
	m := c.opts.Faults()
	if m.Twice {
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

// Repeat sends copies of an event at the same time, repeats none of them, and waits for the answers.
func (c *Sender) Repeat(e Event, copies int) []Attempt {
	attempts := make([]Attempt, copies)
	var all sync.WaitGroup
	for i := range copies {
		all.Go(func() { attempts[i], _ = c.sendEvent(e, 0, "", true) })
	}
	all.Wait()
	return attempts
}

// persist is the schedule of one event: the first try and three retries.
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
	return sleep.For(c.ctx, d) == nil
}
