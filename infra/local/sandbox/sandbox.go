// Package sandbox is a Slack workspace on this machine: it answers the app's
// Web API calls, signs and delivers what people do, and shows it all in the
// browser. Tests use the same acts as the browser: Say, Click, Submit, Shortcut.
package sandbox

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"ringi/infra/local/sandbox/delivery"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
)

// Shortcut is an entry of a message's ⋯ menu.
type Shortcut struct {
	CallbackID string `json:"callback_id"`
	Name       string `json:"name"`
	NameEN     string `json:"name_en"`
}

// Options configure a Sandbox. Zero values are fine for all but SigningSecret
// and BotToken; a part of the page without its hook is not shown.
type Options struct {
	SigningSecret   string
	BotToken        string
	ClientSecret    string // with ClientID
	TeamID          string // default T0SANDRING
	AppID           string // default A0SANDRING
	URL             string // where this sandbox is reached, without a slash at the end
	EventsURL       string
	InteractionsURL string
	CommandsURL     string

	Now        func() time.Time
	TimeScale  float64       // of the pauses between event retries: 1 is Slack's 0, 1 and 5 min; default 1/30
	AnswerTime time.Duration // how long the app may take; default 3 s
	Rates      webapi.Rates  // Slack's rate limits; off by default
	Logger     *slog.Logger

	Banner    string
	BannerEN  string     // default Banner
	Shortcuts []Shortcut // of a message's menu
	Globals   []Shortcut // that need no message
	Run       func(ctx context.Context, taskID string) (any, error)
	Row       func(ctx context.Context, taskID, key string) (any, error) // all of a row that Run names
	Object    func(ctx context.Context, taskID, key string) (any, error) // what a row keeps in the bucket
	Panels
}

// Sandbox is one workspace with one app. Close it to end pending retries.
type Sandbox struct {
	opts     Options
	ws       *workspace.Workspace
	faults   *webapi.Faults
	sender   *delivery.Sender
	hub      *hub
	handler  http.Handler
	installs *installs

	started time.Time // everything on the page is younger

	mu       sync.Mutex
	urls     Endpoints
	toggles  Toggles
	marks    map[string]delivery.Attempt
	attempts []delivery.Attempt
	calls    []webapi.Call
	counted  int // attempts so far
	sent     map[string]delivery.Event
}

// Endpoints are the addresses that may only be known after the sandbox is made.
type Endpoints struct {
	Self         string
	Events       string
	Interactions string
	Commands     string
}

// defaultScale makes Slack's second and third retry come after 2 s and 10 s.
const defaultScale = 1.0 / 30

// New makes a sandbox. It listens nowhere by itself: serve Handler.
func New(opts Options) *Sandbox {
	opts = withDefaults(opts)
	s := &Sandbox{
		opts:   opts,
		ws:     workspace.New(workspace.Config{TeamID: opts.TeamID, AppID: opts.AppID, Now: opts.Now}),
		faults: &webapi.Faults{},
		hub:    newHub(),
		urls: Endpoints{Self: opts.URL, Events: opts.EventsURL, Interactions: opts.InteractionsURL,
			Commands: opts.CommandsURL},
		marks: map[string]delivery.Attempt{}, started: opts.Now(),
		sent: map[string]delivery.Event{},
	}
	s.toggles.EnforceRates = opts.Rates.Enforce
	s.faults.SetRates(opts.Rates)
	s.sender = delivery.New(delivery.Options{
		SigningSecret: opts.SigningSecret, Now: opts.Now, TimeScale: opts.TimeScale, AnswerTime: opts.AnswerTime,
		Logger:     opts.Logger,
		EventsURL:  func() string { return s.endpoints().Events },
		ActionsURL: func() string { return s.endpoints().Interactions },

		CommandsURL: func() string { return s.endpoints().Commands },
		Faults:      s.deliveryFaults,
		Record:      s.record,
	})
	s.ws.Listen(s.hub.publish)
	s.ws.Listen(s.echo)
	s.installs = &installs{token: opts.BotToken}
	s.handler = s.routes(webapi.New(webapi.Options{
		Workspace: s.ws, BotToken: opts.BotToken, Check: s.installs.check, Revoke: s.installs.revoke, Faults: s.faults,
		Now: opts.Now, Logger: opts.Logger,
		Self:  func() string { return s.endpoints().Self },
		Heard: s.heard,
	}))
	return s
}

func withDefaults(opts Options) Options {
	opts.TeamID = cmp.Or(opts.TeamID, "T0SANDRING")
	opts.AppID = cmp.Or(opts.AppID, "A0SANDRING")
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.TimeScale = cmp.Or(opts.TimeScale, defaultScale)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	opts.BannerEN = cmp.Or(opts.BannerEN, opts.Banner)
	if opts.Globals == nil {
		opts.Globals = []Shortcut{{CallbackID: "ringi_new", Name: "稟議を依頼", NameEN: "New request"}}
	}
	if opts.Shortcuts == nil {
		opts.Shortcuts = []Shortcut{
			{CallbackID: "cancel_task", Name: "取り消す・終える", NameEN: "Cancel or end"}, {CallbackID: "ringi_from_message", Name: "この依頼を稟議に", NameEN: "Ask Ringi"},
		}
	}
	return opts
}

// Handler serves the page at /, the Web API at /api/ and the page's own calls
// at /sandbox/.
func (s *Sandbox) Handler() http.Handler { return s.handler }

// Workspace is the workspace itself, to arrange what no act can do.
func (s *Sandbox) Workspace() *workspace.Workspace { return s.ws }

// TeamID is the workspace's id.
func (s *Sandbox) TeamID() string { return s.opts.TeamID }

// Faults makes single calls of the app go wrong, method by method.
func (s *Sandbox) Faults() *webapi.Faults { return s.faults }

// Connect says where the sandbox and the app are; empty addresses stay.
func (s *Sandbox) Connect(e Endpoints) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.urls = Endpoints{Self: cmp.Or(e.Self, s.urls.Self), Events: cmp.Or(e.Events, s.urls.Events),
		Interactions: cmp.Or(e.Interactions, s.urls.Interactions), Commands: cmp.Or(e.Commands, s.urls.Commands)}
}

func (s *Sandbox) endpoints() Endpoints {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.urls
}

// Close ends pending deliveries and the page's streams.
func (s *Sandbox) Close() {
	s.sender.Close()
	s.hub.close()
}

// keep is how many attempts and calls are remembered.
const keep = 2000

// record remembers an attempt and marks the message that it was about, until a
// later attempt succeeds.
func (s *Sandbox) record(a delivery.Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock() // pages hear of attempts in the order in which they were made
	s.counted++
	a.N = s.counted
	s.attempts = append(s.attempts, a)
	s.attempts = s.attempts[max(0, len(s.attempts)-keep):]
	if a.TS != "" {
		if a.Reason == "" {
			delete(s.marks, a.Channel+a.TS)
		} else {
			s.marks[a.Channel+a.TS] = a
		}
	}
	s.hub.publish(workspace.Change{Kind: "attempt", Channel: a.Channel, TS: a.TS, Data: a})
}

func (s *Sandbox) heard(c webapi.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	s.calls = s.calls[max(0, len(s.calls)-keep):]
}

// Attempts lists what was delivered to the app, oldest first.
func (s *Sandbox) Attempts() []delivery.Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.attempts)
}

// Calls lists the app's Web API calls, oldest first.
func (s *Sandbox) Calls() []webapi.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}
