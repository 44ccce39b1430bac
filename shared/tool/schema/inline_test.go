package schema

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// What a model reads of a schema has no references, keeps what they say, and takes the same values.
func TestASchemaIsShownWithoutReferences(t *testing.T) {
	const text = `{"type":"object","$defs":{"id":{"type":"integer","minimum":1,"description":"its number"},
		"person":{"type":"object","properties":{"id":{"$ref":"#/$defs/id"},"$ref":{"type":"string"}},"required":["id"]}},
		"properties":{"who":{"$ref":"#/$defs/person","description":"whom"},"all":{"type":"array","items":{"$ref":"#/$defs/person"}},
		"low":{"$ref":"#/$defs/id","minimum":5},"kind":{"enum":["$ref"]}},"additionalProperties":false}`
	shown := string(expect.Value(Inline(text))(t))
	for _, gone := range []string{`"$ref":"#`, "$defs"} {
		expect.That(t, !strings.Contains(shown, gone), "it has %s: %s", gone, shown)
	}
	expect.That(t, strings.Contains(shown, "its number") && strings.Contains(shown, `"whom"`) && strings.Contains(shown, `["$ref"]`) &&
		strings.Contains(shown, `"$ref":{"type":"string"}`), "%s", shown)
	was, is := expect.Value(Compile("was", text))(t), expect.Value(Compile("is", shown))(t)
	for _, value := range []string{`{}`, `{"who":{"id":1}}`, `{"who":{}}`, `{"who":{"id":0}}`, `{"all":[{"id":2},{"id":"x"}]}`,
		`{"low":4}`, `{"low":6}`, `{"kind":"$ref"}`, `{"kind":"x"}`, `{"other":1}`, `{"who":{"id":1,"$ref":2}}`} {
		v := expect.Value(Decode([]byte(value)))(t)
		expect.Is(t, len(is.Check(v)) == 0, len(was.Check(v)) == 0, "%s", value)
	}
	for _, wrong := range []string{`{"$ref":"#"}`, `{"$ref":"https://x"}`, `{"$ref":"#/$defs/none"}`, `{`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"items":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}`} {
		_, err := Inline(wrong)
		expect.That(t, err != nil, "%s is shown", wrong)
	}
	wide := `{"$defs":{"0":{"type":"string"}`
	for i := range 40 {
		n := string(rune('a' + i))
		last := string(rune('a' + i - 1))
		if i == 0 {
			last = "0"
		}
		wide += `,"` + n + `":{"anyOf":[{"$ref":"#/$defs/` + last + `"},{"$ref":"#/$defs/` + last + `"}]}`
	}
	_, err := Inline(wide + `},"$ref":"#/$defs/z"}`)
	expect.That(t, err != nil, "a schema that doubles 26 times is shown")
}
