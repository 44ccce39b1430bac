package tenancy

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

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
		if c.Destinations != nil || c.Amount != rules.Unknown(rules.WhyMark) {
			t.Errorf("%s changed: %+v", name, c)
		}
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
