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
	folder := filepath.Join(t.TempDir(), "workspace")
	r := run(t, folder, "init")
	expect.Must(t, r.code == 0 && strings.Contains(r.out, "7 files"), "init: %+v", r)
	return folder
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)
	expect.NoError(t, err)
}

func TestInitWritesAWorkspaceThatCheckFindsValid(t *testing.T) {
	folder := sampled(t)
	files := []string{"configs/contest.toml", "configs/evaluator.toml", "configs/judgment.toml",
		"configs/agents/team-careful.toml", "configs/agents/checker.toml"}
	r := run(t, folder, append([]string{"check"}, files...)...)
	want := strings.Join(files, ": valid\n") + ": valid\n"
	expect.That(t, r.code == 0 && r.out == want, "%+v", r)
	if r := run(t, folder, "init"); r.code != 1 || !strings.Contains(r.problem, "nothing was written") ||
		strings.Count(r.problem, "is there already") != 7 {
		t.Errorf("a second init: %+v", r)
	}
}

func TestCheckReportsEachFileAsJSON(t *testing.T) {
	folder := sampled(t)
	write(t, folder, "bad.toml",
		"[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\ntemperature = 9.0\n[[team.members]]\nname = 'x'\ntype = "+
			"'plain'\ndescription = 'd'\nmetadata = {}\n")
	r := run(t, folder, "check", "bad.toml", "--json", filepath.Join(folder, "configs/agents/team-solo.toml"))
	var reports []struct {
		File             string
		Valid            bool
		Errors, Warnings []struct{ Field, Message string }
		Config           map[string]any
	}
	err := json.Unmarshal([]byte(r.out), &reports)
	expect.Must(t, err == nil && r.code == 1 && len(reports) == 2, "%v: %+v", err, r)
	bad, good := reports[0], reports[1]
	if bad.Valid || bad.File != "bad.toml" || len(bad.Errors) != 2 || bad.Errors[0].Field != "leader.temperature" ||
		bad.Errors[1].Field != "members[0].model" || bad.Config != nil || bad.Warnings[0].Field != "members[0].metadata" {
		t.Errorf("%+v", bad)
	}
	leader, _ := good.Config["leader"].(map[string]any)
	if temperature, ok := leader["temperature"]; !good.Valid || leader["model"] != "anthropic:claude-haiku-4-5" ||
		temperature != nil || !ok || good.Config["max_concurrent_members"] != 15.0 {
		t.Errorf("%+v", good)
	}
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
		"no folder":  {folder + "/none", []string{"check", "a.toml"}, 2, "/none\". contest init makes it"},
		"no file":    {folder, []string{"check"}, 2, "usage"},
		"no command": {folder, nil, 2, "usage"},
		"another command": {folder, []string{"cheque"}, 2,
			"\"cheque\" is none of init, check, config, exec, evaluate and archive\nusage"},
		"a flag nobody knows":   {folder, []string{"check", "--yaml", "a.toml"}, 2, "not defined"},
		"a file that is not":    {folder, []string{"check", "a.toml"}, 1, "there is no such file in the workspace"},
		"a file outside":        {folder, []string{"check", "/etc/hostname"}, 1, "is outside of MIXSEEK_WORKSPACE"},
		"a file above":          {folder, []string{"check", "../a.toml"}, 1, "must be a relative path inside the workspace"},
		"init into two folders": {folder, []string{"init", "a", "b"}, 2, "usage"},
		"init without a folder": {"", []string{"init"}, 2, "Please set it"},
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
	if r.code != 2 || strings.Count(r.out, "API key is missing or invalid") != 4 ||
		strings.Contains(r.out+r.problem, "key-") {
		t.Errorf("%+v", r)
	}
	want := []string{"/box/chat/completions llama3 key-b", "/gemini/chat/completions gemini-2.5-flash key-g",
		"/v1/messages claude-haiku-4-5 key-a", "/v1/responses gpt-4o key-o"}
	got := slices.Sorted(maps.Keys(calls))
	expect.That(t, slices.Equal(got, want), "%q\nwant %q", got, want)
	if r := runIn(t, env, "exec", "-c", "contest.toml", "--dry-run", "--json"); r.code != 0 ||
		!strings.Contains(r.out, `"google-gla:gemini-2.5-flash"`) {
		t.Errorf("a dry run: %+v", r)
	}
}

func TestTheLaterOfATeamsRoundsAndTheEarlierOfTwoTeamsWins(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2025, 11, 5, 10, 0, second, 0, time.UTC) }
	team := func(id string, rounds ...contest.RoundResult) *outcome {
		return &outcome{TeamID: id, Rounds: rounds}
	}
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

func TestASubmissionIsScoredByAnEvaluatorsFile(t *testing.T) {
	folder := sampled(t)
	write(t, folder, "wit.toml", "default_model = 'gpt-5'\n[[metrics]]\nname = 'Wit'\nsystem_instruction = 'Is it "+
		"witty?'\nweight = 0.4\n[[metrics]]\nname = 'Coverage'\nweight = 0.6\n")
	write(t, folder, "text.md", "領収書は毎週月曜日に提出します。")
	var got evaluation
	for name, args := range map[string][]string{
		"a text":              {"経費の方針", "領収書は毎週月曜日に提出します。", "-c", "wit.toml"},
		"a text of a file":    {"経費の方針", "-submission", filepath.Join(folder, "text.md"), "-c", "wit.toml"},
		"a file elsewhere":    {"-c", filepath.Join(folder, "wit.toml"), "経費の方針", "領収書は毎週月曜日に提出します。"},
		"in another language": {"-locale", "en", "-c", "wit.toml", "経費の方針", "領収書は毎週月曜日に提出します。"},
	} {
		r := run(t, folder, append([]string{"evaluate", "--json", "-model", "demo"}, args...)...)
		expect.Must(t, r.code == 0 && r.problem == "", "%s: %+v", name, r)
		expect.NoError(t, json.Unmarshal([]byte(r.out), &got))
		of := got.Metrics
		expect.That(t, len(of) == 2 && of[0].MetricName == "Wit" && of[1].MetricName == "Coverage" &&
			got.EvaluationScore*100-(0.4*of[0].Score+0.6*of[1].Score) < 0.01 && strings.HasPrefix(got.EvaluationFeedback,
			"Wit ("),
			"%s: %+v", name, got)
	}
	r := run(t, folder, "evaluate", "-model", "demo", "経費の方針", "毎週月曜日に提出します。")
	expect.That(t, r.code == 0 && strings.Contains(r.out, " of 100, ") && strings.Contains(r.out, "守りやすさ ("),
		"the usual file: %+v", r)
	r = run(t, folder, "evaluate", "-model", "demo", "-c", "configs/contest.toml", "経費の方針", "毎週月曜日に提出します。")
	expect.That(t, r.code == 0 && strings.Contains(r.out, "守りやすさ ("), "a contest's: %+v", r)
	r = run(t, t.TempDir(), "evaluate", "-model", "demo", "経費の方針", "毎週月曜日に提出します。")
	expect.That(t, r.code == 0 && strings.Contains(r.out, "Clarity and coherence ("), "no file: %+v", r)
}

func TestWhatCantBeEvaluatedIsSaid(t *testing.T) {
	folder := sampled(t)
	write(t, folder, "bad.toml", "[[metrics]]\nname = 'Wit'\n")
	for name, c := range map[string]struct {
		code int
		says string
		args []string
	}{
		"no submission":     {2, "usage", []string{"-model", "demo", "x"}},
		"a file and a text": {2, "usage", []string{"-model", "demo", "-submission", "a.md", "x", "y"}},
		"no such text":      {2, "no such file", []string{"-model", "demo", "-submission", "none.md", "x"}},
		"a blank text":      {2, "the submission must not be empty", []string{"-model", "demo", "x", "\u3000"}},
		"a long text": {2, "the submission must be at most 131072 bytes", []string{"-model", "demo", "x",
			strings.Repeat("x", 131073)}},
		"a blank prompt": {2, "the prompt must not be empty", []string{"-model", "demo", " ", "x"}},
		"a long prompt":  {2, "at most 65536 bytes", []string{"-model", "demo", strings.Repeat("x", 65537), "x"}},
		"a wrong file": {2, "bad.toml: metrics[0].name: isn't a metric Ringi knows", []string{"-model", "demo", "-c",
			"bad.toml", "x", "y"}},
		"a team's file": {2, "team: isn't a known field here", []string{"-model", "demo", "-c",
			"configs/agents/team-solo.toml", "x", "y"}},
		"no file":          {2, "there is no such file", []string{"-model", "demo", "-c", "none.toml", "x", "y"}},
		"no key":           {2, "ANTHROPIC_API_KEY", []string{"x", "y"}},
		"another language": {2, "-locale must be ja or en", []string{"-locale", "fr", "x", "y"}},
	} {
		r := run(t, folder, append([]string{"evaluate"}, c.args...)...)
		expect.That(t, r.code == c.code && strings.Contains(r.problem, c.says) && r.out == "", "%s: %+v", name, r)
	}
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer vendor.Close()
	env := map[string]string{"MIXSEEK_WORKSPACE": folder, "BOX_BASE_URL": vendor.URL, "BOX_API_KEY": "himitsu"}
	r := runIn(t, env, "evaluate", "-model", "compatible:box/x", "Write a policy", "y")
	expect.That(t, r.code == 1 && r.out == "" && strings.Contains(r.problem, "API key is missing or invalid"),
		"an evaluator that fails: %+v", r)
}

func TestATeamsFilePlaysAlone(t *testing.T) {
	folder := sampled(t)
	got, r := held(t, folder, "-c", "configs/agents/team-solo.toml", "経費の方針を書いて")
	expect.That(t, r.code == 0 && got.TotalTeams == 1 && *got.BestTeamID == "solo" && strings.Contains(r.problem,
		"EVALUATE  守りやすさ"), "%+v", r)
	r = run(t, folder, "exec", "-model", "demo", "-c", "configs/agents/team-solo.toml", "--dry-run")
	expect.That(t, r.code == 0 && strings.Contains(r.out, "1 team, 2 to 5 rounds, 300 s for each team"), "%+v", r)
	write(t, folder, "bad.toml", "[team]\nteam_id = 'a'\n")
	write(t, folder, "configs/evaluator.toml", "[[metrics]]\nname = 'Wit'\n")
	r = run(t, folder, "exec", "-model", "demo", "-c", "bad.toml", "x")
	expect.That(t, r.code == 2 && strings.Contains(r.problem, "bad.toml: team_name: is required") &&
		strings.Contains(r.problem, "configs/evaluator.toml: evaluator.metrics[0].name"), "%+v", r)
}

func TestConfigShowSaysWhichFileSetsAField(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"contest.toml": "[orchestrator]\nteam_timeout_seconds = 60\nmax_concurrent_teams = 4\nevaluator_config = " +
			"'judge.toml'\n[[orchestrator.teams]]\nconfig = 'team.toml'\n",
		"team.toml": "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\ntemperature = 0.5\nstop_sequences = " +
			"['END']\n[[team.members]]\nconfig = 'x.toml'\nmax_tokens = 9\n",
		"x.toml":     "[agent]\nname = 'x'\ntype = 'plain'\nmodel = 'demo'\n",
		"judge.toml": "[[metrics]]\nname = 'Coverage'\n[llm_default]\nmodel = 'demo'\nmax_retries = 1\n",
	} {
		write(t, folder, name, text)
	}
	r := run(t, folder, "config", "show", "-c", "contest.toml", "--json")
	var all []effective
	expect.Must(t, r.code == 0 && json.Unmarshal([]byte(r.out), &all) == nil, "%+v", r)
	got := map[string]string{}
	for _, f := range all {
		got[f.Field] = f.From + " " + string(f.Value)
	}
	for field, want := range map[string]string{
		"timeout_per_team_seconds": "contest.toml 60", "max_rounds": "default 5",
		"judgment.model":          `default "google-gla:gemini-2.5-flash"`,
		"evaluator.default_model": `judge.toml "demo"`, "evaluator.max_retries": "judge.toml 1",
		"evaluator.timeout_seconds": "default 300",
		"evaluator.metrics[0].name": `judge.toml "Coverage"`, "evaluator.metrics[0].weight": "default 1",
		"evaluator.metrics[0].model":       `judge.toml "demo"`,
		"evaluator.metrics[0].max_retries": "judge.toml 1", "evaluator.metrics[0].seed": "default null",
		"teams[0].leader.temperature": "team.toml 0.5", "teams[0].leader.model": `default "openai:gpt-4o"`,
		"teams[0].leader.top_p":          "default null",
		"teams[0].members[0].max_tokens": "team.toml 9", "teams[0].members[0].model": `x.toml "demo"`,
		"teams[0].members[0].agent_name":       `x.toml "x"`,
		"teams[0].members[0].tool_description": `default "Delegate task to x"`,
	} {
		expect.Is(t, got[field], want, field)
	}
	expect.Has(t, got["teams[0].leader.stop_sequences"], "team.toml [", "a list")
	r = run(t, folder, "config", "show", "-c", "contest.toml", "teams[0].leader")
	expect.That(t, r.code == 0 && strings.Contains(r.out, "MIXSEEK_WORKSPACE = "+folder) && strings.Contains(r.out,
		"teams[0].leader.temperature") &&
		!strings.Contains(r.out, "judgment") && strings.Contains(r.out, "warning: max_concurrent_teams: has no effect"),
		"%+v", r)
	write(t, folder, "servers.toml", "[servers.wiki]\nurl = 'https://wiki.example.com/mcp'\n")
	r = run(t, folder, "config", "show", "-c", "servers.toml")
	expect.That(t, r.code == 0 && strings.Contains(r.out, "servers.wiki.url ") && strings.Contains(r.out,
		"servers.wiki.token_env"), "%+v", r)
	for _, args := range [][]string{{"config"}, {"config", "list"}, {"config", "show", "a", "b"}, {"config", "show", "-c",
		"contest.toml", "none"}, {"config", "show", "-c", "/etc/hosts"}} {
		r := run(t, folder, args...)
		expect.That(t, r.code == 2 && r.out == "", "%v: %+v", args, r)
	}
	write(t, folder, "team.toml", "[team]\n")
	r = run(t, folder, "config", "show", "-c", "contest.toml")
	expect.That(t, r.code == 1 && strings.Contains(r.out, "teams[0].team_id: team.toml: is required"),
		"an invalid file: %+v", r)
}
