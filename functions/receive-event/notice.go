package main

import (
	"context"
	"log/slog"
	"regexp"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store/records"
)

// opened greets a person who opens the app's messages for the first time. Slack sends the event each time; after the
// first the greeting's row exists and nothing is written.
func (h *Handler) opened(ctx context.Context, e envelope) (inbound.Response, error) {
	var home struct {
		User    string `json:"user"`
		Channel string `json:"channel"`
		Tab     string `json:"tab"`
	}
	if err := inbound.Decode(e.Event, &home, "event"); err != nil {
		return inbound.Response{}, err
	}
	if home.Tab != "messages" && home.Tab != "home" {
		return ignore(ctx, e, ignoredType)
	}
	if err := inbound.CheckIDs("team_id", e.team(), "event.user", home.User, "event.channel", home.Channel); err != nil {
		return inbound.Response{}, err
	}
	if home.Tab == "home" {
		return h.openedHome(ctx, e, home.User)
	}
	r := task.Request{
		TeamID: e.team(), User: home.User, Channel: home.Channel, ChannelType: "im", Source: task.SourceAgentContainer,
		EventID: e.EventID,
	}
	change, ref := task.Tell(aggregate.TenantID(r.TeamID), r, task.ReasonGreeting, r.User, "", h.Now())
	return h.create(ctx, change, ref, r)
}

// openedHome records that a person opened the Home tab. The tab is published now, and again while they may still be
// looking at it.
func (h *Handler) openedHome(ctx context.Context, e envelope, user string) (inbound.Response, error) {
	if err := h.Store.HomeOpened(ctx, aggregate.TenantID(e.team()),
		records.OpenHome{Team: e.team(), User: user, OpenedAt: h.Now()}); err != nil {
		return inbound.Response{}, unkept(ctx, e.EventID, err)
	}
	return inbound.OK(), nil
}

// noSource tells a person that a message names a source that they can't use there, and which they can. No conversation
// begins, so that none has other files than were meant. The message's text is not saved.
func (h *Handler) noSource(
	ctx context.Context, r task.Request, to addressed, sources []agent.Source,
) (inbound.Response, error) {
	r = r.Unsaid()
	name := ""
	if typedSource.MatchString(to.source) { // anything else could look like our own words
		name = to.source
	}
	detail := name + "/" + strings.Join(agent.SourcesFor(sources, r.User, to.agent), ", ")
	about := r.Channel + " " + r.MessageTS
	change, ref := task.Tell(aggregate.TenantID(r.TeamID), r, task.ReasonNoSource, about, detail, h.Now())
	return h.create(ctx, change, ref, r)
}

var typedSource = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// changed revokes the keys for which somebody answers who has left, or is a guest now. Other changes of a person are
// ignored (https://docs.slack.dev/reference/events/user_change).
func (h *Handler) changed(ctx context.Context, e envelope) (inbound.Response, error) {
	var x struct {
		User struct {
			ID      string `json:"id"`
			Deleted bool   `json:"deleted"`
			Guest   bool   `json:"is_restricted"`
		} `json:"user"`
	}
	if err := inbound.Decode(e.Event, &x, "event"); err != nil {
		return inbound.Response{}, err
	}
	if !x.User.Deleted && !x.User.Guest {
		return ignore(ctx, e, ignoredType)
	}
	if err := inbound.CheckIDs("team_id", e.team(), "event.user.id", x.User.ID); err != nil {
		return inbound.Response{}, err
	}
	n, err := h.Store.RevokeKeysOf(ctx, aggregate.TenantID(e.team()), x.User.ID, h.Now())
	if err != nil {
		return inbound.Response{}, unkept(ctx, e.EventID, err)
	}
	slog.InfoContext(ctx, "somebody left", "event_id", e.EventID, "keys", n)
	return inbound.OK(), nil
}
