package teamconfig

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"ringi/shared/runtime/expect"
)

const contestFile = "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'teams/a.toml'\n"

// sharing makes a workspace of three contests with this shared.toml.
func sharing(text string) Workspace {
	files := fstest.MapFS{
		"ours.toml": {Data: []byte(contestFile)}, "theirs.toml": {Data: []byte(contestFile)}, "all.toml": {Data: []byte(contestFile)},
		"teams/a.toml": {Data: []byte("[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'openai:gpt-4o'\n")},
	}
	if text != "" {
		files[SharedFile] = &fstest.MapFile{Data: []byte(text)}
	}
	return Workspace{FS: files}
}

// A contest is shared with all files that its file names. No other contest can be listed or opened.
func TestContestsAreSharedByName(t *testing.T) {
	w := sharing("[contests]\n'theirs.toml' = ['T2', 'T3']\n'./all.toml' = ['any']\n'ours.toml' = []\n'../x.toml' = " +
		"['any']\n'teams/a.toml' = 'T2'\n")
	for team, want := range map[string][]string{"T2": {"all.toml", "theirs.toml"}, "T4": {"all.toml"},
		"any": {"all.toml"}, "": {"all.toml"}} {
		x := expect.Value(w.SharedWith(team))(t)
		files, more, err := x.Contests()
		expect.NoError(t, err)
		expect.Same(t, want, files)
		for _, file := range []string{"ours.toml", "theirs.toml", "all.toml", "./all.toml", "./ours.toml",
			"teams/../ours.toml", "teams/a.toml"} {
			_, found := x.Contest(file)
			clean := expect.Value(inside(file))(t)
			wanted := len(want) > 0 && clean == want[0] || len(want) > 1 && clean == want[1]
			expect.That(t, Valid(found) == wanted && !more && (wanted || found[0].Message == errNotShared.Error()),
				"%q and %s: %v", team, file, found)
		}
	}
}

func TestWithoutAFileThatSharesThemThereAreNoContests(t *testing.T) {
	for text, wrong := range map[string]bool{"": false, "[contests]\n": false, "contests = 1\n": false,
		"[contests": true} {
		x, err := sharing(text).SharedWith("T2")
		expect.Is(t, err != nil, wrong, "%q: %v", text, err)
		files, _, err := x.Contests()
		_, found := x.Contest("ours.toml")
		expect.That(t, err == nil && len(files) <= 0 && !Valid(found), "%q shares %v, %v", text, files, err)
	}
	_, err := Workspace{FS: down{}}.SharedWith("T2")
	expect.Fails(t, err, errDown, "a bucket that is down")
}

var errDown = errors.New("the bucket does not answer")

// down is a bucket that does not answer.
type down struct{}

func (down) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errDown}
}

// The files have the structure of those that mixseek publishes, but other texts.
func TestFilesOfMixseekAreReadAsTheyAre(t *testing.T) {
	w, err := Open("testdata/mixseek", nil)
	expect.NoError(t, err)
	c, found := w.Contest("configs/orchestrator.toml")
	var warnings []string
	for _, f := range found {
		expect.That(t, f.Warning, "%v", f)
		warnings = append(warnings, f.Field)
	}
	slices.Sort(warnings)
	want := []string{"judgment.judge_on_final_round", "judgment_timeout_seconds", "submission_timeout_seconds",
		"teams[0].members[0].tool_settings", "teams[1].members[0].metadata", "teams[1].members[0].tool_settings"}
	expect.That(t, slices.Equal(warnings, want), "what has no effect: %v", warnings)
	if len(c.Teams) != 3 || len(c.Evaluator.Metrics) != 3 || c.TeamTimeoutSeconds != 600 || c.MinRounds != 1 ||
		c.MaxRounds != 2 {
		t.Fatalf("%+v", c)
	}
	inline, ref, solo := c.Teams[0], c.Teams[1], c.Teams[2]
	search, logic, analyst := inline.Members[0], inline.Members[1], ref.Members[0]
	if search.AgentType != "web-search" || search.Tool() != "delegate_to_web_search" ||
		*search.SystemInstruction != "信頼できる情報源を探してください。" || logic.Tool() != "delegate_to_logic" ||
		*logic.TimeoutSeconds != 30 {
		t.Errorf("%+v", inline)
	}
	if analyst.AgentType != "code-exec" || analyst.ToolDescription != "数を読み解きます。\n" ||
		*analyst.SystemPrompt != "簡潔に答えてください。\n" || *ref.Leader.SystemInstruction != "" ||
		*ref.Leader.SystemPrompt != "日本語で答えてください。\n" {
		t.Errorf("%+v", ref)
	}
	if len(solo.Members) != 0 || *solo.Leader.MaxTokens != 4096 || *c.Evaluator.MaxRetries != 5 ||
		c.Evaluator.Metrics[1].Model != "anthropic:claude-sonnet-4-5-20250929" ||
		c.Evaluator.Metrics[0].Model != "google-gla:gemini-2.5-flash" {
		t.Errorf("%+v %+v", solo, c.Evaluator)
	}
}

// alike is a kind of example that mixseek publishes, in words of our own.
type alike struct {
	text     string
	original bool // the verdict of mixseek-core's own loaders on this text, those of 0.1.0a15 and of 0.1.0a22
	valid    bool // ours
	// warned are the fields without effect, without their places.
	warned []string
	// row is the beginning of the row of infra/contest/mixseek.md that gives the reason for a difference.
	row string
}

const (
	plainAgent  = "[agent]\nname = 'x'\ntype = 'plain'\nmodel = 'openai:gpt-4o'\n"
	customAgent = "[agent]\nname = 'x'\ntype = 'custom'\nmodel = 'openai:gpt-4o'\n[agent.plugin]\nagent_class = 'C'\n"
	fetchAgent  = "[agent]\nname = 'x'\ntype = 'web_fetch'\nmodel = 'openai:gpt-4o'\n"
	plainTeam   = "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'openai:gpt-4o'\n"
	plainMember = plainTeam + "[[team.members]]\nname = 'x'\ntype = 'web_search'\nmodel = 'openai:gpt-4o'\n"
	grok        = "grok-responses:grok-4-fast"
	settings    = "[team.members.tool_settings.web_search]\nmax_results = 3\n"
	plainRun    = "[[orchestrator.teams]]\nconfig = 'team.toml'\n"

	customRow = "| `type = \"custom\"` and `plugin` |"
	fetchRow  = "| `type = \"web_fetch\"` |"
)

var kindsOfExamples = map[string]alike{
	"a member": {plainAgent + "max_retries = 3\n[agent.system_instruction]\ntext = 'Do it.'\n", true, true, nil, ""},
	"a member with what has no effect": {plainAgent + "capabilities = ['c']\n[agent.metadata]\nversion = '1'\n" +
		"[agent.retry_config]\nmax_retries = 3\n[agent.tool_settings.web_search]\nmax_results = 3\n" +
		"[agent.instructions]\ntext = 'Do it.'\n", true, true,
		[]string{"capabilities", "retry_config", "metadata", "tool_settings", "instructions"}, ""},
	"a member of xAI's":  {strings.Replace(plainAgent, "openai:gpt-4o", grok, 1), true, true, []string{"model"}, ""},
	"a part of a member": {"[agent.tool_settings.web_fetch]\nmax_uses = 5\n", false, false, nil, ""},
	"a member of code":   {customAgent + "agent_module = 'm'\n", true, false, nil, customRow},
	"a member of code with a model of its own": {strings.Replace(customAgent, "openai:gpt-4o", "my-provider:m", 1) +
		"agent_module = 'm'\n", true, false, nil, customRow},
	"a member that fetches pages": {fetchAgent + "[agent.tool_settings.web_fetch]\nmax_uses = 5\n", true, false, nil,
		fetchRow},

	"a team": {plainTeam + "[[team.members]]\nconfig = 'x.toml'\ntool_name = 'ask'\ntool_description = 'd'\n", true,
		true, nil, ""},
	"a team with what has no effect": {plainMember + settings, true, true, []string{"tool_settings"}, ""},
	"a team with a member of xAI's": {plainTeam + "[[team.members]]\nname = 'x'\ntype = 'web_search'\nmodel = '" + grok +
		"'\n" + settings, true, true, []string{"model", "tool_settings"}, ""},
	"a team with a member of code": {strings.Replace(plainMember, "web_search", "custom", 1) +
		"[team.members.plugin]\nagent_module = 'm'\nagent_class = 'C'\n", true, false, nil, customRow},
	"a team with a member that fetches pages": {strings.Replace(plainMember, "web_search", "web_fetch", 1), true, false,
		nil, fetchRow},
	"a part of a team": {"[team.leader]\nmodel = 'openai:gpt-4o'\ntemperature = 0.7\n", false, false, nil, ""},

	"a contest": {"[orchestrator]\ntimeout_per_team_seconds = 600\nmax_rounds = 3\n" + plainRun, true, true, nil, ""},
	"a contest with limits of calls": {"[orchestrator]\nsubmission_timeout_seconds = 300\n" +
		"judgment_timeout_seconds = 60\n" + plainRun, true, true,
		[]string{"submission_timeout_seconds", "judgment_timeout_seconds"}, ""},
	"a contest without a team": {"[orchestrator]\ntimeout_per_team_seconds = 600\n", true, false, nil,
		"| `[orchestrator]` without a team |"},
	"an evaluator": {"[llm_default]\nmodel = 'openai:gpt-4o'\n[[metrics]]\nname = 'Coverage'\nweight = 1.0\n", true,
		true, nil, ""},
	"a judge":                   {"model = 'openai:gpt-4o'\ntemperature = 0.0\n", true, true, nil, ""},
	"a judge of the last round": {"judge_on_final_round = true\n", true, true, []string{"judge_on_final_round"}, ""},
	"prompts": {"[prompt_builder]\nteam_user_prompt = '{{ user_prompt }}'\n", true, true, []string{"prompt_builder"},
		""},
	"no TOML":                {"[team]\n[team.leader]\nmodel: openai\n", false, false, nil, ""},
	"another program's file": {"[server]\nport = 8501\n", false, false, nil, ""},
}

// filesOf lays beside an example the files that it names.
func filesOf(text string) map[string]string {
	files := map[string]string{"file.toml": text}
	for _, m := range regexp.MustCompile(`(?m)^(evaluator_|judgment_|`+
		`prompt_builder_)?config\s*=\s*["']([^"']+)["']`).FindAllStringSubmatch(text,
		-1) {
		name := filepath.ToSlash(filepath.Clean(m[2]))
		switch {
		case m[1] == "evaluator_":
			files[name] = smallMetric
		case m[1] != "":
			files[name] = "model = 'demo'\n"
		case strings.Contains(text, "[[orchestrator.teams]]"):
			files[name] = strings.Replace(smallTeam, "'a'", "'"+name+"'", 1)
		default:
			files[name] = strings.Replace(plainAgent, "'x'", "'"+strings.TrimSuffix(filepath.Base(name), ".toml")+"'", 1)
		}
	}
	return files
}

func TestExamplesOfMixseekAreJudgedAlikeOrTheReasonIsOnThePage(t *testing.T) {
	page := string(expect.Value(os.ReadFile("../../../infra/contest/mixseek.md"))(t))
	for name, c := range kindsOfExamples {
		r := Check(workspace(filesOf(c.text)), "file.toml")
		expect.That(t, r.Valid == c.valid, "%s: %+v", name, r.Errors)
		expect.That(t, !c.valid || slices.Equal(fieldsWarned(r), slices.Sorted(slices.Values(c.warned))), "%s: %+v", name,
			r.Warnings)
		expect.That(t, (c.original == c.valid) == (c.row == ""), "%s: a difference needs a row of the page", name)
		expect.That(t, c.row == "" || strings.Contains(page, "\n"+c.row), "%s: the page has no row %s", name, c.row)
	}
}

// published is a block of TOML in mixseek's documents, or a file of its repository.
type published struct {
	File  string `json:"file"`
	Block int    `json:"block"` // of those in a Markdown file, from 1; 0: the whole file
	Sum   string `json:"sum"`   // the beginning of the text's SHA-256
	Kind  string `json:"kind"`  // of kindsOfExamples
}

// The list names every example of mixseek-core 0.1.0a15; its texts are not ours to keep. With a checkout of that
// release
// in RINGI_MIXSEEK each is judged.
func TestEveryPublishedExampleIsOfAKnownKind(t *testing.T) {
	var all []published
	expect.NoError(t, json.Unmarshal(expect.Value(os.ReadFile("testdata/mixseek.json"))(t), &all))
	checkout, found, same := os.Getenv("RINGI_MIXSEEK"), map[string]bool{}, 0
	for _, x := range all {
		kind, ok := kindsOfExamples[x.Kind]
		if !ok {
			t.Errorf("%s, block %d: no kind %q", x.File, x.Block, x.Kind)
		}
		found[x.Kind] = true
		if kind.original == kind.valid {
			same++
		}
		if checkout == "" {
			continue
		}
		text := example(t, filepath.Join(checkout, filepath.FromSlash(x.File)), x.Block)
		sum := sha256.Sum256([]byte(text))
		expect.Is(t, hex.EncodeToString(sum[:])[:len(x.Sum)], x.Sum, x.File, x.Block)
		r := Check(workspace(filesOf(text)), "file.toml")
		expect.That(t, r.Valid == kind.valid, "%s, block %d: %+v", x.File, x.Block, r.Errors)
		for _, field := range fieldsWarned(r) {
			expect.That(t, !kind.valid || slices.Contains(kind.warned, field), "%s, block %d: %s is not warned of in %q",
				x.File, x.Block, field, x.Kind)
		}
	}
	expect.That(t, len(found) == len(kindsOfExamples), "a kind without an example: %v", found)
	expect.That(t, len(all) == 117 && same == 99, "%d of %d examples are judged alike", same, len(all))
}

// fieldsWarned returns the fields of a report's warnings, without their places, sorted.
func fieldsWarned(r Report) (fields []string) {
	for _, w := range r.Warnings {
		fields = append(fields, w.Field[strings.LastIndex(w.Field, ".")+1:])
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

var fence = regexp.MustCompile("^\\s*(`{3,}|~{3,})\\s*(\\w*)")

// example returns a block of TOML of a Markdown file, without its indentation, or the whole file.
func example(t *testing.T, file string, block int) string {
	t.Helper()
	text := string(expect.Value(os.ReadFile(file))(t))
	if block == 0 {
		return text
	}
	open, indent, lines := "", 0, []string{}
	for _, line := range strings.Split(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil && m[2] == "toml":
			open, indent, block = m[1], strings.Index(line, m[1]), block-1
		case open != "" && strings.TrimSpace(line) == open:
			if block == 0 {
				return strings.Join(append(lines, ""), "\n")
			}
			open = ""
		case open != "" && block == 0:
			lines = append(lines, cmp.Or(strings.TrimPrefix(line, strings.Repeat(" ", indent)), ""))
		}
	}
	t.Fatalf("%s has too few blocks", file)
	return ""
}
