package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

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

func TestTheBoardShowsScoresOutOfHundred(t *testing.T) {
	r := run(t, sampled(t), "exec", "-model", "demo", "Write a policy for expenses")
	_, board, found := strings.Cut(r.out, "PLACE")
	first := strings.Fields(strings.SplitN(board, "\n", 3)[1])
	expect.That(t, r.code == 0 && found && first[0] == "1" && len(first[1]) == len("79.27") &&
		first[6] == "max_rounds_reached" && strings.Contains(r.out, "\n- ") &&
		strings.Contains(r.out, "Clarity and coherence (") && !strings.Contains(r.out, "Clarity and coherence (0."),
		"%+v", r)
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
	i := strings.IndexFunc(out.String(), legible.Ignorable)
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
	for _, args := range [][]string{{"exec", "-model", "demo", "-c", "run.toml", "方針を書いて"},
		{"exec", "-c", "wrong.toml", "x"}, {"check", "bad.toml"}} {
		r := run(t, folder, args...)
		expect.That(t, !strings.ContainsAny(r.out+r.problem, "\x1b\x07\u009b") && r.out+r.problem != "",
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
	}}}}})
	got := out.String()
	expect.That(t, !strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) &&
		strings.Contains(got, "方針") && strings.Contains(got, "\n  - step") && strings.Contains(got, "150     >1.50"), "%q",
		got)
}
