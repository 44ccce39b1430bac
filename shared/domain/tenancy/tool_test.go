package tenancy

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestAPermissionIsSavedWithItsEntry(t *testing.T) {
	pin := &Pin{URL: "https://example.com", Input: `{"type":"object"}`, Access: aggregate.Write, Hash: "h"}
	for name, test := range map[string]struct {
		p     ToolPermission
		wrong string
		audit string
	}{
		"forbidden within bounds": {ToolPermission{ToolName: "send_slack_dm", Constraints: `{"recipients":["U123"]}`}, "",
			`{"allowed":false,"constraints":{"recipients":["U123"]},"tool":"send_slack_dm"}`},
		"without constraints": {ToolPermission{ToolName: "send_slack_dm", Allowed: true}, "",
			`{"allowed":true,"tool":"send_slack_dm"}`},
		"a server's": {ToolPermission{ToolName: "rooms.book", Allowed: true, Pin: pin}, "",
			`{"allowed":true,"effect":"write","hash":"h","tool":"rooms.book","url":"https://example.com"}`},
		"a server's, forbidden": {ToolPermission{ToolName: "rooms.book", Pin: pin}, "",
			`{"allowed":false,"tool":"rooms.book"}`},
		"a server's, forbidden, no pin": {ToolPermission{ToolName: "rooms.book"}, "",
			`{"allowed":false,"tool":"rooms.book"}`},
		"no name":                      {ToolPermission{}, "tool_name", ""},
		"a long name":                  {ToolPermission{ToolName: strings.Repeat("x", 101)}, "tool_name", ""},
		"constraints that are no JSON": {ToolPermission{ToolName: "x", Constraints: "{"}, "constraints", ""},
		"an unknown constraint": {ToolPermission{ToolName: "x", Constraints: `{"departments":["人事部"]}`},
			"constraints.departments", ""},
		"a server's without a pin": {ToolPermission{ToolName: "rooms.book", Allowed: true}, "pin", ""},
		"an own one with a pin":    {ToolPermission{ToolName: "send_email", Allowed: true, Pin: pin}, "pin", ""},
		"listed for contests, and writes": {ToolPermission{ToolName: "rooms.book", Allowed: true, Contests: true,
			Pin: &Pin{Access: aggregate.Write}}, "contests", ""},
		"listed for contests, and off": {ToolPermission{ToolName: "rooms.list", Contests: true,
			Pin: &Pin{Access: aggregate.Read}}, "contests", ""},
		"listed for contests, an own one": {ToolPermission{ToolName: "list_employees", Allowed: true, Contests: true},
			"contests", ""},
		"listed for contests": {ToolPermission{ToolName: "rooms.list", Allowed: true, Contests: true,
			Pin: &Pin{Access: aggregate.Read}}, "", `{"allowed":true,"contests":true,"effect":"read","hash":"",` +
			`"tool":"rooms.list","url":""}`},
		"a pin without an effect": {ToolPermission{ToolName: "rooms.book", Pin: &Pin{}}, "pin.effect", ""},
		"a schema that is no JSON": {ToolPermission{ToolName: "rooms.book",
			Pin: &Pin{Access: aggregate.Read, Input: "{"}}, "pin", ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.p.TenantID = "T1"
			saved, c, err := test.p.Save("P1", person, now, []Constraint{OnlyRecipients})
			expect.Must(t, fieldOf(err) == test.wrong, "%v, want %q", err, test.wrong)
			if err != nil {
				return
			}
			expect.Is(t, details(c)[0], "tool_permission.updated "+test.audit)
			expect.That(t, saved.ID == "P1" && saved.Rev == 1 && saved.CreatedAt.Equal(now) && saved.UpdatedAt.Equal(now) &&
				c.Writes[0].Over == 0, "%+v", saved)
			again, c, err := saved.Save("P2", person, now.Add(time.Hour), []Constraint{OnlyRecipients})
			expect.That(t, err == nil && again.ID == "P1" && again.Rev == 2 && again.CreatedAt.Equal(now) &&
				c.Writes[0].Over == 1, "%+v, %v", again, err)
		})
	}
}

const order = `{"supplier":"Acme","items":[{"quantity":2,"unit_price":149000},{"quantity":1,"unit_price":"2,000"}]}`

// marked is a server's tool that is allowed and marked as it is.
func marked() ToolPermission {
	p := ToolPermission{TenantID: "T1", ToolName: "shop.order", Allowed: true,
		Pin: &Pin{URL: "https://shop.example/mcp", Input: `{"type":"object"}`, Access: aggregate.Write, Hash: "h"}}
	p.Mark = &rules.Mark{Version: p.Pin.Version(), How: rules.HowProduct,
		Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}, Currency: "JPY"}
	return p
}

func TestWhatRulesMayKnowOfACall(t *testing.T) {
	p := marked()
	v := p.Pin.Version()
	shop := rules.Tool{Address: "https://shop.example/mcp", Name: "order"}
	expect.Same(t, p.Call(v, aggregate.Write, order, p.Mark), rules.Call{Tool: shop, Access: aggregate.Write,
		Amount: rules.Amount{Value: "300000", Currency: "JPY"}})
	referred := aggregate.JSON(`{"supplier":{"$ref":"step-1.result.name"},"items":{"$ref":"step-1.result.items"}}`)
	expect.Same(t, p.Call(v, aggregate.Write, referred, p.Mark), rules.Call{Tool: shop, Access: aggregate.Write,
		Amount: rules.Unknown(rules.WhyReference)})
	own := ToolPermission{TenantID: "T1", ToolName: "send_slack_dm", Allowed: true}
	own.Mark = &rules.Mark{Version: "v1", How: rules.HowNothing}
	expect.Same(t, own.Call("v1", aggregate.Write, `{"recipient":"U1"}`, own.Mark), rules.Call{
		Tool: rules.Tool{Name: "send_slack_dm"}, Access: aggregate.Write,
		Amount: rules.Nothing(),
	})
	expect.Same(t, Unsaved("T1", "list_employees").Call("v1", aggregate.Read, `{}`, nil), rules.Call{
		Tool: rules.Tool{Name: "list_employees"}, Access: aggregate.Read, Amount: rules.Nothing(),
	})
	expect.Same(t, Unsaved("T1", "send_slack_dm").Call("v1", aggregate.Write, `{"recipient":"U1"}`, nil), rules.Call{
		Tool: rules.Tool{Name: "send_slack_dm"}, Access: aggregate.Write, Amount: rules.Nothing(),
	})
	// nobody allowed it, so that its address isn't known: it is none of Ringi's own
	expect.Same(t, Unsaved("T1", "shop.order").Call("v1", aggregate.Write, order, nil).Tool,
		rules.Tool{Name: "shop.order"})
}

func TestAMarkIsSavedWithItsEntry(t *testing.T) {
	p := marked()
	_, c, err := p.Save("P1", person, now, nil)
	expect.NoError(t, err)
	expect.Is(t, details(c)[0], `tool_permission.updated {"allowed":true,"effect":"write","hash":"h","mark":{"version":"`+
		p.Mark.Version+`","how":"product","pointers":["/items/*/quantity","/items/*/unit_price"],"currency":"JPY"},`+
		`"tool":"shop.order","url":"https://shop.example/mcp"}`)
	for field, change := range map[string]func(p *ToolPermission){
		"mark.currency":    func(p *ToolPermission) { p.Mark.Currency = "yen" },
		"mark.pointers[1]": func(p *ToolPermission) { p.Mark.Pointers[1] = "unit_price" },
		"mark.version":     func(p *ToolPermission) { p.Mark.Version = "" },
		"mark":             func(p *ToolPermission) { p.Pin.Access = aggregate.Read },
		"": func(p *ToolPermission) { // the tool has another version by now, for which the mark says nothing
			p.Pin.Input = `{"properties":{"currency":{"type":"string"}}}`
		},
	} {
		p := marked()
		change(&p)
		_, _, err := p.Save("P1", person, now, nil)
		expect.Is(t, fieldOf(err), field)
	}
}

// stampedBy are rules by which one of these people stamps whatever is asked.
func stampedBy(users ...string) *rules.Rules {
	route := rules.Outcome{Stages: []rules.Stage{{Name: "経理", Who: rules.Who{People: users}, Need: 1}}}
	return &rules.Rules{Rules: []rules.Rule{{ID: "01KS000000000000000000000A", Name: "すべて", Outcome: route}}}
}

func TestRulesAreSavedWithTheSettingsThatNoteThem(t *testing.T) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}
	now := time.Date(2026, 4, 20, 9, 0, 0, 0, time.UTC)
	settings := SettingsRow{ID: "01S", TenantID: "01T", Rev: 4, Config: DefaultSettings(), UpdatedBy: "U0"}
	none := RulesRow{TenantID: "01T"}

	is, c, err := none.Save(stampedBy("U2"), 0, settings, nil, "01NEW", by, now)
	expect.NoError(t, err)
	noted := c.Writes[1].Row.(SettingsRow)
	expect.That(t, is.Rev == 1 && noted.Rev == 5 && noted.RulesRev == 1 && noted.UpdatedBy == "U0" && noted.ID == "01S",
		"row %+v, settings %+v", is, noted)
	expect.Same(t, []string{`rules.updated {"added_rules":["すべて"],"hash":"` +
		aggregate.HashOf(encoded(stampedBy("U2"))) + `","revision":1,"rules":["すべて"]}`}, details(c))

	same := stampedBy("U2")
	same.Rev = 1
	_, c, err = is.Save(same, 1, noted, nil, "", by, now)
	expect.That(t, err == nil && len(c.Writes) == 0, "the same again: %v, %v", c, err)
	_, _, err = is.Save(stampedBy("U3"), 0, noted, nil, "", by, now)
	expect.That(t, errors.Is(err, aggregate.ErrConflict), "over another revision: %v", err)
	_, _, err = is.Save(stampedBy(), 1, noted, nil, "", by, now)
	expect.That(t, fieldOf(err) == "rules[0].stages[0]", "nobody: %v", err)
	_, _, err = is.Save(nil, 1, noted, nil, "", aggregate.System(), now)
	expect.That(t, fieldOf(err) == "updated_by", "by the system: %v", err)

	is, c, err = is.Save(nil, 1, noted, nil, "", by, now)
	expect.NoError(t, err)
	noted = c.Writes[1].Row.(SettingsRow)
	expect.That(t, is.Rev == 2 && is.Config() == nil && noted.Rev == 6 && noted.RulesRev == 0 && noted.Settings().Ruled,
		"ended: %+v, %+v", is, noted)
	expect.That(t, slices.Equal(details(c), []string{
		`rules.updated {"removed":["すべて"],"revision":2}`}), "ended: %s", details(c))
}

func TestSavingSettingsKeepsWhatTheyNoteOfRules(t *testing.T) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}
	was := SettingsRow{ID: "01S", TenantID: "01T", Rev: 4, Config: DefaultSettings(), RulesRev: 3, Ruled: true}
	x := was.Settings()
	x.MaxVersions, x.RulesRev = 9, 0
	is, c, err := x.Save(was, "", by, time.Now())
	expect.That(t, err == nil && is.RulesRev == 3 && c.Writes[0].Row.(SettingsRow).RulesRev == 3 &&
		c.Writes[0].Row.(SettingsRow).Ruled, "%+v, %v", is, err)
}

func TestTheTableIsWhole(t *testing.T) {
	lists := expect.Value(read())(t)
	providers := map[string]bool{}
	for _, l := range lists {
		providers[l.Provider] = true
	}
	expect.Is(t, len(providers), len(lists), "of providers")
	for _, provider := range aggregate.ModelProviders {
		of := func(l list) bool { return l.Provider == provider }
		priced := slices.ContainsFunc(lists, of) || provider == aggregate.Bedrock || provider == aggregate.Compatible
		expect.That(t, priced, "%s has no prices", provider)
	}
	for _, l := range lists {
		read, err := time.Parse(time.DateOnly, l.Read)
		expect.That(t, err == nil && len(l.Models) > 0, "%s: read %q, %d models", l.Provider, l.Read, len(l.Models))
		for name, s := range l.Sources {
			date, err := time.Parse(time.DateOnly, s.Date)
			expect.That(t, s.By != "" && (strings.HasPrefix(s.Page, "https://") || l.Provider == aggregate.Demo) &&
				(s.Date == "undated" || err == nil && !date.After(read)), "%s: source %s: %+v", l.Provider, name, s)
		}
		for model, e := range l.Models {
			_, sourced := l.Sources[e.Source]
			expect.That(t, sourced, "%s has no source", model)
			if l.Provider != aggregate.Demo {
				sane(t, model, e.rates)
			}
			expect.Is(t, e.Over > 0, e.Long != nil, "%s: long prompts are half described", model)
			if e.Long != nil {
				sane(t, model+" long", *e.Long)
				expect.That(t, e.Long.Input > e.Input && e.Long.Output > e.Output && e.Long.Cached > e.Cached,
					"%s is not dearer when it is long", model)
			}
		}
	}
	name := DefaultSettings().Model
	expect.That(t, PriceKnown(name, nil), "the price of the default model, %s, is not known", name)
}

func sane(t *testing.T, model string, r rates) {
	t.Helper()
	expect.That(t, r.Cached > 0 && r.Cached < r.Input && r.Input < r.Output && (r.Written == 0 || r.Written > r.Input),
		"%s: %+v", model, r)
}

func TestPricesAreExactDecimals(t *testing.T) {
	for text, want := range map[string]rate{`"0.0375"`: 37_500, `"10"`: 10_000_000, `"22.50"`: 22_500_000,
		`"0.000001"`: 1} {
		var r rate
		err := json.Unmarshal([]byte(text), &r)
		expect.That(t, err == nil && r == want, "%s: %d, %v", text, r, err)
	}
	for _, text := range []string{`3`, `"-1"`, `"1e3"`, `""`, `"1."`, `"0.1234567"`, `"12345"`, `null`} {
		var r rate
		expect.That(t, json.Unmarshal([]byte(text), &r) != nil, "%s is taken for a price, %d", text, r)
	}
}

var million = aggregate.Usage{Input: 1e6, Output: 1e6, Cached: 1e6}

// usage is what a call used, and what that costs.
type usage struct {
	name, provider, model string
	u                     aggregate.Usage
	want                  aggregate.MicroUSD
	known                 bool
}

func testCost(t *testing.T, prices []ModelPrice, all ...usage) {
	t.Helper()
	for _, tt := range all {
		tt.u.Provider, tt.u.Model = tt.provider, tt.model
		if got, known := Cost(tt.u, prices); got != tt.want || known != tt.known {
			t.Errorf("%s: %d, known: %v, want %d", tt.name, int64(got), known, int64(tt.want))
		}
	}
}

func TestWhatCallsCost(t *testing.T) {
	testCost(t, nil, []usage{
		{"a million of each", "anthropic", "claude-sonnet-4-6", million, 18_300_000, true},
		{"with a snapshot's date", "anthropic", "claude-sonnet-4-6-20260217", million, 18_300_000, true},
		{"the other form of dates", "openai", "gpt-5.4-mini-2026-03-05", million, 5_325_000, true},
		{"what is written to a cache costs more", "anthropic",
			"claude-sonnet-4-6", aggregate.Usage{Input: 1e6, Written: 4e5}, 3_300_000, true},
		{"where writing costs nothing extra", "openai",
			"gpt-5.4-mini", aggregate.Usage{Input: 1e6, Written: 4e5}, 750_000, true},
		{"part of a micro-dollar is one", "openai", "gpt-5.4-nano", aggregate.Usage{Input: 1}, 1, true},
		{"to the micro-dollar", "openai", "gpt-5.4-mini", aggregate.Usage{Cached: 40}, 3, true},
		{"a short prompt", "anthropic",
			"claude-haiku-5-5", aggregate.Usage{Input: 60_000, Cached: 40_000, Output: 1000}, 6_900, true},
		{"a long prompt, with what is cached", "anthropic",
			"claude-haiku-5-5", aggregate.Usage{Input: 60_000, Cached: 40_001, Output: 1000}, 34_501, true},
		{"Bedrock in a region", "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", million, 20_130_000, true},
		{"Bedrock wherever AWS likes", "bedrock", "global.anthropic.claude-sonnet-4-6", million, 18_300_000, true},
		{"Gemini as its endpoint answers", "compatible.gemini", "models/gemini-3.5-flash", million, 10_650_000, true},
		{"the demonstration", "demo", "demo", million, 0, true},
		{"a model nobody knows", "anthropic", "claude-sonnet-9", million, 0, false},
		{"another's model", "openai", "claude-sonnet-4-6", million, 0, false},
		{"one's own server", "compatible.box", "llama3.2:3b-q4", million, 0, false},
		{"another of Bedrock's", "bedrock", "anthropic.claude-9-v1:0", million, 0, false},
		{"nothing used", "anthropic", "claude-sonnet-9", aggregate.Usage{Calls: 1, MS: 60_000}, 0, true},
		{"output below nothing", "anthropic",
			"claude-sonnet-4-6", aggregate.Usage{Input: 1e6, Output: -1e6}, 3_000_000, true},
		{"nothing but less than nothing", "anthropic", "claude-sonnet-4-6", aggregate.Usage{Input: -1e6}, 0, true},
	}...)
}

func TestAWorkspacesOwnPricesComeFirst(t *testing.T) {
	prices := []ModelPrice{
		{Model: "compatible:box/llama3.2:3b-q4", Input: "0.10", Output: "0.40"},
		{Model: "claude-sonnet-9", Input: "4", Output: "20"},
		{Model: "bedrock:anthropic.claude-9-v1:0", Input: "0.8", Output: "3.2"},
		{Model: "gpt-5.4-mini", Input: "0", Output: "0"},
		{Model: "gemini-9-flash", Input: "999.999999", Output: "999.999999"},
		{Model: "compatible:box/torn", Input: "x", Output: "1"},
		{Model: "compatible:my_agent/m", Input: "1", Output: "2"},
	}
	testCost(t, prices, []usage{
		{"one's own server", "compatible.box", "llama3.2:3b-q4", million, 600_000, true},
		{"an agent with an address", "compatible.my_agent", "m", million, 4_000_000, true},
		{"another server", "compatible.crate", "llama3.2:3b-q4", million, 0, false},
		{"a new model, cached as other input", "anthropic", "claude-sonnet-9", million, 28_000_000, true},
		{"with a snapshot's date", "anthropic", "claude-sonnet-9-20270101", million, 28_000_000, true},
		{"another of Bedrock's", "bedrock", "anthropic.claude-9-v1:0", million, 4_800_000, true},
		{"in place of the table's", "openai", "gpt-5.4-mini-2026-03-05", million, 0, true},
		{"as Gemini's endpoint answers", "compatible.gemini", "models/gemini-9-flash", million, 2_999_999_997, true},
		{"the most that can be counted", "compatible.gemini", "gemini-9-flash",
			aggregate.Usage{Input: 1e12, Output: 1e12, Cached: 1e12}, 299_999_999_700, true},
		{"the table's, where there is no other", "anthropic", "claude-sonnet-4-6", million, 18_300_000, true},
		{"a price that can't be read", "compatible.box", "torn", million, 0, false},
	}...)
	for name, want := range map[string]bool{"compatible:box/llama3.2:3b-q4": true, "compatible:box/torn": false,
		"claude-sonnet-9": true, "anthropic:claude-sonnet-9": true, "claude-sonnet-10": false} {
		expect.Is(t, PriceKnown(name, prices), want, "%q", name)
	}
}

func TestWhichNamesHaveAPrice(t *testing.T) {
	for name, want := range map[string]bool{
		"claude-sonnet-4-6": true, "anthropic:claude-opus-4-8": true, "gpt-5.4": true, "gemini-3.5-flash": true,
		"demo": true, "demo:other": true,
		"bedrock:anthropic.claude-haiku-4-5-20251001-v1:0": true, "compatible:gemini/gemini-3.5-flash": true,
		"anthropic:claude-sonnet-9": false, "compatible:box/llama3.2": false, "bedrock:anthropic.claude-9-v1:0": false,
		"": false,
	} {
		expect.Is(t, PriceKnown(name, nil), want, "%q", name)
	}
}

// Every provider with a search has this price, which administrators read where they allow it.
func TestWhatASearchCosts(t *testing.T) {
	for _, provider := range []string{aggregate.Anthropic} {
		thousand, known := SearchCost(provider, 1000)
		expect.That(t, known && thousand == aggregate.USD(10), "%s: %s", provider, thousand)
		three, _ := SearchCost(provider, 3)
		cost, known := Cost(aggregate.Usage{Provider: provider, Model: "no such model", Searches: 3}, nil)
		expect.That(t, known && cost == 30_000 && three == cost, "%s: three cost %s", provider, cost)
	}
	cost, known := Cost(aggregate.Usage{Provider: aggregate.Anthropic, Model: "no such model", Input: 10, Searches: 3},
		nil)
	expect.That(t, !known && cost == 30_000, "searches by a model without a price cost %s", cost)
	_, known = SearchCost("compatible.gemini", 1)
	expect.That(t, !known, "a search that nobody has has a price")
}

// People are shown a call by the mark that it carries. Where that decides otherwise than the present one, nothing is
// known, so that nobody stamps one amount under the rule of another.
func TestACallThatCarriesAnotherMarkIsUnknown(t *testing.T) {
	p := marked()
	v := p.Pin.Version()
	call := func(carried *rules.Mark) rules.Call { return p.Call(v, aggregate.Write, order, carried) }
	same := *p.Mark
	expect.Same(t, call(&same), call(p.Mark))
	expect.That(t, call(&same).Amount.Known(), "%+v", call(&same))
	summed := *p.Mark
	summed.How = rules.HowSum
	for name, carried := range map[string]*rules.Mark{"none": nil, "one that adds": &summed} {
		c := call(carried)
		expect.That(t, c.Amount == rules.Unknown(rules.WhyMark), "%s: %+v", name, c)
	}
	own := ToolPermission{TenantID: "T1", ToolName: "send_slack_dm", Allowed: true}
	c := own.Call("v2", aggregate.Write, `{"recipient":"U1"}`, nil)
	expect.That(t, c.Amount == rules.Nothing(), "a tool of Ringi's own moves money: %+v", c)
}

// Each file has every text in every language, and mentions nothing that the tool does not have.
func TestEachFileIsWhole(t *testing.T) {
	named := regexp.MustCompile(`\{(\w+)\}`)
	for _, f := range expect.Value(OwnTools())(t) {
		var input struct{ Properties map[string]any }
		expect.NoError(t, json.Unmarshal(f.Input, &input))
		texts := map[string]language.Texts{"title": f.Title, "about": f.About}
		if f.Line != nil {
			texts["line"] = f.Line
		}
		for name, a := range f.Arguments {
			own := map[string]language.Texts{"other": a.Other, "null": a.Null, "absent": a.Absent}
			for value, words := range a.Is {
				own["is "+value] = words
			}
			for of, words := range own {
				if words != nil {
					texts[name+" "+of] = words
				}
				for _, is := range named.FindAllStringSubmatch(words.In("ja")+words.In("en"), -1) {
					expect.That(t, is[1] == name, "%s: %s speaks of {%s}", f.Name, name, is[1])
				}
			}
		}
		whatIsShown(t, f, input.Properties)
		if f.Demo != nil {
			texts["request of demo"] = f.Demo.Request
			for _, locale := range language.All {
				if w := f.Demo.Words[locale]; w.From == "" || w.Things == "" || w.Tab == "" || w.Handled == "" ||
					slices.ContainsFunc(f.Demo.Columns, func(key string) bool { return w.Columns[key] == "" }) {
					t.Errorf("%s: the demo lacks words in %s: %+v", f.Name, locale, w)
				}
			}
			_, err := regexp.Compile(f.Demo.Asks)
			expect.That(t, err == nil && f.Demo.Asks != "", "%s: asks: %q, %v", f.Name, f.Demo.Asks, err)
		}
		for what, text := range texts {
			for _, locale := range language.All {
				said, ok := text[locale]
				expect.That(t, ok && (said != "" || strings.HasSuffix(what, " absent")),
					"%s has no %s in %s: write it into shared/domain/tenancy/tools/%s.json", f.Name, what, locale, f.Name)
				for _, is := range named.FindAllStringSubmatch(said, -1) {
					expect.That(t, input.Properties[is[1]] != nil, "%s: %s speaks of {%s}, which is no argument", f.Name, what, is[1])
				}
			}
		}
		for name := range input.Properties {
			for _, locale := range language.All {
				expect.That(t, f.Line == nil || strings.Contains(f.Line[locale], "{"+name+"}"),
					"%s: its line in %s does not say {%s}", f.Name, locale, name)
			}
		}
	}
}

// whatIsShown checks that each argument of a tool that is told by its act has a name that people can read.
func whatIsShown(t *testing.T, f OwnTool, arguments map[string]any) {
	t.Helper()
	for _, locale := range language.All {
		for name := range arguments {
			called := f.Shown.Names["/"+name][locale]
			expect.That(t, f.Shown.Act == "" || rules.IsName(called, rules.MaxNamed),
				"%s has no name for %s in %s: %q", f.Name, name, locale, called)
		}
	}
}
