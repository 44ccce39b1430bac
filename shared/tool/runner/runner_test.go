package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
	"ringi/shared/words/language"
)

// world is a runner with stand-ins for all vendors.
type world struct {
	*runner.Runner
	catalog *tool.Catalog
	vendors *vendors.Vendors
	slack   *ringitest.Slack
	paths   *counter                 // calls of the other vendors by path
	breaks  func(*http.Request) bool // calls of these vendors to answer with 500; may be nil
	log     *bytes.Buffer
	tokens  tokens
	ctx     context.Context // of calls that fail
	expire  func()          // ends it as its deadline would

	url string
}

// counter keeps what was called, including by clients that have disconnected.
type counter struct {
	mu  sync.Mutex
	all []string
}

func (c *counter) add(called string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, called)
}

// of counts the calls of one method, path, or either.
func (c *counter) of(called string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		if called == "" || called == one {
			n++
		}
	}
	return n
}

// tokens maps a provider to its token.
type tokens map[string]string

func (t tokens) Token(_ context.Context, tenant, provider string) (string, error) {
	if tenant != "T1" || t[provider] == "" {
		return "", fmt.Errorf("%s: %w", provider, aggregate.ErrNotFound)
	}
	return t[provider], nil
}

func (tokens) Refused(context.Context, string, string, string) error { return nil }

// Renew returns the current token if it differs from the refused one.
func (t tokens) Renew(ctx context.Context, tenant, provider, refused string) (string, error) {
	if t[provider] == refused {
		return "", tenancy.ErrNotConnected{Provider: provider, Status: tenancy.Broken, Reason: tenancy.CredentialRefused}
	}
	return t.Token(ctx, tenant, provider)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{vendors: vendors.New(), slack: ringitest.StartSlack(t), paths: &counter{}, log: &bytes.Buffer{}}
	w.ctx, w.expire = expect.Expiring(t)
	v := w.vendors.Handler()
	s := expect.Server(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.paths.add(r.URL.Path)
		if w.breaks != nil && w.breaks(r) {
			out.WriteHeader(http.StatusInternalServerError)
			return
		}
		v.ServeHTTP(out, r)
	}))
	s.Config.SetKeepAlivesEnabled(false) // no connection outlives a call in a bubble of testing/synctest
	w.url = s.URL
	w.tokens = tokens{"freee": w.vendors.Grant("freee").Access, "google": w.vendors.Grant("google").Access}
	w.catalog = expect.Value(tool.Builtin())(t)
	w.arm(t, w.tokens)
	return w
}

func (t tokens) Company(context.Context, string) (string, error) { return t["company"], nil }

func (tokens) ServerToken(context.Context, string, tenancy.MCPServer) (string, error) {
	return "", aggregate.ErrNotFound
}

// arm makes the runner for the world's catalog.
func (w *world) arm(t *testing.T, k tokens) {
	t.Helper()
	w.Runner = expect.Value(runner.New(w.catalog, runner.Config{
		FreeeURL: w.url + "/freee/hr", SheetsURL: w.url + "/sheets", Credentials: k,
		Slack:   func(context.Context, string) (string, string, error) { return ringitest.BotToken, w.slack.URL, nil },
		Company: k.Company,
		Now:     func() time.Time { return time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC) },
		Log:     slog.New(slog.NewJSONHandler(w.log, nil)),
	}))(t)
}

// given makes a call's arguments, each from an earlier result, which may be large. If args is no object, there are
// none.
func given(args string) tool.Resolved {
	var members map[string]any
	_ = json.Unmarshal([]byte(args), &members)
	for name := range members {
		members[name] = map[string]string{"$ref": "step-1.result." + name}
	}
	planned, _ := json.Marshal(members)
	a, _ := tool.Parse(aggregate.JSON(planned))
	r, _ := a.Resolve(func(string) (json.RawMessage, error) { return json.RawMessage(args), nil })
	return r
}

// run makes a call, which must succeed, and decodes its result.
func (w *world) run(t *testing.T, name, args string, out any) {
	t.Helper()
	result := expect.Value(w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: name, Arguments: given(args),
		Key: "p/step-1/1", Locale: "ja"}))(t)
	err := json.Unmarshal(result, out)
	expect.Must(t, err == nil, "%s: %v", result, err)
}

// looks looks for an earlier call.
func (w *world) looks(t *testing.T, name, args string) (result string, found bool) {
	is, found := w.Look(t.Context(), tool.Call{Tenant: "T1", Tool: name, Arguments: given(args), Key: "p/step-1/1"})
	return string(is), found
}

// refuse makes a call, which must fail.
func (w *world) refuse(t *testing.T, name, args string) *explain.CallError {
	t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 7*time.Second)
	defer cancel()
	result, err := w.Run(ctx, tool.Call{Tenant: "T1", Tool: name, Arguments: given(args), Key: "p/step-1/1", Locale: "en"})
	var e *explain.CallError
	expect.Must(t, errors.As(err, &e), "%s, %v", result, err)
	expect.That(t, e.Detail != "" && !strings.Contains(e.Detail, "%!"), "no sentence: %q", e.Detail)
	for _, secret := range []string{ringitest.BotToken, w.tokens["freee"], w.tokens["google"]} {
		expect.That(t, !strings.Contains(e.Detail+e.Error()+w.log.String(), secret),
			"a token is in the error or the log: %q %q %s", e.Detail, e.Error(), w.log)
	}
	return e
}

const (
	listArgs  = `{"department":null,"status":"active"}`
	sheetArgs = `{"spreadsheet_id":"ringi-demo-sheet","sheet":"tab 'a'",
		"columns":[{"key":"n","title":"Name"},{"key":"h","title":"Hours"}],
		"rows":[{"n":"=1+1","h":1.5},{"n":null,"h":true},{"h":[1]},{"n":9007199254740993,"h":25000000}]}`
	dmArgs = `{"recipient":"U0SANDSATO","text":"<!channel> done & dusted",
		"details":[{"label":"n","value":42},{"label":"none","value":null}]}`
)

func TestRunnerNeedsAFunctionForEveryTool(t *testing.T) {
	c := expect.Value(tool.NewCatalog(tool.Spec{Name: "pay_everyone", InputSchema: `{}`, OutputSchema: `{}`}))(t)
	_, err := runner.New(c, runner.Config{})
	expect.That(t, err != nil && strings.Contains(err.Error(), "pay_everyone"), "%v", err)
}

func TestAResultOverItsLimitIsNotTaken(t *testing.T) {
	w := newWorld(t)
	s, _ := w.catalog.Lookup("list_employees")
	s.MaxBytes = 100
	w.catalog = expect.Value(tool.NewCatalog(s))(t)
	w.arm(t, w.tokens)
	e := w.refuse(t, "list_employees", listArgs)
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemTooLarge &&
		strings.Contains(e.Detail, "100 bytes"), "%v: %s", e, e.Detail)
}

func TestNothingIsCalledForBadArguments(t *testing.T) {
	w := newWorld(t)
	for name, args := range map[string]string{
		"list_employees":             `{"status":"active"}`,
		"write_rows_to_google_sheet": `{"spreadsheet_id":"x","sheet":"y","columns":[],"rows":[]}`,
		"send_slack_dm":              `{"recipient":"#general","text":"x","details":[]}`,
		"no_such_tool":               `{}`,
	} {
		e := w.refuse(t, name, args)
		expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemBadArguments, "%s: %v", name, e)
	}
	expect.That(t, len(w.slack.Calls()) == 0 && w.vendors.Calls("list_employees") == 0 &&
		w.vendors.Calls("write_rows_to_google_sheet") == 0, "calls went out")
}

// plan returns the demo's plan for a request. If reason is not empty, it rejected an earlier plan.
func (w *world) plan(t *testing.T, text, reason string) []task.Step {
	t.Helper()
	in := model.PlanInput{Request: text, Tools: w.catalog, Requester: webapi.Sato, Locale: "ja", Now: april, Try: 1}
	if reason != "" {
		in.Earlier = []model.PlanVersion{{Reason: reason}}
	}
	steps, _, _, err := model.Plan(t.Context(), demo.Layers{}, in)
	expect.NoError(t, err)
	return steps
}

var april = time.Date(2026, 4, 1, 3, 0, 0, 0, time.UTC)

// Each step of a plan runs with the results of the steps before. Counts by the law's limits stand with what a month
// can't show, whatever was asked.
func TestAPlanOfAllToolsRuns(t *testing.T) {
	w := newWorld(t)
	const text = "先月の勤怠をまとめて"
	done := map[string]json.RawMessage{}
	summary := model.SummaryInput{Request: text, Locale: "ja", Now: april, Try: 1}
	for _, s := range w.plan(t, text, "データの検証を追加して") {
		done[s.StepID] = w.step(t, s, done)
		summary.Steps = append(summary.Steps, model.StepResult{StepID: s.StepID, Title: s.Title, Tool: s.Tool,
			Result: done[s.StepID]})
	}
	expect.Is(t, len(w.vendors.Rows("勤怠 2026-03")), 43, "rows")
	sent := w.sent(t, webapi.Sato)
	expect.That(t, len(sent) == 1 && strings.Contains(sent[0], "2026年3月の勤怠集計が完了しました。"), "notice: %q", sent)
	said, _, err := model.Summarize(t.Context(), demo.Layers{}, summary)
	expect.That(t, err == nil && strings.Contains(said, "720 時間) の上限は判定できません。"), "summary: %q, %v", said, err)
}

// TestTheDemoPlansWhatAToolsFileAsks runs the plan for each example request in a tool's file. The rows are in the
// sheet, and the requester reads how many there are.
func TestTheDemoPlansWhatAToolsFileAsks(t *testing.T) {
	for _, f := range expect.Value(tenancy.OwnTools())(t) {
		if f.Demo == nil {
			continue
		}
		for _, locale := range language.All {
			t.Run(f.Name+" "+locale, func(t *testing.T) {
				w := newWorld(t)
				steps := w.plan(t, f.Demo.Request[locale], "")
				expect.Must(t, len(steps) != 0 && steps[0].Tool == f.Name && steps[0].Title == f.Title[locale],
					"planned: %+v", steps)
				done := map[string]json.RawMessage{}
				for _, s := range steps {
					done[s.StepID] = w.step(t, s, done)
				}
				var result map[string]json.RawMessage
				var listed []map[string]any
				expect.NoError(t, json.Unmarshal(done[steps[0].StepID], &result))
				expect.NoError(t, json.Unmarshal(result[f.Demo.Rows], &listed))
				rows := w.vendors.Rows(f.Demo.Words[locale].Tab)
				expect.That(t, len(listed) != 0 && len(rows) == len(listed)+1 && len(rows[1]) == len(f.Demo.Columns) &&
					rows[1][0] != nil, "%d listed, in the sheet: %v", len(listed), rows)
				for _, row := range listed {
					for _, key := range f.Demo.Columns {
						_, has := row[key]
						expect.That(t, has, "a row has no %s: %v", key, row)
					}
				}
				sent := w.sent(t, webapi.Sato)
				expect.That(t, len(sent) == 1 && strings.Contains(sent[0], fmt.Sprintf(": %d", len(listed))), "notice: %q", sent)
			})
		}
	}
}

// step runs one step and compares its result with the tool's own description.
func (w *world) step(t *testing.T, s task.Step, done map[string]json.RawMessage) json.RawMessage {
	t.Helper()
	planned, err := tool.Parse(s.ToolInput)
	expect.Must(t, err == nil, "%s: %v", s.StepID, err)
	args, err := planned.Resolve(func(id string) (json.RawMessage, error) {
		if done[id] == nil {
			return nil, errors.New("no result yet")
		}
		return done[id], nil
	})
	expect.Must(t, err == nil, "%s: %v", s.StepID, err)
	result, err := w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: s.Tool, Arguments: args, Key: "p/" + s.StepID + "/1",
		Locale: "ja"})
	expect.Must(t, err == nil, "%s %s: %v", s.StepID, s.Tool, err)
	spec, _ := w.catalog.Lookup(s.Tool)
	output := expect.Value(tool.CompileSchema(s.Tool, spec.OutputSchema))(t)
	v := expect.Value(tool.Decode(result))(t)
	problems := output.Check(v)
	expect.That(t, len(problems) <= 0, "%s returns what it does not describe: %v", s.Tool, problems)
	return result
}

// door has one token of a server, or an error.
type door struct {
	tokens
	token string
	err   error
}

func (d door) ServerToken(context.Context, string, tenancy.MCPServer) (string, error) {
	return d.token, d.err
}

func TestTheDoorOfAServer(t *testing.T) {
	never := fmt.Errorf("find it: %w", aggregate.ErrNotFound)
	ended := fmt.Errorf("open it: %w", tenancy.ErrNotConnected{Provider: "mcp:rooms", Status: tenancy.Disconnected})
	for name, test := range map[string]struct {
		door    door
		problem explain.Problem
		header  string
		asked   bool
	}{
		"with a token":    {door{token: "himitsu"}, explain.ProblemUnauthorized, "Bearer himitsu", true},
		"never connected": {door{err: never}, explain.ProblemNotConnected, "", true},
		"disconnected":    {door{err: ended}, explain.ProblemNotConnected, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				expect.Is(t, r.Header.Get("Authorization"), test.header, "the header")
				w.WriteHeader(http.StatusUnauthorized)
			}))
			catalog := expect.Value(tool.NewCatalog())(t)
			r, err := runner.New(catalog, runner.Config{Credentials: test.door,
				Outbound: outbound.Dialer{Allow: []string{s.Listener.Addr().String()}}.Client(), Now: time.Now,
				Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
			expect.NoError(t, err)
			_, err = r.Run(t.Context(), tool.Call{Tenant: "T", Tool: "rooms.book", Arguments: given(`{}`), Locale: "en",
				Pin: &tenancy.Pin{URL: s.URL, Access: aggregate.Write, Hash: "h"}})
			var e *explain.CallError
			expect.That(t, errors.As(err, &e) && e.Outcome == explain.CallFailed && e.Problem == test.problem && e.Detail != "",
				"%+v", e)
			expect.Is(t, asked.Load() > 0, test.asked, "asked (times)")
		})
	}
}
