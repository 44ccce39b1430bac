package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// bookRoom is a tool as a server without faults lists it.
const bookRoom = `{"name":"book_room","description":"Books.","inputSchema":{"type":"object",` +
	`"properties":{"room_id":{"type":"string"}}}`

// list is the beginning of one.
const list = `{"name":"list","inputSchema":{"type":"object"}`

// Servers write what nobody needs in forms of their own: PHP's empty object is a list, and hints are texts. A tool
// whose name, title or description can't be read is named as one that can't be used. All others can be used, and are
// what they were when they were allowed.
func TestAnOddToolHidesNoOther(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 1200) + `{}` + strings.Repeat(`}`, 1200)
	for about, tt := range map[string]struct{ odd, name, problem string }{
		"a hint that is a text":       {list + `,"annotations":{"readOnlyHint":"true"}}`, "list", ""},
		"a hint that is null":         {list + `,"annotations":{"readOnlyHint":null,"title":null}}`, "list", ""},
		"annotations in a list":       {list + `,"annotations":[]}`, "list", ""},
		"metadata in a list":          {list + `,"_meta":[]}`, "list", ""},
		"an icon that is a text":      {list + `,"icons":"https://x/y.png"}`, "list", ""},
		"a title that is null":        {list + `,"title":null,"description":null}`, "list", ""},
		"a member that nobody knows":  {list + `,"execution":{"taskSupport":1}}`, "list", ""},
		"a title that is a number":    {list + `,"title":1}`, "list", "its title is no text"},
		"a description in parts":      {list + `,"description":["a"]}`, "list", "its description is no text"},
		"a name that is a number":     {`{"name":7,"inputSchema":{"type":"object"}}`, "#1", "its name is no text"},
		"a name that is null":         {`{"name":null,"inputSchema":{"type":"object"}}`, "#1", "its name is not"},
		"no name":                     {`{"inputSchema":{"type":"object"}}`, "#1", "its name is not"},
		"no tool":                     {`null`, "#1", "it is no object"},
		"a text":                      {`"list"`, "#1", "it is no object"},
		"no arguments":                {`{"name":"list","inputSchema":null}`, "list", "its arguments are no object"},
		"arguments that are true":     {`{"name":"list","inputSchema":true}`, "list", "its arguments are no object"},
		"arguments that are too deep": {`{"name":"list","inputSchema":` + deep + `}`, "list", "its arguments are no object"},
		"a header that is none": {`{"name":"list","inputSchema":{"type":"object","properties":` +
			`{"a":{"type":"object","x-mcp-header":"A"}}}}`, "list", "x-mcp-header"},
	} {
		t.Run(about, func(t *testing.T) {
			_, v := newRooms(t)
			v.faults["tools/list"] = replying(`{"tools":[` + bookRoom + `}]}`)
			hash := v.hash(t, "book_room")
			v.faults["tools/list"] = replying(`{"ttlMs":"0","_meta":[],"tools":[` + tt.odd + `,` + bookRoom +
				`,"annotations":[],"icons":"","_meta":[]}]}`)
			all := expect.Value(client(v.URL).List(t.Context(), v.Server))(t)
			expect.Must(t, len(all) == 2, "%d tools", len(all))
			expect.That(t, all[0].Name == tt.name && !all[0].ReadOnly && (all[0].Problem() == "") == (tt.problem == "") &&
				strings.Contains(all[0].Problem(), tt.problem), "%+v: %s", all[0], all[0].Problem())
			expect.That(t, all[1].Hash() == hash && all[1].Problem() == "", "%+v: %s", all[1], all[1].Problem())
			expect.Value(v.book(t, hash))(t)
		})
	}
}

// A tool that can't be read is not the one that was allowed while it could.
func TestAnAllowedToolThatCantBeReadIsNotCalled(t *testing.T) {
	_, v := newRooms(t)
	v.faults["tools/list"] = replying(`{"tools":[` + bookRoom + `}]}`)
	hash := v.hash(t, "book_room")
	v.faults["tools/list"] = replying(`{"tools":[` + bookRoom + `,"title":7}]}`)
	_, err := v.book(t, hash)
	expect.That(t, err != nil && v.times("tools/call") == 0, "%v", err)
}

// Of a greeting only the versions are needed.
func TestAnOddGreetingIsRead(t *testing.T) {
	const version = `"protocolVersion":"2025-06-18"`
	for about, result := range map[string]string{
		"tools in a list":        `{` + version + `,"capabilities":{"tools":[]},"serverInfo":{"name":"x","version":"1"}}`,
		"capabilities in a list": `{` + version + `,"capabilities":[],"serverInfo":{"name":"x","version":"1"}}`,
		"tools that are true":    `{` + version + `,"capabilities":{"tools":true},"serverInfo":{"name":"x","version":"1"}}`,
		"empty ones in lists":    `{` + version + `,"capabilities":{"tools":{},"experimental":[],"logging":[],"prompts":[]}}`,
		"a version in numbers":   `{` + version + `,"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":1}}`,
		"metadata in a list":     `{` + version + `,"capabilities":{"tools":{}},"_meta":[]}`,
		"nothing else":           `{` + version + `}`,
	} {
		for _, discovers := range []bool{false, true} {
			_, v := newRooms(t)
			v.faults["initialize"], v.faults["server/discover"] = replying(result), status(404, "")
			if discovers {
				v.faults["server/discover"] = replying(strings.Replace(result, version, `"supportedVersions":["2026-07-28"]`, 1))
				v.faults["initialize"] = status(404, "")
			}
			v.faults["tools/list"] = replying(`{"tools":[` + bookRoom + `}]}`)
			all, err := client(v.URL).List(t.Context(), v.Server)
			expect.That(t, err == nil && len(all) == 1, "%s, discovers %t: %d tools, %v", about, discovers, len(all), err)
		}
	}
}

// What a call did isn't lost with a part of its result that can't be read, and nobody needs the metadata.
func TestAnOddPartOfAResultHidesNoOther(t *testing.T) {
	const booked = `{"type":"text","text":"<12>"}`
	for result, want := range map[string]string{
		`{"content":[` + booked + `],"_meta":[]}`:             "<12>",
		`{"content":[` + booked + `],"isError":"false"}`:      "<12>",
		`{"content":"<12>"}`:                                  "<12>",
		`{"content":` + booked + `}`:                          "<12>",
		`{"content":["a",` + booked + `]}`:                    "a\n<12>",
		`{"content":[{"type":"text","text":{"a":"<"}}]}`:      `{"a":"<"}`,
		`{"content":[{"type":"json","json":{"a":"<"}}]}`:      `{"type":"json","json":{"a":"<"}}`,
		`{"content":[7,` + booked + `]}`:                      "7\n<12>",
		`{"content":[null,` + booked + `]}`:                   "\n<12>",
		`{"content":[{"type":"video","data":"AAAA"}]}`:        "[video of no type, 6 bytes, not shown]",
		`{"content":[{"type":"image","data":"https://x/y"}]}`: "[image of no type, 13 bytes, not shown]",

		`{"content":[{"type":"text","text":"<12>","annotations":{"priority":"high"},"_meta":[]}]}`:  "<12>",
		`{"content":[{"type":"resource_link","uri":"x://1","name":"a","size":"1 KB","icons":{}}]}`:  "a x://1",
		`{"content":[{"type":"resource","resource":{"uri":"x://1","text":"a report","_meta":[]}}]}`: "x://1\na report",

		`{"content":[{"type":"text","text":"\"_meta\""}],"structuredContent":["icons"],"_meta":[1]}`: `"_meta"` +
			"\n" + `["icons"]`,
	} {
		_, v := newRooms(t)
		hash := v.hash(t, "book_room")
		v.faults["tools/call"] = replying(result)
		got, err := v.book(t, hash)
		expect.That(t, err == nil && got.(map[string]string)["text"] == want, "%s: %q, %v", result, got, err)
	}
	_, v := newRooms(t)
	hash := v.hash(t, "book_room")
	v.faults["tools/call"] = replying(`{"content":[` + booked + `],"isError":"true"}`)
	_, err := v.book(t, hash)
	expect.That(t, err != nil && known(t, err).Problem == explain.ProblemRejected, "%v", err)
}

// The id of an answer is a number, in whichever notation.
func TestAnIDInAnotherNotation(t *testing.T) {
	_, v := newRooms(t)
	v.faults["tools/list"] = func(w http.ResponseWriter, r *http.Request) {
		var in struct{ ID json.RawMessage }
		expect.NoError(t, json.NewDecoder(r.Body).Decode(&in))
		answer("application/json", `{"jsonrpc":"2.0","id":`+string(in.ID)+`.0,"result":{"tools":[`+bookRoom+`}]}}`)(w, r)
	}
	all := expect.Value(client(v.URL).List(t.Context(), v.Server))(t)
	expect.Is(t, len(all), 1)
}
