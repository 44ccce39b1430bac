package vendors

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const placeOrder = "place_order"

// Item is a row of an order.
type Item struct {
	Name      string `json:"name" jsonschema:"what is ordered"`
	Quantity  int    `json:"quantity" jsonschema:"how many"`
	UnitPrice int    `json:"unit_price" jsonschema:"price of one"`
}

// Order is what is ordered from a supplier.
type Order struct {
	Supplier  string `json:"supplier" jsonschema:"name of the company that delivers"`
	Items     []Item `json:"items"`
	Currency  string `json:"currency" jsonschema:"of the prices"`
	Note      string `json:"note,omitempty" jsonschema:"for the supplier"`
	Reference string `json:"reference,omitempty" jsonschema:"the buyer's number; sent again, it orders nothing more"`
}

// Placed is an order that the supplier has.
type Placed struct {
	Number string `json:"order_number"`
	Total  int    `json:"total"`
}

// Orders returns all orders, oldest first.
func (s *Rooms) Orders() []Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.orders)
}

const (
	maxItems    = 50
	maxQuantity = 10_000
	maxPrice    = 100_000_000
)

// orderTool describes the tool that places orders. Its schema has an example.
func orderTool() *mcp.Tool {
	input, err := jsonschema.For[Order](nil)
	if err != nil {
		panic(fmt.Errorf("the schema of orders: %w", err))
	}
	bounded := func(s *jsonschema.Schema, most float64) { s.Minimum, s.Maximum = new(1.0), &most }
	input.Properties["supplier"].MinLength = new(1)
	input.Properties["currency"].Enum = []any{"JPY"}
	items := input.Properties["items"]
	items.Type, items.Types, items.MinItems, items.MaxItems = "array", nil, new(1), new(maxItems)
	bounded(items.Items.Properties["quantity"], maxQuantity)
	bounded(items.Items.Properties["unit_price"], maxPrice)
	input.Examples = []any{Order{
		Supplier: "Acme", Items: []Item{{Name: "PC", Quantity: 2, UnitPrice: 149_000}}, Currency: "JPY",
	}}
	return &mcp.Tool{
		Name: placeOrder, Title: "取引先への発注", Description: "Orders goods from a supplier. An order can't be undone.",
		InputSchema: input,
	}
}

// DescribeOrder changes the description of the tool that places orders.
func (s *Rooms) DescribeOrder(description string) {
	t := orderTool()
	t.Description = description
	mcp.AddTool(s.server, t, s.order)
}

// order places an order, unless the same was placed under its reference before.
func (s *Rooms) order(_ context.Context, r *mcp.CallToolRequest, in Order) (*mcp.CallToolResult, Placed, error) {
	hangUp(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := -1
	if in.Reference != "" {
		at = slices.IndexFunc(s.orders, func(o Order) bool { return o.Reference == in.Reference })
	}
	switch {
	case at >= 0 && !reflect.DeepEqual(s.orders[at], in):
		return nil, Placed{}, errors.New("another order has this reference")
	case at < 0:
		at = len(s.orders)
		s.orders = append(s.orders, in)
	}
	placed := Placed{Number: fmt.Sprintf("PO-%04d", at+1)}
	for _, item := range in.Items {
		placed.Total += item.Quantity * item.UnitPrice
	}
	return nil, placed, nil
}
