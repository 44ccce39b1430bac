package vendors_test

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
)

// ordered calls the tool that places orders, and returns what it answers, or nil if it refuses.
func ordered(t *testing.T, s *vendors.Rooms, arguments string) map[string]any {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	expect.Value(s.MCP().Connect(t.Context(), there, nil))(t)
	client := expect.Value(mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil))(t)
	defer client.Close()
	call := &mcp.CallToolParams{Name: "place_order", Arguments: json.RawMessage(arguments)}
	answer, err := client.CallTool(t.Context(), call)
	if err != nil || answer.IsError {
		return nil
	}
	return answer.StructuredContent.(map[string]any)
}

func TestAnOrderIsPlacedOnceUnderItsReference(t *testing.T) {
	s := vendors.NewRooms()
	const pc, again = `{"supplier":"Acme","items":[{"name":"PC","quantity":2,"unit_price":149000},` +
		`{"name":"mouse","quantity":3,"unit_price":2000}],"currency":"JPY","reference":"A1"}`, `{"supplier":"Acme",` +
		`"items":[{"name":"PC","quantity":3,"unit_price":149000}],"currency":"JPY","reference":"A1"}`
	first := map[string]any{"order_number": "PO-0001", "total": 304000.0}
	expect.Same(t, ordered(t, s, pc), first)
	expect.Same(t, ordered(t, s, pc), first)
	expect.That(t, ordered(t, s, again) == nil, "another order was placed under the reference")
	expect.Is(t, len(s.Orders()), 1)
	const plain = `{"supplier":"Acme","items":[{"name":"PC","quantity":1,"unit_price":149000}],"currency":"JPY"}`
	for _, number := range []string{"PO-0002", "PO-0003"} { // without a reference each is another order
		expect.Is(t, ordered(t, s, plain)["order_number"], any(number))
	}
}

func TestWhatIsNoOrderIsRefused(t *testing.T) {
	s := vendors.NewRooms()
	for _, wrong := range []string{
		`{"supplier":"","items":[{"name":"PC","quantity":1,"unit_price":1}],"currency":"JPY"}`,
		`{"supplier":"Acme","items":[],"currency":"JPY"}`,
		`{"supplier":"Acme","items":[{"name":"PC","quantity":0,"unit_price":1}],"currency":"JPY"}`,
		`{"supplier":"Acme","items":[{"name":"PC","quantity":1,"unit_price":-1}],"currency":"JPY"}`,
		`{"supplier":"Acme","items":[{"name":"PC","quantity":1,"unit_price":1}],"currency":"USD"}`,
		`{"supplier":"Acme","items":[{"name":"PC","quantity":1}],"currency":"JPY"}`,
	} {
		expect.That(t, ordered(t, s, wrong) == nil, "it took %s", wrong)
	}
	expect.Is(t, len(s.Orders()), 0)
}
