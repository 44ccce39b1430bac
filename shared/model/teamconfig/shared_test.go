package teamconfig

import (
	"errors"
	"fmt"
	"io/fs"
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
	w := sharing("[contests]\n'theirs.toml' = ['T2', 'T3']\n'./all.toml' = ['any']\n'ours.toml' = []\n'../x.toml' = ['any']\n'teams/a.toml' = 'T2'\n")
	for team, want := range map[string][]string{"T2": {"all.toml", "theirs.toml"}, "T4": {"all.toml"}, "any": {"all.toml"}, "": {"all.toml"}} {
		x := expect.Value(w.SharedWith(team))(t)
		files, more, err := x.Contests()
		expect.NoError(t, err)
		expect.Same(t, want, files)
		for _, file := range []string{"ours.toml", "theirs.toml", "all.toml", "./all.toml", "./ours.toml", "teams/../ours.toml", "teams/a.toml"} {
			_, found := x.Contest(file)
			clean := expect.Value(inside(file))(t)
			wanted := len(want) > 0 && clean == want[0] || len(want) > 1 && clean == want[1]
			expect.That(t, Valid(found) == wanted && !more && (wanted || found[0].Message == errNotShared.Error()),
				"%q and %s: %v", team, file, found)
		}
	}
}

func TestWithoutAFileThatSharesThemThereAreNoContests(t *testing.T) {
	for text, wrong := range map[string]bool{"": false, "[contests]\n": false, "contests = 1\n": false, "[contests": true} {
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

func TestAllThatIsWrongWithAFileOfServersIsSaidAtOnce(t *testing.T) {
	server := "[servers.s%02d]\nurl = 'https://a.example/mcp'\n"
	many := ""
	for i := range 11 {
		many += fmt.Sprintf(server, i)
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"none":          {"[servers]\n", nil},
		"another table": {"servers = 1\n[server]\n", []string{"servers: must be a table, got 1", "server: isn't a known field here"}},
		"no table":      {"[servers]\nwiki = 'https://a.example'\n", []string{"servers.wiki: must be a table, got"}},
		"too many":      {many, []string{"servers: must be at most 10 servers, but there are 11"}},
		"too many tools": {fmt.Sprintf(server, 1) + "tools = ['" + strings.Join(strings.Split("abcdefghijklmnopqrstu", ""), "','") + "']\n",
			[]string{"servers: must list at most 20 tools in total, but there are 21"}},
		"what is secret": {"[servers.b]\nurl = 'https://u:himitsu@a.example/mcp'\ntoken_env = 'himitsu'\nauth = 'himitsu'\n", []string{
			"servers.b.url: must have no name, password, query", "servers.b.token_env: must be MCP_B_TOKEN, the environment variable for", "servers.b.auth: isn't a known field here",
		}},
		"several mistakes": {"[servers.Wiki_1]\nurl = 'ftp://x'\ntoken_env = 'HOME'\nbearer = 'x'\n[servers.b]\ntools = [1]\n", []string{
			"servers.Wiki_1: the name must be 1 to 32 of a-z, 0-9 and -", `servers.Wiki_1.url: must begin with https://, got "ftp://x"`, `servers.Wiki_1.token_env: must be MCP_WIKI_1_TOKEN`,
			"servers.Wiki_1.bearer: isn't a known field here", "servers.b.url: is required", "servers.b.tools: must be a list of strings",
		}},
	} {
		_, found := workspace(map[string]string{"servers.toml": c.text}).Servers("servers.toml")
		if len(found) != len(c.want) {
			t.Errorf("%s: %v", name, found)
			continue
		}
		for _, want := range c.want {
			if said := fmt.Sprint(found); !strings.Contains(said, "servers.toml: "+want) || strings.Contains(said, "himitsu") {
				t.Errorf("%s: %s, want %s", name, said, want)
			}
		}
	}
	if all, found := workspace(map[string]string{"servers.toml": fmt.Sprintf(server, 2) + fmt.Sprintf(server, 1)}).Servers("servers.toml"); len(found) != 0 || len(all) != 2 || all[0].Name != "s01" {
		t.Errorf("%v %v", all, found)
	}
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
	want := []string{"judgment.judge_on_final_round", "judgment_timeout_seconds", "submission_timeout_seconds", "teams[0].members[0].tool_settings", "teams[1].members[0].metadata", "teams[1].members[0].tool_settings"}
	expect.That(t, slices.Equal(warnings, want), "what has no effect: %v", warnings)
	if len(c.Teams) != 3 || len(c.Evaluator.Metrics) != 3 || c.TeamTimeoutSeconds != 600 || c.MinRounds != 1 || c.MaxRounds != 2 {
		t.Fatalf("%+v", c)
	}
	inline, ref, solo := c.Teams[0], c.Teams[1], c.Teams[2]
	search, logic, analyst := inline.Members[0], inline.Members[1], ref.Members[0]
	if search.AgentType != "web-search" || search.Tool() != "delegate_to_web_search" || *search.SystemInstruction != "信頼できる情報源を探してください。" || logic.Tool() != "delegate_to_logic" || *logic.TimeoutSeconds != 30 {
		t.Errorf("%+v", inline)
	}
	if analyst.AgentType != "code-exec" || analyst.ToolDescription != "数を読み解きます。\n" || *analyst.SystemPrompt != "簡潔に答えてください。\n" || *ref.Leader.SystemInstruction != "" || *ref.Leader.SystemPrompt != "日本語で答えてください。\n" {
		t.Errorf("%+v", ref)
	}
	if len(solo.Members) != 0 || *solo.Leader.MaxTokens != 4096 || *c.Evaluator.MaxRetries != 5 || c.Evaluator.Metrics[1].Model != "anthropic:claude-sonnet-4-5-20250929" || c.Evaluator.Metrics[0].Model != "google-gla:gemini-2.5-flash" {
		t.Errorf("%+v %+v", solo, c.Evaluator)
	}
}
