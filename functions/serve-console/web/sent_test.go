package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/runtime/expect"
)

// A prompt is read as its turns, whichever vendor it was sent to; nothing of it is lost, and no personal data is shown.
func TestAPromptIsReadAsItsTurns(t *testing.T) {
	for name, x := range map[string]struct{ body, want string }{
		"anthropic": {`{"model":"m","system":[{"type":"text","text":"規則","cache_control":{"type":"ephemeral"}}],` +
			`"messages":[{"role":"user","content":"a@example.com"},` +
			`{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{"q":1}}]}],"seed":null}`,
			"system[=規則] user[=a@example.com] assistant[input › q=1 name=f type=tool_use] rest[model=m]"},
		"chat completions": {`{"messages":[{"role":"developer","content":"規則"},{"role":"user","content":[{"type":"text",` +
			`"text":"x"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","content":"42",` +
			`"tool_call_id":"1"}]}`,
			"system[=規則] user[=x] assistant[tool_calls › 1 › id=1] tool[=42 tool_call_id=1] rest[]"},
		"responses": {`{"instructions":"規則","input":[{"role":"user","content":[{"type":"input_text","text":"x",` +
			`"passing":true}]},{"type":"function_call","name":"f"}]}`,
			"system[=規則] user[=x] other[name=f type=function_call] rest[]"},
		"bedrock": {`{"system":[{"text":"規則"}],"messages":[{"role":"user","content":[{"text":"x"}]}]}`,
			"system[=規則] user[=x] rest[]"},
		"the demo": {`{"purpose":"plan","system":"規則","messages":[{"role":"user","parts":[{"text":"x","passing":true}]}]}`,
			"system[=規則] user[=x] rest[purpose=plan]"},
		"one message": {`{"input":"x"}`, "user[=x] rest[]"},
		"a text":      {`no JSON`, "rest[=no JSON]"},
		"a list":      {`["x"]`, "rest[1=x]"},
		"odd members": {`{"system":7,"messages":"x","input":["y",{"role":3}]}`,
			"system[=7] other[=y] other[role=3] rest[messages=x]"},
		"a text that is JSON": {`{"system":"{\"a\":[1]}"}`, "system[={\n  \"a\": [\n    1\n  ]\n}] rest[]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := SentOf([]byte(x.body))
			var got []string
			for _, turn := range append(s.Turns, Turn{"rest", s.Rest}) {
				var parts []string
				for _, p := range turn.Parts {
					parts = append(parts, p.Path+"="+p.Text)
				}
				got = append(got, fmt.Sprintf("%s[%s]", turn.Role, strings.Join(parts, " ")))
			}
			want := strings.ReplaceAll(x.want, "a@example.com", "a@example.com")
			expect.Same(t, want, strings.ReplaceAll(strings.Join(got, " "), "*", ""))
			expect.That(t, s.Left == 0, "%d are left out", s.Left)
		})
	}
	long := SentOf([]byte(`{"system":"` + strings.Repeat("x", maxSent) + `","messages":[{"role":"user","content":"y"}]}`))
	expect.That(t, long.Left == 1 && long.Rest == nil, "%d values are left out", long.Left)
	masked := fmt.Sprint(SentOf([]byte(`{"messages":[{"role":"user","content":"{\"mail\":\"tanaka@example.com\"} ` +
		`\u200b"}]}`)))
	expect.That(t, !strings.Contains(masked, "tanaka@") && !strings.Contains(masked, "\u200b"), "%s", masked)
}

// For any texts, the lines that were not added are the first text, and those that were not removed the second.
func TestADifferenceHasBothTexts(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c", "同じ", "- x"}), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		before, after := strings.Join(lines.Draw(t, "before"), "\n"), strings.Join(lines.Draw(t, "after"), "\n")
		var was, is []string
		for _, l := range Diff(before, after) {
			if l.Change != Added {
				was = append(was, l.Text)
			}
			if l.Change != Removed {
				is = append(is, l.Text)
			}
		}
		expect.Must(t, strings.Join(was, "\n") == before && strings.Join(is, "\n") == after, "%q to %q is %v", before, after,
			Diff(before, after))
	})
}

func TestADifferenceIsTheFewestLines(t *testing.T) {
	expect.Same(t, []Line{{Same, "a"}, {Removed, "b"}, {Same, "c"}, {Added, "x"}, {Same, "d"}},
		Diff("a\nb\nc\nd", "a\nc\nx\nd"))
	for _, l := range Diff("同じ\n本文", "同じ\n本文") {
		expect.That(t, l.Change == Same, "%+v of two that are the same", l)
	}
	long := strings.Repeat("x\n", 5000)
	expect.Within(t, 3*time.Second, func() {
		n := len(Diff("a\n"+long+"b", "c\n"+strings.Repeat("y\n", 5000)+"d"))
		expect.That(t, n >= 10000, "%d lines", n)
	})
	alike := strings.Repeat("\nx", 40_000)
	expect.Within(t, 3*time.Second, func() {
		lines := Diff("a"+alike, "b"+alike)
		expect.That(t, len(lines) == 40_002 && lines[1].Change == Added && lines[40_001] == (Line{Same, "x"}),
			"%d lines with the same end", len(lines))
	})
}

// Prompts repeat what cards mask.
func TestWhatModelsWereSentIsMasked(t *testing.T) {
	s := SentOf([]byte(`{"tools":"一行目\n二行目","metadata":[{"content":"tanaka@example.com \u200b"}],` +
		`"max_tokens":100,"seed":null}`))
	expect.Same(t, []Part{{"max_tokens", "100"}, {"metadata › 1 › content", "t*****@example.com ⟨U+200B⟩"},
		{"tools", "一行目\n二行目"}}, s.Rest)
	expect.That(t, s.Left == 0, "%d are left out", s.Left)
	long := SentOf([]byte(`["` + strings.Repeat("x", maxSent) + `","y"]`))
	expect.That(t, long.Left == 1, "%d are left out", long.Left)
}
