package vendors_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/vendors"
)

func TestTheRoomsAreBehindTheirDoor(t *testing.T) {
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	ask := func(token, body string) int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, s.URL+vendors.RoomsPath, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	book := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book_room","arguments":{"room_id":"fuji","date":"2026-04-01","start":"10:00","end":"11:00","title":"t"}}}`
	if got := ask("another", book); got != http.StatusUnauthorized || v.Calls(vendors.BookRoom) != 0 {
		t.Errorf("another token: %d", got)
	}
	v.Fail(vendors.BookRoom, http.StatusTooManyRequests, true)
	if got := ask(v.RoomsToken(), book); got != http.StatusTooManyRequests {
		t.Errorf("made to fail: %d", got)
	}
	v.Fail(vendors.BookRoom, 0, false)
	if got := ask(v.RoomsToken(), book); got != http.StatusOK || len(v.Rooms().Bookings()) != 1 || v.Calls(vendors.BookRoom) != 2 {
		t.Errorf("booked: %d, %d calls", got, v.Calls(vendors.BookRoom))
	}
}
