// Package sandbox is a Slack workspace on this machine. It answers the app's Web API calls, delivers what people do as
// signed requests, and shows everything in the browser. Tests act through the same functions as the browser: Say,
// Click, Submit, Shortcut.
package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/sandbox/webapi"
)

type Shortcut struct {
	CallbackID string `json:"callback_id"`
	Name       string `json:"name"`
	NameEN     string `json:"name_en"`
}

// Options configure a Sandbox. SigningSecret, BotToken and the addresses must be set.
type Options struct {
	SigningSecret string
	BotToken      string
	ClientSecret  string // belongs to ClientID
	Company       bool   // its people are a company

	// Addresses of the sandbox itself, without a trailing slash, and of the app.
	Self, Events, Interactions, Commands string

	// Language is the one in which the app gets names: ja or en. If it is empty, names and everybody's language in Slack
	// are that in which somebody looks at the page, and Speak is called with it; Speak may be nil.
	Language string
	Speak    func(language string)

	Now        func() time.Time
	TimeScale  float64       // scales the pauses between event retries; 1 means Slack's 0, 1 and 5 min; default 1/30
	AnswerTime time.Duration // time limit for the app's answers; default 3 s
	Pace       float64       // times Slack's rate limits; 0 means none
	Logger     *slog.Logger

	Banner    string
	BannerEN  string
	Shortcuts []Shortcut        // in a message's menu, see ReadMenus
	Globals   []Shortcut        // not tied to a message
	Links     map[string]string // on the page, addresses that begin so lead to the stand-in's pages instead

	FailWrites func(failing bool) // makes tools that write fail, or work again; may be nil
}

// Sandbox is one workspace with one app. Close it to end pending retries.
type Sandbox struct {
	*webapi.Workspace
	Faults  *webapi.Faults // makes chosen Web API calls of the app fail
	Handler http.Handler   // serves the page at /, the Web API at /api/ and the page's calls at /sandbox/

	opts     Options
	hub      hub
	installs installs

	client *http.Client
	ctx    context.Context // of deliveries
	cancel context.CancelFunc
	jobs   sync.WaitGroup

	mu       sync.Mutex
	toggles  Toggles
	marks    map[string]Attempt
	attempts []Attempt
	calls    []webapi.Call
	counted  int // number of attempts so far
}

// defaultScale makes Slack's second and third retry come after 2 s and 10 s.
const defaultScale = 1.0 / 30

// New makes a sandbox. It does not listen: serve Handler.
func New(opts Options) *Sandbox {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.TimeScale = cmp.Or(opts.TimeScale, defaultScale)
	opts.AnswerTime = cmp.Or(opts.AnswerTime, AnswerTime)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	s := &Sandbox{
		opts: opts,
		Workspace: webapi.NewWorkspace(webapi.Config{TeamID: "T0SANDRING", AppID: "A0SANDRING", Company: opts.Company,
			Now: opts.Now, Language: opts.Language}),
		Faults: &webapi.Faults{}, hub: hub{pages: map[chan struct{}]bool{}},
		marks: map[string]Attempt{}, installs: installs{token: opts.BotToken, codes: map[string]consented{}},
		client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.Faults.Limit(opts.Pace)
	s.Workspace.Listen(s.echo)
	s.Handler = s.routes(&webapi.API{
		Workspace: s.Workspace, Check: s.installs.check, Revoke: s.installs.revoke, Faults: s.Faults,
		Now: opts.Now, Logger: opts.Logger, Self: opts.Self, Heard: s.heard,
	})
	return s
}

// Close cancels pending deliveries, waits for running ones, and ends the pages' streams.
func (s *Sandbox) Close() {
	s.cancel()
	s.jobs.Wait()
	s.client.CloseIdleConnections()
}

// keep is the maximum number of saved attempts and calls.
const keep = 2000

// record saves an attempt. A failed attempt marks its message until a later one succeeds.
func (s *Sandbox) record(a Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counted++
	a.N = s.counted
	s.attempts = append(s.attempts, a)
	s.attempts = s.attempts[max(0, len(s.attempts)-keep):]
	if a.TS == "" {
		return
	}
	if a.Reason == "" {
		delete(s.marks, a.Channel+a.TS)
	} else {
		s.marks[a.Channel+a.TS] = a
	}
	s.hub.publish()
}

func (s *Sandbox) heard(c webapi.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	s.calls = s.calls[max(0, len(s.calls)-keep):]
}

// Attempts returns the deliveries to the app, oldest first.
func (s *Sandbox) Attempts() []Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.attempts)
}

// Calls returns the app's Web API calls, oldest first.
func (s *Sandbox) Calls() []webapi.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// regions are what Slack's locales add to the page's languages.
var regions = map[string]string{"ja": "-JP", "en": "-US"}

// speech says in which language a person's page is.
type speech struct {
	User     string `json:"user"`
	Language string `json:"language"`
}

// speak makes the page's language the person's in Slack, and unless names have a language of their own, everybody's.
func (s *Sandbox) speak(in speech) (any, error) {
	region, known := regions[in.Language]
	if !known {
		all := strings.Join(slices.Sorted(maps.Keys(regions)), ", ")
		return nil, FieldError{"language", fmt.Sprintf("one of %s, not %q", all, in.Language)}
	}
	if err := s.Workspace.Speak(in.User, in.Language+region); err != nil || s.opts.Language != "" {
		return nil, err
	}
	for _, u := range s.Workspace.Users() {
		if err := s.Workspace.Speak(u.ID, in.Language+region); err != nil {
			return nil, err
		}
	}
	if s.Workspace.SetLanguage(in.Language); s.opts.Speak != nil {
		s.opts.Speak(in.Language)
	}
	return nil, nil
}
