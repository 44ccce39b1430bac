package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

const asked = "今月の勤怠をまとめて"

// vendor starts a server, and makes a client with its key.
func vendor(t *testing.T) (*models.Server, *Managed, *atomic.Int32) {
	t.Helper()
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
	v := models.NewAgents()
	var requests atomic.Int32
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		v.ServeHTTP(w, r)
	}))
	return v, client(s.URL, v.Key), &requests
}

// client makes a client that never reuses a connection: net/http repeats a GET on a connection that was closed.
func client(url, key string) *Managed {
	reach := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return NewManaged(ManagedConfig{BaseURL: url, HTTP: reach,
		Key: func(context.Context) (string, error) { return key, nil }})
}

func plan() SessionPlan {
	return SessionPlan{
		Title: "t", Model: "claude-sonnet-4-6", System: "rules", Tags: map[string]string{"ringi_execution": "e1"},
		MaxCost: aggregate.USD(1.239),
		Tools: []SessionTool{{Name: "list", Description: "d",
			Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],` +
				`"additionalProperties":false}`)}},
	}
}

// start makes an agent and a session.
func start(t *testing.T, c *Managed) (Place, string) {
	t.Helper()
	at := expect.Value(c.CreateAgent(t.Context(), "T", "claude-sonnet-4-6"))(t)
	id := expect.Value(c.Start(t.Context(), at, plan()))(t)
	return at, id
}

func TestASessionFromBeginningToEnd(t *testing.T) {
	v, c, _ := vendor(t)
	v.Twice, v.Page = true, 2
	v.Script = func([]models.Step) []models.Act {
		return []models.Act{{Asks: []models.Ask{{Tool: "list", Input: `{"n":1}`}, {Tool: "list", Input: `{"n":2}`}}},
			{Says: "終わり", Stop: "end_turn"}}
	}
	at, id := start(t, c)
	x := v.Sessions()[0]
	expect.That(t, x.Made.Budget.MaxListCost.Amount == "123" &&
		strings.Contains(string(x.Made.Agent.Tools[0].InputSchema), "additionalProperties"), "made of %+v", x.Made)
	poll := func() SessionState {
		t.Helper()
		return expect.Value(c.Poll(t.Context(), id))(t)
	}
	s := poll()
	expect.That(t, !s.Told && s.Stop == "", "a session that nobody has spoken to: %+v", s)
	expect.NoError(t, c.Say(t.Context(), id, `<data>{"steps":[]}</data>`))
	s = poll()
	expect.That(t, s.Told && s.Stop == "" && len(s.ToolRequests) == 0, "the message waits: %+v", s)
	s = poll()
	expect.Must(t, len(s.ToolRequests) == 2 && s.Stop == "" && s.ToolRequests[0].Name == "list" &&
		string(s.ToolRequests[0].Input) == `{"n":1}`, "it asks for %+v", s)
	expect.NoError(t, c.Answer(t.Context(), id, s.ToolRequests[1].ID, "two", false))
	rest := poll()
	expect.Must(t, len(rest.ToolRequests) == 1 && rest.ToolRequests[0].ID == s.ToolRequests[0].ID && rest.Stop == "",
		"with one answer it asks for %+v", rest)
	expect.NoError(t, c.Answer(t.Context(), id, s.ToolRequests[0].ID, "no", true))
	poll()
	if s := poll(); s.Stop != StopDone || s.Said != "終わり" || s.Calls != 2 || len(s.ToolRequests) != 0 {
		t.Errorf("at its end: %+v", s)
	}
	expect.Same(t, []models.Answer{{Tool: "list", Text: "two"}, {Tool: "list", Text: "no", Error: true}}, x.Answers)
	u, running, err := c.Bill(t.Context(), id)
	want := aggregate.Usage{ID: id, Provider: "anthropic", Model: "claude-sonnet-4-6", Calls: 1, Input: 207, Output: 20,
		Cached: 10, Written: 7, MS: 1500, Cost: 20_000}
	d := cmp.Diff(want, u)
	expect.That(t, d == "" && !running && err == nil, "%v %v %v", d, running, err)
	findsItsOwn(t, c, at, id)
}

// findsItsOwn checks that Find returns a session only for its own tags, and only if created after a given time.
func findsItsOwn(t *testing.T, c *Managed, at Place, id string) {
	t.Helper()
	found, err := c.Find(t.Context(), at, plan().Tags, time.Now().Add(-time.Minute))
	expect.That(t, found == id && err == nil, "found %q, %v", found, err)
	for what, find := range map[string]func() (string, error){
		"another execution's": func() (string, error) {
			return c.Find(t.Context(), at, map[string]string{"ringi_execution": "e2"}, time.Now().Add(-time.Minute))
		},
		"an older one": func() (string, error) { return c.Find(t.Context(), at, plan().Tags, time.Now().Add(time.Minute)) },
	} {
		found, err := find()
		expect.That(t, found == "" && err == nil, "%s: %q, %v", what, found, err)
	}
}

func TestAnInterruptMayBeRepeated(t *testing.T) {
	v, c, _ := vendor(t)
	_, id := start(t, c)
	v.Thinks = 100
	expect.NoError(t, c.Say(t.Context(), id, asked))
	_, running, err := c.Bill(t.Context(), id)
	expect.That(t, running && err == nil, "running %v, %v", running, err)
	for range 2 {
		expect.NoError(t, c.Interrupt(t.Context(), id))
	}
	expect.Is(t, v.Sessions()[0].Interrupts, 2, "interrupts")
}

// A request that creates or sends something is sent only once, even if it fails. Errors have a kind, and contain
// neither the key nor a text.
func TestWhatGoesWrong(t *testing.T) {
	for name, test := range map[string]struct {
		fault     models.Fault
		kind      model.Kind
		retryable bool
		after     time.Duration
	}{
		"too many requests": {models.Fault{Status: 429, RetryAfter: "7"}, model.RateLimited, true, 7 * time.Second},
		"an error":          {models.Fault{Status: 500}, model.Overloaded, true, 0},
		"overloaded":        {models.Fault{Status: 529}, model.Overloaded, true, 0},
		"refused":           {models.Fault{Status: 400}, model.BadRequest, false, 0},
		"no permission":     {models.Fault{Status: 403}, model.Forbidden, false, 0},
		"half an answer":    {models.Fault{Half: true}, model.Overloaded, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			v, c, requests := vendor(t)
			at, id := start(t, c)
			for op, call := range map[string]func(context.Context) error{
				models.MakeAgent:   func(ctx context.Context) error { _, err := c.CreateAgent(ctx, "T", "m"); return err },
				models.MakeSession: func(ctx context.Context) error { _, err := c.Start(ctx, at, plan()); return err },
				models.ListSessions: func(ctx context.Context) error {
					_, err := c.Find(ctx, at, nil, time.Now().Add(-time.Minute))
					return err
				},
				models.ListEvents: func(ctx context.Context) error { _, err := c.Poll(ctx, id); return err },
				models.GetSession: func(ctx context.Context) error { _, _, err := c.Bill(ctx, id); return err },
				models.Send:       func(ctx context.Context) error { return c.Say(ctx, id, asked) },
				models.Archive:    func(ctx context.Context) error { return c.Discard(ctx, id) },
			} {
				v.Fail(op, test.fault)
				before := requests.Load()
				err := call(t.Context())
				var e *model.Error
				if !errors.As(err, &e) || e.Kind != test.kind || e.Retryable != test.retryable || e.RetryAfter != test.after ||
					e.Provider != "anthropic" {
					t.Errorf("%s: %#v", op, err)
					continue
				}
				expect.Is(t, requests.Load()-before, 1, "%s: requests", op)
				expect.That(t, !strings.Contains(err.Error(), v.Key) && !strings.Contains(err.Error(), asked),
					"%s: it quotes: %v", op, err)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	v, _, _ := vendor(t)
	s := expect.Server(t, v)
	for name, test := range map[string]struct {
		key  string
		err  error
		kind model.Kind
		told int
	}{
		"none":            {"", nil, model.Unauthorized, 1},
		"a wrong one":     {"wrong", nil, model.Unauthorized, 1},
		"nobody can tell": {"", errors.New("the secret is away"), model.Overloaded, 0},
	} {
		told := 0
		c := NewManaged(ManagedConfig{BaseURL: s.URL, HTTP: http.DefaultClient,
			Refused: func() { told++ }, Key: func(context.Context) (string, error) { return test.key, test.err }})
		_, err := c.CreateAgent(t.Context(), "T", "m")
		var e *model.Error
		expect.That(t, errors.As(err, &e) && e.Kind == test.kind && told == test.told,
			"%s: %v, told %d times", name, err, told)
	}
}

// Poll accepts each order and repetition in which the vendor may list events.
func TestPoll(t *testing.T) {
	const (
		at      = `"processed_at":"2026-11-20T00:00:00Z"`
		message = `{"id":"1","type":"user.message","content":[],` + at + `}`
		ask     = `{"id":"2","type":"agent.custom_tool_use","name":"list","input":{},` + at + `}`
		waits   = `{"id":"3","type":"session.status_idle","stop_reason":{"type":"requires_action","event_ids":["2"]},
			"stop_details":null,` + at + `}`
		answer = `{"id":"4","type":"user.custom_tool_result","custom_tool_use_id":"2",` + at + `}`
		queued = `{"id":"4","type":"user.custom_tool_result","custom_tool_use_id":"2","processed_at":null}`
		text   = `{"id":"5","type":"agent.message","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},
			{"type":"new","x":1}],` + at + `}`
		done     = `{"id":"6","type":"session.status_idle","stop_reason":{"type":"end_turn"},"stop_details":null,` + at + `}`
		again    = `{"id":"7","type":"session.status_running",` + at + `}`
		strange  = `{"id":"8","type":"session.dreamt","dream":{"of":["sheep"]},` + at + `}`
		over     = `{"id":"9","type":"session.status_terminated",` + at + `}`
		nameless = `{"type":"session.status_idle","stop_reason":{"type":"end_turn"}}`
	)
	request := []ToolRequest{{ID: "2", Name: "list", Input: json.RawMessage(`{}`)}}
	for name, test := range map[string]struct {
		status int
		body   []string
		want   SessionState
	}{
		"nothing":                       {200, nil, SessionState{}},
		"idle before anything was said": {200, []string{done}, SessionState{}},
		"it works":                      {200, []string{message}, SessionState{Told: true}},
		"it asks": {200, []string{message, ask, waits},
			SessionState{Told: true, ToolRequests: request}},
		"everything twice": {200, []string{message, message, ask, ask, waits, waits},
			SessionState{Told: true, ToolRequests: request}},
		"answered":                       {200, []string{message, ask, waits, answer}, SessionState{Told: true}},
		"the answer waits in line first": {200, []string{queued, message, ask, waits}, SessionState{Told: true}},
		"an end before a queued answer": {200, []string{message, ask, waits, done, queued},
			SessionState{Told: true}},
		"a queued answer before an end": {200, []string{queued, message, ask, waits, done},
			SessionState{Told: true}},
		"a queued answer, then taken": {200, []string{queued, message, ask, waits, answer, done},
			SessionState{Told: true, Stop: StopDone}},
		"done": {200, []string{message, ask, waits, answer, text, done},
			SessionState{Told: true, Stop: StopDone, Said: "ab"}},
		"done, and strange things": {200, []string{strange, message, text, done, strange, nameless},
			SessionState{Told: true, Stop: StopDone, Said: "ab"}},
		"it goes on after an end": {200, []string{message, done, again}, SessionState{Told: true}},
		"terminated": {200, []string{message, ask, waits, over},
			SessionState{Told: true, Stop: StopEnded, ToolRequests: request}},
		"deleted": {404, nil, SessionState{Told: true, Stop: StopEnded}},
	} {
		t.Run(name, func(t *testing.T) {
			s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(`{"data":[` + strings.Join(test.body, ",") + `],"next_page":null,"new":1}`))
			}))
			expect.Same(t, test.want, expect.Value(client(s.URL, "k").Poll(t.Context(), "sesn_1"))(t))
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, body := range map[string]string{"no JSON": "<html>" + asked, "an endless session": ""} {
		s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if body != "" {
				_, _ = w.Write([]byte(body))
				return
			}
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			var all []string
			for n := range 1000 {
				all = append(all, fmt.Sprintf(`{"id":"%d-%d","type":"session.status_running"}`, page, n))
			}
			_, _ = fmt.Fprintf(w, `{"data":[%s],"next_page":"%d"}`, strings.Join(all, ","), page+1)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := client(s.URL, "k").Poll(ctx, "sesn_1")
		cancel()
		var e *model.Error
		expect.That(t, errors.As(err, &e) && e.Retryable && !strings.Contains(err.Error(), asked), "%s: %v", name, err)
	}
}

func TestNamesAreTheVendors(t *testing.T) {
	for tool, want := range map[string]string{
		"list_employees": "list_employees", "rooms.book-room": "rooms_book-room", "a.予約": "a___", strings.Repeat("x",
			200): strings.Repeat("x", 128),
	} {
		expect.Is(t, ToolName(tool), want, "%s is called", tool)
	}
}

func TestASessionCostsNoSumThatNoneCosts(t *testing.T) {
	u := aggregate.Usage{Provider: aggregate.Anthropic, Model: "claude-sonnet-4-6", Calls: 1, Input: 1_000_000}
	tokens, _ := cost(sdk.BetaMonetaryAmount{}, u)
	for amount, want := range map[string]aggregate.MicroUSD{"123": 1_230_000, "0": 0, "-300": tokens,
		"9223372036854775807": tokens, "1.5": tokens} {
		got, unpriced := cost(sdk.BetaMonetaryAmount{Amount: amount, Currency: sdk.BetaCurrencyUSD}, u)
		expect.That(t, got == want && got >= 0 && tokens != 0 && unpriced == 0, "%s cents are %s dollars, want %s",
			amount, got, want)
	}
}
