package vendors

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// The MCP server, and its tools as steps name them.
const (
	RoomsServer = "rooms"
	RoomsPath   = "/mcp/rooms"
	listRooms   = "rooms.list_rooms"
	BookRoom    = "rooms.book_room"
	PlaceOrder  = "rooms.place_order"
	HouseRules  = "rooms.house_rules"
)

// Rooms is the MCP server that RoomsPath serves.
func (v *Vendors) Rooms() *Rooms { return v.rooms }

// RoomsToken is the bearer token that the MCP server accepts.
func (v *Vendors) RoomsToken() string { return v.roomsToken }

// meetings wraps the MCP server: it checks the token and applies the tool's faults.
func (v *Vendors) meetings(w http.ResponseWriter, r *http.Request) {
	if got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); (!ok || got != v.roomsToken) &&
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
	v.faults.apply(tool, w, r, v.rooms.Resumable().ServeHTTP,
		func(w http.ResponseWriter, status int) { http.Error(w, http.StatusText(status), status) })
}
