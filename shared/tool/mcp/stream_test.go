package mcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
)

// stream answers with events: the place to go on from, news, and then the server's answer.
func stream(w http.ResponseWriter, r *http.Request, s http.Handler) {
	kept := httptest.NewRecorder()
	s.ServeHTTP(kept, r)
	body := kept.Body.Bytes()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "id: 1\nretry: 10\ndata:\n\n")
	fmt.Fprint(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":{\"result\":1}}}\n\n")
	fmt.Fprintf(w, "event: message\r\ndata: %s\r\n\r\n", body)
}
