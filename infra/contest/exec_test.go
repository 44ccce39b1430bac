package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

// printed is what exec --json prints.
type printed struct {
	Status      contest.SummaryStatus
	TeamResults []map[string]any `json:"team_results"`
	BestTeamID  *string          `json:"best_team_id"`
	BestScore   *float64         `json:"best_score"`
	TotalTeams  int              `json:"total_teams"`
	FailedTeams []outcome        `json:"failed_teams"`
	Teams       []outcome
}

// held runs the sample's contest.
func held(t *testing.T, folder string, args ...string) (printed, ran) {
	t.Helper()
	expect.Patience(t)
	var out printed
	r := run(t, folder, append([]string{"exec", "-model", "demo", "--json"}, args...)...)
	err := json.Unmarshal([]byte(r.out), &out)
	expect.Must(t, err == nil, "%v: %+v", err, r)
	return out, r
}

func TestAContestRunsOnThisMachine(t *testing.T) {
	got, r := held(t, sampled(t), "経費精算の差し戻しを減らす方針を書いて")
	expect.Must(t, r.code == 0 && got.Status == "completed" && got.TotalTeams == 3 && len(got.TeamResults) == 3 &&
		len(got.FailedTeams) == 0 && *got.BestTeamID == got.Teams[0].TeamID, "%+v", r)
	for _, key := range []string{"execution_id", "team_id", "team_name", "round_number", "submission_content",
		"evaluation_score", "evaluation_feedback", "usage", "execution_time_seconds", "completed_at"} {
		if _, ok := got.TeamResults[0][key]; !ok || len(got.TeamResults[0]) != 10 {
			t.Errorf("a result has %d keys, %s: %v", len(got.TeamResults[0]), key, ok)
		}
	}
	for _, kind := range []string{"LEADER", "DELEGATE", "MEMBER", "EVALUATE  守りやすさ"} {
		expect.Has(t, r.problem, kind, "no line says")
	}
}

func TestTheTableShowsScoresOutOfHundred(t *testing.T) {
	r := run(t, sampled(t), "exec", "Write a policy for expenses", "-model", "demo")
	_, table, found := strings.Cut(r.out, "PLACE")
	first := strings.Fields(strings.SplitN(table, "\n", 3)[1])
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
	began := time.Now()
	for _, seconds := range []string{"1", "20"} { // enough for the others, unless the machine stands still
		if got, r = held(t, folder, "--timeout", seconds, "demo: hang swift\nWrite a policy"); len(got.FailedTeams) == 1 {
			break
		}
	}
	expect.That(t, r.code == 1 && got.FailedTeams[0].TeamID == "swift" &&
		got.FailedTeams[0].ExitReason == contest.TeamTimeout && time.Since(began) <= time.Minute, "one that hangs: %+v",
		r)
	got, r = held(t, folder, "demo: refuse solo round 2\nWrite a policy")
	expect.That(t, r.code == 0 && got.Status == "completed" && len(got.TeamResults) == 3,
		"one that refuses after a scored round: %+v", r)
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
		"a blank prompt": {folder, "the prompt must not be empty", []string{"-model", "demo", "\u3000\u200b"}},
		"no prompt":      {folder, "usage", []string{"-model", "demo"}},
		"two prompts":    {folder, "usage", []string{"-model", "demo", "a", "b"}},
		"no team":        {folder, "a contest needs a team", []string{"-c", "none.toml", "-model", "demo", "x"}},
		"none of the usual": {t.TempDir(),
			"the workspace has neither configs/contest.toml nor configs/orchestrator.toml: name a " +
				"file by -c", []string{"-model", "demo", "x"}},
		"no file":          {folder, "there is no such file", []string{"-c", "no.toml", "-model", "demo", "x"}},
		"no key":           {folder, "anthropic:claude-haiku-4-5 needs ANTHROPIC_API_KEY in the environment", []string{"x"}},
		"a model's absent": {folder, "must be anthropic:", []string{"-model", "grok", "x"}},
		"bedrock": {folder, "bedrock:anthropic.claude-9-v1:0 needs AWS_BEARER_TOKEN_BEDROCK in the environment",
			[]string{"-c", "bedrock.toml", "x"}},
		"bedrock for all": {folder, "bedrock:anthropic.x needs AWS_BEARER_TOKEN_BEDROCK in the environment",
			[]string{"-model", "bedrock:anthropic.x", "x"}},
		"no time":          {folder, "must be more than 0", []string{"--timeout", "0", "x"}},
		"another language": {folder, "-locale must be ja or en", []string{"-locale", "fr", "x"}},
		"no workspace":     {"", "MIXSEEK_WORKSPACE environment variable is not set.", []string{"-model", "demo", "x"}},
		"no folder":        {folder + "/none", "there is no folder", []string{"-model", "demo", "x"}},
		"a long prompt":    {folder, "at most 65536 bytes", []string{"-model", "demo", strings.Repeat("x", 70000)}},
	} {
		r := run(t, c.folder, append([]string{"exec"}, c.args...)...)
		expect.That(t, r.code == 2 && strings.Contains(r.problem, c.says) && !strings.Contains(r.out, "LEADER"),
			"%s: %+v", name, r)
	}
	err := os.Rename(filepath.Join(folder, "configs/contest.toml"), filepath.Join(folder, "configs/orchestrator.toml"))
	expect.NoError(t, err)
	r := run(t, folder, "exec", "x")
	expect.That(t, r.code == 2 && strings.Count(r.problem, "ANTHROPIC_API_KEY") == 8 &&
		strings.Contains(r.problem, "configs/agents/checker.toml: teams[0].members[0].model: "), "without keys: %+v", r)
}

func TestAMemberThatHasNoToolsIsAnErrorItsLeaderReads(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "contest.toml", "[orchestrator]\nmax_rounds = 1\n[[orchestrator.teams]]\nconfig = 'team.toml'\n")
	write(t, folder, "team.toml",
		"[team]\nteam_id = 'a'\nteam_name = 'A'\n[[team.members]]\nname = 'search'\ntype = 'web_search'\ndescription = "+
			"'d'\nmodel = 'demo'\n")
	got, r := held(t, folder, "-c", "contest.toml", "Write a policy")
	expect.That(t, r.code == 0 && got.Status == "completed" &&
		strings.Contains(r.problem, "warning: a: search can't read anything on this machine. Its team is told.") &&
		strings.Contains(r.problem, "failed: "), "%+v", r)
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestWhatCantBeWrittenIsSaid(t *testing.T) {
	folder, problem := sampled(t), bytes.Buffer{}
	p := program{func(string) string { return folder }, full{}, &problem}
	code := p.run(t.Context(), []string{"exec", "-model", "demo", "--json", "Write a policy"})
	expect.That(t, code == 2 && strings.Contains(problem.String(), "no room"), "a result that nobody has: %d", code)
}

func TestALineMovesNoCursor(t *testing.T) {
	got := oneLine("a\x1b[2J\r\nb\u009bc\u202e\u2066\u200b\u2028 " + strings.Repeat("x", 100))
	expect.That(t, !strings.ContainsAny(got, "\x1b\r\n\u009b\u202e\u2066\u200b\u2028") && len([]rune(got)) == maxLine,
		"%q", got)
}

// JSON output escapes control and invisible characters. Programs read the same value.
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
}

func TestNamesInFilesSayNothingToATerminal(t *testing.T) {
	folder := t.TempDir()
	const escapes = `\u001b]0;title\u0007\u001b[2J\u009b1m`
	member := "[[team.members]]\nname = 'm" + strings.Repeat("x",
		9) + "'\ntool_name = 'm'\ntype = 'plain'\ndescription = 'd'\nmodel = 'demo'\n"
	write(t, folder, "a.toml",
		"[team]\nteam_id = \"a"+escapes+"\"\nteam_name = \"A"+escapes+"\"\n[team.leader]\nmodel = 'demo'\n"+member)
	write(t, folder, "judge.toml", "[[metrics]]\nname = \"Wit"+escapes+"\"\nsystem_instruction = 'x'\n")
	write(t, folder, "bad.toml",
		"[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\n"+strings.Repeat(strings.Replace(member,
			"'m"+strings.Repeat("x", 9)+"'", "\"m"+escapes+"\"", 1), 2))
	write(t, folder, "run.toml",
		"[orchestrator]\nmax_rounds = 1\nevaluator_config = 'judge.toml'\n[[orchestrator.teams]]\nconfig = 'a.toml'\n")
	for _, args := range [][]string{{"exec", "-model", "demo", "-c", "run.toml", "方針を書いて"},
		{"exec", "-c", "bad.toml", "x"}, {"check", "bad.toml"}} {
		r := run(t, folder, args...)
		expect.That(t, !strings.ContainsAny(r.out+r.problem, "\x1b\x07\u009b") && r.out+r.problem != "",
			"%v: %q", args, r.out+r.problem)
	}
}

// A model's text can't control the terminal that shows it.
func TestTheBestSubmissionIsShownWithoutEscapes(t *testing.T) {
	id := "a"
	var out bytes.Buffer
	show(&out, summary{BestTeamID: &id, Teams: []*outcome{{TeamID: "a", TeamName: "A", Rounds: []contest.RoundResult{{
		SubmissionContent: "方針\x1b]52;c;cm0gLXJmIH4K\x07\x1b[2J\x1b[H\n  - " +
			"step\u009b31m", EvaluationScore: 0.9, RoundNumber: 1, EvaluationFeedback: "Coverage (0.90): \x1b[31mok",
	}}}}})
	if got := out.String(); strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) ||
		!strings.Contains(got, "方針") || !strings.Contains(got, "\n  - step") {
		t.Errorf("%q", got)
	}
}

func TestAllCallsOfATeamAreCounted(t *testing.T) {
	got, r := held(t, sampled(t), "demo: unscored solo\nWrite a policy")
	for _, o := range got.Teams {
		expect.That(t, o.Tokens > 0, "%s took no tokens: %+v", o.TeamID, r)
	}
	use := got.TeamResults[0]["usage"].(map[string]any)
	leaders := use["input_tokens"].(float64) + use["output_tokens"].(float64) // the best round's, without evaluators
	expect.That(t, got.FailedTeams[0].TeamID == "solo" && float64(got.Teams[0].Tokens) > leaders, "%+v", got.Teams)
}

func TestWhatAContestCostIsShown(t *testing.T) {
	var out bytes.Buffer
	known, unknown := &outcome{TeamID: "known"}, &outcome{TeamID: "unknown"}
	known.spend(model.Usage{Input: 100, Cached: 20, Output: 30, Cost: 1_500_000})
	show(&out, summary{ExecutionID: "id", Status: contest.SummaryCompleted, Teams: []*outcome{known}})
	expect.Has(t, out.String(), "id: completed, 0.0 s, 1.50 USD\n")
	expect.Has(t, out.String(), "150     1.50")
	out.Reset()
	unknown.spend(model.Usage{Output: 7, Unpriced: 2})
	show(&out, summary{ExecutionID: "id", Status: contest.SummaryCompleted, Teams: []*outcome{known, unknown}})
	expect.Has(t, out.String(), "id: completed, 0.0 s, >1.50 USD\n")
	expect.Has(t, out.String(), "7       unknown")
	expect.Has(t, out.String(), "The prices of 2 calls are not known, so USD leaves them out.\n")
	env := map[string]string{"MIXSEEK_WORKSPACE": sampled(t), "BOX_BASE_URL": "http://127.0.0.1:1", "GEMINI_API_KEY": "k"}
	r := runIn(t, env, "exec", "--timeout", "1", "-model", "compatible:box/x", "x")
	expect.Has(t, r.problem, "warning: compatible:box/x: its price is not known, so USD leaves it out\n")
	expect.Is(t, len(unpriced([]string{"google-gla:gemini-2.5-flash"})), 0)
}

func TestALineSaysWhyACallFailed(t *testing.T) {
	why := "model compatible.gemini gemini-2.5-flash-lite: rate_limited (429) request req_0123456789: RESOURCE_EXHAUSTED"
	expect.Has(t, detail(round.Event{Kind: "LEADER", Failed: why}), why)
}
