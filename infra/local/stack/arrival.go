package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"ringi/shared/slackapi/inbound"
)

// maxArrival is how much of a body is looked at for the workspace's id.
const maxArrival = 2 << 20

// arrival lets Options.Arrive prepare a workspace before its first call reaches
// a function: another Slack's team is not known before.
type arrival struct {
	stack *Stack
	next  http.Handler
	mu    sync.Mutex
	seen  map[string]bool
}

func (a *arrival) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxArrival))
	// What Slack didn't sign prepares nothing; the function will refuse it.
	if err == nil && inbound.Verify(r.Header, body, a.stack.SigningSecret, time.Now()) == nil {
		a.welcome(r.Context(), teamOf(r.Header.Get("Content-Type"), body))
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	a.next.ServeHTTP(w, r)
}

func (a *arrival) welcome(ctx context.Context, team string) {
	a.mu.Lock()
	defer a.mu.Unlock() // a second call of the same team waits until it is prepared
	if team == "" || a.seen[team] {
		return
	}
	if err := a.stack.options.Arrive(ctx, a.stack, team); err != nil {
		a.stack.log.Error("prepare the workspace", "err", err)
		return
	}
	a.seen[team] = true
}

// teamOf reads the workspace's id off an event or an interaction; "" if there is none.
func teamOf(contentType string, body []byte) string {
	var from struct {
		TeamID string `json:"team_id"`
		Team   struct {
			ID string `json:"id"`
		} `json:"team"`
	}
	if kind, _, _ := mime.ParseMediaType(contentType); kind == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return ""
		}
		body = []byte(form.Get("payload"))
	}
	if json.Unmarshal(body, &from) != nil {
		return ""
	}
	if from.TeamID != "" {
		return from.TeamID
	}
	return from.Team.ID
}
