package rules_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

func to(pointers ...string) *rules.Mark {
	return &rules.Mark{Version: "v1", Destinations: pointers}
}

func TestWhereACallGoes(t *testing.T) {
	const arguments = `{"to":"C1","cc":["a@x","b@x"],"items":[{"shop":"s1"},{"shop":"s2"}],
		"ref":{"$ref":"step-1.result.id"},"empty":"","none":[],"null":null,"number":5,"mixed":["a",5],"holes":["a",""],
		"deep":[["a"]],"refs":["a",{"$ref":"x"}]}`
	for name, c := range map[string]struct {
		mark *rules.Mark
		want []string
	}{
		"a text":                         {to("/to"), []string{"C1"}},
		"each text of a list":            {to("/cc"), []string{"a@x", "b@x"}},
		"each row of a list":             {to("/cc/*"), []string{"a@x", "b@x"}},
		"a member of each row":           {to("/items/*/shop"), []string{"s1", "s2"}},
		"several pointers":               {to("/to", "/cc"), []string{"C1", "a@x", "b@x"}},
		"no mark":                        {nil, nil},
		"a mark of the amount alone":     {sumOf("/number"), nil},
		"another version":                {&rules.Mark{Version: "v2", Destinations: []string{"/to"}}, nil},
		"a mark that is wrong":           {to("to"), nil},
		"a reference":                    {to("/ref"), nil},
		"a member of what a step finds":  {to("/ref/shop"), nil},
		"a reference in a list":          {to("/refs"), nil},
		"one known, one missing":         {to("/to", "/bcc"), nil},
		"one known, one a reference":     {to("/to", "/ref"), nil},
		"an empty text":                  {to("/empty"), nil},
		"an empty list":                  {to("/none"), nil},
		"the rows of an empty list":      {to("/none/*"), nil},
		"null":                           {to("/null"), nil},
		"a number":                       {to("/number"), nil},
		"a list with a number":           {to("/mixed"), nil},
		"a list with an empty text":      {to("/holes"), nil},
		"a list of lists":                {to("/deep"), nil},
		"an object":                      {to("/items/*"), nil},
		"the rows of a list in each row": {to("/deep/*"), []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, c.mark.To("v1", arguments), c.want)
		})
	}
	for _, wrong := range []aggregate.JSON{`{"to":"C1","to":"C2"}`, `{"to":"C1","TO":"C2"}`, `{"to":"C1"`, ``} {
		expect.Same(t, to("/to").To("v1", wrong), []string(nil))
	}
}

// A mark that says only where calls go says nothing of the amount.
func TestAMarkOfDestinationsAlone(t *testing.T) {
	m := to("/to")
	expect.Is(t, len(m.Problems()), 0)
	expect.Same(t, m.Of("v1", aggregate.Write, `{}`), rules.Unknown(rules.WhyUnmarked))
	expect.Same(t, m.Of("v1", aggregate.Read, `{}`), rules.Nothing())
	expect.Same(t, m.Of("v2", aggregate.Write, `{}`), rules.Unknown(rules.WhyMark))
	for field, change := range map[string]func(*rules.Mark){
		"how":             func(m *rules.Mark) { *m = *sumOf("/a"); m.How = rules.HowUnknown },
		"pointers":        func(m *rules.Mark) { m.Pointers = []string{"/a"} },
		"destinations[0]": func(m *rules.Mark) { m.Destinations[0] = "to" },
		"destinations[1]": func(m *rules.Mark) { m.Destinations = []string{"/a", "/a"} },
		"destinations":    func(m *rules.Mark) { m.Destinations = []string{"/a", "/b", "/c", "/d", "/e"} },
	} {
		m := to("/to")
		change(m)
		expect.Same(t, fieldsOf(m.Problems()), []string{field})
	}
}

// What is not a reference, in arguments as planned, is where the resolved call goes, too; else nothing is said.
func TestDestinationsOfAPlanAreThoseOfItsCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		planned, resolved := []any{}, []string{}
		known := true
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			text := rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "text")
			resolved = append(resolved, text)
			if ref := rapid.Bool().Draw(t, "reference"); ref {
				planned, known = append(planned, map[string]string{"$ref": "step-1.result." + text}), false
			} else {
				planned = append(planned, text)
			}
		}
		text := func(v any) aggregate.JSON {
			return aggregate.JSON(expect.Value(json.Marshal(map[string]any{"to": v}))(t))
		}
		expect.Same(t, to("/to").To("v1", text(resolved)), resolved)
		if got := to("/to/*").To("v1", text(planned)); known {
			expect.Same(t, got, resolved)
		} else {
			expect.Same(t, got, []string(nil))
		}
	})
}

// A reference may decide the amount wherever it stands, unless the mark says that this is beside it or it is called
// like an id. A destination it decides where one is marked, above that or below it.
func TestWhatAMarkCovers(t *testing.T) {
	m := &rules.Mark{Version: "v1", How: rules.HowProduct, Pointers: []string{"/items/*/price", "/items/*/n"},
		Currency: "JPY", Destinations: []string{"/to"},
		Asides: []string{"/items/*/title", "/cc"}}
	for path, want := range map[string]bool{
		"items": true, "items 3": true, "items 3 price": true, "items 3 price value": true, "items 3 title": false,
		"items 3 title 0": false, "items 3 kind": true, "memo": true,
		"to": true, "to 0": true, "cc": false, "": true, "vendor_id": false,
		"items 3 product_id": false, "items 3 price id": true, "currency_id": true, "currency id": true, "price_id": true,
	} {
		expect.Is(t, m.Covers("v1", strings.Fields(path)), want, path)
	}
	expect.That(t, !m.Covers("v2", []string{"to"}), "another version")
	m.How, m.Pointers = rules.HowNothing, nil
	expect.That(t, m.Covers("v1", []string{"to"}) && !m.Covers("v1", []string{"items"}), "what moves no money")
	expect.That(t, !(*rules.Mark)(nil).Covers("v1", []string{"to"}), "without a mark")
}
