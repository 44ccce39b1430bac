package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

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
	expect.That(t, r.code == 0 && strings.Contains(r.out, " of 100, ") && strings.Contains(r.out, "Enforceable ("),
		"the usual file: %+v", r)
	r = run(t, folder, "evaluate", "-model", "demo", "-c", "configs/contest.toml", "経費の方針", "毎週月曜日に提出します。")
	expect.That(t, r.code == 0 && strings.Contains(r.out, "Enforceable ("), "a contest's: %+v", r)
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
		"EVALUATE  Enforceable"), "%+v", r)
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
