package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
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
	"ringi/shared/tool/schema"
	"ringi/shared/words/language"
)

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

// Each step of a plan runs with the results of the steps before.
func TestAPlanOfAllToolsRuns(t *testing.T) {
	w := newWorld(t)
	const text = "先月の残業時間を確認して"
	done := map[string]json.RawMessage{}
	summary := model.SummaryInput{Request: text, Locale: "ja", Now: april, Try: 1}
	for _, s := range w.plan(t, text, "データの検証を追加して") {
		done[s.StepID] = w.step(t, s, done)
		summary.Steps = append(summary.Steps, model.StepResult{StepID: s.StepID, Title: s.Title, Tool: s.Tool,
			Result: done[s.StepID]})
	}
	expect.Is(t, len(w.vendors.Rows("ringi-demo-sheet", "残業 2026-03")), 43, "rows")
	sent := w.sent(t, webapi.Sato)
	expect.That(t, len(sent) == 1 && strings.Contains(sent[0], "2026年3月の残業時間の確認が完了しました。"), "notice: %q", sent)
	said, _, err := model.Summarize(t.Context(), demo.Layers{}, summary)
	expect.That(t, err == nil && strings.Contains(said, "年 360 時間の上限は判定できません。"), "summary: %q, %v", said, err)
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
				rows := w.vendors.Rows("ringi-demo-sheet", f.Demo.Words[locale].Tab)
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
	output := expect.Value(schema.Compile(s.Tool, spec.OutputSchema))(t)
	v := expect.Value(schema.Decode(result))(t)
	problems := output.Check(v)
	expect.That(t, len(problems) <= 0, "%s returns what it does not describe: %v", s.Tool, problems)
	return result
}

// staticToken has one token, or an error.
type staticToken struct {
	token string
	err   error
}

func (d staticToken) Token(context.Context, string, string) (string, error) { return d.token, d.err }
func (d staticToken) ServerToken(context.Context, string, tenancy.MCPServer) (string, error) {
	return d.token, d.err
}
func (d staticToken) Renew(context.Context, string, string, string) (string, error) { return "", d.err }
func (d staticToken) Refused(context.Context, string, string, string) error         { return nil }

func TestTheDoorOfAServer(t *testing.T) {
	never := fmt.Errorf("find it: %w", aggregate.ErrNotFound)
	ended := fmt.Errorf("open it: %w", tenancy.ErrNotConnected{Provider: "mcp:rooms", Status: tenancy.Disconnected})
	for name, test := range map[string]struct {
		door    staticToken
		problem explain.Problem
		header  string
		asked   bool
	}{
		"with a token":    {staticToken{token: "himitsu"}, explain.ProblemUnauthorized, "Bearer himitsu", true},
		"never connected": {staticToken{err: never}, explain.ProblemNotConnected, "", true},
		"disconnected":    {staticToken{err: ended}, explain.ProblemNotConnected, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				expect.Is(t, r.Header.Get("Authorization"), test.header, "the header")
				w.WriteHeader(http.StatusUnauthorized)
			}))
			t.Cleanup(s.Close)
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
