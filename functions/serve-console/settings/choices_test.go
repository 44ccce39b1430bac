package settings

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestArgumentsAreOfferedAsTheirSchemaHasThem(t *testing.T) {
	got := choices(`{"type":"object","$defs":{"row":{"type":"object","properties":{"price":{"type":["number","null"],
		"title":"Price","description":"of one"},"shop":{"enum":["a","b"]}}}},"properties":{
		"rows":{"type":["null","array"],"items":{"$ref":"#/$defs/row"}},
		"to":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}],"description":"who\u202e gets it"},
		"fee":{"oneOf":[{"type":"integer"},{"type":"string"}]},"a/b~c":{"type":"number"},"done":{"type":"boolean"},
		"*":{"type":"number"},"":{"type":"number"}}}`)
	var said []string
	for _, c := range got {
		said = append(said, fmt.Sprintf("%s %t %t %s", c.Pointer, c.Number, c.Text, c.About))
	}
	expect.Same(t, said, []string{
		"/a~1b~0c true false ", "/fee true true ", "/rows/*/price true false Price", "/rows/*/shop false true ",
		"/to false true who⟨U+202E⟩ gets it", "/to/* false true who⟨U+202E⟩ gets it",
	})
	expect.Is(t, shown("/a~1b~0c"), "a/b~c")
	expect.Is(t, shown("/rows/*/price"), "rows[] › price")
	expect.Is(t, shown("/lots/*/*"), "lots[][]")
}

// Schemas come from servers: whatever they are, the page offers a bounded number of arguments.
func TestHostileSchemasOfferFew(t *testing.T) {
	var wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&wide, `"a%d":{"type":"number"},`, i)
	}
	deep := strings.Repeat(`{"properties":{"a":`, 100) + `{"type":"number"}` + strings.Repeat(`}}`, 100)
	for schema, most := range map[string]int{
		`{"properties":{` + wide.String() + `"z":{}}}`: maxChoices, deep: 0, `[`: 0, `true`: 0, ``: 0,
		`{"properties":[1],"items":5,"anyOf":{},"type":{}}`: 0,
	} {
		n := len(choices(schema))
		expect.That(t, n <= most, "%d of %.60s", n, schema)
		expect.That(t, example(schema) != "", "no example of %.60s", schema)
	}
}

func TestAnExampleIsMadeWhereASchemaHasNone(t *testing.T) {
	made := example(`{"type":"object","properties":{"to":{"type":"string"},"n":{"type":["null","integer"]},
		"rows":{"type":"array","items":{"properties":{"price":{"type":"number","examples":[5]},"kind":{"enum":["x"]}}}}}}`)
	expect.Is(t, strings.Join(strings.Fields(made), ""),
		`{"n":1,"rows":[{"kind":"x","price":5}],"to":"…"}`)
}
