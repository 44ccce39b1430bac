package mapping

import (
	"strings"
	"testing"
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
		{"prefix", `{"eventName":[{"prefix":"MOD"}]}`, true},
		{"suffix", `{"eventName":[{"suffix":"FY"}]}`, true},
		{"other prefix", `{"eventName":[{"prefix":"INS"}]}`, false},
		{"ignore case", `{"eventName":[{"equals-ignore-case":"modify"}]}`, true},
		{"anything but one", `{"eventName":[{"anything-but":"REMOVE"}]}`, true},
		{"anything but a list with it", `{"eventName":[{"anything-but":["REMOVE","MODIFY"]}]}`, false},
		{"anything but a prefix", `{"eventName":[{"anything-but":{"prefix":"MOD"}}]}`, false},
		{"exists", `{"dynamodb":{"NewImage":{"rev":{"N":[{"exists":true}]}}}}`, true},
		{"exists on what is absent", `{"dynamodb":{"OldImage":{"rev":{"N":[{"exists":true}]}}}}`, false},
		{"does not exist", `{"dynamodb":{"NewImage":{"shown_rev":{"N":[{"exists":false}]}}}}`, true},
		{"does not exist but does", `{"dynamodb":{"NewImage":{"rev":{"N":[{"exists":false}]}}}}`, false},
		{"anything but needs a value", `{"other":[{"anything-but":"x"}]}`, false},
		{"number", `{"n":[5.0]}`, true},
		{"text is no number", `{"dynamodb":{"NewImage":{"rev":{"N":[12]}}}}`, false},
		{"numeric range", `{"n":[{"numeric":[">",1,"<=",5]}]}`, true},
		{"numeric range without it", `{"n":[{"numeric":[">",5]}]}`, false},
		{"one element of a list", `{"tags":["b"]}`, true},
		{"null", `{"gone":[null]}`, true},
		{"or", `{"$or":[{"n":[7]},{"eventName":["MODIFY"]}]}`, true},
		{"or without a match", `{"$or":[{"n":[7]},{"eventName":["INSERT"]}]}`, false},
		{"rules are alternatives", `{"eventName":[{"prefix":"INS"},"MODIFY"]}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := ParseFilter([]string{tt.pattern})
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Passes([]byte(record))
			if err != nil || got != tt.want {
				t.Errorf("%s: %v, %v; want %v", tt.pattern, got, err, tt.want)
			}
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
		f, err := ParseFilter(tt.patterns)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Passes([]byte(`{"a":2}`)); err != nil || got != tt.want {
			t.Errorf("%q: %v, %v", tt.patterns, got, err)
		}
	}
}

func TestBadFiltersAreRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		`{"a":[1]`:                              "unexpected EOF",
		`[1]`:                                   "no object",
		`{"a":1}`:                               "values stand in lists",
		`{"a":[]}`:                              "empty list",
		`{"a":[{"like":"x"}]}`:                  `no operator "like"`,
		`{"a":[{"prefix":1}]}`:                  "prefix takes a text",
		`{"a":[{"exists":"yes"}]}`:              "exists takes true or false",
		`{"a":[{"numeric":[">"]}]}`:             "pairs",
		`{"a":{"b":[{"numeric":["like",1]}]}}`:  "b: numeric knows no comparison",
		`{"a":[{"prefix":"x","suffix":"y"}]}`:   "one operator",
		`{"$or":[{"a":["x"]},{"a":{"b":"x"}}]}`: "values stand in lists",
	} {
		if _, err := ParseFilter([]string{pattern}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", pattern, err, want)
		}
	}
}
