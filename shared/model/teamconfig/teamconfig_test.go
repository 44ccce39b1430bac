package teamconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/process"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/words/language"
)

// workspace makes a workspace of files in memory.
func workspace(files map[string]string) Workspace {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Workspace{FS: m}
}

// read reads a file of kind T, without mistakes.
func read[T any](t *testing.T, file string, files map[string]string) T {
	t.Helper()
	r := Check(workspace(files), file)
	expect.Must(t, r.Valid, "%s: %v", file, r.Errors)
	return r.Config.(T)
}

const (
	smallTeam   = "[team]\nteam_id = 'a'\nteam_name = 'A'\n"
	smallMember = smallTeam + "[[team.members]]\nagent_name = 'x'\nagent_type = 'plain'\ntool_description = 'd'\n" +
		"model = 'gpt-5'\n"
	smallMetric = "[[metrics]]\nname = 'Coverage'\n"
	smallRun    = "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'a.toml'\n"
)

// with sets a line of a text anew, or adds it at the end.
func with(text, line string) string {
	key, _, _ := strings.Cut(line, " ")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "[") {
			break
		}
		if strings.HasPrefix(lines[i], key+" ") {
			lines[i], line = line, ""
		}
	}
	return strings.Join(lines, "\n") + "\n" + line + "\n"
}

func members(n int, more string) string {
	s := smallTeam + more
	for i := range n {
		s += strings.Replace(strings.TrimPrefix(smallMember, smallTeam), "'x'", fmt.Sprintf("'m%d'", i), 1)
	}
	return s
}

// said checks that a file's mistakes are those that are wanted, one a line, and that each is said in Japanese, too.
func said(t *testing.T, text, want string) {
	t.Helper()
	w := workspace(map[string]string{"b.toml": smallTeam, "judge.toml": "default_model = 'demo'\n", "a.toml": text,
		"bad.toml": smallTeam + "[team.leader]\nmax_tokens = -1\n"})
	for _, locale := range language.All {
		at := table{&reading{w: w, locale: locale}, "a.toml", ""}
		at.any()
		var got []string
		for _, f := range at.found {
			got = append(got, strings.TrimPrefix(f.String(), "a.toml: "))
			expect.That(t, locale == "en" || f.Field == "" || strings.ContainsFunc(f.Message, func(r rune) bool {
				return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han)
			}), "%q has no Japanese", f.Message)
		}
		all := strings.Join(got, "\n")
		expect.That(t, !strings.Contains(all, "secret") && !strings.Contains(all, "%!"), "%s", all)
		expect.That(t, locale != "en" || strings.HasPrefix(all, want) &&
			strings.Count(all, "\n") == strings.Count(want, "\n"), "%s\nsays\n%s\nwant\n%s", text, all, want)
	}
}

func TestWhatIsWrongInALineIsSaid(t *testing.T) {
	const noPrompt = "leader.system_prompt: system_prompt cannot be empty string. Use None for default prompt or " +
		"provide valid text."
	for _, of := range []struct {
		text  string
		lines map[string]string
	}{
		{smallTeam, map[string]string{
			"team_id = '\u3000\u200b'":                       "team_id: is required",
			"team_id = 1":                                    "team_id: must be a string (line 2)",
			"max_concurrent_members = 51":                    "max_concurrent_members: must be 1 to 50, got 51",
			"max_concurrent_members = 0":                     "max_concurrent_members: must be 1 to 50, got 0",
			"leader = 'x'":                                   "leader: must be a table (line 4)",
			"'team_id' = 'b'":                                "is not TOML: line 4",
			"team_name = '" + strings.Repeat("長", 201) + "'": "team_name: must be at most 200 characters",
		}},
		{smallTeam + "[team.leader]\n", map[string]string{
			"system_prompt = ''":       noPrompt,
			"system_prompt = '\u3000'": noPrompt,
			"model = 'grok'":           "leader.model: isn't a model name: use <provider>:",
			"model = 'xai:grok-4'":     "leader.model: isn't a model name: use <provider>:",
			"temperature = -0.1":       "leader.temperature: must be 0 to 2, got -0.1",
			"temperature = nan":        "leader.temperature: must be 0 to 2, got NaN",
			"temperature = '1'":        "leader.temperature: must be a number (line 5)",
			"max_tokens = 0":           "leader.max_tokens: must be 1 or more, got 0",
			"max_tokens = 1.5":         "leader.max_tokens: must be a whole number (line 5)",
			"timeout_seconds = 9":      "leader.timeout_seconds: must be 10 to 600, got 9",
			"timeout_seconds = 601":    "leader.timeout_seconds: must be 10 to 600, got 601",
			"max_retries = -1":         "leader.max_retries: must be 0 or more, got -1",
			"stop_sequences = 'END'":   "leader.stop_sequences: must be a list of strings",
			"top_p = 1.1":              "leader.top_p: must be 0 to 1, got 1.1",
			"seed = 0.5":               "leader.seed: must be a whole number (line 5)",
		}},
		{smallMember, map[string]string{
			"agent_type = 'web_search'":         "members[0].agent_type: must be plain, web-search or code-exec, got",
			"tool_description = ' '":            "members[0].tool_description: tool_description cannot be empty",
			"tool_name = 'two words'":           "members[0].tool_name: must be 1 to 64 letters, digits, _ or -",
			"timeout_seconds = -1":              "members[0].timeout_seconds: must be 0 or more, got -1",
			"timeout_seconds = 99999999999":     "members[0].timeout_seconds: must be 0 to 2147483647",
			"system_instruction = {text = 'x'}": "members.system_instruction: must be a string",
			"model = ' sk-ant-api03-secret'":    "members[0].model: isn't a model name: use <provider>:<model> with one of",
			"config = 'none.toml'":              "none.toml: members[0].config: there is no such file in the workspace",
			"config = '../x.toml'":              "../x.toml: members[0].config: must be a relative path inside the workspace",
		}},
	} {
		for line, want := range of.lines {
			said(t, with(of.text, line), want)
		}
	}
}

// All that is wrong is said at once, with its file and field.
func TestAllThatIsWrongIsSaid(t *testing.T) {
	const run = "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'b.toml'\n"
	member := strings.TrimPrefix(smallMember, smallTeam)
	for _, c := range [][2]string{
		{"[team]\nteam_id = ''\n[team.leader]\ntemperature = 3\ntop_p = 2.0\n", "team_id: is required\n" +
			"team_name: is required\nleader.temperature: must be 0 to 2, got 3\nleader.top_p: must be 0 to 1, got 2"},
		{smallTeam + "[[team.members]]\n", "members[0].agent_name: is required\nmembers[0].agent_type: must be plain, " +
			"web-search or code-exec, got \"\"\nmembers[0].tool_description: tool_description cannot be empty\n" +
			"members[0].model: is required"},
		{smallMember + "name = 'x'\n[team.leader]\nAPI_Key = 'secret'\n[extra]\n", "extra: isn't a known field here\n" +
			"leader.API_Key: isn't a known field here\nmembers[0].name: isn't a known field here"},
		{members(16, ""), "members: Too many members: 16 > 15. Adjust max_concurrent_members or reduce member count."},
		{members(1000, "max_concurrent_members = 50\n"), "members: Too many members: 1000 > 50."},
		{smallMember + member, "members: Duplicate agent_name detected: ['x', 'x']\n" +
			"members: Duplicate tool_name detected: ['delegate_to_x', 'delegate_to_x']"},
		{members(1, "") + with(member, "tool_name = 'delegate_to_m0'"), "members: Duplicate tool_name detected: " +
			"['delegate_to_m0', 'delegate_to_m0']"},
		{"[team]\nteam_id = \n", "is not TOML: line 2, column 11: "},
		{"", "isn't a configuration file: it must have [team], [orchestrator] or [agent], or [[metrics]]"},
		{"[orchestrator]\nteams = []\n", "teams: must be 1 to 20 teams: [[orchestrator.teams]] with config"},
		{"[orchestrator]\n" + strings.Repeat("[[orchestrator.teams]]\nconfig = 'b.toml'\n", 21), "teams: must be 1 to 20 " +
			"teams: [[orchestrator.teams]] with config\nteams: Duplicate team_id detected: ['a', 'a'"},
		{strings.Replace(run, "]\n", "]\ntimeout_per_team_seconds = 9\nmax_rounds = 11\nmin_rounds = 1\n", 1),
			"min_rounds: isn't a known field here\ntimeout_per_team_seconds: must be 10 to 3600, got 9\n" +
				"max_rounds: must be 1 to 10, got 11"},
		{strings.Replace(run, "b.toml", "bad.toml", 1), "bad.toml: teams[0].leader.max_tokens: must be 1 or more, got -1"},
		{strings.Replace(run, "b.toml", "no.toml", 1), "no.toml: teams[0].config: there is no such file in the workspace"},
		{strings.Replace(run, "b.toml", "../b.toml", 1), "../b.toml: teams[0].config: must be a relative path"},
		{strings.Replace(run, "b.toml", "judge.toml", 1), "judge.toml: teams[0].default_model: isn't a known field here\n" +
			"judge.toml: teams[0].team: is required: this file has a table [team]"},
		{"[orchestrator]\nevaluator_config = '/e.toml'\n" + run[15:], "/e.toml: evaluator_config: must be a relative path"},
		{"[orchestrator]\nevaluator_config = 'judge.toml'\n" + run[15:], "judge.toml: evaluator.metrics: must be 1 to 20 " +
			"metrics: [[metrics]] with name"},
		{smallMetric + smallMetric, "metrics: Duplicate metric name detected: ['Coverage', 'Coverage']"},
		{"[[metrics]]\nname = 'Wit'\n", "metrics[0].name: isn't a metric Ringi knows: use ClarityCoherence, Coverage"},
		{smallMetric + "weight = 1.0\n[[metrics]]\nname = 'Relevance'\n", "metrics: must all have a weight, or none: 1 of " +
			"2 have one"},
		{smallMetric + "weight = 0.5\n[[metrics]]\nname = 'Relevance'\nweight = 0.4985\n", "metrics: must have weights " +
			"that sum to 1 within 0.001, but these sum to 0.9985"},
		{smallMetric + "weight = -1.0\n", "metrics[0].weight: must be 0 to 1, got -1"},
		{strings.Repeat(smallMetric, MaxMetrics+1), "metrics: must be 1 to 20 metrics: [[metrics]] with name\n" +
			"metrics: Duplicate metric name"},
		{smallMetric + "top_p = 2.0\n[llm_default]\nx = 1\n", "llm_default: isn't a known field here\n" +
			"metrics[0].top_p: must be 0 to 1, got 2"},
		{"[agent]\nagent_name = 'x'\n", "agent_type: must be plain, web-search or code-exec, got \"\"\n" +
			"tool_description: tool_description cannot be empty\nmodel: is required"},
	} {
		said(t, c[0], c[1])
	}
}

// Every field that the specification gives is read, with the values at its bounds, and has its default.
func TestEveryFieldIsRead(t *testing.T) {
	for _, line := range []string{"system_prompt = 'Lead.'", "model = 'google-gla:gemini-2.5-flash'", "temperature = 0.0",
		"temperature = 2", "max_tokens = 1", "timeout_seconds = 10", "timeout_seconds = 600", "max_retries = 0",
		"stop_sequences = ['END']", "top_p = 1.0", "seed = -7"} {
		read[Team](t, "a.toml", map[string]string{"a.toml": smallTeam + "[team.leader]\n" + line})
	}
	for _, line := range []string{"tool_name = ''", "tool_name = 'ask'", "agent_type = 'web-search'",
		"agent_type = 'code-exec'", "system_instruction = 'Say it.'", "system_prompt = ''", "timeout_seconds = 0",
		"max_tokens = 4096", "max_retries = 7", "stop_sequences = []", "top_p = 0", "seed = 1",
		"model = 'bedrock:anthropic.claude-9-v1:0'", "model = 'compatible:box/llama'", "model = 'demo'"} {
		read[Team](t, "a.toml", map[string]string{"a.toml": with(smallMember, line)})
	}
	x := read[Team](t, "a.toml", map[string]string{"a.toml": smallMember})
	three, seconds := DefaultMaxRetries, DefaultTimeout
	expect.Same(t, Team{"a", "A", 15, Leader{Model: "openai:gpt-4o", Call: Call{TimeoutSeconds: &seconds,
		MaxRetries: &three}}, []Member{{AgentName: "x", AgentType: "plain", ToolDescription: "d", Model: "gpt-5",
		Call: Call{MaxRetries: &three}}}}, x)
	expect.Is(t, x.Members[0].Tool(), "delegate_to_x")
	c := read[Contest](t, "run.toml", map[string]string{"run.toml": smallRun, "a.toml": "\ufeff" + smallTeam})
	expect.That(t, c.MaxRounds == 5 && c.TeamTimeoutSeconds == 300 && c.Evaluator.Metrics[0].Weight == 0.334 &&
		c.Evaluator.Metrics[2].Model == DefaultModel && *c.Evaluator.Metrics[2].MaxRetries == 3, "%+v", c)
	expect.Is(t, c.Within(3).MaxRounds, 3)
	expect.Same(t, contest.AgentTypes, []contest.AgentType{"plain", "web-search", "code-exec"})
}

// Cards and consoles show what is wrong with a file, whatever stands in it.
func TestAMistakeIsSaidInOneBoundedLine(t *testing.T) {
	for name, text := range map[string]string{
		"a value of many lines": with(smallMember, `model = "x\n\n*y*\u202e\u2028`+strings.Repeat("長", 30_000)+`"`),
		"a name of many lines":  smallMember + `"x\n\n*y*\u202e\u2028` + strings.Repeat("長", 30_000) + `" = 1`,
		"no TOML":               smallMember + "x = 'y\n" + strings.Repeat("z", 100_000),
	} {
		r := Check(workspace(map[string]string{"a.toml": text}), "a.toml")
		expect.Must(t, len(r.Errors) == 1, "%s: %d mistakes", name, len(r.Errors))
		line := r.Errors[0].String()
		expect.That(t, strings.HasPrefix(line, "a.toml: ") && !strings.ContainsAny(line, "\n\r\u202e\u2028") &&
			utf8.RuneCountInString(line) <= 1000, "%s: %q", name, line)
	}
}

func TestAMembersOwnKeysStandOverItsFile(t *testing.T) {
	files := map[string]string{
		"team.toml": smallTeam + "[[team.members]]\nconfig = 'agents/x.toml'\nagent_name = 'own'\ntool_name = 'ask'\n" +
			"temperature = 0.5\n",
		"agents/x.toml": "[agent]\nagent_name = 'file'\nagent_type = 'web-search'\nmodel = 'demo'\ntemperature = 0.2\n" +
			"max_tokens = 100\ntool_description = 'looks'\nsystem_instruction = 'Look.'\n",
	}
	m := read[Team](t, "team.toml", files).Members[0]
	expect.That(t, m.AgentName == "own" && m.AgentType == "web-search" && m.Tool() == "ask" && *m.Temperature == 0.5 &&
		*m.MaxTokens == 100 && *m.SystemInstruction == "Look." && *m.Config == "agents/x.toml" && *m.MaxRetries == 3, "%+v",
		m)
	files["agents/x.toml"] += "max_retries = -1\nconfig = 'y.toml'\nwhat = 1\n"
	var got []string
	for _, f := range Check(workspace(files), "team.toml").Errors {
		got = append(got, f.String())
	}
	expect.Same(t, []string{"agents/x.toml: members[0].what: isn't a known field here",
		"agents/x.toml: members[0].config: is not a field of a member's own file",
		"agents/x.toml: members[0].max_retries: must be 0 or more, got -1"}, got)
}

// A metric has its evaluator's settings where its own are not set, and a name of one line.
func TestAnEvaluatorsSettingsAreThoseOfItsMetrics(t *testing.T) {
	c := read[Contest](t, "run.toml", map[string]string{"run.toml": smallRun, "a.toml": smallTeam,
		evaluatorFile: "default_model = 'demo'\nmax_retries = 7\nseed = 3\nstop_sequences = ['END']\n" + smallMetric +
			"[[metrics]]\nname = \" Wit\\n (1.00): good\"\nsystem_instruction = 'Is it witty?'\nmodel = 'gpt-5'\nseed = 4\n"})
	own, other := c.Evaluator.Metrics[1], c.Evaluator.Metrics[0]
	expect.That(t, own.Name == "Wit (1.00): good" && own.Model == "gpt-5" && *own.Seed == 4 && *own.MaxRetries == 7 &&
		*own.TimeoutSeconds == 300 && own.Weight == 0.5, "%+v", own)
	expect.That(t, other.Model == "demo" && *other.Seed == 3 && slices.Equal(other.StopSequences, []string{"END"}), "%+v",
		other)
	expect.Same(t, []string{"demo", "gpt-5", "openai:gpt-4o"}, c.Models())
}

func TestOpenSaysAtOnceThatThereIsNoWorkspace(t *testing.T) {
	for _, value := range []string{"", " ", "\u3000"} {
		expect.Fails(t, expect.Err(Open(value, nil)), ErrNotSet)
	}
	_, err := Open(filepath.Join(t.TempDir(), "none"), nil)
	expect.That(t, errors.Is(err, fs.ErrNotExist), "a folder that is not there: %v", err)
	files := workspace(map[string]string{"a.toml": smallTeam}).FS
	w, err := Open("s3://files/contests/", func(bucket, prefix string) fs.FS {
		return map[string]fs.FS{"files contests": files}[bucket+" "+prefix]
	})
	expect.That(t, err == nil && reflect.DeepEqual(w.FS, files), "%v %v", w, err)
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
	w := expect.Value(Open(folder, nil))(t)
	for _, file := range []string{"link.toml", "absolute.toml", "up/secret.toml", "../secret.toml",
		"deep/../../secret.toml", "/a.toml", filepath.Join(outer, "secret.toml"), `..\secret.toml`, "", ".", "\x00"} {
		expect.That(t, !Check(w, file).Valid, "%q is read", file)
	}
	for _, file := range []string{"a.toml", "./a.toml", "deep/../a.toml", "good.toml"} {
		r := Check(w, file)
		expect.That(t, r.Valid, "%q: %v", file, r.Errors)
	}
}

func TestFilesThatAreTooLongAreNotRead(t *testing.T) {
	files := map[string]string{"long.toml": smallTeam + "# " + strings.Repeat("x", maxFile),
		"run.toml": "[orchestrator]\n", "m.toml": "[agent]\nagent_type = 'plain'\ntool_description = 'd'\n" +
			"model = 'demo'\nsystem_instruction = '" + strings.Repeat("x", 100_000) + "'\n"}
	for i := range contest.MaxTeams {
		file := fmt.Sprintf("%d.toml", i)
		files["run.toml"] += "[[orchestrator.teams]]\nconfig = '" + file + "'\n"
		files[file] = fmt.Sprintf("[team]\nteam_id = 't%d'\nteam_name = 'T'\n[team.leader]\n", i)
		for n := range 3 {
			files[file] += fmt.Sprintf("[[team.members]]\nagent_name = 'm%d'\nconfig = 'm.toml'\n", n)
		}
	}
	w := workspace(files)
	expect.Is(t, Check(w, "long.toml").Errors[0].Message, "must be at most 131072 bytes")
	c, found := w.Contest("run.toml", "en")
	held := 0
	for _, t := range c.Teams {
		for _, m := range t.Members {
			if m.SystemInstruction != nil {
				held += len(*m.SystemInstruction)
			}
		}
	}
	expect.That(t, held <= maxRead && len(found) > 0 && strings.Contains(found[0].String(),
		"a contest's files must be at most 4194304 bytes in total"), "%d bytes are held: %v", held, found)
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{smallTeam, smallMember, smallRun, "default_model = 'demo'\n" + smallMetric,
		"model = 'demo'", "[agent]\nagent_name = 'x'", "[team.leader.system_instruction]\ntext = 1", "team = [[[[[[1]]]]]]",
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

func TestMistakesAreBounded(t *testing.T) {
	found := []Finding{{File: "a.toml", Field: "x", Message: "is wrong"}, {File: "b.toml", Message: "is wrong"},
		{File: "c.toml", Message: "is wrong"}}
	for locale, more := range map[string]string{"en": "and 1 more", "ja": "ほか 1 件"} {
		wrong, err := Texts(found, 2, locale)
		expect.NoError(t, err)
		expect.Same(t, []string{"a.toml: x: is wrong", "b.toml: is wrong", more}, wrong)
	}
	expect.Is(t, len(expect.Value(Texts(found, 3, "en"))(t)), 3)
	wrong, err := Texts(append(found, Finding{File: "d.toml", Err: explain.ErrUnavailable}), 2, "en")
	expect.That(t, errors.Is(err, explain.ErrUnavailable) && wrong == nil, "%q, %v", wrong, err)
}

// kept is a model secret that a function has read before somebody changed it.
type kept struct {
	was, is secret.ModelSecret
	forgot  int
}

func (k *kept) Get(context.Context) (secret.ModelSecret, error) { return k.was, nil }
func (k *kept) Forget()                                         { k.was, k.forgot = k.is, k.forgot+1 }

// Whoever is told that a key is missing, adds it and tries again is not told so for the minutes that a secret is kept.
func TestAKeyThatWasJustAddedIsSeen(t *testing.T) {
	c := Contest{Teams: []Team{{Leader: Leader{Model: "claude-sonnet-4-6"}}, {Leader: Leader{Model: "gpt-5.4"}}}}
	for _, name := range []string{"claude-sonnet-4-6", "gpt-5.4"} {
		c.Named = append(c.Named, Named{File: "t.toml", Model: name, Set: true})
	}
	k := &kept{is: secret.ModelSecret{Anthropic: "sk-ant"}}
	found := expect.Value(Models{Keys: k}.Check(t.Context(), c, "en"))(t)
	expect.That(t, len(found) == 1 && k.forgot == 1, "read anew %d times, %+v", k.forgot, found)
}

// What is missing is said: an address only where none is known.
func TestWhatTheModelSecretLacksIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		at   secret.ModelEndpoint
		says string // empty: nothing is missing
	}{
		"grok:grok-4":           {secret.ModelEndpoint{}, "no key for compatible.grok"},
		"grok-responses:grok-4": {secret.ModelEndpoint{Key: "k"}, ""},
		"gemini-2.5-flash": {secret.ModelEndpoint{URL: "https://proxy.example/v1"},
			"no key for compatible.gemini"},
		"google-gla:gemini-2.5-pro":    {secret.ModelEndpoint{Key: "k"}, ""},
		"compatible:box/llama3.2":      {secret.ModelEndpoint{Key: "k"}, "no address for compatible.box"},
		"compatible:box/llama3.2:open": {secret.ModelEndpoint{URL: "https://box.example/v1"}, ""},
		"claude-sonnet-4-6":            {secret.ModelEndpoint{}, "no key for anthropic"},
	} {
		c := Contest{Teams: []Team{{Leader: Leader{Model: name}}}, Named: []Named{{File: "t.toml", Model: name, Set: true}}}
		k := &kept{is: secret.ModelSecret{Compatible: map[string]secret.ModelEndpoint{"grok": tt.at, "gemini": tt.at,
			"box": tt.at}}}
		k.was = k.is
		c.Prices = []tenancy.ModelPrice{{Model: name, Input: "1", Output: "1"}}
		found := expect.Value(Models{Keys: k}.Check(t.Context(), c, "en"))(t)
		if tt.says == "" {
			expect.That(t, found == nil, "%s: %+v", name, found)
			continue
		}
		expect.Must(t, len(found) == 1, "%s: %+v", name, found)
		expect.Has(t, found[0].Message, tt.says)
	}
}

// Files are those below the workspace's prefix, including those in folders, and none of another prefix.
func TestFilesOfABucketAreRead(t *testing.T) {
	url := process.MotoForTests(t)
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &url,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket := strings.ToLower(t.Name())
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}))(t)
	const about = "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'a.toml'\n"
	for name, text := range map[string]string{
		"team/contest.toml": about, "team/a.toml": "[team]\nteam_id = 'a'\nteam_name = 'A'\n", "teammate/other.toml": about,
	} {
		expect.Value(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &name,
			Body: strings.NewReader(text)}))(t)
	}
	w := expect.Value(Open(fmt.Sprintf("s3://%s/team", bucket), Bucket(cfg)))(t)
	c, found := w.Contest("contest.toml", "en")
	expect.That(t, len(found) == 0 && len(c.Teams) == 1 && c.Teams[0].TeamID == "a", "%+v %v", c, found)
	_, found = w.Contest("other.toml", "en")
	expect.That(t, len(found) == 1 && strings.Contains(found[0].String(), "there is no such file"), "%v", found)
}
