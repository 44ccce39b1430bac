package tenancy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func entries(t *testing.T, text string) []Agent {
	t.Helper()
	var list []Agent
	expect.NoError(t, json.Unmarshal([]byte(text), &list))
	return list
}

func ids(defs []Agent) (out []string) {
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
	for about, test := range map[string]struct{ field, is string }{ // the members that are not as a sound entry has them
		"no id":                            {"id", `"id":""`},
		"an id with a space":               {"id", `"id":"doc bot"`},
		"an id that is too long":           {"id", `"id":"` + strings.Repeat("a", 33) + `"`},
		"no provider":                      {"provider", `"provider":""`},
		"an unknown provider":              {"provider", `"provider":"bedrock"`},
		"no capabilities":                  {"capabilities", `"capabilities":null`},
		"empty capabilities":               {"capabilities", `"capabilities":[]`},
		"an unknown capability":            {"capabilities", `"capabilities":["code","root"]`},
		"http without an endpoint":         {"endpoint", `"provider":"http"`},
		"http at no address":               {"endpoint", `"provider":"http","endpoint":"bot.example.com"`},
		"http without TLS":                 {"", `"provider":"http","endpoint":"http://bot.example.com/v1"`},
		"http with a password":             {"endpoint", `"provider":"http","endpoint":"https://a:b@bot.example.com/v1"`},
		"http with a key in the query":     {"endpoint", `"provider":"http","endpoint":"https://bot.example.com/v1?key=1"`},
		"local elsewhere":                  {"", `"provider":"local","endpoint":"http://127.0.0.1:1/v1"`},
		"local in public":                  {"", `"provider":"local","endpoint":"https://bot.example.com/v1"`},
		"local nowhere":                    {"endpoint", `"provider":"local"`},
		"a vendor at an address of theirs": {"endpoint", `"endpoint":"https://bot.example.com/v1"`},
		"a model of two words":             {"model", `"model":"gpt 5"`},
		"a key in place of its name":       {"auth_ref", bot + `,"auth_ref":"sk-proj-abc"`},
		"a name of a key with a space":     {"auth_ref", bot + `,"auth_ref":"my key"`},
		"metadata that is too long":        {"metadata", bot + `,"metadata":{"label":"` + strings.Repeat("x", 501) + `"}`},
	} {
		list := entries(t, `[{"id":"a","provider":"openai","capabilities":["code"],`+test.is+`},{`+bot+`}]`)
		is, wrong := ids(Agents(list, []string{"localhost:11434"})), list[0].Problems()
		expect.That(t, slices.Equal(is, []string{"codex*", "claude", "doc-bot"}), "%s: %v", about, is)
		expect.That(t, test.field == "" || len(wrong) > 0 && wrong[0].Field == test.field, "%s: %+v", about, wrong)
	}
}

func TestAnEntryIsWrittenAsItIsRead(t *testing.T) {
	defs := Agents(entries(t,
		`[{`+bot+`,"model":"m","is_default":true,"auth_ref":"docs","metadata":{"label":"書類"}}]`), nil)
	got, ok := AgentByID(defs, "doc-bot")
	expect.Must(t, ok && DefaultAgent(defs).ID == "doc-bot", "%v", ids(defs))
	expect.Same(t, Agent{ID: "doc-bot", Provider: HTTPEndpoint, Model: "m",
		Endpoint: "https://bot.example.com/v1", Capabilities: []Capability{CanCode},
		IsDefault: true, AuthRef: "docs", Metadata: map[string]string{"label": "書類"}}, got)
	expect.Is(t, got.Label(), "書類")
	again := expect.Value(json.Marshal(got))(t)
	expect.Same(t, got, entries(t, "["+string(again)+"]")[0])
}

func TestACustomAgentOverridesABuiltInAndABrokenOneDoesNot(t *testing.T) {
	defs := Agents(entries(t,
		`[{"id":"claude","provider":"anthropic","model":"claude-opus-5-5","capabilities":["test"]},{"id":"codex",`+
			`"provider":"openai"}]`), nil)
	expect.Same(t, []string{"codex*", "claude"}, ids(defs))
	claude, _ := AgentByID(defs, "claude")
	codex, _ := AgentByID(defs, "codex")
	expect.That(t, claude.Model == "claude-opus-5-5" && !claude.May(ShellCommand) &&
		codex.May(ShellCommand) && codex.Model == BuiltInAgents()[0].Model, "%+v %+v", claude, codex)
	// The second of two entries with the same id is ignored.
	defs = Agents(entries(t,
		`[{"id":"claude","provider":"anthropic","model":"a","capabilities":["test"]},{"id":"claude",`+
			`"provider":"anthropic","model":"b","capabilities":["test"]}]`), nil)
	claude, _ = AgentByID(defs, "claude")
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
		defs := Agents(entries(t, "["+strings.Join(list, ",")+"]"), nil)
		n := 0
		for _, d := range defs {
			if d.IsDefault {
				n++
			}
		}
		expect.That(t, n == 1 && DefaultAgent(defs).ID == want, "%s: %v", want, ids(defs))
	}
	// An override that does not claim to be the default doesn't change the default.
	defs := Agents(entries(t, "["+one("codex", false)+"]"), nil)
	expect.Same(t, []string{"codex*", "claude"}, ids(defs))
	defs = Agents(nil, nil)
	expect.Same(t, []string{"codex*", "claude"}, ids(defs))
}

func TestWhatTheDeploymentAllowsIsReached(t *testing.T) {
	list := entries(t, `[{"id":"a","provider":"local","endpoint":"http://LOCALHOST:11434/v1","capabilities":["code"]},`+
		`{"id":"b","provider":"http","endpoint":"http://localhost:11434","capabilities":["code"]}]`)
	expect.Is(t, len(Agents(list, []string{"localhost:11434"})), 4)
	expect.Is(t, len(Agents(list, []string{"localhost:1"})), 2)
}

func TestAnAgentMayWhatItsCapabilitiesSay(t *testing.T) {
	for c, may := range map[Capability]ActionType{CanCode: CodeGenerate,
		CanShell: ShellCommand, CanTest: TestRun} {
		d := Agent{Capabilities: []Capability{c}}
		for _, x := range ActionTypes {
			expect.That(t, d.May(x) == (x == may), "%s: %s", c, x)
		}
		expect.That(t, !d.May("rm") && !d.May(""), "an action of no type is allowed")
	}
}

// The built-in agents have no faults, and every rule has a text.
func TestBuiltInAgentsAreSound(t *testing.T) {
	for _, d := range BuiltInAgents() {
		f := d.Problems()
		expect.That(t, f == nil && d.Model != "", "%s: %v", d.ID, f)
	}
}

func shop() Source {
	return Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{Everybody},
		Agents: []string{"claude"}, CI: CISkip, RepositoryID: 7}
}

func TestASourcesFieldsAreChecked(t *testing.T) {
	expect.That(t, shop().Problems() == nil, "%v", shop().Problems())
	type set = func(s *Source, value string)
	fields := map[string]set{
		"name":       func(s *Source, v string) { s.Name = v },
		"repository": func(s *Source, v string) { s.Repository = v },
		"ref":        func(s *Source, v string) { s.Ref = v },
		"path":       func(s *Source, v string) { s.Path = v },
		"people":     func(s *Source, v string) { s.People = strings.Fields(v) },
		"agents":     func(s *Source, v string) { s.Agents = strings.Fields(v) },
		"ci":         func(s *Source, v string) { s.CI = CI(v) },
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
	all := []Source{shop(), hr, unasked}
	for _, tt := range []struct {
		user, agent string
		want        []string
	}{
		{"U0SATO", "claude", []string{"shop", "hr"}}, {"U0SATO", "codex", []string{"hr"}},
		{"U0ELSE", "claude", []string{"shop"}},
		{"U0ELSE", "codex", nil},
	} {
		expect.Same(t, tt.want, SourcesFor(all, tt.user, tt.agent))
		for _, name := range []string{"shop", "hr", "unasked", "nothing"} {
			_, ok := SourceNamed(all, strings.ToUpper(name), tt.user, tt.agent)
			expect.Is(t, ok, slices.Contains(tt.want, name), tt.user, tt.agent, name)
		}
	}
}

func rule(argv ...string) AutoRule {
	return AutoRule{Type: TestRun, Argv: argv, Place: "D1"}
}

var inD1 = AutoScope{Place: "D1"}

// A rule names source and place by the settings' ids. It holds while the files are the source's: a file that the agent
// changed may be one that the test reads as its configuration. What people attach lies beside them, and nobody has
// approved it.
func TestARuleHoldsForItsSourceAndPlace(t *testing.T) {
	shop := AutoScope{Source: "shop", Sourced: true, Place: "D1"}
	changed, unlisted, elsewhere, attached := shop, shop, shop, shop
	changed.Changed, unlisted.Source, elsewhere.Place, attached.Attached = true, "", "D2", true
	none, beside := AutoScope{Place: "D1"}, AutoScope{Place: "D1", Attached: true}
	for name, tt := range map[string]struct {
		rule  AutoRule
		holds []AutoScope
	}{
		"source and place":   {AutoRule{Source: "shop", Place: "D1"}, []AutoScope{shop}},
		"changed files, too": {AutoRule{Source: "shop", Place: "D1", Changed: true}, []AutoScope{shop, changed, attached}},
		"another source":     {AutoRule{Source: "pay", Place: "D1"}, nil},
		"a place alone":      {AutoRule{Place: "D1"}, []AutoScope{none}},
	} {
		tt.rule.Type, tt.rule.Argv = TestRun, []string{"npm", "test"}
		expect.Must(t, len(tt.rule.Problems()) == 0, "%s: %v", name, tt.rule.Problems())
		for _, w := range []AutoScope{shop, changed, unlisted, elsewhere, attached, none, beside, {}} {
			expect.Is(t, tt.rule.Allows(TestRun, tt.rule.Argv, w), slices.Contains(tt.holds, w), "%s: in %+v", name, w)
		}
	}
	for _, tt := range []struct {
		rule AutoRule
		want aggregate.Problem
	}{
		{AutoRule{}, aggregate.Problem{Field: "place", Code: "auto_place"}},
		{AutoRule{Source: "Shop!", Place: "D1"}, aggregate.Problem{Field: "source", Code: "auto_source"}},
		{AutoRule{Source: "shop"}, aggregate.Problem{Field: "place", Code: "auto_place"}},
		{AutoRule{Place: "#general"}, aggregate.Problem{Field: "place", Code: "auto_place"}},
		{AutoRule{Place: "D1", Changed: true}, aggregate.Problem{Field: "changed", Code: "auto_changed"}},
	} {
		tt.rule.Type, tt.rule.Argv = TestRun, []string{"npm", "test"}
		expect.Same(t, aggregate.Problems{tt.want}, tt.rule.Problems())
		expect.That(t, !tt.rule.Allows(TestRun, tt.rule.Argv, shop) &&
			!tt.rule.Allows(TestRun, tt.rule.Argv, none), "%+v", tt.rule)
	}
}

func TestARuleAllowsACommandElementByElement(t *testing.T) {
	for _, tt := range []struct {
		rule AutoRule
		argv []string
		want bool
	}{
		{rule("go", "test", "./..."), []string{"go", "test", "./..."}, true},
		{rule("go", "test", "./..."), []string{"go", "test"}, false},
		{rule("go", "test"), []string{"go", "test", "-exec=rm"}, false},
		{rule("go", "test", "*"), []string{"go", "test", "*"}, false},
		{rule("go", "test", "./*"), []string{"go", "test", "./a"}, false},
		{rule("go test"), []string{"go", "test"}, false},
		{rule("go", "test", "a b"), []string{"go", "test", "a", "b"}, false},
		{rule("go", "TEST"), []string{"go", "test"}, false},
		{rule("./run"), []string{"./run"}, true},
		{rule("make", "test-x"), []string{"make", "test-x"}, true},
		{rule("pytest", "a"), []string{"pytest", "a\n"}, false},
	} {
		expect.Is(t, tt.rule.Allows(TestRun, tt.argv, inD1), tt.want, "%q lets %q", tt.rule.Argv, tt.argv)
	}
	ok := rule("go", "test")
	for _, other := range []ActionType{ShellCommand, CodeGenerate, ""} {
		expect.That(t, !ok.Allows(other, []string{"go", "test"}, inD1), "%s is allowed", other)
	}
	expect.That(t, !ok.Allows(TestRun, []string{"go", "test"}, AutoScope{Place: "D2"}) &&
		!ok.Allows(TestRun, []string{"go", "test"}, AutoScope{}), "another workspace's command is allowed")
	expect.Is(t, AutoApproved([]AutoRule{rule("a"), ok}, TestRun, []string{"go", "test"}, inD1), 1)
}

// A rule with a fault allows nothing, even if it was stored without validation.
func TestARuleWithAFaultAllowsNothing(t *testing.T) {
	for _, argv := range [][]string{
		{"*", "x"}, {"g*", "x"}, {}, {""}, {"go", ""},
		{"go", strings.Repeat("x", 201)}, make([]string, 33),
	} {
		r := rule(argv...)
		expect.That(t, len(r.Problems()) != 0, "%q is no fault", argv)
		expect.That(t, !r.Allows(TestRun, argv, inD1), "%q is allowed", argv)
	}
	for _, r := range []AutoRule{{Type: ShellCommand, Argv: []string{"ls"}, Place: "D1"},
		{Type: CodeGenerate, Argv: []string{"ls"}, Place: "D1"}, {Type: TestRun, Argv: []string{"ls"}}} {
		expect.That(t, len(r.Problems()) != 0 && !r.Allows(r.Type, []string{"ls"}, AutoScope{Place: r.Place}), "%+v", r)
	}
	listed := ListedRead{Agent: "no id", Tool: "x", Version: strings.Repeat("a", 64), People: []string{"U1"}}
	expect.Is(t, len(listed.Problems()), 1, "%+v", listed)
}
