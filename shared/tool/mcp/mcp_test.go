package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/vendors"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool/mcp"
)

func TestACallIsMadeOnce(t *testing.T) {
	for name, streamed := range map[string]bool{"as JSON": false, "as events": true} {
		t.Run(name, func(t *testing.T) {
			s, v := newRooms(t)
			if streamed {
				v.faults["tools/call"] = func(w http.ResponseWriter, r *http.Request) { stream(w, r, s) }
			}
			hash := v.hash(t, "book_room")
			got := expect.Value(v.book(t, hash))(t)
			want := `{"booking_id":1,"date":"2026-04-01","end":"11:00","room_id":"fuji",` +
				`"room_name":"富士","start":"10:00","title":"定例"}`
			expect.Same(t, want, string(got.(json.RawMessage)))
			n := v.times("tools/call")
			expect.That(t, n == 1 && len(s.Bookings()) == 1, "%d calls, %d bookings", n, len(s.Bookings()))
		})
	}
}

func TestAServerOfAnOlderProtocol(t *testing.T) {
	s := vendors.NewRooms()
	speaks := func(*http.Request) *sdk.Server { return s.MCP }
	kept := sdk.NewStreamableHTTPHandler(speaks, &sdk.StreamableHTTPOptions{SessionTimeout: time.Minute})
	v := newVendor(t, kept)
	v.faults["server/discover"] = http.NotFound
	expect.Value(v.book(t, v.hash(t, "book_room")))(t)
	expect.That(t, v.times("initialize") == 2 && v.times("tools/call") == 1 && len(s.Bookings()) == 1, "asked %v", v.asked)
	expect.Is(t, v.times(""), 2, "the sessions were left open")
}

// What a call did is told as text unless its tool declares a result. Servers also put data there without declaring it,
// as those of ChatGPT's apps do, and a part that can't be read loses no other.
func TestAResultWithoutASchemaIsText(t *testing.T) {
	const booked, long = `{"type":"text","text":"<12>"}`, 70_000
	_, v := newRooms(t)
	hashes := map[string]string{"house_rules": v.hash(t, "house_rules"), "book_room": v.hash(t, "book_room")}
	for result, want := range map[string]string{
		`{"content":[]}`: "",
		`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"AAEC"},` +
			`{"type":"resource_link","uri":"https://x/1","name":"x"}]}`: "a\n[image image/png, 3 bytes, not shown]\n" +
			"x https://x/1",
		`{"content":[{"type":"resource","resource":{"uri":"file:///a.csv","mimeType":"text/csv",` +
			`"blob":"YSxi"}}]}`: "file:///a.csv\n[resource text/csv, 3 bytes, not shown]",
		`{"content":[{"type":"text","text":"{\"booking_id\":1}"}],"structuredContent":null}`: `{"booking_id":1}`,

		`{"content":[{"type":"text","text":"booked"}],"structuredContent":[1]}`: "booked\n[1]",
		`{"content":[],"structuredContent":[{"id":9007199254740993}]}`:          `[{"id":9007199254740993}]`,
		`{"structuredContent":"booked as 12"}`:                                  `"booked as 12"`,
		`{"content":[{"type":"text","text":"42"}],"structuredContent":42}`:      "42",
		`{"content":[],"structuredContent":` +
			`{"total":9007199254740993,"accounts":[{"id":1}]}}`: `{"total":9007199254740993,"accounts":[{"id":1}]}`,
		`{"content":[{"type":"text","text":"2 items"}],"structuredContent":{"a":1}}`: "2 items\n{\"a\":1}",
		`{"content":[{"type":"text","text":"{ \"b\": 2, \"a\": 1 }"}],` +
			`"structuredContent":{"a":1,"b":2}}`: `{ "b": 2, "a": 1 }`,
		`{"structuredContent":{"a":1}}`: `{"a":1}`,
		`{"content":[],"structuredContent":{"a":"` + strings.Repeat("x", long) + `"}}`: `{"a":"` +
			strings.Repeat("x", long) + `"}`,

		`{"content":[` + booked + `],"_meta":[]}`:             "<12>",
		`{"content":[` + booked + `],"isError":"false"}`:      "<12>",
		`{"content":"<12>"}`:                                  "<12>",
		`{"content":` + booked + `}`:                          "<12>",
		`{"content":["a",` + booked + `]}`:                    "a\n<12>",
		`{"content":[{"type":"text","text":{"a":"<"}}]}`:      `{"type":"text","text":{"a":"<"}}`,
		`{"content":[{"type":"json","json":{"a":"<"}}]}`:      `{"type":"json","json":{"a":"<"}}`,
		`{"content":[7,` + booked + `]}`:                      "7\n<12>",
		`{"content":[null,` + booked + `]}`:                   "\n<12>",
		`{"content":[{"type":"video","data":"AAAA"}]}`:        "[video of no type, 3 bytes, not shown]",
		`{"content":[{"type":"image","data":"https://x/y"}]}`: "[image of no type, 11 bytes, not shown]",

		`{"content":[{"type":"text","text":"<12>","annotations":{"priority":"high"},"_meta":[]}]}`:  "<12>",
		`{"content":[{"type":"resource_link","uri":"x://1","name":"a","size":"1 KB","icons":{}}]}`:  "a x://1",
		`{"content":[{"type":"resource","resource":{"uri":"x://1","text":"a report","_meta":[]}}]}`: "x://1\na report",

		`{"content":[{"type":"text","text":"\"_meta\""}],"structuredContent":["icons"],"_meta":[1]}`: `"_meta"` +
			"\n" + `["icons"]`,
	} {
		for name, hash := range hashes {
			v.faults["tools/call"] = replying(result)
			got, err := v.call(t, name, hash, map[string]string{"house_rules": `{}`, "book_room": booking}[name])
			text, is := got.(map[string]string)
			declared := name == "book_room" && strings.Contains(result, `"structuredContent":{`) // and is not text
			expect.That(t, err == nil && is != declared && (declared || text["text"] == want), "%s, %.300s: %.300q, %v", name,
				result, got, err)
		}
	}
}

// In the stream of a call a server may ask for something, tell something, or answer what nobody asked. What was done
// isn't told as failed for an error that names no call.
func TestTheResponseIsTheOneWithTheCallsID(t *testing.T) {
	const booked = `{"booking_id":9007199254740993}`
	for about, first := range map[string]string{
		"a ping":           `{"jsonrpc":"2.0","id":"p1","method":"ping"}`,
		"a note":           `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`,
		"another's result": `{"jsonrpc":"2.0","id":4711,"result":{"content":[],"structuredContent":{"booking_id":666}}}`,
		"no call's error":  `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}`,
		"a text's result":  `{"jsonrpc":"2.0","id":"3","result":{"content":[],"structuredContent":{"booking_id":666}}}`,
	} {
		_, v := newRooms(t)
		hash := v.hash(t, "book_room")
		v.faults["tools/call"] = func(w http.ResponseWriter, r *http.Request) {
			var in struct{ ID json.RawMessage }
			_ = json.NewDecoder(r.Body).Decode(&in) // without an id the answer is ignored
			own := `{"jsonrpc":"2.0","id":` + string(in.ID) + `,"result":{"content":[],"structuredContent":` + booked + `}}`
			answer("text/event-stream", "data: "+first+"\n\ndata: "+own+"\n\n")(w, r)
		}
		got, err := v.book(t, hash)
		expect.That(t, err == nil && string(got.(json.RawMessage)) == booked, "%s: %s, %v", about, got, err)
	}
}

func TestWhatAFailedCallMayHaveDone(t *testing.T) {
	t.Parallel()
	rpc := func(code string) http.HandlerFunc {
		return answer("application/json", `{"jsonrpc":"2.0","id":3,"error":{"code":`+code+`,"message":"no  such\nthing"}}`)
	}
	for name, test := range map[string]struct {
		fault   func(v *vendor) http.HandlerFunc
		outcome explain.CallOutcome
		problem explain.Problem
		booked  bool
	}{
		"400":             {at(status(400, "bad")), explain.CallFailed, explain.ProblemRejected, false},
		"401":             {at(status(401, "")), explain.CallFailed, explain.ProblemUnauthorized, false},
		"429":             {at(status(429, "")), explain.CallFailed, explain.ProblemRateLimited, false},
		"500":             {at(status(500, "")), explain.CallUnknown, explain.ProblemDown, false},
		"unknown tool":    {at(rpc("-32602")), explain.CallFailed, explain.ProblemRejected, false},
		"a person first":  {at(rpc("-32042")), explain.CallFailed, explain.ProblemRejected, false},
		"another version": {at(rpc("-32022")), explain.CallFailed, explain.ProblemRejected, false},
		"an error beside a result": {at(replying(`{"content":[]},"error":{"code":-32602,"message":"no room"}`)),
			explain.CallFailed, explain.ProblemRejected, false},
		"neither failed nor not": {at(replying(`{"isError":1,"content":[]}`)), explain.CallUnknown, explain.ProblemBadAnswer,
			false},
		"asked for input": {at(replying(`{"inputRequests":{"a":{}},"requestState":"s"}`)), explain.CallUnknown,
			explain.ProblemBadAnswer, false},
		"asked for more": {at(replying(`{"resultType":"input_required","requestState":"s","content":[]}`)),
			explain.CallFailed, explain.ProblemRejected, false},
		"said to have failed": {at(replying(`{"content":[],"isError":"true"}`)), explain.CallFailed,
			explain.ProblemRejected, false},
		"internal error": {at(rpc("-32603")), explain.CallUnknown, explain.ProblemRejected, false},
		"done, then cut": {func(v *vendor) http.HandlerFunc { return done(v.next, cut) }, explain.CallUnknown,
			explain.ProblemLost, true},
		"done, then nothing": {func(v *vendor) http.HandlerFunc { return done(v.next, v.hang()) }, explain.CallUnknown,
			explain.ProblemTimeout, true},
		"half an answer": {func(v *vendor) http.HandlerFunc { return done(v.next, half) }, explain.CallUnknown,
			explain.ProblemLost, true},
		"done, then 500": {func(v *vendor) http.HandlerFunc { return done(v.next, status(500, "")) },
			explain.CallUnknown, explain.ProblemDown, true},
		"half a stream": {at(answer("text/event-stream", "event: message\ndata: {\"jsonrpc\":")), explain.CallUnknown,
			explain.ProblemBadAnswer, false},
		"an empty stream": {at(answer("text/event-stream", "id: 7\nretry: 9\ndata:\n\n")), explain.CallUnknown,
			explain.ProblemBadAnswer, false},
		"HTML": {at(answer("text/html", "<html>")), explain.CallUnknown, explain.ProblemBadAnswer, false},
		"another's answer": {func(v *vendor) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				answer("application/json", `{"jsonrpc":"2.0","id":"x","result":{}}`)(w, r)
				time.AfterFunc(time.Second, v.expire)
			}
		}, explain.CallUnknown, explain.ProblemTimeout, false},
		"nothing at all": {at(answer("application/json", ``)), explain.CallUnknown, explain.ProblemBadAnswer, false},
		"a huge answer":  {at(huge), explain.CallUnknown, explain.ProblemTooLarge, false},
		"a redirect": {at(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}), explain.CallFailed, explain.ProblemRejected, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, v := newRooms(t)
			hash := v.hash(t, "book_room")
			v.faults["tools/call"] = test.fault(v)
			_, err := v.book(t, hash)
			e := known(t, err)
			expect.That(t, e.Outcome == test.outcome && e.Problem == test.problem,
				"%v, want %s %s", err, test.outcome, test.problem)
			expect.Is(t, v.times("tools/call"), 1, "called (times)")
			expect.Is(t, len(s.Bookings()) == 1, test.booked, "booked")
			said := e.Error() + explain.FailedCall("ja", e.Problem, e.Args...)
			expect.That(t, !strings.Contains(said, "himitsu") && !strings.Contains(said, "定例") &&
				!strings.Contains(said, "%!"), "it says %s", said)
			expect.That(t, e.Problem != explain.ProblemRateLimited || e.RetryAfter == 7*time.Second, "wait %s", e.RetryAfter)
		})
	}
}

func TestAServerThatCannotBeGreetedOrListedHasDoneNothing(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"server/discover", "tools/list"} {
		for name, fault := range map[string]func(*vendor) http.HandlerFunc{
			"401": at(status(401, "")), "429": at(status(429, "")), "500": at(status(500, "")), "cut": at(cut), "half": at(half),
			"huge": at(huge), "HTML": at(answer("text/html", "<html>")), "hang": (*vendor).hang,
			"null": at(answer("application/json", "null")),
		} {
			t.Run(method+" "+name, func(t *testing.T) {
				t.Parallel()
				s, v := newRooms(t)
				hash := v.hash(t, "book_room")
				v.faults[method] = fault(v)
				v.faults["initialize"] = fault(v)
				_, err := v.book(t, hash)
				expect.Is(t, known(t, err).Outcome, explain.CallFailed)
				expect.That(t, v.times("tools/call") == 0 && len(s.Bookings()) == 0, "it was called")
			})
		}
	}
}

func TestAToolSaysThatItFailed(t *testing.T) {
	s, v := newRooms(t)
	hash := v.hash(t, "book_room")
	expect.Value(v.book(t, hash))(t)
	for arguments, want := range map[string]string{booking: "the room is taken at that time",
		strings.Replace(booking, "title", "titel", 1): "titel"} {
		_, err := v.call(t, "book_room", hash, arguments)
		e := known(t, err)
		said := explain.FailedCall("en", e.Problem, e.Args...)
		expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemRejected &&
			len(s.Bookings()) == 1 && strings.Contains(said, "rooms (MCP)") && strings.Contains(said, want), "%v: %q", e, said)
	}
}

func TestAToolThatChangedIsNotCalled(t *testing.T) {
	object := map[string]any{"type": "object"}
	needs := func(names ...string) any { return map[string]any{"type": "object", "required": names} }
	allowed := sdk.Tool{Name: "do", Description: "Does it.", InputSchema: needs("to", "amount")}
	for name, now := range map[string][]*sdk.Tool{
		"another description": {{Name: "do", Description: "Does it, and mails everyone.",
			InputSchema: allowed.InputSchema}},
		"other arguments":  {{Name: "do", Description: "Does it.", InputSchema: needs("to", "amount", "cc")}},
		"another title":    {{Name: "do", Title: "Do", Description: "Does it.", InputSchema: allowed.InputSchema}},
		"a result":         {{Name: "do", Description: "Does it.", InputSchema: allowed.InputSchema, OutputSchema: object}},
		"an argument less": {{Name: "do", Description: "Does it.", InputSchema: needs("to")}},
		"gone":             {{Name: "undo", Description: "Does it.", InputSchema: object}},
		"none at all":      {},
	} {
		t.Run(name, func(t *testing.T) {
			c := &changing{}
			c.set(&allowed)
			v := newVendor(t, c)
			hash := v.hash(t, "do")
			c.set(&sdk.Tool{Name: "do", Description: "Does it.", InputSchema: needs("amount", "to")}) // the same
			expect.Value(v.call(t, "do", hash, `{"to":1,"amount":2}`))(t)
			c.set(now...)
			_, err := v.call(t, "do", hash, `{}`)
			e := known(t, err)
			expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemChanged, "%v", e)
			expect.Is(t, v.times("tools/call"), 1, "called (times)")
		})
	}
}

func TestTheDoor(t *testing.T) {
	for name, test := range map[string]struct {
		secret, header, want string
		problem              explain.Problem
	}{
		"a token": {secret: secret, header: "Authorization", want: "Bearer " + secret},
		"a whole header": {secret: "X-Api-Key: a b c\n", header: "X-Api-Key", want: "a b c",
			problem: explain.ProblemUnauthorized},
		"none":        {header: "Authorization", problem: explain.ProblemNotConnected},
		"a wrong one": {secret: "other", header: "Authorization", want: "Bearer other", problem: explain.ProblemUnauthorized},
		"two lines":   {secret: "a\r\nHost: b", problem: explain.ProblemUnauthorized},
		"its own":     {secret: "Mcp-Method: tools/call", problem: explain.ProblemUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			_, v := newRooms(t)
			v.Secret = test.secret
			_, err := client(v.URL).List(t.Context(), v.Server)
			expect.Must(t, test.problem != "" || err == nil, "%v", err)
			expect.That(t, test.problem == "" || known(t, err).Problem == test.problem, "%v, want %s", err, test.problem)
			expect.That(t, v.headers == nil || v.headers.Get(test.header) == test.want,
				"%s: %q", test.header, v.headers.Get(test.header))
		})
	}
}

func TestAServerThatIsNotAllowedIsNotReached(t *testing.T) {
	_, v := newRooms(t)
	_, err := mcp.Client{HTTP: outbound.Dialer{}.Client()}.List(t.Context(), v.Server)
	e := known(t, err)
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemAddress, "%v", e)
	v.URL = strings.Replace(v.URL, "http:", "https:", 1)
	_, err = mcp.Client{HTTP: outbound.Dialer{}.Client()}.List(t.Context(), v.Server)
	e = known(t, err)
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemAddress, "%v", e)
	expect.Is(t, len(v.asked), 0, "asked %v", v.asked)
}
