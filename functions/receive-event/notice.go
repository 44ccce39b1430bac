package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

// opened greets a person who opens the app's messages for the first time, and asks update-card for the Home tab that
// somebody opened. Slack sends the event each time; after the first the greeting's row exists and nothing is written.
func (h *Handler) opened(ctx context.Context, e envelope) (slackapi.Response, error) {
	var home struct {
		User    string `json:"user"`
		Channel string `json:"channel"`
		Tab     string `json:"tab"`
	}
	if err := slackapi.Decode(e.Event, &home, "event"); err != nil {
		return slackapi.Response{}, err
	}
	if home.Tab != "messages" && home.Tab != "home" {
		return ignore(ctx, e, ignoredType)
	}
	if err := slackapi.CheckIDs("team_id", e.team(), "event.user", home.User, "event.channel", home.Channel); err != nil {
		return slackapi.Response{}, err
	}
	if home.Tab == "home" {
		if _, err := h.Queue.SendMessage(ctx, effect.OpenedHome(h.QueueURL, e.team(), home.User, e.EventID)); err != nil {
			return slackapi.Response{}, unkept(ctx, e.EventID, err)
		}
		return slackapi.OK(), nil
	}
	r := task.Request{
		TeamID: e.team(), User: home.User, Channel: home.Channel, ChannelType: "im", Source: task.SourceAgentContainer,
		EventID: e.EventID,
	}
	change, ref := task.Tell(aggregate.TenantID(r.TeamID), r, task.ReasonGreeting, r.User, "", h.Now())
	return h.create(ctx, change, ref, r)
}

// noSource tells a person that a message names a source that they can't use there, and which they can. No conversation
// begins, so that none has other files than were meant. The message's text is not saved.
func (h *Handler) noSource(
	ctx context.Context, r task.Request, to addressed, sources []tenancy.Source,
) (slackapi.Response, error) {
	r = r.Unsaid()
	name := ""
	if typedSource.MatchString(to.source) { // anything else could look like our own words
		name = to.source
	}
	detail := name + "/" + strings.Join(tenancy.SourcesFor(sources, r.User, to.agent), ", ")
	about := r.Channel + " " + r.MessageTS
	change, ref := task.Tell(aggregate.TenantID(r.TeamID), r, task.ReasonNoSource, about, detail, h.Now())
	return h.create(ctx, change, ref, r)
}

var typedSource = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// changed revokes the keys for which somebody answers who has left, or is a guest now. Once somebody has left, people
// are looked up again for what waits. Other changes of a person are ignored
// (https://docs.slack.dev/reference/events/user_change).
func (h *Handler) changed(ctx context.Context, e envelope) (slackapi.Response, error) {
	var x struct {
		User struct {
			ID      string `json:"id"`
			Deleted bool   `json:"deleted"`
			Guest   bool   `json:"is_restricted"`
		} `json:"user"`
	}
	if err := slackapi.Decode(e.Event, &x, "event"); err != nil {
		return slackapi.Response{}, err
	}
	if !x.User.Deleted && !x.User.Guest {
		return ignore(ctx, e, ignoredType)
	}
	if err := slackapi.CheckIDs("team_id", e.team(), "event.user.id", x.User.ID); err != nil {
		return slackapi.Response{}, err
	}
	tenant := aggregate.TenantID(e.team())
	n, err := h.Store.RevokeKeysOf(ctx, tenant, x.User.ID, h.Now())
	if x.User.Deleted { // any change of a guest looks alike
		err = errors.Join(err, h.Store.LookAgain(ctx, tenant, h.Now()))
	}
	if err != nil {
		return slackapi.Response{}, unkept(ctx, e.EventID, err)
	}
	slog.InfoContext(ctx, "somebody left", "event_id", e.EventID, "keys", n)
	return slackapi.OK(), nil
}

// Slack shows notes to one person, and names the user groups of a text.
type Slack interface {
	Label(ctx context.Context, m *slackapi.Message)
	Ephemeral(ctx context.Context, channel, thread, user, text string, blocks ...slack.Block) error
}

// mostBeside is how many requests of a thread are looked at, the newest first, and the one that began it.
const mostBeside = 10

// beside answers a message in a thread in which a request waits for people: it is no request. otherwise says why it is
// none where nothing waits, either; nil: done is false there. Only its author sees the note, and nothing is saved.
func (h *Handler) beside(ctx context.Context, r task.Request, otherwise func(locale string) string) (
	done bool, err error) {
	a, err := h.waiting(ctx, r)
	if err != nil {
		return true, unkept(ctx, r.EventID, err)
	}
	if a == nil && otherwise == nil {
		return false, nil
	}
	s, err := h.settings(ctx, aggregate.TenantID(r.TeamID))
	if err != nil {
		return true, unkept(ctx, r.EventID, err)
	}
	if a == nil {
		h.note(ctx, r, otherwise(language.Detect(r.Text, s.Locale)))
		return true, nil
	}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: r.User, Team: r.TeamID, Member: true, Channel: r.Channel}
	text, blocks := card.NoRequest(a, by, s.Policy(r.TeamID), r.Text, a.Language(s.Locale))
	h.note(ctx, r, text, blocks...)
	return true, nil
}

// note shows the author of a message a text where they wrote it. They may not see it if Slack fails.
func (h *Handler) note(ctx context.Context, r task.Request, text string, blocks ...slack.Block) {
	ctx = slackapi.For(ctx, aggregate.TenantID(r.TeamID))
	thread := ""
	if r.Threaded() {
		thread = r.ThreadTS
	}
	log := slog.With("event_id", r.EventID, "user", r.User)
	if err := h.Slack.Ephemeral(ctx, r.Channel, thread, r.User, text, blocks...); err != nil {
		log.WarnContext(ctx, "no note is shown", "err", err)
		return
	}
	log.InfoContext(ctx, "noted")
}

// waiting returns the request in a message's thread that waits for people, or nil: the newest that was written there,
// or the one that began it. The index, which may lag, only lists them; their rows are read from the table.
func (h *Handler) waiting(ctx context.Context, r task.Request) (*task.Aggregate, error) {
	tenant := aggregate.TenantID(r.TeamID)
	refs, err := h.Tasks.Thread(ctx, tenant, r.Channel, r.ThreadTS, mostBeside)
	if err != nil {
		return nil, fmt.Errorf("list the requests of a thread: %w", err)
	}
	if root, err := task.ID(r.TeamID, r.Channel, r.ThreadTS); err == nil { // else it is no valid Slack timestamp
		refs = append(refs, task.RefOf(tenant, root))
	}
	for _, ref := range refs {
		a, err := h.Tasks.Load(ctx, ref)
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
			continue
		case err != nil:
			return nil, fmt.Errorf("load a request of the thread: %w", err)
		}
		if _, waits := a.Asks(); waits {
			return a, nil
		}
	}
	return nil, nil
}
