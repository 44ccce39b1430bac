package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

// Conversations saves messages to agents, each in one transaction.
type Conversations interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Begin(ctx context.Context, c aggregate.Change) error
	Tell(ctx context.Context, ref aggregate.Ref, c aggregate.Change) error
	Decide(ctx context.Context, ref aggregate.Ref, decide conversation.Decision) (*conversation.Aggregate, error)
}

// settingsFor is how long the settings that say which agent a direct message is to are cached.
const settingsFor = time.Minute

const mostKnown = 100

// toAgent saves a message to an agent: one that begins with an agent's name, any other direct message if the settings
// say so, and what is written in the thread of a conversation; in a channel what mentions Ringi. There a name needs its
// colon, and opens a conversation within a thread, too: the channel's people are its people. taken is false for any
// other message.
func (h *Handler) toAgent(
	ctx context.Context, e envelope, m message, r task.Request,
) (out slackapi.Response, taken bool, err error) {
	s, err := h.settings(ctx, aggregate.TenantID(r.TeamID))
	if err != nil {
		return out, true, unkept(ctx, r.EventID, err)
	}
	in := conversation.Inbound{
		Team: r.TeamID, Channel: r.Channel, ChannelType: r.ChannelType, Thread: r.ThreadTS, TS: r.MessageTS, User: r.User,
		Text: r.Text, Forwarded: r.Forwarded, Attachments: attachments(r),
	}
	if r.Threaded() {
		if taken, err := h.tell(ctx, in, s, r); taken || m.channelType() == "im" {
			return slackapi.OK(), taken, err
		}
	}
	opening := openingOf(s)
	to, ok := addressee(s, in.Text)
	if !ok || m.channelType() != "im" && !calls.MatchString(in.Text) {
		return out, false, nil
	}
	if gone, err := h.known(ctx, r); gone || err != nil {
		return slackapi.OK(), true, err
	}
	if to.asksSource {
		if e.Shared { // people of other organizations read it
			s.Sources = nil
		}
		from, listed, err := h.source(ctx, r, to, s.Sources, e.Shared)
		switch {
		case err != nil:
			return out, true, unkept(ctx, r.EventID, err)
		case from == nil:
			out, err := h.noSource(ctx, r, to, listed)
			return out, true, err
		}
		opening.Source = conversation.SourceOf(*from)
	}
	now, err := h.Conversations.Settings(ctx, in.Ref().Tenant) // a conversation stays in the language of its first message
	if err != nil {
		return out, true, unkept(ctx, r.EventID, err)
	}
	opening.Locale = language.Detect(to.text, now.Locale)
	opening.AgentID = to.agent
	in.Text = worded(in.Text, to.text)
	c, err := conversation.Begin(in, opening, h.Now())
	if err == nil {
		err = h.Conversations.Begin(ctx, c)
	}
	if errors.Is(err, aggregate.ErrExists) && r.Threaded() { // somebody else's message may have begun it in this moment
		if c, err = conversation.Tell(in, opening, h.Now()); err == nil {
			err = h.Conversations.Tell(ctx, in.Ref(), c)
		}
	}
	return slackapi.OK(), true, said(ctx, in, to.agent, r, err)
}

// tell saves a message, or its change, to the conversation of its thread. told is false if the thread has none.
func (h *Handler) tell(ctx context.Context, in conversation.Inbound, s tenancy.Settings, r task.Request) (
	told bool, err error) {
	c, err := conversation.Tell(in, openingOf(s), h.Now())
	if err == nil {
		err = h.Conversations.Tell(ctx, in.Ref(), c)
	}
	if errors.Is(err, aggregate.ErrNotFound) {
		return false, nil
	}
	return true, said(ctx, in, "", r, err)
}

// source returns the listed source that a message names, or nil, and the sources that are listed. What was cached may
// lack one that an administrator has just listed, so a refusal goes by what the settings say now.
func (h *Handler) source(
	ctx context.Context, r task.Request, to addressed, listed []tenancy.Source, shared bool,
) (*tenancy.Source, []tenancy.Source, error) {
	from, known := tenancy.SourceNamed(listed, to.source, r.User, to.agent)
	if !known && !shared {
		now, err := h.Conversations.Settings(ctx, aggregate.TenantID(r.TeamID))
		if err != nil {
			return nil, nil, err
		}
		listed = now.Sources
		from, known = tenancy.SourceNamed(listed, to.source, r.User, to.agent)
	}
	if !known {
		return nil, listed, nil
	}
	return &from, listed, nil
}

// settings returns the tenant's settings, cached for settingsFor.
func (h *Handler) settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	return h.cached.Ask(tenant, h.Now(), settingsFor, func() (tenancy.Settings, error) {
		return h.Conversations.Settings(ctx, tenant)
	})
}

func openingOf(s tenancy.Settings) conversation.Opening {
	return conversation.Opening{IsCached: s.AISessions.Cache.Enabled, Locale: s.Locale}
}

// said returns the answer to Slack after the write. It doesn't log which agent answers in a thread: the conversation's
// row has that, and is not read here.
func said(ctx context.Context, in conversation.Inbound, agent string, r task.Request, err error) error {
	log := slog.With("session_id", in.Ref().ID, "event_id", r.EventID)
	switch {
	case errors.Is(err, aggregate.ErrExists):
		log.InfoContext(ctx, "repeated")
	case err != nil:
		return unkept(ctx, r.EventID, err)
	default:
		conversation.Log(ctx, conversation.EventMessage, in.Ref().ID, agent, "", "event_id", r.EventID, "characters",
			len([]rune(in.Text)), "files", len(in.Attachments))
	}
	return nil
}

// errAgain asks Slack to deliver the event again.
var errAgain = slackapi.Unavailable("the event could not be kept, send it again")

func unkept(ctx context.Context, event string, err error) error {
	slog.ErrorContext(ctx, "not kept", "event_id", event, "err", err)
	return errAgain
}

// named matches an agent's name, the source after an @ and the separator. The beginning of a longer word is no name,
// and what has a dot after the @ is an e-mail address.
var named = regexp.MustCompile(
	`^([A-Za-z0-9][A-Za-z0-9._-]{0,63})([@＠]+[^\s:：、,.@＠]{0,64})?(?:\s*[:：、,]\s*|[\s\x{3000}]+|$)`)

// calls matches a text that begins with a name and a colon or a comma, as one that calls somebody does.
var calls = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}([@＠]+[^\s:：、,.@＠]{0,64})?\s*[:：、,]`)

// mention matches Slack's mentions of people and groups.
var mention = regexp.MustCompile(`<[@!][^<>]*>|@(?:here|channel|everyone)`)

// worded returns a message without the agent's name, or all of it if there are nothing but mentions, spaces and
// invisible characters beside it.
func worded(text, rest string) string {
	if !language.Legible(mention.ReplaceAllString(rest, "")) {
		return text
	}
	return rest
}

// addressed says whom a direct message is to.
type addressed struct {
	agent, text string // text is the message without the names
	asksSource  bool
	source      string // its name as it was typed
}

// addressee returns the agent and the source that a direct message is to. ok is false for a message that makes a task.
func addressee(s tenancy.Settings, text string) (to addressed, ok bool) {
	defs := tenancy.NamedAgents(s.Agents)
	if begin := named.FindStringSubmatch(text); begin != nil {
		at := slices.IndexFunc(defs, func(d tenancy.Agent) bool { return strings.EqualFold(d.ID, begin[1]) })
		if at >= 0 {
			return addressed{agent: defs[at].ID, text: text[len(begin[0]):], asksSource: begin[2] != "",
				source: strings.TrimLeft(begin[2], "@＠")}, true
		}
	}
	return addressed{}, false
}

// attachments lists a message's files. It doesn't read their contents. What is not listed is the first of the list, so
// that people are told of it before other files.
func attachments(r task.Request) (out []conversation.Attachment) {
	if r.MoreFiles > 0 {
		out = append(out, conversation.Attachment{Kind: "unread", Name: fmt.Sprintf("+%d", r.MoreFiles),
			FileID: "beyond " + r.MessageTS, Why: conversation.Beyond})
	}
	for _, f := range r.Files {
		out = append(out, conversation.Attachment{Kind: "unread", Name: f.Name, Type: f.Type, FileID: f.ID, Bytes: f.Bytes,
			Owner: f.User})
	}
	return out
}

// stopped ends the conversation's present work after somebody pressed Slack's stop button. Only the person who began
// the conversation may; others can cancel actions on their cards.
func (h *Handler) stopped(ctx context.Context, e envelope) (slackapi.Response, error) {
	var stop struct {
		Channel  string `json:"channel"`
		ThreadTS string `json:"thread_ts"`
		User     string `json:"user"`
	}
	if err := slackapi.Decode(e.Event, &stop, "event"); err != nil {
		return slackapi.Response{}, err
	}
	if err := slackapi.CheckIDs("team_id", e.team(), "event.user", stop.User, "event.channel", stop.Channel); err != nil {
		return slackapi.Response{}, err
	}
	if err := slackapi.CheckTS("event.thread_ts", stop.ThreadTS); err != nil {
		return slackapi.Response{}, err
	}
	ref := conversation.Inbound{Team: e.team(), Channel: stop.Channel, Thread: stop.ThreadTS}.Ref()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: stop.User, Team: e.team()}
	_, err := h.Conversations.Decide(ctx, ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Stop(by, aggregate.Policy{Team: e.team(), Mode: aggregate.ApproversList}, h.Now())
	})
	switch class := explain.ClassOf(err); {
	case err == nil:
		slog.InfoContext(ctx, "stopped", "session_id", ref.ID)
	case class.Refusal(), class == explain.Superseded, class == explain.Changed:
		// Nothing is in progress, or this person may not stop it.
		slog.InfoContext(ctx, "not stopped", "session_id", ref.ID, "err", err)
	default:
		slog.ErrorContext(ctx, "not stopped", "session_id", ref.ID, "err", err)
		return slackapi.Response{}, errAgain
	}
	return slackapi.OK(), nil
}
