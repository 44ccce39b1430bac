package tenancy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
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
	p := ToolPermission{
		TenantID: "T1", ToolName: "shop.order", Allowed: true,
		Pin: &Pin{URL: "https://shop.example/mcp", Input: `{"type":"object"}`, Access: aggregate.Write, Hash: "h"},
	}
	p.Mark = &rules.Mark{
		Version: p.Pin.Version(), How: rules.HowProduct, Pointers: []string{"/items/*/quantity", "/items/*/unit_price"},
		Currency: "JPY", Destinations: []string{"/supplier"},
	}
	return p
}

func TestWhatRulesMayKnowOfACall(t *testing.T) {
	p := marked()
	v := p.Pin.Version()
	shop := rules.Tool{Address: "https://shop.example/mcp", Name: "order"}
	expect.Same(t, p.Call(v, aggregate.Write, order), rules.Call{
		Tool: shop, Access: aggregate.Write, Destinations: []string{"Acme"},
		Amount: rules.Amount{Value: "300000", Currency: "JPY"},
	})
	referred := aggregate.JSON(`{"supplier":{"$ref":"step-1.result.name"},"items":{"$ref":"step-1.result.items"}}`)
	expect.Same(t, p.Call(v, aggregate.Write, referred), rules.Call{
		Tool: shop, Access: aggregate.Write, Amount: rules.Unknown(rules.WhyReference),
	})
	own := ToolPermission{TenantID: "T1", ToolName: "send_slack_dm", Allowed: true}
	own.Mark = &rules.Mark{Version: "v1", How: rules.HowNothing, Destinations: []string{"/recipient"}}
	expect.Same(t, own.Call("v1", aggregate.Write, `{"recipient":"U1"}`), rules.Call{
		Tool: rules.Tool{Name: "send_slack_dm"}, Access: aggregate.Write, Destinations: []string{"U1"},
		Amount: rules.Nothing(),
	})
	expect.Same(t, Unsaved("T1", "list_employees").Call("v1", aggregate.Read, `{}`), rules.Call{
		Tool: rules.Tool{Name: "list_employees"}, Access: aggregate.Read, Amount: rules.Nothing(),
	})
	expect.Same(t, Unsaved("T1", "send_slack_dm").Call("v1", aggregate.Write, `{"recipient":"U1"}`), rules.Call{
		Tool: rules.Tool{Name: "send_slack_dm"}, Access: aggregate.Write, Amount: rules.Nothing(),
	})
	// nobody allowed it, so that its address isn't known: it is none of Ringi's own
	expect.Same(t, Unsaved("T1", "shop.order").Call("v1", aggregate.Write, order).Tool, rules.Tool{Name: "shop.order"})
}

// Whatever of the tool changed since, its address and what it does included: the mark counts no more.
func TestAMarkIsOfOneVersionOfItsTool(t *testing.T) {
	for name, change := range map[string]func(p *Pin){
		"what the server says": func(p *Pin) { p.Hash = "other" },
		"its arguments":        func(p *Pin) { p.Input = `{"type":"object","required":["items"]}` },
		"its address":          func(p *Pin) { p.URL = "https://other.example/mcp" },
	} {
		p := marked()
		change(p.Pin)
		c := p.Call(p.Pin.Version(), aggregate.Write, order)
		expect.That(t, c.Destinations == nil && c.Amount == rules.Unknown(rules.WhyMark), "%s changed: %+v", name, c)
	}
}

func TestAMarkIsSavedWithItsEntry(t *testing.T) {
	p := marked()
	_, c, err := p.Save("P1", person, now, nil)
	expect.NoError(t, err)
	expect.Is(t, details(c)[0], `tool_permission.updated {"allowed":true,"effect":"write","hash":"h","mark":{"version":"`+
		p.Mark.Version+`","how":"product","pointers":["/items/*/quantity","/items/*/unit_price"],"currency":"JPY",`+
		`"destinations":["/supplier"]},"tool":"shop.order","url":"https://shop.example/mcp"}`)
	for field, change := range map[string]func(p *ToolPermission){
		"mark.currency":        func(p *ToolPermission) { p.Mark.Currency = "yen" },
		"mark.pointers[1]":     func(p *ToolPermission) { p.Mark.Pointers[1] = "unit_price" },
		"mark.destinations[0]": func(p *ToolPermission) { p.Mark.Destinations[0] = "" },
		"mark.version":         func(p *ToolPermission) { p.Mark.Version = "" },
		"mark":                 func(p *ToolPermission) { p.Pin.Access = aggregate.Read },
		"mark.units": func(p *ToolPermission) {
			p.Pin.Input = `{"properties":{"currency":{"type":"string"}}}`
			p.Mark.Version = p.Pin.Version()
		},
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
	route := rules.Policy{Stages: []rules.Stage{{
		Name: "経理", Who: rules.Who{Kind: rules.WhoPeople, People: users}, Need: 1, Empty: rules.EmptyRefuse,
	}}}
	return &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
		ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Route: &route},
	}}}
}

func TestRulesAreSavedWithTheSettingsThatNoteThem(t *testing.T) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}
	now := time.Date(2026, 4, 20, 9, 0, 0, 0, time.UTC)
	settings := SettingsRow{ID: "01S", TenantID: "01T", Rev: 4, Config: DefaultSettings(), UpdatedBy: "U0"}
	none := RulesRow{TenantID: "01T"}

	is, c, err := none.Save(stampedBy("U2"), 0, settings, nil, "01NEW", by, now)
	expect.NoError(t, err)
	noted := c.Writes[2].Row.(SettingsRow)
	expect.That(t, is.Rev == 1 && noted.Rev == 5 && noted.RulesRev == 1 && noted.UpdatedBy == "U0" && noted.ID == "01S",
		"row %+v, settings %+v", is, noted)
	_, key, _ := c.Writes[1].Row.Place()
	expect.That(t, key == "RULES#000001" && c.Writes[1].Over == 0, "kept as %s", key)
	expect.Same(t, []string{`rules.updated {"added":["すべて"],"floor":{"stamps":1},"hash":"` +
		aggregate.HashOf(encoded(stampedBy("U2"))) + `","last":{},"revision":1,"rules":["すべて"]}`}, details(c))

	same := stampedBy("U2")
	same.Rev = 1
	_, c, err = is.Save(same, 1, noted, nil, "", by, now)
	expect.That(t, err == nil && len(c.Writes) == 0, "the same again: %v, %v", c, err)
	_, _, err = is.Save(stampedBy("U3"), 0, noted, nil, "", by, now)
	expect.That(t, errors.Is(err, aggregate.ErrConflict), "over another revision: %v", err)
	_, _, err = is.Save(stampedBy(), 1, noted, nil, "", by, now)
	expect.That(t, fieldOf(err) == "rules[0].route.stages[0].who.people", "nobody: %v", err)
	_, _, err = is.Save(nil, 1, noted, nil, "", aggregate.System(), now)
	expect.That(t, fieldOf(err) == "updated_by", "by the system: %v", err)

	is, c, err = is.Save(nil, 1, noted, nil, "", by, now)
	expect.NoError(t, err)
	noted = c.Writes[2].Row.(SettingsRow)
	expect.That(t, is.Rev == 2 && is.Config() == nil && noted.Rev == 6 && noted.RulesRev == 0 && noted.Settings().Ruled,
		"ended: %+v, %+v", is, noted)
	expect.That(t, slices.Equal(details(c), []string{
		`rules.updated {"floor":null,"last":null,"removed":["すべて"],"revision":2}`}), "ended: %s", details(c))
}

func TestSavingSettingsKeepsWhatTheyNoteOfRules(t *testing.T) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}
	was := SettingsRow{ID: "01S", TenantID: "01T", Rev: 4, Config: DefaultSettings(), RulesRev: 3, Ruled: true}
	x := was.Settings()
	x.MaxVersions, x.RulesRev = 9, 0
	is, c, err := x.Save(was, Tenant{}, "", by, time.Now())
	expect.That(t, err == nil && is.RulesRev == 3 && c.Writes[0].Row.(SettingsRow).RulesRev == 3 &&
		c.Writes[0].Row.(SettingsRow).Ruled, "%+v, %v", is, err)
}
