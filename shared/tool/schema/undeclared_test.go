package schema_test

import (
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/tool/schema"
)

func TestNamesThatASchemaLeavesOpen(t *testing.T) {
	for name, test := range map[string]struct {
		schema, value string
		want          []string
	}{
		"declared":         {`{"properties":{"a":{"properties":{"b":{}}}}}`, `{"a":{"b":1}}`, nil},
		"open":             {`{"type":"object"}`, `{"b":1,"a":2}`, []string{"a", "b"}},
		"additional":       {`{"properties":{"a":{"additionalProperties":{"properties":{"known":{}}}}}}`, `{"a":{"x":{"known":1,"y":2}}}`, []string{"x", "y"}},
		"by their form":    {`{"patternProperties":{"^x":{"properties":{"known":{}}}}}`, `{"x1":{"known":1}}`, []string{"x1"}},
		"in lists":         {`{"properties":{"a":{"prefixItems":[{"properties":{"b":{}}}],"items":{"properties":{"c":{}}}}}}`, `{"a":[{"b":1},{"b":1,"c":2}]}`, []string{"b"}},
		"in one of forms":  {`{"anyOf":[{"properties":{"a":{}}},{"$ref":"#/$defs/d"}],"$defs":{"d":{"properties":{"b":{}}}}}`, `{"a":1,"b":2,"c":3}`, []string{"c"}},
		"under conditions": {`{"if":{"properties":{"a":{}}}}`, `{"a":1}`, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := expect.Value(schema.Compile(name, test.schema))(t)
			v := expect.Value(schema.Decode([]byte(test.value)))(t)
			expect.Same(t, test.want, s.Undeclared(v))
		})
	}
}
