package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
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
	vendor := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// printed is what exec -json prints.
type printed struct {
	Status      contest.SummaryStatus
	TeamResults []map[string]any `json:"team_results"`
	BestTeamID  *string          `json:"best_team_id"`
	BestScore   *float64         `json:"best_score"`
	TotalTeams  int              `json:"total_teams"`
	FailedTeams []outcome        `json:"failed_teams"`
	Teams       []outcome
}

// held runs a contest with the demo model.
func held(t *testing.T, folder string, args ...string) (printed, ran) {
	t.Helper()
	expect.Patience(t)
	var out printed
	r := run(t, folder, append([]string{"exec", "-model", "demo", "-json"}, args...)...)
	err := json.Unmarshal([]byte(r.out), &out)
	expect.Must(t, err == nil, "%v: %+v", err, r)
	return out, r
}

// The sample's contest runs here. A member that has nothing to read by is an error, which its leader reads.
func TestAContestRunsOnThisMachine(t *testing.T) {
	got, r := held(t, sampled(t), "経費精算の差し戻しを減らす方針を書いて")
	expect.Must(t, r.code == 0 && got.Status == "completed" && got.TotalTeams == 3 && len(got.TeamResults) == 3 &&
		len(got.FailedTeams) == 0 && *got.BestTeamID == got.Teams[0].TeamID, "%+v", r)
	for _, key := range []string{"execution_id", "team_id", "team_name", "round_number", "submission_content",
		"evaluation_score", "evaluation_feedback", "usage", "execution_time_seconds", "completed_at"} {
		_, ok := got.TeamResults[0][key]
		expect.That(t, ok && len(got.TeamResults[0]) == 10, "a result has %d keys, %s: %v", len(got.TeamResults[0]), key, ok)
	}
	expect.Has(t, r.problem, "solo: round 3: ")
	expect.Has(t, r.problem, "careful: researcher: コンテストに許可された読み取りツールがありません。")
}

func TestTheExitSaysWhatBecameOfTheTeams(t *testing.T) {
	folder := sampled(t)
	got, r := held(t, folder, "demo: refuse solo\nWrite a policy")
	expect.That(t, r.code == 1 && got.Status == "partial_failure" && len(got.TeamResults) == 2 &&
		got.FailedTeams[0].TeamID == "solo" && got.FailedTeams[0].Detail != "" &&
		got.FailedTeams[0].ExitReason == contest.PartialFailure, "one that refuses: %+v", r)
	got, r = held(t, folder, "demo: refuse solo\ndemo: refuse swift\ndemo: refuse careful\nWrite a policy")
	expect.That(t, r.code == 2 && got.Status == "failed" && got.BestTeamID == nil && got.BestScore == nil &&
		got.TeamResults != nil && len(got.FailedTeams) == 3, "all of them: %+v", r)
}

func TestNothingIsCalledForWhatCantBeRun(t *testing.T) {
	folder := sampled(t)
	write(t, folder, "none.toml", "[orchestrator]\nteams = []\n")
	write(t, folder, "bedrock.toml", "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'team.toml'\n")
	write(t, folder, "team.toml",
		"[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'bedrock:anthropic.claude-9-v1:0'\n")
	for name, c := range map[string]struct {
		folder, says string
		args         []string
	}{
		"a blank prompt":     {folder, "the prompt must not be empty", []string{"-model", "demo", "\u3000\u200b"}},
		"no prompt":          {folder, "usage", []string{"-model", "demo"}},
		"two prompts":        {folder, "usage", []string{"-model", "demo", "a", "b"}},
		"no team":            {folder, "none.toml: teams: must be 1 to 20", []string{"-c", "none.toml", "x"}},
		"none of the sample": {t.TempDir(), "configs/contest.toml: there is no such file", []string{"-model", "demo", "x"}},
		"no key": {folder, "configs/agents/checker.toml: teams[0].members[0].model: anthropic:claude-haiku-4-5 needs " +
			"ANTHROPIC_API_KEY in the environment", []string{"x"}},
		"a model's absent": {folder, "must be anthropic:", []string{"-model", "grok", "x"}},
		"bedrock": {folder, "bedrock:anthropic.claude-9-v1:0 needs AWS_BEARER_TOKEN_BEDROCK in the environment",
			[]string{"-c", "bedrock.toml", "x"}},
		"no workspace":  {"", "MIXSEEK_WORKSPACE environment variable is not set.", []string{"-model", "demo", "x"}},
		"a long prompt": {folder, "at most 65536 bytes", []string{"-model", "demo", strings.Repeat("x", 70000)}},
	} {
		r := run(t, c.folder, append([]string{"exec"}, c.args...)...)
		expect.That(t, r.code == 2 && strings.Contains(r.problem, c.says) && r.out == "", "%s: %+v", name, r)
	}
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// JSON output escapes control and invisible characters. Programs read the same value. A result that can't be written is
// said.
func TestJSONSaysNothingToATerminal(t *testing.T) {
	const value = "a\u009b2J\u009d0;t\u009c\u202e\u2066\u200b\x7f\x1b\U000e0041\U000f0000\n\tb<稟議>\u2028😀"
	var out, problem bytes.Buffer
	expect.Is(t, (program{out: &out, problem: &problem}).json(map[string]string{"submission_content": value}, 7), 7)
	var is map[string]string
	expect.NoError(t, json.Unmarshal(out.Bytes(), &is))
	expect.Is(t, is["submission_content"], value)
	i := strings.IndexFunc(out.String(), language.Ignorable)
	expect.That(t, i < 0 && strings.Contains(out.String(), "稟議") && strings.Contains(out.String(), "😀"), "at %d: %q", i,
		out.String())
	expect.Is(t, (program{out: full{}, problem: &problem}).json(1, 0), 2)
	expect.Has(t, problem.String(), "no room")
}

func TestNamesInFilesSayNothingToATerminal(t *testing.T) {
	folder := t.TempDir()
	const escapes = `\u001b]0;title\u0007\u001b[2J\u009b1m`
	member := "[[team.members]]\nagent_name = 'mx'\ntool_name = 'm'\nagent_type = 'plain'\ntool_description = 'd'\n" +
		"model = 'demo'\n"
	write(t, folder, "a.toml",
		"[team]\nteam_id = \"a"+escapes+"\"\nteam_name = \"A"+escapes+"\"\n[team.leader]\nmodel = 'demo'\n"+member)
	write(t, folder, "judge.toml", "[[metrics]]\nname = \"Wit"+escapes+"\"\nsystem_instruction = 'x'\n")
	write(t, folder, "bad.toml", "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\n"+
		strings.Repeat(strings.Replace(member, "'mx'", "\"m"+escapes+"\"", 1), 2))
	for name, team := range map[string]string{"run.toml": "a.toml", "wrong.toml": "bad.toml"} {
		write(t, folder, name, "[orchestrator]\nmax_rounds = 1\nevaluator_config = 'judge.toml'\n"+
			"[[orchestrator.teams]]\nconfig = '"+team+"'\n")
	}
	for says, args := range map[string][]string{"PLACE": {"exec", "-model", "demo", "-c", "run.toml", "方針を書いて"},
		"bad.toml: teams[0]": {"exec", "-c", "wrong.toml", "x"}, "bad.toml": {"check", "bad.toml"}} {
		r := run(t, folder, args...)
		expect.That(t, !strings.ContainsAny(r.out+r.problem, "\x1b\x07\u009b") && strings.Contains(r.out+r.problem, says),
			"%v: %q", args, r.out+r.problem)
	}
}

// A model's text can't control the terminal that shows it. Calls without a known price are told from those that cost
// nothing.
func TestTheBestSubmissionIsShownWithoutEscapes(t *testing.T) {
	id := "a"
	var out bytes.Buffer
	show(&out, summary{BestTeamID: &id, Teams: []*outcome{{TeamID: "a", TeamName: "A", Usage: model.Usage{Input: 100,
		Cached: 20, Output: 30, Cost: 1_500_000, Unpriced: 1}, Rounds: []contest.RoundResult{{
		SubmissionContent: "方針\x1b]52;c;cm0gLXJmIH4K\x07\x1b[2J\x1b[H\n  - " +
			"step\u009b31m", EvaluationScore: 0.9, RoundNumber: 1, EvaluationFeedback: "Coverage (0.90): \x1b[31mok",
	}}, ExitReason: contest.MaxRoundsReached}}})
	got := out.String()
	expect.That(t, !strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) &&
		strings.Contains(got, "方針") && strings.Contains(got, "\n  - step") && strings.Contains(got, "150     >1.50") &&
		strings.Contains(got, "\n1      90.00  1 ") && strings.Contains(got, " max_rounds_reached ") &&
		strings.Contains(got, "Coverage (90)"), "%q", got)
}
