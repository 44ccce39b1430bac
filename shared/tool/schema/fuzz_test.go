package schema_test

import (
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/tool/schema"
)

// FuzzCheck: whatever a schema and a value are, checking ends with an answer that
// does not depend on when it is given.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		person, `false`, `{"const":null}`, `{"enum":[null,1.0,{"a":[]}]}`, `{"prefixItems":[true],"items":false,"contains":{"type":"null"},"uniqueItems":true}`,
		`{"oneOf":[{"required":["a"]},{"not":{"multipleOf":0.1}}],"unevaluatedProperties":false,"patternProperties":{"^a":{"type":["string","null"]}}}`,
		`{"if":{"minProperties":1},"then":{"propertyNames":{"pattern":"^a"}},"dependentSchemas":{"a":{"maxProperties":2}},"dependentRequired":{"a":["b"]}}`,
	} {
		for _, v := range []string{`null`, `{"a":null,"b":"x"}`, `[1,[],{},1.0]`, `-1e308`, `{"name":"a","tags":[1],"boss":{"age":0}}`} {
			f.Add(s, v)
		}
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Compile("s", text)
		if err != nil {
			return
		}
		v, err := schema.Decode([]byte(value))
		if err != nil {
			return
		}
		first := s.Check(v)
		expect.Is(t, len(first), len(s.Check(v)), "%v, then", first)
	})
}
