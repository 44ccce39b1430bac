package web

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// A prompt is read as its turns, whichever vendor it was sent to; nothing of it is lost, and no personal data is shown.
func TestAPromptIsReadAsItsTurns(t *testing.T) {
	for name, x := range map[string]struct{ body, want string }{
		"anthropic": {`{"model":"m","system":[{"type":"text","text":"規則","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"a@example.com"},` +
			`{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{"q":1}}]}],"seed":null}`,
			"system[=規則] user[=a@example.com] assistant[input › q=1 name=f type=tool_use] rest[model=m]"},
		"chat completions": {`{"messages":[{"role":"developer","content":"規則"},{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","content":"42","tool_call_id":"1"}]}`,
			"system[=規則] user[=x] assistant[tool_calls › 1 › id=1] tool[=42 tool_call_id=1] rest[]"},
		"responses": {`{"instructions":"規則","input":[{"role":"user","content":[{"type":"input_text","text":"x","passing":true}]},{"type":"function_call","name":"f"}]}`,
			"system[=規則] user[=x] other[name=f type=function_call] rest[]"},
		"bedrock":             {`{"system":[{"text":"規則"}],"messages":[{"role":"user","content":[{"text":"x"}]}]}`, "system[=規則] user[=x] rest[]"},
		"the demo":            {`{"purpose":"plan","system":"規則","messages":[{"role":"user","parts":[{"text":"x","passing":true}]}]}`, "system[=規則] user[=x] rest[purpose=plan]"},
		"one message":         {`{"input":"x"}`, "user[=x] rest[]"},
		"a text":              {`no JSON`, "rest[=no JSON]"},
		"a list":              {`["x"]`, "rest[1=x]"},
		"odd members":         {`{"system":7,"messages":"x","input":["y",{"role":3}]}`, "system[=7] other[=y] other[role=3] rest[messages=x]"},
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
	masked := fmt.Sprint(SentOf([]byte(`{"messages":[{"role":"user","content":"{\"mail\":\"tanaka@example.com\"} \u200b"}]}`)))
	expect.That(t, !strings.Contains(masked, "tanaka@") && !strings.Contains(masked, "\u200b"), "%s", masked)
}
