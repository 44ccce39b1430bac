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

// Options configure a Sandbox. Only SigningSecret and BotToken must be set. The page hides a part whose hook is nil.
type Options struct {
	SigningSecret   string
	BotToken        string
	ClientSecret    string // belongs to ClientID
	TeamID          string // default T0SANDRING
	AppID           string // default A0SANDRING
	Company         bool   // its people are a company of twelve
	Language        string // in which the app gets names: ja or en; default ja
	URL             string // address of this sandbox, without a trailing slash
	EventsURL       string
	InteractionsURL string
	CommandsURL     string

	Now        func() time.Time
	TimeScale  float64       // scales the pauses between event retries; 1 means Slack's 0, 1 and 5 min; default 1/30
	AnswerTime time.Duration // time limit for the app's answers; default 3 s
	Rates      webapi.Rates  // Slack's rate limits; off by default
	Logger     *slog.Logger

	// FirstPage lets the first page that is opened decide the language of cards, and of names. Speak is called with it;
	// it may be nil.
	FirstPage bool
	Speak     func(language string)

	Banner    string
	BannerEN  string            // defaults to Banner
	Shortcuts []Shortcut        // in a message's menu, see ReadMenus
	Globals   []Shortcut        // not tied to a message
	Links     map[string]string // on the page, addresses that begin so lead to the stand-in's pages instead
	Run       func(ctx context.Context, taskID string) (any, error)
	Row       func(ctx context.Context, taskID, key string) (any, error) // returns a complete row that Run lists
	Object    func(ctx context.Context, taskID, key string) (any, error) // returns a value that is stored in the bucket
	Panels
}

// Sandbox is one workspace with one app. Close it to end pending retries.
type Sandbox struct {
	opts     Options
	ws       *webapi.Workspace
	faults   *webapi.Faults
	sender   *Sender
	hub      *hub
	handler  http.Handler
	installs *installs

	started time.Time // start of the sandbox

	first   sync.Mutex // held while the first page decides the language of cards
	decided bool

	mu       sync.Mutex
	urls     Endpoints
	toggles  Toggles
	marks    map[string]Attempt
	attempts []Attempt
	calls    []webapi.Call
	counted  int    // number of attempts so far
	shares   string // id of the channel that is shared with another organization
}

// Endpoints are addresses that may be unknown when the sandbox is made.
type Endpoints struct {
	Self         string
	Events       string
	Interactions string
	Commands     string
}

// defaultScale makes Slack's second and third retry come after 2 s and 10 s.
const defaultScale = 1.0 / 30

// New makes a sandbox. It does not listen: serve Handler.
func New(opts Options) *Sandbox {
	opts = withDefaults(opts)
	s := &Sandbox{
		opts: opts,
		ws: webapi.NewWorkspace(webapi.Config{TeamID: opts.TeamID, AppID: opts.AppID, Company: opts.Company,
			Now: opts.Now, Language: opts.Language}),
		faults: &webapi.Faults{},
		hub:    newHub(),
		urls: Endpoints{Self: opts.URL, Events: opts.EventsURL, Interactions: opts.InteractionsURL,
			Commands: opts.CommandsURL},
		marks: map[string]Attempt{}, started: opts.Now(),
		shares: webapi.General,
	}
	s.toggles.EnforceRates = opts.Rates.Enforce
	s.faults.SetRates(opts.Rates)
	s.sender = NewDelivery(DeliveryOptions{
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
	return opts
}

// Handler serves the page at /, the Web API at /api/ and the page's calls at /sandbox/.
func (s *Sandbox) Handler() http.Handler { return s.handler }

// Workspace gives direct access to the workspace, for changes that no person's action makes.
func (s *Sandbox) Workspace() *webapi.Workspace { return s.ws }

func (s *Sandbox) TeamID() string { return s.opts.TeamID }

// Faults makes chosen Web API calls of the app fail.
func (s *Sandbox) Faults() *webapi.Faults { return s.faults }

// Connect sets the addresses of the sandbox and the app; empty addresses are not changed.
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

func (s *Sandbox) Close() {
	s.sender.Close()
	s.hub.close()
}

// keep is the maximum number of saved attempts and calls.
const keep = 2000

// record saves an attempt. A failed attempt marks its message until a later one succeeds.
func (s *Sandbox) record(a Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock() // the lock makes pages receive attempts in order
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
	s.hub.publish(webapi.Change{Kind: "attempt", Channel: a.Channel, TS: a.TS, Data: a})
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

// Cards reads and sets the language of the app's cards, which is a setting of the workspace.
type Cards interface {
	Language(ctx context.Context) (string, error)
	SetLanguage(ctx context.Context, language string) error
}

// regions are what Slack's locales add to the page's languages.
var regions = map[string]string{"ja": "-JP", "en": "-US"}

// speech says in which language a person's page is.
type speech struct {
	User     string `json:"user,omitempty"`
	Language string `json:"language"`
	Cards    string `json:"cards,omitempty"` // in the answer: the language of cards
}

// speak makes the page's language the person's in Slack. The first page also decides the language of cards, unless it
// was decided at the start.
func (s *Sandbox) speak(w http.ResponseWriter, r *http.Request) {
	in, ok := read[speech](w, r, maxRequest, "a language")
	if !ok {
		return
	}
	region, known := regions[in.Language]
	if !known {
		all := strings.Join(slices.Sorted(maps.Keys(regions)), ", ")
		reply(w, nil, FieldErrors{"language": fmt.Sprintf("one of %s, not %q", all, in.Language)})
		return
	}
	err := s.ws.Speak(in.User, in.Language+region)
	if err == nil && s.opts.Cards != nil {
		err = s.decide(r.Context(), in.Language)
	}
	if err == nil && s.opts.Cards != nil {
		in.Cards, err = s.opts.Cards.Language(r.Context())
	}
	reply(w, in, err)
}

// decide sets the language of cards for the first page. A second page waits, and finds it decided.
func (s *Sandbox) decide(ctx context.Context, language string) error {
	s.first.Lock()
	defer s.first.Unlock()
	if !s.opts.FirstPage || s.decided {
		return nil
	}
	if err := s.opts.Cards.SetLanguage(ctx, language); err != nil {
		return err
	}
	s.decided = true
	if s.ws.SetLanguage(language); s.opts.Speak != nil {
		s.opts.Speak(language)
	}
	return nil
}
