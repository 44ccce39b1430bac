package slackapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
	"ringi/shared/words/language"
)

// noChannel are Slack's answers about a channel's former id. Methods for files have the second one
// (https://docs.slack.dev/reference/methods/files.completeUploadExternal#errors).
var noChannel = []string{"channel_not_found", "invalid_channel"}

// moved finds what Slack calls a channel by now.
type moved struct {
	of    func(ctx context.Context, tenant string) (tenancy.Channels, error)
	known clock.Answers[string, tenancy.Channels] // by tenant
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

// recently is all, but may be known for a while: what only links and shows may name a former id.
func (m *moved) recently(ctx context.Context) tenancy.Channels {
	all, err := m.known.Ask(Tenant(ctx), time.Now(), time.Minute, func() (tenancy.Channels, error) { return m.all(ctx) })
	if err != nil {
		slog.WarnContext(ctx, "read which channels got other ids", "err", err)
	}
	return all
}

// mentioned matches the mention of a channel in a call's body, which may be a form.
var mentioned = language.Regexp{Text: `((?:%3C|[uU]003[cC]|<)(?:%23|#))([CG][A-Z0-9]+)`}

// named returns a call's body with the channels that its text mentions by their present ids: Slack shows nobody the
// name of a former one.
func (m *moved) named(ctx context.Context, body []byte) []byte {
	if !mentioned.Get().Match(body) {
		return body
	}
	all := m.recently(ctx)
	return mentioned.Get().ReplaceAllFunc(body, func(is []byte) []byte {
		part := mentioned.Get().FindSubmatch(is)
		return append(slices.Clone(part[1]), all.Now(string(part[2]))...)
	})
}

// follow returns a call with the present ids of its channels, or nil if it has them already.
func (m *moved) follow(r *http.Request, body []byte) (*http.Request, []byte) {
	all, err := m.all(r.Context())
	if err != nil {
		slog.WarnContext(r.Context(), "read which channels got other ids", "err", err)
		return nil, nil
	}
	changed := false
	query := r.URL.Query()
	present(query, all, &changed)
	now := r.Clone(r.Context())
	now.URL.RawQuery = query.Encode()
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, nil
		}
		present(form, all, &changed)
		body = []byte(form.Encode())
	case "application/json":
		var members map[string]json.RawMessage
		if json.Unmarshal(body, &members) != nil {
			return nil, nil
		}
		for _, field := range channelFields {
			var was string
			if json.Unmarshal(members[field], &was) == nil && all.Now(was) != was {
				members[field], _ = json.Marshal(all.Now(was)) // a string
				changed = true
			}
		}
		body, _ = json.Marshal(members) // they were read from it
	}
	if !changed {
		return nil, nil
	}
	return now, body
}

// channelFields are the arguments by which calls name channels.
var channelFields = []string{"channel", "channel_id"}

// present gives the channels in a call's arguments their present ids.
func present(args url.Values, all tenancy.Channels, changed *bool) {
	for _, field := range channelFields {
		if was := args.Get(field); was != "" && all.Now(was) != was {
			args.Set(field, all.Now(was))
			*changed = true
		}
	}
}
