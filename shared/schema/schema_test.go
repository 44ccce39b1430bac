package schema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/schema"
)

const person = `{"type":"object","additionalProperties":false,"required":["name","tags"],
 "properties":{"name":{"type":"string"},"tags":{"type":"array","items":{"type":"integer"}}}}`

func TestCheckNamesEveryPlace(t *testing.T) {
	s, err := schema.Compile("person", person)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		value string
		want  []string
	}{
		"fits":            {`{"name":"a","tags":[1]}`, nil},
		"missing":         {`{"name":"a"}`, []string{"missing property 'tags'"}},
		"inside an array": {`{"name":"a","tags":[1,"x"]}`, []string{"tags.1: got string, want integer"}},
		"unknown":         {`{"name":"a","tags":[],"z":1}`, []string{"additional properties 'z' not allowed"}},
		"not an object":   {`[]`, []string{"got array, want object"}},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := schema.Decode([]byte(test.value))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range s.Check(v) {
				got = append(got, p.String())
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestASchemaOpensNothing(t *testing.T) {
	for _, ref := range []string{"file:///etc/passwd", "http://127.0.0.1/x", "other.json"} {
		_, err := schema.Compile("s", `{"$ref":"`+ref+`"}`)
		if err == nil || !strings.Contains(err.Error(), "may not refer to other documents") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

func TestDecodeTakesOneValue(t *testing.T) {
	for _, text := range []string{"", "{", `{} {}`, "nope", `{"a":1}x`} {
		if v, err := schema.Decode([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, v)
		}
	}
}
