package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/vendors"
	"ringi/shared/aggregate"
	"ringi/shared/store/storetest"
)

func TestServers(t *testing.T) {
	world := storetest.Start(t)
	rows, table := world.Store(t)
	made, err := kms.NewFromConfig(world.Config).CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	t.Setenv("OUTBOUND_ALLOW", s.Listener.Addr().String())
	tenant := aggregate.TenantID("T0RINGI")
	connect := func(in string, args ...string) (string, error) {
		var out bytes.Buffer
		all := append([]string{"-table", table, "-key", *made.KeyMetadata.Arn, "-team", "T0RINGI", "-by", "U0ADMIN"}, args...)
		err := run(t.Context(), world.Config, all, strings.NewReader(in), &out)
		return out.String(), err
	}
	must := func(in string, args ...string) string {
		t.Helper()
		out, err := connect(in, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if _, err := connect("", args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want one that says %q", args, err, want)
		}
	}
	refused("must begin with https://", "mcp", "add", "rooms", "http://example.com")
	refused("mcp takes one of", "mcp")
	refused("mcp takes one of", "mcp", "tools")
	refused("none that the settings name", "mcp", "tools", "rooms")
	refused("first `mcp add rooms", "mcp:rooms")
	must("", "mcp", "add", "rooms", s.URL+vendors.RoomsPath)
	refused("rooms (MCP) is not connected", "mcp", "tools", "rooms")
	must(v.RoomsToken()+"\n", "mcp:rooms")
	shown := must("", "mcp", "tools", "rooms")
	if !strings.Contains(shown, "rooms.book_room (off)") || strings.Contains(shown, v.RoomsToken()) {
		t.Errorf("shown %s", shown)
	}
	hash := regexp.MustCompile(`rooms.book_room \(off\)\n  hash: ([0-9a-f]{64})`).FindStringSubmatch(shown)[1]
	refused("reads or writes", "mcp", "allow", "rooms.book_room", hash, "both")
	for _, part := range []string{hash[:12], hash[:63], hash + "0"} {
		refused("copy all of them", "mcp", "allow", "rooms.book_room", part, "write")
	}
	refused("has not the hash", "mcp", "allow", "rooms.book_room", strings.Repeat("0", 64), "write")
	must("", "mcp", "allow", "rooms.book_room", hash, "write")
	p, found, err := rows.ToolPermission(t.Context(), tenant, "rooms.book_room")
	if err != nil || !found || !p.Allowed || p.Pin.Access != aggregate.Write || p.Pin.Hash != hash {
		t.Errorf("%+v, %v", p, err)
	}
	v.Rooms().Describe("Books \x1b[31m a room.")
	if shown = must("", "mcp", "tools", "rooms"); !strings.Contains(shown, "rooms.book_room (changed, write)") || strings.Contains(shown, "\x1b") {
		t.Errorf("shown %q", shown)
	}
	refused("has not the hash", "mcp", "allow", "rooms.book_room", hash, "write")
	must("", "mcp", "forbid", "rooms.book_room")
	if p, _, err = rows.ToolPermission(t.Context(), tenant, "rooms.book_room"); err != nil || p.Allowed {
		t.Errorf("%+v, %v", p, err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another address is asked, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	t.Setenv("OUTBOUND_ALLOW", s.Listener.Addr().String()+","+other.Listener.Addr().String())
	must("", "mcp", "add", "rooms", other.URL+"/mcp")
	refused("another address", "mcp", "tools", "rooms")
	must("", "mcp", "add", "rooms", s.URL+vendors.RoomsPath)
	must("", "mcp", "tools", "rooms")
	must("", "-disconnect", "mcp:rooms")
	refused("rooms (MCP) is not connected", "mcp", "tools", "rooms")
	must("", "mcp", "remove", "rooms")
	if x, err := rows.Settings(t.Context(), tenant); err != nil || len(x.MCPServers) != 0 || x.UpdatedBy != "U0ADMIN" {
		t.Errorf("%+v, %v", x, err)
	}
}
