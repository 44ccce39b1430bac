package lambda

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestWhoIsAnswered(t *testing.T) {
	const self = "127.0.0.1:3000"
	for _, tt := range []struct {
		name, method, host string
		header             map[string]string
		answered           bool
	}{
		{"a program", "POST", self, nil, true},
		{"by another name of this machine", "GET", "localhost:3000", nil, true},
		{"by IPv6", "GET", "[::1]:3000", nil, true},
		{"by the address that it came in at", "GET", "192.0.2.7:3000", nil, true},
		{"an address that somebody typed", "GET", self, map[string]string{"Sec-Fetch-Site": "none"}, true},
		{"its own page", "POST", self, map[string]string{"Origin": "http://" + self, "Sec-Fetch-Site": "same-origin"}, true},
		{"a link on another port", "GET", self, map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, true},

		{"no name", "GET", "", nil, false},
		{"a foreign name", "GET", "evil.example:3000", nil, false},
		{"a name that begins like ours", "GET", "localhost.evil.example:3000", nil, false},
		{"a name that ends like ours", "GET", "evil.localhost:3000", nil, false},
		{"a name with an address in it", "GET", "127.0.0.1.evil.example:3000", nil, false},
		{"an address that is none of ours", "GET", "192.0.2.8:3000", nil, false},
		{"no address at all", "GET", "0.0.0.0:3000", nil, false},
		{"a page of a foreign name that resolves to here", "POST", "evil.example:3000",
			map[string]string{"Origin": "http://evil.example:3000", "Sec-Fetch-Site": "same-origin"}, false},
		{"another origin", "POST", self, map[string]string{"Origin": "https://evil.example"}, false},
		{"another port", "POST", self, map[string]string{"Origin": "http://127.0.0.1:8000"}, false},
		{"an origin that is hidden", "POST", self, map[string]string{"Origin": "null"}, false},
		{"our origin over https", "POST", self, map[string]string{"Origin": "https://" + self}, false},
		{"a picture on another site", "GET", self, map[string]string{"Sec-Fetch-Site": "cross-site"}, false},
		{"a link on another site", "GET", self, map[string]string{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, false},
		{"a picture on another port", "GET", self, map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, false},
		{"a frame on another port", "GET", self, map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, false},
		{"a form on another port", "POST", self, map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, false},
		{"a word that nobody knows", "GET", self, map[string]string{"Sec-Fetch-Site": "new-word"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
			r := httptest.NewRequest(tt.method, "/", nil)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
				&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 3000}))
			r.Host = tt.host
			for name, value := range tt.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			want := http.StatusForbidden
			if tt.answered {
				want = http.StatusOK
			}
			expect.That(t, asked == tt.answered && w.Code == want, "answered %v with %d", asked, w.Code)
		})
	}
}
