package stack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"ringi/shared/slack/slackapi/inbound"
)

// maxPreparedBody is how many bytes of a body are read to find the workspace's id.
const maxPreparedBody = 2 << 20

// preparer calls Options.PrepareTeam before the first request of a workspace reaches a function. With another Slack
// than the sandbox, the workspaces are not known at the start.
type preparer struct {
	stack *Stack
	next  http.Handler
	mu    sync.Mutex
	seen  map[string]bool
}

func (a *preparer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPreparedBody))
	// A request without a valid signature prepares nothing, and the function refuses it.
	if err == nil && inbound.Verify(r.Header, body, a.stack.SigningSecret, time.Now()) == nil {
		a.prepareTeam(r.Context(), teamOf(r.Header.Get("Content-Type"), body))
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	a.next.ServeHTTP(w, r)
}

func (a *preparer) prepareTeam(ctx context.Context, team string) {
	a.mu.Lock()
	defer a.mu.Unlock() // a second request of the same team waits for the preparation
	if team == "" || a.seen[team] {
		return
	}
	if err := a.stack.options.PrepareTeam(ctx, a.stack, team); err != nil {
		a.stack.log.Error("prepare the workspace", "err", err)
		return
	}
	a.seen[team] = true
}

// teamOf returns the workspace's id from an event or interaction, or "".
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
	return cmp.Or(from.TeamID, from.Team.ID)
}
