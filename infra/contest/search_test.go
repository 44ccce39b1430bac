package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// searchingVendor plays Anthropic: who has tools calls the first, who has its result answers, and who has none scores.
func searchingVendor(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Stream   bool
			Tools    []struct{ Type, Name string }
			Messages []json.RawMessage
		}
		expect.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
		block, stop := `{"type":"text","text":"{\"score\":80,\"comment\":\"ok\"}"}`, "end_turn"
		switch last := string(asked.Messages[len(asked.Messages)-1]); {
		case strings.Contains(last, "tool_result"):
			block = `{"type":"text","text":"It is 45 hours, says https://example.com/a"}`
		case len(asked.Tools) > 0 && asked.Tools[0].Type == "web_search_20250305":
			block = `{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"overtime"}},
				{"type":"web_search_tool_result","tool_use_id":"s1","content":[
					{"type":"web_search_result","url":"https://example.com/a","title":"A",
				"encrypted_content":"x"}]},{"type":"text","text":"45 hours"}`
		case len(asked.Tools) > 0:
			block, stop = `{"type":"tool_use","id":"t1",`+
				`"name":"`+asked.Tools[0].Name+`","input":{"task":"find","query":"overtime\u001b[2J"}}`, "tool_use"
		}
		const usage = `"usage":{"input_tokens":1000,"output_tokens":100,"server_tool_use":{"web_search_requests":2,` +
			`"web_fetch_requests":0}}`
		if !asked.Stream {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"id":"m","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[`+block+
				`],"stop_reason":"`+stop+`",`+usage+`}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		var b struct {
			Type, Text string
			Input      json.RawMessage
		}
		expect.NoError(t, json.Unmarshal([]byte(block), &b))
		delta := `{"type":"text_delta","text":` + quoted(b.Text) + `}`
		if b.Type == "tool_use" {
			delta = `{"type":"input_json_delta","partial_json":` + quoted(string(b.Input)) + `}`
			block = strings.Replace(block, string(b.Input), "{}", 1)
		} else {
			block = `{"type":"text","text":""}`
		}
		for _, e := range []string{
			`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude-haiku-4-5",` +
				`"content":[],` +
				`"usage":{"input_tokens":1000,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":` + block + `}`,
			`{"type":"content_block_delta","index":0,"delta":` + delta + `}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta",` +
				`"delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":100}}`, `{"type":"message_stop"}`,
		} {
			var kind struct{ Type string }
			expect.NoError(t, json.Unmarshal([]byte(e), &kind))
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind.Type, strings.ReplaceAll(e, "\n", ""))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // of a text
	return string(b)
}

// With --search a member has its vendor search the web. The lines, the trace and the result say for what, how often
// and at which price; without it, or on a wire without a search, the member's team is told that there is none.
func TestMembersSearchTheWebIfTheCommandSaysSo(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "contest.toml", "[orchestrator]\nmax_rounds = 1\n[[orchestrator.teams]]\nconfig = 'team.toml'\n")
	write(t, folder, "team.toml",
		"[team]\nteam_id = 'a'\nteam_name = 'A'\n[[team.members]]\nname = 'search'\ntype = 'web_search'\ndescription = "+
			"'d'\nmodel = 'demo'\n")
	env := map[string]string{"MIXSEEK_WORKSPACE": folder, "ANTHROPIC_API_KEY": "k",
		"ANTHROPIC_BASE_URL": searchingVendor(t).URL}
	exec := func(args ...string) ran {
		return runIn(t, env, append([]string{"exec", "-c", "contest.toml"}, args...)...)
	}
	const haiku, demo = "anthropic:claude-haiku-4-5", "demo"
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	r := exec("-model", haiku, "--search", "--json", "--trace", trace, "Write about overtime")
	var got summary
	expect.Must(t, r.code == 0 && json.Unmarshal([]byte(r.out), &got) == nil, "%+v", r)
	expect.That(t, len(got.Searches) == 1, "%+v", got.Searches)
	x := got.Searches[0]
	expect.That(t, x.Provider == "anthropic" && x.Searches == 2 && x.CostUSD == "0.02" && x.ThousandUSD == "10.00" &&
		x.Read != "" &&
		strings.HasPrefix(x.Source, "https://platform.claude.com/"), "%+v", x)
	expect.Has(t, r.problem, `"overtime [2J", searched 2 times for 0.02 USD`)
	expect.Has(t, r.problem, "SEARCH")
	expect.That(t, !strings.Contains(r.problem, "warning"), "%s", r.problem)
	lines := string(expect.Value(os.ReadFile(trace))(t))
	expect.That(t, strings.Count(lines, `"kind":"SEARCH"`) == 1 && strings.Contains(lines, `"searches":2`) &&
		strings.Contains(lines, `"tool":"web_search"`), "%s", lines)
	r = exec("-model", haiku, "--search", "Write about overtime")
	expect.That(t, r.code == 0 &&
		strings.Contains(r.out, "web search of anthropic: 2 times for 0.02 USD, in the costs above, at 10.00 USD"), "%+v", r)
	r = exec("-model", haiku, "--search", "--dry-run")
	expect.That(t, r.code == 0 && strings.Contains(r.out, "tools: web_search of "+haiku), "%+v", r)
	for name, tt := range map[string]struct{ args, warns, tells string }{
		"not asked for": {"-model " + haiku,
			"search can't read anything: configs/servers.toml lists no tool of an MCP server.", "読み取りツールがありません"},
		"a wire without a search": {"-model " + demo + " --search", "and demo has no vendor web search",
			"AI モデル demo では Web 検索を使えず"},
	} {
		r := exec(append(strings.Fields(tt.args), "-locale", "ja", "Write about overtime")...)
		expect.That(t, r.code == 0 && strings.Contains(r.problem, "warning: a: ") && strings.Contains(r.problem, tt.warns) &&
			strings.Contains(r.out, tt.tells) && !strings.Contains(r.out, "SEARCH"), "%s: %+v", name, r)
	}
}
