// Package delivery carries what happens in the workspace to the app, as Slack
// does: signed, with three seconds to answer, events again when the app doesn't.
package delivery

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"ringi/shared/sleep"
)

// AnswerTime is how long Slack waits for an app's answer.
const AnswerTime = 3 * time.Second

// retryDelays are Slack's own pauses before it sends an event again.
var retryDelays = [...]time.Duration{0, time.Minute, 5 * time.Minute}

// Mischief is what the courier does wrong on purpose.
type Mischief struct {
	Twice bool          // every event is sent two times at once
	Late  time.Duration // events wait before their first delivery
	Drop  bool          // the app's answer counts as not given
}

// Options configure a Courier. URLs and Mischief are asked before each
// delivery; Record, if set, hears of every attempt.
type Options struct {
	SigningSecret string
	EventsURL     func() string
	ActionsURL    func() string
	Mischief      func() Mischief
	Record        func(Attempt)
	Now           func() time.Time
	// TimeScale multiplies the pauses between retries; 1 is Slack's own pace.
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

// Courier delivers to one app. Close it to end pending retries.
type Courier struct {
	opts   Options
	client *http.Client
	ctx    context.Context
	cancel context.CancelFunc
	jobs   sync.WaitGroup
}

// New makes a courier; it starts nothing yet.
func New(opts Options) *Courier {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.AnswerTime == 0 {
		opts.AnswerTime = AnswerTime
	}
	if opts.TimeScale == 0 {
		opts.TimeScale = 1
	}
	if opts.Mischief == nil {
		opts.Mischief = func() Mischief { return Mischief{} }
	}
	if opts.Record == nil {
		opts.Record = func(Attempt) {}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Courier{opts: opts, client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}, ctx: ctx, cancel: cancel}
}

// Close ends what is under way and waits for it.
func (c *Courier) Close() {
	c.cancel()
	c.jobs.Wait()
	c.client.CloseIdleConnections()
}

// Deliver sends an event in the background, at once and up to three times more.
func (c *Courier) Deliver(e Event) {
	copies := 1
	m := c.opts.Mischief()
	if m.Twice {
		copies = 2
	}
	for range copies {
		c.jobs.Go(func() {
			if c.pause(m.Late) {
				c.persist(e)
			}
		})
	}
}

// Repeat sends copies of an event at the same time, each only once, and waits
// for their answers.
func (c *Courier) Repeat(e Event, copies int) []Attempt {
	attempts := make([]Attempt, copies)
	var all sync.WaitGroup
	for i := range copies {
		all.Go(func() { attempts[i], _ = c.sendEvent(e, 0, "", true) })
	}
	all.Wait()
	return attempts
}

// persist is the schedule of one event: the first try and three retries.
func (c *Courier) persist(e Event) {
	reason := ""
	for retry := 0; retry <= len(retryDelays); retry++ {
		if retry > 0 && !c.pause(time.Duration(float64(retryDelays[retry-1])*c.opts.TimeScale)) {
			return
		}
		attempt, again := c.sendEvent(e, retry, reason, retry == len(retryDelays))
		if attempt.Reason == "" || !again {
			return
		}
		reason = attempt.Reason
	}
}

// pause waits and reports whether the courier is still at work.
func (c *Courier) pause(d time.Duration) bool {
	if d <= 0 {
		return c.ctx.Err() == nil
	}
	return sleep.For(c.ctx, d) == nil
}
