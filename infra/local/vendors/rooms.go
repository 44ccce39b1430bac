package vendors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type Room struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Floor int    `json:"floor"`
	Seats int    `json:"seats"`
}

type Booking struct {
	ID int `json:"booking_id"`
	booking
	Name string `json:"room_name"`
}

const bookRoom = "book_room"

var allRooms = []Room{{"fuji", "富士", 3, 12}, {"haruna", "榛名", 3, 6}, {"akagi", "赤城", 5, 4}}

// Rooms has the rooms, their bookings and the orders, which it keeps in memory. Its handler speaks MCP over streamable
// HTTP.
type Rooms struct {
	http.Handler
	MCP *mcp.Server // for transports other than HTTP

	mu       sync.Mutex
	bookings []Booking
	orders   []Order
	named    func(ja, en string) string
}

// NewRooms makes a server without bookings and orders.
func NewRooms() *Rooms {
	s := &Rooms{named: func(ja, _ string) string { return ja }}
	m := mcp.NewServer(&mcp.Implementation{Name: "rooms", Title: "会議室 / Rooms", Version: "1"}, nil)
	mcp.AddTool(m, &mcp.Tool{
		Name: "list_rooms", Title: "会議室の一覧 / List rooms", Description: "Lists the meeting rooms that are free at a time.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, s.list)
	mcp.AddTool(m, &mcp.Tool{Name: bookRoom, Title: "会議室の予約 / Book a room", Description: "Books a meeting room."}, s.book)
	mcp.AddTool(m, &mcp.Tool{
		Name: placeOrder, Title: "取引先への発注 / Place an order",
		Description: "Orders goods from a supplier. An order can't be undone.", InputSchema: json.RawMessage(orderSchema),
	}, s.order)
	m.AddTool(&mcp.Tool{
		Name: "house_rules", Title: "利用のきまり / House rules", Description: "How meeting rooms are to " +
			"be left.", InputSchema: map[string]any{"type": "object"},
	}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text := s.named("使った後はホワイトボードを消してください。", "Please wipe the whiteboard after use.")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
	s.MCP = m
	s.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return s
}

// Describe changes the description of the booking tool, as after an update or a takeover of the server.
func (s *Rooms) Describe(description string) {
	mcp.AddTool(s.MCP, &mcp.Tool{Name: bookRoom, Title: "会議室の予約 / Book a room", Description: description}, s.book)
}

// DescribeList changes the description of the tool that lists rooms.
func (s *Rooms) DescribeList(description string) {
	mcp.AddTool(s.MCP, &mcp.Tool{Name: "list_rooms", Title: "会議室の一覧 / List rooms", Description: description}, s.list)
}

// Bookings returns all bookings, oldest first.
func (s *Rooms) Bookings() []Booking {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bookings)
}

// span is a period on one day.
type span struct {
	Date  string `json:"date" jsonschema:"the day, YYYY-MM-DD"`
	Start string `json:"start" jsonschema:"HH:MM"`
	End   string `json:"end" jsonschema:"HH:MM, after start"`
}

func (t span) check() error {
	_, err := time.Parse(time.DateOnly, t.Date)
	_, err1 := time.Parse("15:04", t.Start)
	_, err2 := time.Parse("15:04", t.End)
	if err != nil || err1 != nil || err2 != nil || t.End <= t.Start {
		return fmt.Errorf("%s %s–%s is no time to meet", t.Date, t.Start, t.End)
	}
	return nil
}

type free struct {
	Rooms []Room `json:"rooms"`
}

func (s *Rooms) list(_ context.Context, _ *mcp.CallToolRequest, in span) (*mcp.CallToolResult, free, error) {
	if err := in.check(); err != nil {
		return nil, free{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := free{Rooms: []Room{}}
	for _, r := range allRooms {
		if r.Name = s.named(r.Name, latin(r.ID)); !s.taken(r.ID, in) {
			out.Rooms = append(out.Rooms, r)
		}
	}
	return nil, out, nil
}

type booking struct {
	span
	Room  string `json:"room_id" jsonschema:"id of a room, from list_rooms"`
	Title string `json:"title" jsonschema:"what the meeting is about"`
}

func (s *Rooms) book(_ context.Context, _ *mcp.CallToolRequest, in booking) (*mcp.CallToolResult, Booking, error) {
	if err := in.check(); err != nil {
		return nil, Booking{}, err
	}
	at := slices.IndexFunc(allRooms, func(r Room) bool { return r.ID == in.Room })
	if at < 0 {
		return nil, Booking{}, errors.New("there is no such room")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken(in.Room, in.span) {
		return nil, Booking{}, errors.New("the room is taken at that time")
	}
	b := Booking{ID: 1 + len(s.bookings), booking: in, Name: s.named(allRooms[at].Name, latin(in.Room))}
	s.bookings = append(s.bookings, b)
	return nil, b, nil
}

// taken reports whether a room is booked in a period. The caller holds mu.
func (s *Rooms) taken(room string, t span) bool {
	return slices.ContainsFunc(s.bookings, func(b Booking) bool {
		return b.Room == room && b.Date == t.Date && b.Start < t.End && t.Start < b.End
	})
}

// The MCP server, and its tools as steps name them.
const (
	RoomsServer = "rooms"
	RoomsPath   = "/mcp/rooms"
	listRooms   = "rooms.list_rooms"
	BookRoom    = "rooms.book_room"
	PlaceOrder  = "rooms.place_order"
	HouseRules  = "rooms.house_rules"
)

// meetings wraps the MCP server: it checks the token and applies the tool's faults.
func (v *Vendors) meetings(w http.ResponseWriter, r *http.Request) {
	if got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); (!ok || got != v.RoomsToken) &&
		!v.accounts["rooms"].knows(r) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+origin(r)+resourceMetadata+RoomsPath+`"`)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var call struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	tool := ""
	if json.Unmarshal(body, &call) == nil && call.Method == "tools/call" {
		tool = RoomsServer + "." + call.Params.Name
	}
	v.faults.apply(tool, w, r, v.Rooms.ServeHTTP,
		func(w http.ResponseWriter, status int) { http.Error(w, http.StatusText(status), status) })
}

const placeOrder = "place_order"

// Item is a row of an order.
type Item struct {
	Name      string `json:"name"`
	Quantity  int    `json:"quantity"`
	UnitPrice int    `json:"unit_price"`
}

// Order is what is ordered from a supplier.
type Order struct {
	Supplier  string `json:"supplier"`
	Items     []Item `json:"items"`
	Currency  string `json:"currency"`
	Note      string `json:"note,omitempty"`
	Reference string `json:"reference,omitempty"`
}

// Placed is an order that the supplier has.
type Placed struct {
	Number string `json:"order_number"`
	Total  int    `json:"total"`
}

const orderSchema = `{
	"type": "object", "required": ["supplier", "items", "currency"], "additionalProperties": false,
	"properties": {
		"supplier": {"type": "string", "description": "name of the company that delivers", "minLength": 1},
		"items": {"type": "array", "minItems": 1, "maxItems": 50, "items": {
			"type": "object", "required": ["name", "quantity", "unit_price"], "additionalProperties": false,
			"properties": {
				"name": {"type": "string", "description": "what is ordered"},
				"quantity": {"type": "integer", "description": "how many", "minimum": 1, "maximum": 10000},
				"unit_price": {"type": "integer", "description": "price of one", "minimum": 1, "maximum": 100000000}}}},
		"currency": {"type": "string", "description": "of the prices", "enum": ["JPY"]},
		"note": {"type": "string", "description": "for the supplier"},
		"reference": {"type": "string", "description": "the buyer's number; sent again, it orders nothing more"}},
	"examples": [{"supplier": "Acme", "items": [{"name": "PC", "quantity": 2, "unit_price": 149000}], "currency": "JPY"}]
}`

// order places an order, unless the same was placed under its reference before.
func (s *Rooms) order(_ context.Context, _ *mcp.CallToolRequest, in Order) (*mcp.CallToolResult, Placed, error) {
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
