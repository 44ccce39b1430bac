package slackapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"ringi/shared/domain/tenancy"
)

// codeNoChannel is Slack's answer about a channel's former id.
const codeNoChannel = "channel_not_found"

// moved finds what Slack calls a channel by now.
type moved struct {
	of func(ctx context.Context, tenant string) (tenancy.Channels, error)
}

// Follow makes the client find the present ids of channels that got others: a call that Slack refuses for a former id,
// so that it had no effect, is made again with the present one.
func (c *Client) Follow(of func(ctx context.Context, tenant string) (tenancy.Channels, error)) {
	c.moved.of = of
}

// all returns the channels of the context's tenant that got other ids.
func (m *moved) all(ctx context.Context) (tenancy.Channels, error) {
	if m.of == nil || Tenant(ctx) == "" {
		return nil, nil
	}
	return m.of(ctx, Tenant(ctx))
}

// follow returns the body of a call with the present ids of its channels, or nil if it has them already.
func (m *moved) follow(r *http.Request, body []byte) []byte {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil
	}
	all, err := m.all(r.Context())
	if err != nil {
		slog.WarnContext(r.Context(), "read which channels got other ids", "err", err)
		return nil
	}
	changed := false
	for _, field := range []string{"channel", "channel_id"} {
		if was := form.Get(field); was != "" && all.Now(was) != was {
			form.Set(field, all.Now(was))
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return []byte(form.Encode())
}
