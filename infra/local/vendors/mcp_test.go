package vendors_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
)

// The MCP server must answer in the published format when the client names a protocol version.
func TestTheRoomsAnswerAsTheProtocolHasIt(t *testing.T) {
	api := expect.Value(vendors.Published("mcp"))(t)
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	const book = `{"room_id":"fuji","date":"2026-04-01","start":"10:00","end":"11:00","title":"t"}`
	const order = `{"supplier":"Acme","items":[{"name":"PC","quantity":2,"unit_price":149000}],"currency":"JPY"}`
	for _, tt := range []struct{ name, version, body, schema, has string }{
		{"the tools", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, "ListToolsResultResponse", `"book_room"`},
		{"a booking", "2025-11-25", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book_room","arguments":` + book + `}}`, "CallToolResultResponse", `"structuredContent"`},
		{"the same once more", "2025-11-25", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"book_room","arguments":` + book + `}}`, "CallToolResultResponse", `"isError":true`},
		{"an order", "2025-11-25", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"place_order","arguments":` + order + `}}`, "CallToolResultResponse", `"PO-0001"`},
		{"no such tool", "2025-11-25", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no","arguments":{}}}`, "JSONRPCErrorResponse", `-32602`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+vendors.RoomsPath, strings.NewReader(tt.body)))(t)
			for name, value := range map[string]string{
				"Authorization": "Bearer " + v.RoomsToken(), "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": tt.version,
			} {
				r.Header.Set(name, value)
			}
			res := expect.Value(http.DefaultClient.Do(r))(t)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			expect.That(t, err == nil && strings.Contains(string(body), tt.has), "%v %d %s", err, res.StatusCode, body)
			for _, d := range api.Check(tt.schema, string(body)) {
				t.Error(d)
			}
		})
	}
}

func TestTheRoomsAreBehindTheirDoor(t *testing.T) {
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	ask := func(token, body string) int {
		t.Helper()
		r := expect.Value(http.NewRequest(http.MethodPost, s.URL+vendors.RoomsPath, strings.NewReader(body)))(t)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res := expect.Value(http.DefaultClient.Do(r))(t)
		res.Body.Close()
		return res.StatusCode
	}
	book := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book_room","arguments":{"room_id":"fuji","date":"2026-04-01","start":"10:00","end":"11:00","title":"t"}}}`
	if got := ask("another", book); got != http.StatusUnauthorized || v.Calls(vendors.BookRoom) != 0 {
		t.Errorf("another token: %d", got)
	}
	v.Fail(vendors.BookRoom, http.StatusTooManyRequests, true)
	expect.Is(t, ask(v.RoomsToken(), book), http.StatusTooManyRequests, "made to fail")
	v.Fail(vendors.BookRoom, 0, false)
	if got := ask(v.RoomsToken(), book); got != http.StatusOK || len(v.Rooms().Bookings()) != 1 || v.Calls(vendors.BookRoom) != 2 {
		t.Errorf("booked: %d, %d calls", got, v.Calls(vendors.BookRoom))
	}
}
