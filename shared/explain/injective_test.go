package explain_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// someTools returns all tools of the catalog, one of an MCP server, and one that doesn't exist any more. arguments are
// what the catalog's tools accept.
func someTools(t *testing.T) (tools []string, arguments map[string][]string) {
	tools, arguments = []string{"rooms.book", "gone_tool"}, map[string][]string{}
	for _, s := range expect.Value(tool.Builtin())(t).All() {
		var input struct{ Properties map[string]any }
		expect.NoError(t, json.Unmarshal([]byte(s.InputSchema), &input))
		tools, arguments[s.Name] = append(tools, s.Name), slices.Sorted(maps.Keys(input.Properties))
	}
	return tools, arguments
}

// differ fails if two calls with different arguments have the same line.
func differ(t interface{ Errorf(string, ...any) }, name, a, b string) {
	if canonical(a) == canonical(b) {
		return
	}
	for _, locale := range language.All {
		first, second := drawnWith(locale, name, a), drawnWith(locale, name, b)
		if first == second {
			t.Errorf("%s: two calls, one line: %s\n %s\n %s\nsay all that tells them apart in the line of its file in shared/domain/catalog", name, first, a, b)
		}
	}
}

// drawnWith returns the line of a step after two others, to whose results its arguments may refer.
func drawnWith(locale, name, args string) string {
	return text(explain.StepLines(locale, plan("list_employees", `{}`, "list_attendance", `{}`, name, args))[2])
}

// canonical formats arguments in a canonical way. Numbers are not changed.
func canonical(args string) string {
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil || v == nil || d.More() {
		return args
	}
	out, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return string(out)
}

// lookalikes are pairs of arguments of which one imitates the other.
var lookalikes = [][3]string{
	{"rooms.book", `{"to":"a」 · cc: 「b"}`, `{"to":"a","cc":"b"}`},
	{"rooms.book", `{"a":"x","b":"y"}`, `{"a":"x」 · b: 「y"}`},
	{"rooms.book", `{"a":"x","b":"y"}`, `{"a":"x” · b: “y"}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x","details":[{"label":"a","value":"b"}]}`, `{"recipient":"U012ABC","text":"x」 · a: 「b","details":[]}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x","details":[{"label":"a","value":5}]}`, `{"recipient":"U012ABC","text":"x","details":[],"a":5}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x\ny","details":[]}`, `{"recipient":"U012ABC","text":"x ⏎ y","details":[]}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x\r\ny","details":[]}`, `{"recipient":"U012ABC","text":"x\ny","details":[]}`},
	{"send_slack_dm", `{"text":"「x」"}`, `{"text":"『x』"}`},
	{"rooms.book", `{"n":5,"b":[]}`, `{"n: 5 · b":[]}`},
	{"rooms.book", `{"restrict":[],"to":"x"}`, `{"restrict: [] · to":"x"}`},
	{"rooms.book", `{"a":{"$ref":"step-1.result.x"}}`, `{"a":{"$ref":"step-1.other.x"}}`},
	{"rooms.book", `{"a":{"$ref":"5"}}`, `{"a":5}`},
	{"list_employees", `{"department":null,"status":"all"}`, `{"status":"all"}`},
	{"write_rows_to_google_sheet", `{"columns":[5]}`, `{"columns":[{"key":"5","title":"5"}]}`},
	{"write_rows_to_google_sheet", `{"columns":[{"key":"a","title":"b = c"}]}`, `{"columns":[{"key":"c","title":"a = b"}]}`},
}

func TestTwoCallsHaveTwoLines(t *testing.T) {
	for _, x := range lookalikes {
		differ(t, x[0], x[1], x[2])
	}
	tools, arguments := someTools(t)
	names := []string{"label", "value", "key", "title"} // of members
	for tool, own := range arguments {
		names = append(names, own...)
		for _, name := range own {
			differ(t, tool, `{"`+name+`":"a"}`, `{"`+name+`":"b"}`)
			differ(t, tool, `{"`+name+`":"a"}`, `{"`+name+`":null}`)
			differ(t, tool, `{"`+name+`":5}`, `{}`)
		}
	}
	if t.Failed() {
		return
	}
	slices.Sort(names)
	signs := rapid.SampledFrom([]string{"a", "b", "5", "true", "(なし)", "「", "」", "『", "』", "“", "”", `"`, `\`, "⏎", "\n", "\r", " ", " · ", ": ", ", ", " = ", "[", "]", "{", "}", "(", ")", "$ref", ".", "-", "引数 ", "ステップ1の結果"})
	word := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(signs, 0, 4).Draw(t, "signs"), "")
	})
	name := rapid.OneOf(word, rapid.SampledFrom(slices.Compact(names)))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		plain := []*rapid.Generator[any]{
			rapid.Map(word, func(s string) any { return s }),
			rapid.SampledFrom([]any{nil, true, 5, "active", "all", "U012ABC", map[string]any{"$ref": "step-1.result"}, map[string]any{"$ref": "step-1.result.a"}}),
		}
		if depth == 0 {
			return rapid.OneOf(plain...)
		}
		list := rapid.Map(rapid.SliceOfN(value(depth-1), 0, 2), func(v []any) any { return v })
		object := rapid.Map(rapid.MapOfN(name, value(depth-1), 0, 2), func(v map[string]any) any { return v })
		return rapid.OneOf(append(plain, list, object)...)
	}
	args := rapid.MapOfN(name, value(2), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom(tools).Draw(t, "tool")
		seen := map[string]string{}
		for range 12 {
			raw := expect.Value(json.Marshal(args.Draw(t, "arguments")))(t)
			line := drawnWith("ja", tool, string(raw))
			if before, was := seen[line]; was {
				differ(t, tool, before, string(raw))
			}
			seen[line] = string(raw)
		}
	})
}

func FuzzTwoCallsHaveTwoLines(f *testing.F) {
	for _, x := range lookalikes {
		f.Add(x[0], x[1], x[2])
	}
	f.Fuzz(func(t *testing.T, name, a, b string) { differ(t, name, a, b) })
}
