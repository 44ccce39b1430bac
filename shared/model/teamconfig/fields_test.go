package teamconfig

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"ringi/shared/runtime/expect"
)

// workspace makes a workspace of files in memory.
func workspace(files map[string]string) Workspace {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Workspace{FS: m}
}

// read reads a file of kind T.
func read[T any](w Workspace, file string) (T, []Finding) {
	r := &reading{w: w}
	x, _ := r.any(file).(T)
	return x, r.found
}

const (
	smallTeam   = "[team]\nteam_id = 'a'\nteam_name = 'A'\n"
	smallMember = smallTeam + "[[team.members]]\nagent_name = 'x'\nagent_type = 'plain'\ntool_description = 'd'\n" +
		"model = 'gpt-5'\n"
	smallMetric = "[[metrics]]\nname = 'Coverage'\n"
	smallRun    = "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'a.toml'\n"
)

// field describes a field of a file: its table, its default as JSON, valid values, and invalid values with their
// messages.
type field struct {
	unset   string
	taken   []string
	refused map[string]string
}

var (
	temperature = field{"null", []string{"0.0", "2.0", "1"},
		map[string]string{"-0.1": "must be 0.0 to 2.0, got -0.1", "2.1": "must be 0.0 to 2.0",
			"nan": "must be 0.0 to 2.0, got NaN", "'1'": "must be a number"}}
	maxTokens = field{"null", []string{"1", "4096"}, map[string]string{"0": "must be 1 or more, got 0",
		"1.5": "must be a whole number", "true": "must be a whole number"}}
	oneSecond = field{"null", []string{"1", "45"}, map[string]string{"0": "must be 1 or more, got 0",
		"99999999999": "must be 1 to 2147483647"}}
	timeout = field{"null", []string{"0", "45"}, map[string]string{"-1": "must be 0 or more",
		"99999999999": "must be 0 to 2147483647"}}
	maxRetries = field{"3", []string{"0", "7"}, map[string]string{"-1": "must be 0 or more"}}
	orRetries  = field{"null", maxRetries.taken, maxRetries.refused}
	stops      = field{"null", []string{"[]", "['END']"},
		map[string]string{"'END'": "must be a list of strings", "[1]": "must be a list of strings"}}
	topP = field{"null", []string{"0.0", "1.0"}, map[string]string{"1.01": "must be 0.0 to 1.0, got 1.01",
		"-0.01": "must be 0.0 to 1.0"}}
	seed = field{"null", []string{"-3", "0", "9007199254740993"},
		map[string]string{"0.5": "must be a whole number"}}
	instruction = field{"null", []string{"'Say it.'", "{text = 'Say it.'}"},
		map[string]string{"1": "must be a string", "{txt = 'x'}": "text: is required"}}
	free  = field{"null", []string{"'Say it.'"}, map[string]string{"1": "must be a string, got 1"}}
	named = field{"", []string{"'b'"}, map[string]string{"''": "must not be empty", "'\u3000'": "must not be empty",
		"'\u200b'": "must not be empty", "1": "must be a string"}}
	aModel = map[string]string{"''": "must not be empty", "'xai:grok-4'": `has the unknown prefix "xai:"`,
		"'grok'": "isn't a model name", "1": "must be a string"}
	models = []string{"'gpt-5'", "'google-gla:gemini-2.5-flash'", "'anthropic:claude-haiku-4-5'", "'demo'"}
)

// kinds are the tables of files. %s is replaced by the line to test.
var kinds = []struct {
	of     any
	file   string // the file to check
	text   string
	config string // path of the fields in the report's config
	fields map[string]field
}{
	{Team{}, "a.toml", "[team]\n%s\n", "", map[string]field{
		"team_id": named, "team_name": named,
		"max_concurrent_members": {"15", []string{"1", "50"},
			map[string]string{"0": "must be 1 to 50, got 0", "51": "must be 1 to 50, got 51"}},
		"leader": {"", []string{"{}"}, map[string]string{"'x'": "must be a table"}},
		"members": {"[]", []string{"[]"},
			map[string]string{"'x'": "must be a list of tables: [[team.members]], got"}},
	}},
	{Leader{}, "a.toml", smallTeam + "[team.leader]\n%s\n", "leader", map[string]field{
		"system_prompt": {"null", []string{"'Lead.'"}, map[string]string{
			"''": "leader.system_prompt: system_prompt cannot be empty string. Use None for default prompt or provide " +
				"valid text.",
			"'\u3000'": "system_prompt cannot be empty string. Use None for default prompt or provide valid text.",
		}},
		"system_instruction": instruction,
		"model":              {`"openai:gpt-4o"`, models, aModel},
		"temperature":        temperature, "max_tokens": maxTokens,
		"timeout_seconds": {"300", []string{"10", "600"}, map[string]string{"9": "must be 10 to 600, got 9",
			"601": "must be 10 to 600, got 601", "-1": "must be 10 to 600, got -1"}},
		"max_retries": maxRetries, "stop_sequences": stops, "top_p": topP, "seed": seed,
	}},
	{Member{}, "a.toml", smallTeam + "[[team.members]]\n%s\n", "members.0", map[string]field{
		"agent_name": named,
		"agent_type": {"", []string{"'plain'", "'web-search'", "'code-exec'", "'web_search'", "'code_execution'"},
			map[string]string{"'system'": "must be plain, web-search or code-exec",
				"'custom'": "can't be used: Ringi has no such agents", "'web_fetch'": "can't be used"}},
		"tool_name": {`"delegate_to_x"`, []string{"''", "'ask'"},
			map[string]string{"'two words'": `must be 1 to 64 letters, digits, _ or -, as model vendors require; it is "two ` +
				`words"`}},
		"tool_description": {`"Delegate task to x"`, []string{"'b'"},
			map[string]string{"''": "tool_description cannot be empty", "'\u3000'": "tool_description cannot be empty"}},
		"model": {"", models, aModel}, "system_instruction": instruction, "system_prompt": free,
		"temperature": temperature, "max_tokens": maxTokens, "timeout_seconds": oneSecond, "max_retries": maxRetries,
		"stop_sequences": stops, "top_p": topP, "seed": seed,
		"config": {"null", []string{"'x.toml'"}, map[string]string{"'none.toml'": "there is no such file in the workspace",
			"'../x.toml'": "must be a relative path inside the workspace",
			"'/x.toml'":   "must be a relative path inside the workspace",
			"''":          "must be a relative path inside the workspace"}},
	}},
	{Contest{}, "run.toml", "[orchestrator]\n%s\n[[orchestrator.teams]]\nconfig = 'a.toml'\n", "", map[string]field{
		"timeout_per_team_seconds": {"300", []string{"10", "3600"},
			map[string]string{"9": "must be 10 to 3600, got 9", "3601": "must be 10 to 3600, got 3601"}},
		"max_rounds": {"5", []string{"1", "10"},
			map[string]string{"0": "must be 1 to 10, got 0", "11": "must be 1 to 10, got 11"}},
		"evaluator": {}, "teams": {}, // read from files of their own
		"prices": {}, // the settings'
	}},
	{Evaluator{}, "judge.toml", "%s\n" + smallMetric, "", map[string]field{
		"default_model": {`"google-gla:gemini-2.5-flash"`, models, aModel}, "metrics": {},
		"temperature": temperature, "max_tokens": maxTokens, "timeout_seconds": {"300", timeout.taken,
			timeout.refused}, "max_retries": maxRetries, "stop_sequences": stops, "top_p": topP, "seed": seed,
	}},
	{Metric{}, "judge.toml", "[[metrics]]\n%s\n", "metrics.0", map[string]field{
		"name": {"", []string{"'ClarityCoherence'", "'Coverage'", "'Relevance'"},
			map[string]string{"'clarity'": "isn't a metric Ringi knows", "''": "must not be empty",
				"'" + strings.Repeat("a", 201) + "'": "must be at most 200 characters"}},
		"weight": {"1", []string{"1.0", "0.9995"}, map[string]string{"1.1": "must be 0.0 to 1.0",
			"-1.0": "must be 0.0 to 1.0", "0.5": "must have weights that sum to 1 within 0.001, but these sum to 0.5"}},
		"model": {`"google-gla:gemini-2.5-flash"`, models, aModel}, "system_instruction": instruction,
		"temperature": temperature, "max_tokens": maxTokens, "timeout_seconds": timeout, "max_retries": orRetries,
		"stop_sequences": stops, "top_p": topP, "seed": seed,
	}},
}

// needed maps a table to its required fields with a value.
var needed = map[string][]string{
	"Team": {"team_id = 'a'", "team_name = 'A'"}, "Metric": {"name = 'Coverage'"},
	"Member": {"agent_name = 'x'", "agent_type = 'plain'", "model = 'gpt-5'"},
}

func TestEveryFieldHasItsDefaultAndItsBound(t *testing.T) {
	for _, k := range kinds {
		kind := reflect.TypeOf(k.of)
		names := tags(kind)
		expect.Is(t, len(names), len(k.fields), "has the fields %v, the table", names)
		for _, name := range names {
			f, ok := k.fields[name]
			if !ok {
				t.Errorf("%s.%s is not in the table", kind.Name(), name)
				continue
			}
			check := func(value string) Report { return Check(filesWith(kind.Name(), k.text, name, value, k.file), k.file) }
			where := fmt.Sprintf("%s.%s", kind.Name(), name)
			if f.unset != "" {
				if r := check(""); !r.Valid || inJSON(t, r.Config, k.config, name) != f.unset {
					t.Errorf("%s is %s when it is not set, want %s: %v", where, inJSON(t, r.Config, k.config, name), f.unset, r.Errors)
				}
			} else if r := check(""); len(f.refused) > 0 && name != "leader" &&
				(r.Valid || !strings.Contains(r.Errors[0].Message, "is required")) {
				t.Errorf("%s is not required: %v", where, r.Errors)
			}
			for _, value := range f.taken {
				r := check(value)
				expect.That(t, r.Valid, "%s = %s: %v", where, value, r.Errors)
			}
			for value, want := range f.refused {
				r := check(value)
				said := fmt.Sprint(r.Errors)
				for _, e := range r.Errors {
					said += e.Field + ": " + e.Message + "\n"
				}
				if r.Valid || !strings.Contains(said, want) || !strings.Contains(said, name) && k.config != "metrics.0" {
					t.Errorf("%s = %s is refused with %v, want %q", where, value, r.Errors, want)
				}
			}
		}
	}
}

// filesWith makes a workspace with a file of a kind, which sets one field and the required others.
func filesWith(kind, text, name, value, file string) Workspace {
	var lines []string
	for _, line := range needed[kind] {
		if !strings.HasPrefix(line, name+" ") {
			lines = append(lines, line)
		}
	}
	if value != "" {
		lines = append(lines, name+" = "+value)
	}
	files := map[string]string{"a.toml": smallTeam, "x.toml": "[agent]\n"}
	files[file] = fmt.Sprintf(text, strings.Join(lines, "\n"))
	return workspace(files)
}

// tags returns the JSON names of a struct's fields.
func tags(kind reflect.Type) (names []string) {
	for f := range kind.Fields() {
		if f.Anonymous {
			names = append(names, tags(f.Type)...)
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// inJSON returns a field of a configuration in JSON.
func inJSON(t *testing.T, config any, path, name string) string {
	t.Helper()
	b, err := json.Marshal(config)
	expect.NoError(t, err)
	var at any
	expect.NoError(t, json.Unmarshal(b, &at))
	for _, key := range strings.Split(path, ".") {
		switch v := at.(type) {
		case []any:
			at = v[0]
		case map[string]any:
			if key != "" {
				at = v[key]
			}
		}
	}
	fields, ok := at.(map[string]any)
	if !ok {
		return string(b)
	}
	value, ok := fields[name]
	if !ok {
		return "missing"
	}
	out, _ := json.Marshal(value)
	return string(out)
}

func TestAMemberIsDescribedByItsNameUnlessItsFileDoes(t *testing.T) {
	const begins = smallTeam + "[[team.members]]\nname = 'x'\ntype = 'plain'\nmodel = 'demo'\n"
	for more, want := range map[string]string{
		"": "Delegate task to x", "description = 'd'\n": "d", "tool_description = 'd'\n": "d",
		"description = 'd'\ntool_description = 'd'\n": "d",
	} {
		team, found := read[Team](workspace(map[string]string{"a.toml": begins + more}), "a.toml")
		expect.That(t, len(found) == 0 && team.Members[0].ToolDescription == want, "%q: %+v %v", more, team.Members, found)
	}
	r := Check(workspace(map[string]string{"a.toml": begins + "description = 'shorter'\ntool_description = 'd'\n"}),
		"a.toml")
	team, _ := r.Config.(Team)
	expect.That(t, r.Valid && team.Members[0].ToolDescription == "d", "%+v", r)
	expect.That(t, len(r.Warnings) == 1 && r.Warnings[0] == Said{"members[0].description",
		`has no effect when tool_description is set, got "shorter"`}, "%+v", r.Warnings)
	r = Check(workspace(map[string]string{"a.toml": begins + "description = ' '\n"}), "a.toml")
	expect.That(t, !r.Valid && r.Errors[0].Field == "members[0].tool_description", "a blank one: %+v", r)
	r = Check(workspace(map[string]string{
		"a.toml": smallTeam + "[[team.members]]\nconfig = 'x.toml'\ntool_description = 'own'\n",
		"x.toml": "[agent]\nname = 'x'\ntype = 'plain'\nmodel = 'demo'\ndescription = 'file'\n",
	}), "a.toml")
	team, _ = r.Config.(Team)
	expect.That(t, r.Valid && len(r.Warnings) == 0 && team.Members[0].ToolDescription == "own", "a member's own: %+v", r)
}

func TestWhatHasNoEffectHereIsAWarning(t *testing.T) {
	for name, c := range map[string]struct{ text, field, message string }{
		"capabilities": {smallMember + "capabilities = ['web_search']\n", "members[0].capabilities",
			"has no effect: it is kept for other programs"},
		"retry_config": {smallMember + "[team.members.retry_config]\nmax_retries = 5\n", "members[0].retry_config",
			"has no effect: max_retries and timeout_seconds control retries, got a table"},
		"instructions": {smallMember + "[team.members.instructions]\ntext = 'Do it.'\n", "members[0].instructions",
			"has no effect: write system_instruction, got a table"},
		"instructions of a member's own file": {"[agent]\nname = 'x'\ntype = 'plain'\nmodel = " +
			"'demo'\n[agent.instructions]\ntext = 'Do it.'\n", "instructions",
			"has no effect: write system_instruction, got a table"},
		"a file of prompts": {"[prompt_builder]\nteam_user_prompt = '{{ user_prompt }}'\n", "prompt_builder",
			"has no effect: Ringi writes the prompts itself, got a table"},
		"a judge's only wish": {"judge_on_final_round = false\n", "judge_on_final_round",
			"has no effect: a team plays up to max_rounds, got false"},
		"xAI's own interface": {smallTeam + "[team.leader]\nmodel = 'grok-responses:grok-4-fast'\n", "leader.model",
			`is called as compatible:grok/grok-4-fast: the model answers, but without xAI's own tools, got ` +
				`"grok-responses:grok-4-fast"`},
	} {
		r := Check(workspace(map[string]string{"a.toml": c.text}), "a.toml")
		expect.That(t, r.Valid && len(r.Warnings) == 1 && r.Warnings[0] == Said{c.field, c.message}, "%s: %+v", name, r)
	}
	r := Check(workspace(map[string]string{"p.toml": "[prompt_builder]\n[other]\n"}), "p.toml")
	expect.That(t, !r.Valid && r.Errors[0].Field == "other", "beside a file's prompts: %+v", r)
}

// A file with [workflow], which mixseek has since 0.1.0a16, is refused by one sentence wherever a file may name it.
func TestAWorkflowIsRefusedByOneSentence(t *testing.T) {
	const noWorkflow = "can't be played: Ringi has no fixed steps. Write a [team] with these executors as members"
	const steps = "[workflow]\nworkflow_id = 'w'\nworkflow_name = 'W'\n[[workflow.steps]]\nid = 's'\n" +
		"[[workflow.steps.executors]]\nname = 'x'\ntype = 'plain'\n"
	for name, files := range map[string]map[string]string{
		"alone":           {"file.toml": steps},
		"beside a team":   {"file.toml": smallTeam + steps},
		"of a contest":    {"file.toml": strings.Replace(smallRun, "a.toml", "w.toml", 1), "w.toml": steps},
		"beside contests": {"file.toml": smallRun + steps, "a.toml": smallTeam},
	} {
		r := Check(workspace(files), "file.toml")
		expect.That(t, !r.Valid && len(r.Errors) == 1 && strings.Contains(r.Errors[0].Message, noWorkflow), "%s: %+v", name,
			r.Errors)
	}
	_, found := workspace(map[string]string{"file.toml": steps}).ContestOrTeam("file.toml")
	expect.That(t, len(found) == 1 && found[0].Message == noWorkflow && found[0].Field == "workflow", "%v", found)
}

// testdata/mixseek-fields.json has the fields of mixseek-core 0.1.0a22 with their bounds, as config/schema.py of that
// package declares them. Each is read here, is warned of, or is refused by a sentence of its own, and none is unknown;
// what is outside of a published bound is refused here, too.
func TestEveryFieldOfMixseekIsKnown(t *testing.T) {
	var published map[string]map[string]struct{ GE, GT, LE *float64 }
	expect.NoError(t, json.Unmarshal(expect.Value(os.ReadFile("testdata/mixseek-fields.json"))(t), &published))
	texts := map[string]string{
		"team": "[team]\n%s\n", "leader": smallTeam + "[team.leader]\n%s\n", "member": smallTeam + "[[team.members]]\n%s\n",
		"evaluator": "%s\n" + smallMetric, "judgment": "model = 'demo'\n%s\n", "prompt_builder": "[prompt_builder]\n%s\n",
		"orchestrator": "[orchestrator]\n%s\n[[orchestrator.teams]]\nconfig = 'a.toml'\n", "workflow": "[workflow]\n%s\n",
	}
	check := func(kind, line string) Report {
		return Check(workspace(map[string]string{"file.toml": fmt.Sprintf(texts[kind], line), "a.toml": smallTeam}),
			"file.toml")
	}
	for kind, fields := range published {
		for name, bounds := range fields {
			if kind == "judgment" && name == "model" || kind == "orchestrator" && name == "teams" {
				continue // in each text already
			}
			r := check(kind, name+" = 'x'")
			for _, e := range r.Errors {
				expect.That(t, !strings.Contains(e.Message, "isn't a known field"), "%s.%s: %+v", kind, name, e)
			}
			outside := map[string]bool{}
			if bounds.GE != nil {
				outside[fmt.Sprint(*bounds.GE-1)] = true
			}
			if bounds.GT != nil {
				outside[fmt.Sprint(*bounds.GT)] = true
			}
			if bounds.LE != nil {
				outside[fmt.Sprint(*bounds.LE+1)] = true
			}
			for value := range outside {
				r := check(kind, name+" = "+value)
				expect.Has(t, fmt.Sprint(r.Errors, r.Warnings), name, "%s.%s = %s is taken", kind, name, value)
			}
		}
	}
}
