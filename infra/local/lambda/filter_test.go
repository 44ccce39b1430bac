package lambda

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestFilterPasses(t *testing.T) {
	const record = `{"eventName":"MODIFY","n":5,"tags":["a","b"],"gone":null,"dynamodb":{"NewImage":{"type":{"S":"head"},"rev":{"N":"12"}}}}`
	tests := []struct {
		name, pattern string
		want          bool
	}{
		{"value in a list", `{"eventName":["INSERT","MODIFY"]}`, true},
		{"value not in the list", `{"eventName":["INSERT"]}`, false},
		{"nested list, as the relay's", `{"dynamodb":{"NewImage":{"type":{"S":["head","wait"]}}}}`, true},
		{"nested list without it", `{"dynamodb":{"NewImage":{"type":{"S":["wait"]}}}}`, false},
		{"nested key absent", `{"dynamodb":{"OldImage":{"type":{"S":["head"]}}}}`, false},
		{"all keys must match", `{"eventName":["MODIFY"],"n":[6]}`, false},
		{"number", `{"n":[5.0]}`, true},
		{"text is no number", `{"dynamodb":{"NewImage":{"rev":{"N":[12]}}}}`, false},
		{"one element of a list", `{"tags":["b"]}`, true},
		{"no element of a list", `{"tags":["c"]}`, false},
		{"null", `{"gone":[null]}`, true},
		{"absent is not null", `{"nowhere":[null]}`, false},
		{"a prefix", `{"eventName":[{"prefix":"MOD"}]}`, true},
		{"another prefix", `{"eventName":["INSERT",{"prefix":"OD"}]}`, false},
		{"a prefix of what is no text", `{"n":[{"prefix":""}]}`, false},
		{"an object is no value", `{"dynamodb":["head"]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := expect.Value(ParseFilter([]string{tt.pattern}))(t)
			got, err := f.Passes([]byte(record))
			expect.That(t, err == nil && got == tt.want, "%s: %v, %v; want %v", tt.pattern, got, err, tt.want)
		})
	}
}

func TestFiltersAreAlternatives(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		want     bool
	}{
		{nil, true},
		{[]string{`{"a":[1]}`, `{"a":[2]}`}, true},
		{[]string{`{"a":[1]}`, `{"a":[3]}`}, false},
	} {
		f := expect.Value(ParseFilter(tt.patterns))(t)
		got, err := f.Passes([]byte(`{"a":2}`))
		expect.That(t, err == nil && got == tt.want, "%q: %v, %v", tt.patterns, got, err)
	}
}

func TestBadFiltersAreRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		`{"a":[1]`:                           "unexpected end",
		`[1]`:                                "no object",
		`{"a":1}`:                            "values stand in lists",
		`{"a":[]}`:                           "empty list",
		`{"a":[[1]]}`:                        "a list in a list",
		`{"a":["x",{"prefix":1}]}`:           `a: the local stack's filters know no operator "prefix"`,
		`{"a":{"b":[{"exists":false}]}}`:     `a: b: the local stack's filters know no operator "exists"`,
		`{"a":[{"anything-but":["x"]}]}`:     `no operator "anything-but"`,
		`{"a":[{"numeric":[">",1]}]}`:        `no operator "numeric"`,
		`{"a":[{"suffix":"x"}]}`:             `no operator "suffix"`,
		`{"a":[{"equals-ignore-case":"x"}]}`: `no operator "equals-ignore-case"`,
		`{"a":[{"wildcard":"x*"}]}`:          `no operator "wildcard"`,
		`{"$or":[{"a":["x"]},{"b":["x"]}]}`:  `no operator "$or"`,
	} {
		_, err := ParseFilter([]string{pattern})
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v, want %q in it", pattern, err, want)
	}
}
