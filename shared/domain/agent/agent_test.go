package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/runtime/expect"
)

func entries(t *testing.T, text string) []agent.Definition {
	t.Helper()
	var list []agent.Definition
	expect.NoError(t, json.Unmarshal([]byte(text), &list))
	return list
}

func ids(defs []agent.Definition) (out []string) {
	for _, d := range defs {
		mark := ""
		if d.IsDefault {
			mark = "*"
		}
		out = append(out, d.ID+mark)
	}
	return out
}

const bot = `"id":"doc-bot","provider":"http","endpoint":"https://bot.example.com/v1","capabilities":["code"]`

func TestAnInvalidEntryIsSkipped(t *testing.T) {
	for about, test := range map[string]struct{ entry, field string }{
		"no id":              {`{"provider":"openai","capabilities":["code"]}`, "id"},
		"an id with a space": {`{"id":"doc bot","provider":"openai","capabilities":["code"]}`, "id"},
		"an id that is too long": {`{"id":"` + strings.Repeat("a", 33) +
			`","provider":"openai","capabilities":["code"]}`, "id"},
		"no provider":              {`{"id":"a","capabilities":["code"]}`, "provider"},
		"an unknown provider":      {`{"id":"a","provider":"bedrock","capabilities":["code"]}`, "provider"},
		"no capabilities":          {`{"id":"a","provider":"openai"}`, "capabilities"},
		"empty capabilities":       {`{"id":"a","provider":"openai","capabilities":[]}`, "capabilities"},
		"an unknown capability":    {`{"id":"a","provider":"openai","capabilities":["code","root"]}`, "capabilities"},
		"http without an endpoint": {`{"id":"a","provider":"http","capabilities":["code"]}`, "endpoint"},
		"http at no address": {`{"id":"a","provider":"http","endpoint":"bot.example.com",` +
			`"capabilities":["code"]}`, "endpoint"},
		"http without TLS": {`{"id":"a","provider":"http","endpoint":"http://bot.example.com/v1",` +
			`"capabilities":["code"]}`, "endpoint"},
		"http with a password": {`{"id":"a","provider":"http","endpoint":"https://a:b@bot.example.com/v1",` +
			`"capabilities":["code"]}`, "endpoint"},
		"http with a key in the query": {`{"id":"a","provider":"http","endpoint":"https://bot.example.com/v1?key=1",` +
			`"capabilities":["code"]}`, "endpoint"},
		"local elsewhere": {`{"id":"a","provider":"local","endpoint":"http://127.0.0.1:1/v1",` +
			`"capabilities":["code"]}`, "endpoint"},
		"local in public": {`{"id":"a","provider":"local","endpoint":"https://bot.example.com/v1",` +
			`"capabilities":["code"]}`, "endpoint"},
		"local nowhere": {`{"id":"a","provider":"local","capabilities":["code"]}`, "endpoint"},
		"a vendor at an address of theirs": {`{"id":"a","provider":"openai","endpoint":"https://bot.example.com/v1",` +
			`"capabilities":["code"]}`, "endpoint"},
		"a model of two words":         {`{"id":"a","provider":"openai","model":"gpt 5","capabilities":["code"]}`, "model"},
		"a key in place of its name":   {`{` + bot + `,"auth_ref":"sk-proj-abc"}`, "auth_ref"},
		"a name of a key with a space": {`{` + bot + `,"auth_ref":"my key"}`, "auth_ref"},
		"metadata that is too long":    {`{` + bot + `,"metadata":{"label":"` + strings.Repeat("x", 501) + `"}}`, "metadata"},
	} {
		t.Run(about, func(t *testing.T) {
			list := entries(t, "["+test.entry+`,{`+bot+`}]`)
			expect.Same(t, []string{"codex*", "claude", "doc-bot"}, ids(agent.Definitions(list, []string{"localhost:11434"})))
			unreached := about == "http without TLS" || about == "local elsewhere" || about == "local in public"
			wrong := list[0].Problems()
			expect.That(t, unreached || len(wrong) > 0 && wrong[0].Field == test.field, "%+v", wrong)
		})
	}
}

func TestAnEntryIsWrittenAsItIsRead(t *testing.T) {
	defs := agent.Definitions(entries(t,
		`[{`+bot+`,"model":"m","is_default":true,"auth_ref":"docs","metadata":{"label":"書類"}}]`), nil)
	got, ok := agent.Find(defs, "doc-bot")
	expect.Must(t, ok && agent.Default(defs).ID == "doc-bot", "%v", ids(defs))
	expect.Same(t, agent.Definition{ID: "doc-bot", Provider: agent.HTTP, Model: "m",
		Endpoint: "https://bot.example.com/v1", Capabilities: []agent.Capability{agent.Code},
		IsDefault: true, AuthRef: "docs", Metadata: map[string]string{"label": "書類"}}, got)
	expect.Is(t, got.Label(), "書類")
	again := expect.Value(json.Marshal(got))(t)
	expect.Same(t, got, entries(t, "["+string(again)+"]")[0])
}

func TestACustomAgentOverridesABuiltInAndABrokenOneDoesNot(t *testing.T) {
	defs := agent.Definitions(entries(t,
		`[{"id":"claude","provider":"anthropic","model":"claude-opus-5-5","capabilities":["test"]},{"id":"codex",`+
			`"provider":"openai"}]`), nil)
	expect.Same(t, []string{"codex*", "claude"}, ids(defs))
	claude, _ := agent.Find(defs, "claude")
	codex, _ := agent.Find(defs, "codex")
	expect.That(t, claude.Model == "claude-opus-5-5" && !claude.May(agent.ShellCommand) &&
		codex.May(agent.ShellCommand) && codex.Model == agent.BuiltIn()[0].Model, "%+v %+v", claude, codex)
	// The second of two entries with the same id is ignored.
	defs = agent.Definitions(entries(t,
		`[{"id":"claude","provider":"anthropic","model":"a","capabilities":["test"]},{"id":"claude",`+
			`"provider":"anthropic","model":"b","capabilities":["test"]}]`), nil)
	claude, _ = agent.Find(defs, "claude")
	expect.Is(t, claude.Model, "a")
}

func TestExactlyOneAgentIsTheDefault(t *testing.T) {
	one := func(id string, is bool) string {
		return fmt.Sprintf(`{"id":%q,"provider":"anthropic","capabilities":["code"],"is_default":%v}`, id, is)
	}
	broken := `{"id":"x","provider":"anthropic","capabilities":[],"is_default":true}`
	for want, list := range map[string][]string{
		"codex":  {one("a", false)},
		"a":      {one("a", true), one("b", true)},
		"b":      {broken, one("b", true), one("a", true)},
		"claude": {one("claude", true)},
	} {
		defs := agent.Definitions(entries(t, "["+strings.Join(list, ",")+"]"), nil)
		n := 0
		for _, d := range defs {
			if d.IsDefault {
				n++
			}
		}
		expect.That(t, n == 1 && agent.Default(defs).ID == want, "%s: %v", want, ids(defs))
	}
	// An override that does not claim to be the default doesn't change the default.
	defs := agent.Definitions(entries(t, "["+one("codex", false)+"]"), nil)
	expect.Same(t, []string{"codex*", "claude"}, ids(defs))
	defs = agent.Definitions(nil, nil)
	expect.Same(t, []string{"codex*", "claude"}, ids(defs))
}

func TestWhatTheDeploymentAllowsIsReached(t *testing.T) {
	list := entries(t, `[{"id":"a","provider":"local","endpoint":"http://LOCALHOST:11434/v1","capabilities":["code"]},`+
		`{"id":"b","provider":"http","endpoint":"http://localhost:11434","capabilities":["code"]}]`)
	expect.Is(t, len(agent.Definitions(list, []string{"localhost:11434"})), 4)
	expect.Is(t, len(agent.Definitions(list, []string{"localhost:1"})), 2)
}

func TestAnAgentMayWhatItsCapabilitiesSay(t *testing.T) {
	for c, may := range map[agent.Capability]agent.ActionType{agent.Code: agent.CodeGenerate,
		agent.Shell: agent.ShellCommand, agent.Test: agent.TestRun} {
		d := agent.Definition{Capabilities: []agent.Capability{c}}
		for _, x := range agent.ActionTypes {
			expect.That(t, d.May(x) == (x == may), "%s: %s", c, x)
		}
		expect.That(t, !d.May("rm") && !d.May(""), "an action of no type is allowed")
	}
}

// The built-in agents have no faults, and every rule has a text.
func TestBuiltInAgentsAreSound(t *testing.T) {
	for _, d := range agent.BuiltIn() {
		f := d.Problems()
		expect.That(t, f == nil && d.Model != "", "%s: %v", d.ID, f)
	}
}

func shop() agent.Source {
	return agent.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{agent.Everybody},
		Agents: []string{"claude"}, CI: agent.CISkip, RepositoryID: 7}
}

func TestASourcesFieldsAreChecked(t *testing.T) {
	expect.That(t, shop().Problems() == nil, "%v", shop().Problems())
	type set = func(s *agent.Source, value string)
	fields := map[string]set{
		"name":       func(s *agent.Source, v string) { s.Name = v },
		"repository": func(s *agent.Source, v string) { s.Repository = v },
		"ref":        func(s *agent.Source, v string) { s.Ref = v },
		"path":       func(s *agent.Source, v string) { s.Path = v },
		"people":     func(s *agent.Source, v string) { s.People = strings.Fields(v) },
		"agents":     func(s *agent.Source, v string) { s.Agents = strings.Fields(v) },
		"ci":         func(s *agent.Source, v string) { s.CI = agent.CI(v) },
	}
	for field, values := range map[string]struct{ good, bad []string }{
		"name": {[]string{"a", "0-9", strings.Repeat("a", 32)}, []string{"", "A", "a b", "a_b", strings.Repeat("a", 33)}},
		"repository": {[]string{"acme/shop", "a/b.c_d-e"},
			[]string{"acme", "acme/", "/shop", "acme/shop/x", "acme/..", "acme/.",
				"acme/shop.git", "-a/b", "acme/sh op", "acme/shop?x", "acme/" + strings.Repeat("x",
					101), "https://github.com/a/b"}},
		"ref": {[]string{"heads/main", "tags/v1.2", "heads/feature/x+y"},
			[]string{"main", "refs/heads/main", "heads/", "heads/../x",
				"heads/a..b", "heads/a b", "heads/a?b", "heads/.a", "heads/a/.b", "heads/a.lock", "heads/a//b", "heads/a/",
				"heads//a", strings.Repeat("1", 40), "heads/" + strings.Repeat("a", 191)}},
		"path":   {[]string{"", "services/pay"}, []string{"/a", "a/", "../a", "a/../b", ".", strings.Repeat("a", 201)}},
		"people": {[]string{"everybody", "U0SATO W0SUZUKI"}, []string{"", "@sato", "everybody U0SATO", "C0HR"}},
		"agents": {[]string{"claude", "claude codex"}, []string{"", "A B!", "everybody!"}},
		"ci":     {[]string{"run", "skip"}, []string{"", "no"}},
	} {
		for i, value := range append(slices.Clone(values.good), values.bad...) {
			s, good := shop(), i < len(values.good)
			fields[field](&s, value)
			faults := s.Problems()
			expect.That(t, good && faults == nil || !good && len(faults) == 1 && faults[0].Field == field &&
				faults[0].Code != "", "%s %q: %v", field, value, faults)
		}
	}
}

func TestASourceIsForItsPeopleAndAgents(t *testing.T) {
	hr := shop()
	hr.Name, hr.People, hr.Agents = "hr", []string{"U0SATO"}, []string{"codex", "claude"}
	unasked := shop()
	unasked.Name, unasked.RepositoryID = "unasked", 0
	all := []agent.Source{shop(), hr, unasked}
	for _, tt := range []struct {
		user, agent string
		want        []string
	}{
		{"U0SATO", "claude", []string{"shop", "hr"}}, {"U0SATO", "codex", []string{"hr"}},
		{"U0ELSE", "claude", []string{"shop"}},
		{"U0ELSE", "codex", nil},
	} {
		expect.Same(t, tt.want, agent.SourcesFor(all, tt.user, tt.agent))
		for _, name := range []string{"shop", "hr", "unasked", "nothing"} {
			_, ok := agent.SourceNamed(all, strings.ToUpper(name), tt.user, tt.agent)
			expect.Is(t, ok, slices.Contains(tt.want, name), tt.user, tt.agent, name)
		}
	}
}
