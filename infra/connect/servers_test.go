package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestServers(t *testing.T) {
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	t.Setenv("OUTBOUND_ALLOW", s.Listener.Addr().String())
	w := sealing(t, "T0RINGI")
	w.refused(t, "must begin with https://", "mcp", "add", "rooms", "http://example.com")
	w.refused(t, "mcp takes one of", "mcp")
	w.refused(t, "mcp takes one of", "mcp", "tools")
	w.refused(t, "none that the settings name", "mcp", "tools", "rooms")
	w.refused(t, "first `mcp add rooms", "mcp:rooms")
	w.must(t, "mcp", "add", "rooms", s.URL+vendors.RoomsPath)
	w.refused(t, "rooms (MCP) isn't connected", "mcp", "tools", "rooms")
	expect.Value(w.given(t, v.RoomsToken()+"\n", "mcp:rooms"))(t)
	shown := w.must(t, "mcp", "tools", "rooms")
	expect.That(t, strings.Contains(shown, "rooms.book_room (off)") && !strings.Contains(shown, v.RoomsToken()),
		"shown %s", shown)
	testPinned(t, w, v, shown)
	testAddress(t, w, s)
	w.must(t, "-disconnect", "mcp:rooms")
	w.refused(t, "rooms (MCP) isn't connected", "mcp", "tools", "rooms")
	w.must(t, "mcp", "remove", "rooms")
	x, err := w.rows.Settings(t.Context(), w.tenant)
	expect.That(t, err == nil && len(x.MCPServers) == 0 && x.UpdatedBy == "U0ADMIN", "%+v, %v", x, err)
}

// A tool is allowed as it was shown, by the whole hash of that.
func testPinned(t *testing.T, w *workspace, v *vendors.Vendors, shown string) {
	hash := regexp.MustCompile(`rooms.book_room \(off\)\n  hash: ([0-9a-f]{64})`).FindStringSubmatch(shown)[1]
	w.refused(t, "reads or writes", "mcp", "allow", "rooms.book_room", hash, "both")
	for _, part := range []string{hash[:12], hash[:63], hash + "0"} {
		w.refused(t, "copy all of them", "mcp", "allow", "rooms.book_room", part, "write")
	}
	w.refused(t, "has not the hash", "mcp", "allow", "rooms.book_room", strings.Repeat("0", 64), "write")
	w.must(t, "mcp", "allow", "rooms.book_room", hash, "write")
	p, found, err := w.rows.ToolPermission(t.Context(), w.tenant, "rooms.book_room")
	expect.That(t, err == nil && found && p.Allowed && p.Pin.Access == aggregate.Write && p.Pin.Hash == hash,
		"%+v, %v", p, err)
	w.refused(t, "as one that writes", "mcp", "contests", "rooms.book_room", hash)
	v.Rooms().Describe("Books \x1b[31m a room.")
	shown = w.must(t, "mcp", "tools", "rooms")
	expect.That(t, strings.Contains(shown, "rooms.book_room (changed, write)") && !strings.Contains(shown, "\x1b"),
		"shown %q", shown)
	w.refused(t, "has not the hash", "mcp", "allow", "rooms.book_room", hash, "write")
	w.must(t, "mcp", "forbid", "rooms.book_room")
	p, _, err = w.rows.ToolPermission(t.Context(), w.tenant, "rooms.book_room")
	expect.That(t, err == nil && !p.Allowed, "%+v, %v", p, err)
}

// A token is sent to no other address than the one that it was given for.
func testAddress(t *testing.T, w *workspace, s *httptest.Server) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another address is asked, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	t.Setenv("OUTBOUND_ALLOW", s.Listener.Addr().String()+","+other.Listener.Addr().String())
	w.must(t, "mcp", "add", "rooms", other.URL+"/mcp")
	w.refused(t, "another address", "mcp", "tools", "rooms")
	w.must(t, "mcp", "add", "rooms", s.URL+vendors.RoomsPath)
	w.must(t, "mcp", "tools", "rooms")
}
