package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

type ran struct {
	code         int
	out, problem string
}

func run(t *testing.T, folder string, args ...string) ran {
	t.Helper()
	return runIn(t, map[string]string{"MIXSEEK_WORKSPACE": folder}, args...)
}

// runIn runs the command with these environment variables.
func runIn(t *testing.T, env map[string]string, args ...string) ran {
	t.Helper()
	var out, problem bytes.Buffer
	code := program{func(name string) string { return env[name] }, &out, &problem}.run(t.Context(), args)
	return ran{code, out.String(), problem.String()}
}

// sampled returns a folder with the sample workspace.
func sampled(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	expect.NoError(t, models.WriteSample(folder, "ja"))
	return folder
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	expect.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
}

func TestCheckFindsTheSampleValid(t *testing.T) {
	folder := sampled(t)
	files := []string{"configs/contest.toml", "configs/evaluator.toml",
		"configs/agents/team-careful.toml", "configs/agents/checker.toml"}
	r := run(t, folder, append([]string{"check"}, files...)...)
	want := strings.Join(files, ": valid\n") + ": valid\n"
	expect.That(t, r.code == 0 && r.out == want, "%+v", r)
}

func TestCheckReportsEachFileAsJSON(t *testing.T) {
	folder := sampled(t)
	write(t, folder, "bad.toml", "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\ntemperature = 9.0\n")
	r := run(t, folder, "check", "-json", "bad.toml", "configs/agents/team-solo.toml")
	var reports []struct {
		File   string
		Valid  bool
		Errors []struct{ File, Field, Message string }
		Config map[string]any
	}
	err := json.Unmarshal([]byte(r.out), &reports)
	expect.Must(t, err == nil && r.code == 1 && len(reports) == 2, "%v: %+v", err, r)
	bad, good := reports[0], reports[1]
	expect.That(t, !bad.Valid && bad.File == "bad.toml" && len(bad.Errors) == 1 &&
		bad.Errors[0].Field == "leader.temperature" && bad.Config == nil, "%+v", bad)
	leader, _ := good.Config["leader"].(map[string]any)
	temperature, ok := leader["temperature"]
	expect.That(t, good.Valid && leader["model"] == "anthropic:claude-haiku-4-5" && temperature == nil && ok &&
		good.Config["max_concurrent_members"] == 15.0, "%+v", good)
}

func TestMisuseIsToldFromAnInvalidFile(t *testing.T) {
	folder := sampled(t)
	for name, c := range map[string]struct {
		folder string
		args   []string
		code   int
		says   string
	}{
		"no workspace": {"", []string{"check", "a.toml"}, 2,
			"MIXSEEK_WORKSPACE environment variable is not set.\nPlease set it: export MIXSEEK_WORKSPACE=/path/to/workspace"},
		"no folder":           {folder + "/none", []string{"check", "a.toml"}, 2, "there is no folder"},
		"no file":             {folder, []string{"check"}, 2, "usage"},
		"no command":          {folder, nil, 2, "usage"},
		"another command":     {folder, []string{"cheque"}, 2, "usage"},
		"a flag nobody knows": {folder, []string{"check", "-yaml", "a.toml"}, 2, "not defined"},
		"a file that is not":  {folder, []string{"check", "a.toml"}, 1, "there is no such file in the workspace"},
		"a file outside":      {folder, []string{"check", "/etc/hostname"}, 1, "must be a relative path inside the"},
	} {
		r := run(t, c.folder, c.args...)
		expect.That(t, r.code == c.code && strings.Contains(r.out+r.problem, c.says), "%s: %+v", name, r)
	}
}

// TestMain discards the log, as main does.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

func TestEachModelOfTheFilesIsCalledWithItsOwnKey(t *testing.T) {
	var mu sync.Mutex
	calls := map[string]bool{}
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Model string }
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &asked)
		}
		mu.Lock()
		defer mu.Unlock()
		calls[strings.Join([]string{r.URL.Path, asked.Model, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") +
			r.Header.Get("X-Api-Key")}, " ")] = err == nil
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"type":"authentication_error"}}`)
	}))
	defer vendor.Close()
	folder := t.TempDir()
	contest := "[orchestrator]\n"
	for team, model := range map[string]string{"a": "anthropic:claude-haiku-4-5", "b": "openai:gpt-4o",
		"c": "google-gla:gemini-2.5-flash", "d": "compatible:my-box/llama3"} {
		contest += "[[orchestrator.teams]]\nconfig = '" + team + ".toml'\n"
		write(t, folder, team+".toml",
			"[team]\nteam_id = '"+team+"'\nteam_name = '"+team+"'\n[team.leader]\nmodel = '"+model+"'\nmax_retries = 0\n")
	}
	write(t, folder, "contest.toml", contest)
	env := map[string]string{
		"MIXSEEK_WORKSPACE": folder, "ANTHROPIC_API_KEY": "key-a", "ANTHROPIC_BASE_URL": vendor.URL,
		"OPENAI_API_KEY": "key-o", "OPENAI_BASE_URL": vendor.URL + "/v1",
		"GOOGLE_API_KEY": "key-g", "GEMINI_BASE_URL": vendor.URL + "/gemini", "MY_BOX_BASE_URL": vendor.URL + "/box",
		"MY_BOX_API_KEY": "key-b",
	}
	r := runIn(t, env, "exec", "-c", "contest.toml", "Write a policy")
	expect.That(t, r.code == 2 && strings.Count(r.problem, "API key is missing or invalid") == 4 &&
		!strings.Contains(r.out+r.problem, "key-"), "%+v", r)
	want := []string{"/box/chat/completions llama3 key-b", "/gemini/chat/completions gemini-2.5-flash key-g",
		"/v1/chat/completions gpt-4o key-o", "/v1/messages claude-haiku-4-5 key-a"}
	got := slices.Sorted(maps.Keys(calls))
	expect.That(t, slices.Equal(got, want), "%q\nwant %q", got, want)
}

func TestTheLaterOfATeamsRoundsAndTheEarlierOfTwoTeamsWins(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2025, 11, 5, 10, 0, second, 0, time.UTC) }
	team := func(id string, rounds ...contest.RoundResult) *outcome { return &outcome{TeamID: id, Rounds: rounds} }
	scored := func(number int, score float64, second int) contest.RoundResult {
		return contest.RoundResult{RoundNumber: number, EvaluationScore: score, CompletedAt: at(second)}
	}
	teams := []*outcome{
		team("late", scored(1, 0.8, 3), scored(2, 0.8, 9)), team("failed"), team("early", scored(1, 0.8, 5),
			scored(2, 0.7, 6)), team("best", scored(1, 0.9, 20)),
	}
	var got []string
	for _, o := range ranked(teams) {
		got = append(got, fmt.Sprint(o.TeamID, o.best().RoundNumber))
	}
	expect.Is(t, fmt.Sprint(got), "[best1 early1 late2]")
}
