package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func results() func(string) (json.RawMessage, error) {
	return func(id string) (json.RawMessage, error) {
		text, ok := map[string]string{
			"step-1": `{"count":2,"employees":[{"id":9007199254740993,"email":"a@example.com"},` +
				`{"id":2,"email":null}],"a<b":"x"}`,
			"step-2": `{"$ref":"step-1.result.count"}`,
			"step-3": `[[1],[2,3]]`,
			"step-4": `not JSON`,
			"step-7": `3.0`,
			"step-6": `{"a":"` + strings.Repeat("a", tool.MaxResolved/2) + `"}`,
			"step-5": strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		}[id]
		if !ok {
			return nil, errors.New(id + " has no result")
		}
		return json.RawMessage(text), nil
	}
}

// planned parses planned arguments. Arguments that can't be read give the zero value.
func planned(raw string) tool.Arguments {
	a, _ := tool.Parse(aggregate.JSON(raw))
	return a
}

// resolve replaces the references by results. It checks that the arguments' values equal their text.
func resolve(t *testing.T, raw string) (text string, refs []string, err error) {
	t.Helper()
	a, err := tool.Parse(aggregate.JSON(raw))
	if err != nil {
		return "", nil, err
	}
	for _, r := range a.Refs() {
		refs = append(refs, strings.Join(r.At, "."))
	}
	r, err := a.Resolve(results())
	if err != nil {
		return "", nil, err
	}
	v, err := tool.Decode(r.JSON())
	if diff := cmp.Diff(v, any(r.Members())); err != nil || diff != "" {
		t.Errorf("%s: %v %s", r.JSON(), err, diff)
	}
	return string(r.JSON()), refs, nil
}

func TestResolve(t *testing.T) {
	for name, test := range map[string]struct {
		raw, want string
		refs      []string
	}{
		"nothing to resolve": {`{"b":1,"a":{"c":[true,null]}}`, `{"a":{"c":[true,null]},"b":1}`, nil},
		"a member":           {`{"n":{"$ref":"step-1.result.count"}}`, `{"n":2}`, []string{"n"}},
		"a list": {`{"e":{"$ref":"step-1.result.employees"}}`,
			`{"e":[{"email":"a@example.com","id":9007199254740993},{"email":null,"id":2}]}`, []string{"e"}},
		"an index":         {`{"to":{"$ref":"step-1.result.employees.0.email"}}`, `{"to":"a@example.com"}`, []string{"to"}},
		"null":             {`{"to":{"$ref":"step-1.result.employees.1.email"}}`, `{"to":null}`, []string{"to"}},
		"nested lists":     {`{"x":{"$ref":"step-3.result.1.0"}}`, `{"x":2}`, []string{"x"}},
		"the whole result": {`{"x":{"$ref":"step-3.result"}}`, `{"x":[[1],[2,3]]}`, []string{"x"}},
		"deep in the arguments": {`{"d":[{"v":{"$ref":"step-1.result.count"}},{"v":1}]}`, `{"d":[{"v":2},{"v":1}]}`,
			[]string{"d.0.v"}},
		"a result is no ref": {`{"x":{"$ref":"step-2.result"}}`, `{"x":{"$ref":"step-1.result.count"}}`, []string{"x"}},
		"several, by name": {`{"b":{"$ref":"step-1.result.count"},"a":{"$ref":"step-1.result.count"}}`, `{"a":2,"b":2}`,
			[]string{"a", "b"}},
		"numbers by their value": {`{"m":1.49e5,"n":{"$ref":"step-7.result"}}`, `{"m":149000,"n":3}`, []string{"n"}},
		"large numbers stay":     {`{"n":12345678901234567890}`, `{"n":12345678901234567890}`, nil},
		"markup stays as it is":  {`{"s":"<b>&"}`, `{"s":"<b>&"}`, nil},
		"a text that looks like": {`{"s":"$ref"}`, `{"s":"$ref"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, refs, err := resolve(t, test.raw)
			expect.NoError(t, err)
			expect.Same(t, test.want, got)
			expect.Same(t, test.refs, refs)
		})
	}
}

func TestPlannedNumbersStandByTheirValue(t *testing.T) {
	text := expect.Value(planned(`{"m":1.49e5,"n":[3.0]}`).JSON())(t)
	expect.Is(t, string(text), `{"m":149000,"n":[3]}`)
}

func TestResolveRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for name, test := range map[string]struct{ raw, want string }{
		"no such member": {`{"x":{"$ref":"step-1.result.nobody"}}`,
			`$ref step-1.result.nobody: the result has no "nobody"`},
		"index past the end": {`{"x":{"$ref":"step-1.result.employees.2"}}`, "index 2 of a list of 2"},
		"name in a list":     {`{"x":{"$ref":"step-1.result.employees.first"}}`, `"first" is no index of a list`},
		"index with a zero":  {`{"x":{"$ref":"step-1.result.employees.01"}}`, `"01" is no index of a list`},
		"negative index":     {`{"x":{"$ref":"step-1.result.employees.-1"}}`, `"-1" is no index of a list`},
		"member of a number": {`{"x":{"$ref":"step-1.result.count.x"}}`, "the type integer has no members"},
		"no such step":       {`{"x":{"$ref":"step-9.result.count"}}`, "step-9 has no result"},
		"broken result":      {`{"x":{"$ref":"step-4.result"}}`, "not one JSON value"},
		"not a path":         {`{"x":{"$ref":"count"}}`, "must begin with step-<n>.result"},
		"odd characters":     {`{"x":{"$ref":"step-1.result.a b"}}`, `"a b" is neither`},
		"too long":           {`{"x":{"$ref":"step-1.result.` + strings.Repeat("a", 200) + `"}}`, "the limit is 200"},
		"ref beside others": {`{"x":{"$ref":"step-1.result.count","y":1}}`,
			"argument x: an object with $ref holds one text"},
		"ref that is no text":   {`{"x":{"$ref":1}}`, "argument x: an object with $ref holds one text"},
		"all arguments a ref":   {`{"$ref":"step-1.result"}`, "named one by one"},
		"too deep":              {deep, "nested deeper than 32"},
		"a result that is deep": {`{"x":{"$ref":"step-5.result"}}`, "nested deeper than 10000"},
		"results over 1 MiB": {`{"x":{"$ref":"step-6.result"},"y":{"$ref":"step-6.result.a"}}`,
			"resolved arguments are over 1048576 bytes"},
		"arguments over 16 KiB": {`{"x":"` + strings.Repeat("a", tool.MaxArguments) + `"}`, "the limit is 16384"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := resolve(t, test.raw)
			expect.That(t, err != nil && strings.Contains(err.Error(), test.want), "%s, %v, want %q", got, err, test.want)
		})
	}
}

func TestCheckPlanned(t *testing.T) {
	c := builtin(t)
	earlier := func(id string) (string, bool) {
		name, ok := map[string]string{"step-1": "list_employees", "step-2": "list_attendance",
			"step-3": "calculate_overtime"}[id]
		return name, ok
	}
	for name, test := range map[string]struct{ tool, args, want string }{
		"a ref stands for a list": {"list_attendance",
			`{"year":2026,"month":3,"employees":{"$ref":"step-1.result.employees"}}`, ""},
		"a ref inside a list": {"send_slack_dm",
			`{"recipient":"U012","text":"x","details":[{"label":"n","value":{"$ref":"step-3.result.over_45h"}}]}`, ""},
		"the rest is still checked": {"list_attendance",
			`{"year":2026,"month":"3","employees":{"$ref":"step-1.result.employees"}}`, "month: got string, want integer"},
		"a missing argument": {"list_attendance", `{"year":2026,"employees":{"$ref":"step-1.result.employees"}}`,
			`required: missing properties: ["month"]`},
		"a later step": {"list_attendance",
			`{"year":2026,"month":3,"employees":{"$ref":"step-5.result.employees"}}`,
			"argument employees: step-5 is no earlier step"},
		"what the tool has not": {"list_attendance",
			`{"year":2026,"month":3,"employees":{"$ref":"step-1.result.people"}}`,
			`list_employees returns no "people", only count, employees`},
		"a name where an index goes": {"send_slack_dm",
			`{"recipient":{"$ref":"step-1.result.employees.email"},"text":"x","details":[]}`, `"email" is no index`},
		"a member of a number": {"send_slack_dm",
			`{"recipient":"U012","text":"x","details":[{"label":"n","value":{"$ref":"step-1.result.count.x"}}]}`,
			`"count" of list_employees has no members`},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := tool.Parse(aggregate.JSON(test.args))
			expect.NoError(t, err)
			err = c.CheckPlanned(test.tool, a, earlier)
			expect.That(t, (err == nil) == (test.want == "") && (err == nil || strings.Contains(err.Error(), test.want)),
				"%v, want %q", err, test.want)
		})
	}
}

// A destination that a constraint lists has been seen, whichever of them it is.
func TestDynamicDestinations(t *testing.T) {
	c := builtin(t)
	listed := expect.Value(c.Under([]tenancy.ToolPermission{
		{ToolName: dm, Allowed: true, Constraints: `{"recipients":["U012"]}`},
		{ToolName: sheet, Allowed: true, Constraints: `{"spreadsheet_ids":["book"],"max_rows":5}`},
	}))(t)
	for name, test := range map[string]struct {
		tool, args     string
		want, asListed bool
	}{
		"a literal recipient":     {dm, `{"recipient":"U012","text":{"$ref":"step-1.result.x"}}`, false, false},
		"a recipient from before": {dm, `{"recipient":{"$ref":"step-1.result.x"},"text":"x"}`, true, false},
		"hidden in a list":        {dm, `{"recipient":[{"$ref":"step-1.result.x"}],"text":"x"}`, true, false},
		"a tab from before":       {sheet, `{"sheet":{"$ref":"step-1.result.x"}}`, true, true},
		"a spreadsheet":           {sheet, `{"spreadsheet_id":{"$ref":"step-1.result.x"},"sheet":"a"}`, true, false},
		"rows from before":        {sheet, `{"sheet":"a","rows":{"$ref":"step-1.result.x"}}`, false, false},
		"a read has none":         {"list_attendance", `{"employees":{"$ref":"step-1.result.x"}}`, false, false},
		"unreadable":              {dm, `{`, true, true},
		"one ref for all":         {dm, `{"$ref":"step-1.result"}`, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := c.Lookup(test.tool)
			expect.Is(t, tool.Dynamic(s, planned(test.args)), test.want)
			s, _ = listed.Lookup(test.tool)
			expect.Is(t, tool.Dynamic(s, planned(test.args)), test.asListed, "with constraints")
		})
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{`{"a":{"$ref":"step-1.result.employees.0"}}`, `{"a":[{"$ref":"step-3.result.1"}]}`,
		`{"$ref":1}`, `{"a":1e999}`, `{"a":"\ud800"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, refs, err := resolve(t, raw)
		if err != nil {
			return
		}
		expect.Must(t, json.Valid([]byte(got)) && got[0] == '{', "%q became %q", raw, got)
		a, err := tool.Parse(aggregate.JSON(raw))
		expect.That(t, err == nil && len(a.Refs()) == len(refs), "%q: %v, refs %v and %v", raw, err, a.Refs(), refs)
		again, _, err := resolve(t, raw)
		expect.That(t, err == nil && again == got, "%q resolved to %q, then to %q, %v", raw, got, again, err)
	})
}

func TestALongTextIsCutAtACharacter(t *testing.T) {
	text := expect.Value(json.Marshal(map[string]string{"text": strings.Repeat("あ\"", 60_000)}))(t)
	r := expect.Value(tool.Given(text))(t)
	var said string
	expect.NoError(t, json.Unmarshal(r.Value, &said))
	expect.That(t, len(r.Value) <= conversation.MaxCallResult && r.ShownBytes == len(said) && r.Bytes > r.ShownBytes &&
		r.ShownBytes > 20_000,
		"%d of %d bytes in %d", r.ShownBytes, r.Bytes, len(r.Value))
	expect.That(t, !strings.Contains(said, "�"), "a character is broken")
}

func TestAResultIsMaskedAndLosesNoMember(t *testing.T) {
	r := expect.Value(tool.Given(json.RawMessage(`{"ab@example.com":1,"ac@example.com":2,"id":12345678901234567890}`)))(t)
	expect.Is(t, string(r.Value), `{"a*@example.com":1,"a*@example.com*":2,"id":12345678901234567890}`)
	expect.That(t, expect.Err(tool.Given(json.RawMessage(`no JSON`))) != nil, "a result that is no JSON was taken")
	r = expect.Value(tool.Given(json.RawMessage(`null`)))(t)
	expect.Is(t, string(r.Value), `null`)
}

// What the agent is told of masking is what is masked, and no more.
func TestTheAgentIsToldWhatIsMasked(t *testing.T) {
	r := expect.Value(tool.Given(json.RawMessage(`{"name":"佐藤花子","mail":"hanako@example.com","tel":"090-1234-5678"}`)))(t)
	for locale, words := range map[string]string{"ja": "メールアドレス、電話番号、マイナンバー",
		"en": "Email addresses, phone numbers and My Numbers"} {
		all := r.Pieces(locale)
		expect.That(t, !all[0].Quoted && strings.Contains(all[0].Text, words), "%s", all[0].Text)
		value := all[1].Text
		expect.That(t, all[1].Quoted && strings.Contains(value, "佐藤花子") && !strings.Contains(value, "hanako@") &&
			!strings.Contains(value, "090-1234"), "%s", value)
	}
}

// Of a server's schema the arguments of a call are known in the order in which it requires them.
func TestWhatASchemaDeclaresKeepsItsOrder(t *testing.T) {
	s := tool.Spec{Pin: &tenancy.Pin{}, InputSchema: `{"properties":{"a":true,"items":{"title":"Rows",` +
		`"items":{"properties":` +
		`{"name":{"title":"Item\u202e"},"price":{"type":"number"}},"required":["price"]}},"to/whom":{"title":"` +
		strings.Repeat("x", 50) + `"},"unused":{}},"required":["to/whom","items"]}`}
	args := expect.Value(tool.Parse(`{"a":1,"items":[],"to/whom":"x"}`))(t)
	expect.Is(t, string(tool.Declared(s, args)), `[["/to~1whom","`+strings.Repeat("x", 39)+`…"],["/items","Rows"],`+
		`["/items/*/price",""],["/items/*/name","Item⟨U+202E⟩"],["/a",""]]`)
	s.InputSchema = `{"properties":{"a":{"properties":{"` + strings.Repeat("x", 2000) + `":{}}}}}`
	expect.Is(t, string(tool.Declared(s, args)), `[["/a",""]]`)
	s.Pin = nil
	expect.Is(t, string(tool.Declared(s, args)), "")
}
