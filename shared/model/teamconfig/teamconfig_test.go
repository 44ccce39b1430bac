package teamconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// said returns all errors of a report, one per line.
func said(r Report) string {
	var lines []string
	for _, e := range r.Errors {
		lines = append(lines, e.Field+": "+e.Message)
	}
	return strings.Join(lines, "\n")
}

func members(n int, more string) string {
	s := smallTeam + more
	for i := range n {
		s += fmt.Sprintf("[[team.members]]\nname = 'm%d'\ntype = 'plain'\ndescription = 'd'\nmodel = 'demo'\n", i)
	}
	return s
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	two := "[[team.members]]\nagent_name = 'x'\nagent_type = 'plain'\ntool_description = 'd'\nmodel = 'demo'\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"every field of every table": {"a.toml", "[team]\nteam_id = ''\nmax_concurrent_members = 0\n[team.leader]\n" +
			"temperature = 3\ntop_p = 2.0\n[[team.members]]\nmodel = 'xai:grok'\n",
			"team_id: must not be empty, got \"\"\nteam_name: is required\nmax_concurrent_members: must be 1 to 50, got 0\n" +
				"leader.temperature: must be 0.0 to 2.0, got 3\nleader.top_p: must be 0.0 to 1.0, got 2\n" +
				"members[0].agent_name: is required\nmembers[0].agent_type: is required\nmembers[0].model: has the unknown " +
				"prefix \"xai:\"; Ringi knows " + strings.Join(aggregate.ModelProviders,
				", ") + ", google-gla and grok, got \"xai:grok\""},
		"too many members": {"a.toml", members(16, ""), "members: Too many members: 16 > 15. Adjust " +
			"max_concurrent_members or reduce member count."},
		"more members than a bound": {"a.toml", members(3, "max_concurrent_members = 2\n"), "members: Too many " +
			"members: 3 > 2. Adjust max_concurrent_members or reduce member count."},
		"a thousand members": {"a.toml", members(1000, "max_concurrent_members = 50\n"), "members: Too many " +
			"members: 1000 > 50. Adjust max_concurrent_members or reduce member count."},
		"two members of one name": {"a.toml", smallMember + two, "members: Duplicate agent_name detected: ['x', " +
			"'x']\nmembers: Duplicate tool_name detected: ['delegate_to_x', 'delegate_to_x']"},
		"a tool of another's name": {"a.toml", smallMember + strings.Replace(two, "'x'", "'y'\ntool_name = 'delegate_to_x'",
			1), "members: Duplicate tool_name detected: ['delegate_to_x', 'delegate_to_x']"},
		"keys that nobody knows": {"a.toml",
			smallMember + "instructions = {text = 'x'}\n[team.leader]\nname = 'x'\n[extra]\n",
			"extra: isn't a known field here, got a table\nleader.name: isn't a known field here, got \"x\""},
		"code of a plugin": {"a.toml", smallMember + "plugin = {path = '/p.py', agent_class = 'C'}\n",
			"members[0].plugin: can't be used: Ringi loads no code from a workspace. Use type plain, web-search or " +
				"code-exec, got a table"},
		"two names of one field": {"a.toml", smallMember + "name = 'other'\n", "members[0].name: disagrees with " +
			"agent_name: keep only one of them, got \"other\""},
		"two names that are lists": {"a.toml", strings.Replace(smallMember, "agent_name = 'x'",
			"agent_name = []\nname = [[]]", 1), "members[0].name: disagrees with agent_name: keep only one of them\n" +
			"members[0].agent_name: must be a string"},
		"a key in place of a model": {"a.toml", strings.Replace(smallMember, "'gpt-5'", "' sk-ant-api03-secret'", 1),
			"members[0].model: isn't a model name: use <provider>:<model>, or a name that starts with claude-, gpt-, " +
				"gemini-, or o1, o3 and so on, got what looks like a key"},
		"a key that few may read": {"a.toml", smallMember + "API_Key = 'sk-1'\nmax_tokens = 0\n", "members[0].max_tok" +
			"ens: must be 1 or more, got 0\nmembers[0].API_Key: isn't a known field here"},
		"what defaults can't be": {"judge.toml", smallMetric + "[llm_default]\nmodel = 'grok'\ntop_p = 2.0\nwhat = 1\n",
			"llm_default.model: isn't a model name: use <provider>:<model>, or a name that starts with claude-, gpt-, " +
				"gemini-, or o1, o3 and so on, got \"grok\"\nllm_default.top_p: must be 0.0 to 1.0, got 2\nllm_default.what: " +
				"isn't a known field here, got 1"},
		"a member's file that is not": {"a.toml", smallTeam + "[[team.members]]\nconfig = 'none.toml'\ntop_p = 2.0\n",
			"members[0].config: none.toml: there is no such file in the workspace: file does not exist\nmembers[0].top_p: " +
				"must be 0.0 to 1.0, got 2"},
		"a name of a page": {"a.toml", "[team]\nteam_id = 'a'\nteam_name = '" + strings.Repeat("長", 201) + "'\n",
			"team_name: must be at most 200 characters, got \"" + strings.Repeat("長", 80) + "…\""},
		"no TOML":     {"a.toml", "[team]\nteam_id = \n", ": is not TOML: line 2, column 11: "},
		"a key twice": {"a.toml", "[team]\nteam_id = 'a'\nteam_id = 'b'\n", ": is not TOML: line 3"},
		"nothing":     {"a.toml", "", ": " + errKind.Error()},
		"a contest without a team": {"run.toml", "[orchestrator]\nteams = []\n",
			"teams: a contest needs a team: [[orchestrator.teams]] with config"},
		"a team twice": {"run.toml", smallRun + "[[orchestrator.teams]]\nconfig = './a.toml'\n",
			"teams: Duplicate team_id detected: ['a', 'a']"},
		"a team's fault in a contest": {"run.toml", strings.Replace(smallRun, "a.toml", "bad.toml", 1),
			"teams[0].leader.max_tokens: bad.toml: must be 1 or more, got -1"},
		"a team that is not there": {"run.toml", strings.Replace(smallRun, "a.toml", "no.toml", 1), "teams[0].config: " +
			"no.toml: there is no such file in the workspace: file does not exist"},
		"a team outside": {"run.toml", strings.Replace(smallRun, "a.toml", "b/../../a.toml", 1),
			"teams[0].config: must be a relative path inside the workspace, got \"b/../../a.toml\""},
		"too many teams": {"run.toml", "[orchestrator]\n" +
			strings.Repeat("[[orchestrator.teams]]\nconfig = 'a.toml'\n",
				21), "teams: must be at most 20 teams, got a list of 21\nteams: Duplicate team_id detected: ['a', "},
		"two timeouts": {"run.toml", strings.Replace(smallRun, "]\n",
			"]\nteam_timeout_seconds = 60\ntimeout_per_team_seconds = 90\n", 1),
			"team_timeout_seconds: disagrees with timeout_per_team_seconds: keep only one of them, got 60"},
		"a timeout's older name": {"run.toml", strings.Replace(smallRun, "]\n", "]\nteam_timeout_seconds = 9\n", 1),
			"team_timeout_seconds: must be 10 to 3600, got 9"},
		"an evaluator outside": {"run.toml", strings.Replace(smallRun, "]\n",
			"]\nevaluator_config = '/e.toml'\n", 1),
			"evaluator_config: must be a relative path inside the workspace, got \"/e.toml\""},
		"a fault of its evaluator": {"run.toml", strings.Replace(smallRun, "]\n",
			"]\nevaluator_config = 'bad_judge.toml'\n", 1),
			"evaluator.metrics: bad_judge.toml: an evaluator needs a metric: [[metrics]] with name"},
		"no metric": {"judge.toml", "default_model = 'demo'\n",
			"metrics: an evaluator needs a metric: [[metrics]] with name"},
		"a metric twice": {"judge.toml", smallMetric + smallMetric,
			"metrics: Duplicate metric name detected: ['Coverage', 'Coverage']"},
		"a metric that nobody knows": {"judge.toml", "[[metrics]]\nname = 'Wit'\n", "metrics[0].name: isn't a metric " +
			"Ringi knows: use ClarityCoherence, Coverage or Relevance, or define your own with system_instruction, got \"Wit\""},
		"weights of some": {"judge.toml", smallMetric + "weight = 1.0\n[[metrics]]\nname = 'Relevance'\n",
			"metrics: must all have a weight, or none: 1 of 2 have one"},
		"weights that are too light": {"judge.toml", smallMetric +
			"weight = 0.5\n[[metrics]]\nname = 'Relevance'\nweight = 0.4985\n",
			"metrics: must have weights that sum to 1 within 0.001, but these sum to 0.9985"},
		"more metrics than a bound": {"judge.toml", strings.Repeat(smallMetric, MaxMetrics) +
			"[[metrics]]\nname = 'Relevance'\n", "metrics: must be at most 20 metrics, got a list of 21\nmetrics: Duplicate " +
			"metric name"},
		"a metric's own program": {"judge.toml", smallMetric + "[custom_metrics]\nx = 1\n", "custom_metrics: can't " +
			"be used: write a metric of your own as [[metrics]] with system_instruction, got a table"},
	} {
		w := workspace(map[string]string{"a.toml": smallTeam, "bad.toml": smallTeam + "[team.leader]\nmax_tokens = -1\n",
			"bad_judge.toml": "default_model = 'demo'\n", c.file: c.text})
		got := said(Check(w, c.file))
		expect.That(t, strings.HasPrefix(got, c.want) && strings.Count(got, "\n") == strings.Count(c.want, "\n"),
			"%s:\n%s\nwant\n%s", name, got, c.want)
	}
}

// Cards and consoles show what is wrong with a file, whatever stands in it.
func TestAMistakeIsSaidInOneBoundedLine(t *testing.T) {
	for name, text := range map[string]string{
		"a value of many lines": strings.Replace(smallMember, "'gpt-5'",
			`"x\n\n*y*\u202e\u2028`+strings.Repeat("長", 500_000)+`"`, 1),
		"a name of many lines": smallMember + `"x\n\n*y*\u202e\u2028` + strings.Repeat("長", 500_000) + `" = 1`,
		"no TOML":              smallMember + "x = 'y\n" + strings.Repeat("z", 100_000),
	} {
		_, found := workspace(map[string]string{"a.toml": text}).ContestOrTeam("a.toml")
		expect.Must(t, len(found) == 1, "%s: %d mistakes", name, len(found))
		line := found[0].String()
		expect.That(t, strings.HasPrefix(line, "a.toml: ") && !strings.ContainsAny(line, "\n\r\u202e\u2028") &&
			utf8.RuneCountInString(line) <= 1000, "%s: %q", name, line)
	}
}

func TestAMembersOwnKeysStandOverItsFile(t *testing.T) {
	w := workspace(map[string]string{
		"team.toml": smallTeam + "[[team.members]]\nconfig = 'agents/x.toml'\nname = 'own'\ntool_name = 'ask'\n" +
			"temperature = 0.5\n",
		"agents/x.toml": "[agent]\nname = 'file'\ntype = 'web_search'\nmodel = 'google-gla:gemini-2.5-flash-lite'\n" +
			"temperature = 0.2\nmax_tokens = 100\ntool_description = 'looks'\n" +
			"[agent.system_instruction]\ntext = 'Look.'\n[agent.tool_settings.web_search]\nmax_results = 3\n" +
			"[agent.metadata]\nversion = '1'\n",
	})
	team, found := read[Team](w, "team.toml")
	expect.Must(t, Valid(found) && len(team.Members) == 1, "%v", found)
	m := team.Members[0]
	expect.That(t, m.AgentName == "own" && m.AgentType == "web-search" && m.Tool() == "ask" && *m.Temperature == 0.5 &&
		*m.MaxTokens == 100 && *m.SystemInstruction == "Look." && *m.Config == "agents/x.toml" && *m.MaxRetries == 3,
		"%+v", m)
	expect.That(t, len(found) == 2 && found[0].Warning && found[0].File == "agents/x.toml" &&
		found[0].Field == "members[0].metadata", "what has no effect: %v", found)
}

func TestAnEmptyToolNameIsMadeOfTheAgents(t *testing.T) {
	for _, empty := range []string{"", " ", "\u3000"} {
		team, found := read[Team](workspace(map[string]string{"a.toml": smallMember + "tool_name = '" + empty + "'\n"}),
			"a.toml")
		expect.That(t, len(found) == 0 && team.Members[0].Tool() == "delegate_to_x",
			"%q: %s %v", empty, team.Members[0].Tool(), found)
	}
}

func TestAFaultInAMembersFileNamesThatFile(t *testing.T) {
	w := workspace(map[string]string{
		"team.toml": smallTeam + "[[team.members]]\nconfig = 'x.toml'\ntop_p = 2.0\n",
		"x.toml": "[agent]\nname = 'x'\ntype = 'plain'\nmodel = 'demo'\ntool_description = 'd'\nmax_tokens = 0\n" +
			"system_instruction = {txt = 'x'}\nconfig = 'y.toml'\nwhat = 1\n",
	})
	got := said(Check(w, "team.toml"))
	want := "members[0].config: x.toml: is not a field of a member's own file, got \"y.toml\"\nmembers[0].max_tokens: " +
		"x.toml: must be 1 or more, got 0\nmembers[0].top_p: must be 0.0 to 1.0, got 2\n" +
		"members[0].system_instruction.text: x.toml: is required\nmembers[0].system_instruction.txt: x.toml: isn't a " +
		"known field here, got \"x\"\nmembers[0].what: x.toml: isn't a known field here, got 1"
	expect.Is(t, got, want)
}

func TestAContestIsReadWithAllOfItsFiles(t *testing.T) {
	w := workspace(map[string]string{
		"run.toml": smallRun + "[[orchestrator.teams]]\nconfig = 'b.toml'\n",
		"a.toml":   smallTeam,
		"b.toml":   strings.Replace(smallMember, "'a'", "'b'", 1),
		"configs/evaluator.toml": "default_model = 'demo'\n" + smallMetric + "[[metrics]]\nname = 'Wit'\n" +
			"system_instruction = 'Is it witty?'\nmodel = 'gpt-5'\n",
	})
	c, found := w.Contest("run.toml")
	expect.Must(t, Valid(found) && len(c.Teams) == 2 && c.Teams[1].Members[0].AgentName == "x", "%+v %v", c, found)
	e := c.Evaluator
	expect.That(t, e.Metrics[0].Weight == 0.5 && e.Metrics[0].Model == "demo" && e.Metrics[1].Model == "gpt-5" &&
		e.Metrics[1].SystemInstruction == "Is it witty?", "the usual file of an evaluator: %+v", e)
	expect.That(t, len(found) == 0, "%v", found)
}

func TestAnEvaluatorsDefaultsMayStandInATable(t *testing.T) {
	w := workspace(map[string]string{"judge.toml": "default_model = 'demo'\nmax_retries = 7\nseed = 3\n" + smallMetric +
		"[llm_default]\nmodel = 'anthropic:claude-sonnet-4-5-20250929'\ntemperature = 0.0\nmax_tokens = 2000\n" +
		"max_retries = 0\nstop_sequences = ['END']\n"})
	e, found := read[Evaluator](w, "judge.toml")
	expect.Must(t, len(found) == 0 && e.DefaultModel == "anthropic:claude-sonnet-4-5-20250929" &&
		e.Metrics[0].Model == e.DefaultModel, "%+v %v", e, found)
	expect.That(t, *e.Temperature == 0 && *e.MaxTokens == 2000 && *e.MaxRetries == 0 && *e.TimeoutSeconds == 300 &&
		*e.Seed == 3 && slices.Equal(e.StopSequences, []string{"END"}),
		"the table's keys stand over those of the file: %+v", e.Call)
}

func TestAContestWithoutAnEvaluatorHasTheUsualOne(t *testing.T) {
	c, found := workspace(map[string]string{"run.toml": strings.Replace(smallRun, "]\n", "]\nmax_rounds = 1\n", 1),
		"a.toml": smallTeam}).Contest("run.toml")
	expect.Must(t, len(found) == 0 && c.MaxRounds == 1 && c.TeamTimeoutSeconds == 300,
		"%+v %v", c, found)
	var weights []float64
	for _, m := range c.Evaluator.Metrics {
		weights = append(weights, m.Weight)
	}
	expect.That(t, slices.Equal(weights, []float64{0.334, 0.333, 0.333}), "%+v", c)
}

func TestOpenSaysAtOnceThatThereIsNoWorkspace(t *testing.T) {
	for _, value := range []string{"", " ", "\u3000"} {
		if _, err := Open(value, nil); !errors.Is(err, ErrNotSet) || err.Error() != "MIXSEEK_WORKSPACE environment "+
			"variable is not set.\nPlease set it: export MIXSEEK_WORKSPACE=/path/to/workspace" {
			t.Errorf("%q: %v", value, err)
		}
	}
	_, err := Open(filepath.Join(t.TempDir(), "none"), nil)
	expect.That(t, errors.Is(err, fs.ErrNotExist), "a folder that is not there: %v", err)
	var bucket, prefix string
	w, err := Open("s3://files/contests/", func(b, p string) (fs.FS, error) {
		bucket, prefix = b, p
		return workspace(map[string]string{"a.toml": smallTeam}).FS, nil
	})
	team, found := read[Team](w, "a.toml")
	expect.That(t, err == nil && bucket == "files" && prefix == "contests" && team.TeamID == "a" && len(found) == 0,
		"%s %s %v %v", bucket, prefix, err, found)
	for _, value := range []string{"s3://", "s3://files"} {
		expect.That(t, expect.Err(Open(value, nil)) != nil, "%s is opened without a way to read it", value)
	}
}

func TestNoFileOutsideOfTheWorkspaceIsRead(t *testing.T) {
	outer := t.TempDir()
	folder := filepath.Join(outer, "workspace")
	for name, text := range map[string]string{"secret.toml": smallTeam, "workspace/a.toml": smallTeam,
		"workspace/deep/b.toml": smallTeam} {
		expect.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(outer, name)), 0o700))
		expect.NoError(t, os.WriteFile(filepath.Join(outer, name), []byte(text), 0o600))
	}
	for link, to := range map[string]string{"link.toml": "../secret.toml",
		"absolute.toml": filepath.Join(outer, "secret.toml"), "up": "..", "good.toml": "deep/b.toml"} {
		expect.NoError(t, os.Symlink(to, filepath.Join(folder, link)))
	}
	w, err := Open(folder, nil)
	expect.NoError(t, err)
	for _, file := range []string{"link.toml", "absolute.toml", "up/secret.toml", "../secret.toml",
		"deep/../../secret.toml", "/a.toml", filepath.Join(outer, "secret.toml"), `..\secret.toml`, "", ".", "\x00"} {
		_, found := read[Team](w, file)
		expect.That(t, !Valid(found), "%q is read", file)
	}
	for _, file := range []string{"a.toml", "./a.toml", "deep/../a.toml", "good.toml"} {
		_, found := read[Team](w, file)
		expect.That(t, Valid(found), "%q: %v", file, found)
	}
	for file, want := range map[string]string{filepath.Join(folder, "deep/b.toml"): "deep/b.toml",
		"deep/b.toml": "deep/b.toml", filepath.Join(outer, "secret.toml"): "", "../secret.toml": ""} {
		got, err := w.Locate(file)
		expect.That(t, got == want && (err == nil) == (want != ""), "%s is at %q, %v", file, got, err)
	}
}

func TestAFileThatIsTooLongIsNotRead(t *testing.T) {
	w := workspace(map[string]string{"a.toml": smallTeam + "# " + strings.Repeat("x", maxFile)})
	_, found := read[Team](w, "a.toml")
	expect.That(t, len(found) == 1 && found[0].Message == "must be at most 1048576 bytes", "%v", found)
}

func TestFilesThatAreTooLongTogetherAreNotRead(t *testing.T) {
	files := map[string]string{"run.toml": "[orchestrator]\n", "m.toml": "[agent]\ntype = 'plain'\ndescription = 'd'\n" +
		"model = 'demo'\nsystem_instruction = '" + strings.Repeat("x", 100_000) + "'\n"}
	for i := range MaxTeams {
		file := fmt.Sprintf("%d.toml", i)
		files["run.toml"] += "[[orchestrator.teams]]\nconfig = '" + file + "'\n"
		files[file] = fmt.Sprintf("[team]\nteam_id = 't%d'\nteam_name = 'T'\n[team.leader]\n",
			i) + strings.Repeat("[[team.members]]\nname = 'm'\nconfig = 'm.toml'\n", 3)
	}
	w := workspace(files)
	c, found := w.Contest("run.toml")
	held := 0
	for _, t := range c.Teams {
		for _, m := range t.Members {
			if m.SystemInstruction != nil {
				held += len(*m.SystemInstruction)
			}
		}
	}
	if held > maxRead || !slices.ContainsFunc(found, func(f Finding) bool {
		return strings.Contains(f.String(), "a contest's files must be at most 4194304 bytes in total")
	}) {
		t.Errorf("%d bytes are held: %v", held, found)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{smallTeam, smallMember, smallRun, "default_model = 'demo'\n" + smallMetric,
		"model = 'demo'", "[agent]\nname = 'x'", "[team.leader.system_instruction]\ntext = 1", "team = [[[[[[1]]]]]]",
		"[[team]]\n[[team.members]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := Check(workspace(map[string]string{"f.toml": text, "a.toml": smallTeam}), "f.toml")
		expect.That(t, r.Valid == (len(r.Errors) == 0) && r.Valid == (r.Config != nil),
			"%q: valid %v with %v and %v", text, r.Valid, r.Errors, r.Config)
		c, ok := r.Config.(Contest)
		expect.That(t, !ok || len(c.Teams) != 0, "%q: %+v", text, c)
	})
}

func TestAFileMayBeginWithAByteOrderMark(t *testing.T) {
	w := workspace(map[string]string{"run.toml": "\ufeff" + smallRun, "a.toml": "\ufeff" + smallTeam})
	_, found := w.Contest("run.toml")
	expect.That(t, len(found) == 0, "%v", found)
	files, _, err := w.Contests()
	expect.That(t, err == nil && slices.Equal(files, []string{"run.toml"}), "%v %v", files, err)
}

func TestACheckTakesAModelOfEachProvider(t *testing.T) {
	for _, name := range []string{"bedrock:anthropic.claude-9-v1:0", "openai:gpt-5.4", "compatible:box/llama",
		"gemini-2.5-flash"} {
		r := Check(workspace(map[string]string{"a.toml": smallTeam + "[team.leader]\nmodel = '" + name + "'\n"}), "a.toml")
		expect.That(t, r.Valid && len(r.Warnings) == 0, "%s: %+v", name, r)
	}
}

func TestAMetricsNameIsOneLine(t *testing.T) {
	e, found := read[Evaluator](workspace(map[string]string{"e.toml": "[[metrics]]\nname = \" Wit\\n (1.00): good\"\n" +
		"system_instruction = 'Is it witty?'\n"}), "e.toml")
	expect.That(t, len(found) == 0 && e.Metrics[0].Name == "Wit (1.00): good", "%+v %v", e.Metrics, found)
}
