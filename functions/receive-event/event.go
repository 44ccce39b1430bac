package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/slackapi"
)

type envelope struct {
	Type           string          `json:"type"`
	Challenge      string          `json:"challenge"`
	TeamID         string          `json:"team_id"`
	ContextTeam    string          `json:"context_team_id"`
	Enterprise     string          `json:"enterprise_id"`
	AppID          string          `json:"api_app_id"`
	EventID        string          `json:"event_id"`
	EventTime      int64           `json:"event_time"` // seconds
	Event          json.RawMessage `json:"event"`
	Authorizations []authorization `json:"authorizations"`
	Shared         bool            `json:"is_ext_shared_channel"` // shared with another organization
}

// authorization is the installation that receives the event.
type authorization struct {
	TeamID string `json:"team_id"`
	UserID string `json:"user_id"`
	IsBot  bool   `json:"is_bot"`
	// Enterprise is the workspace's organization, or empty.
	Enterprise string `json:"enterprise_id"`
	// Organization means that the app is installed for a whole organization, with a token that belongs to no workspace.
	Organization bool `json:"is_enterprise_install"`
}

// team returns the tenant's workspace. In a channel that workspaces share, team_id may be the author's workspace. As in
// Slack's Bolt, the authorization says which installation the event is for, or without one context_team_id does
// (https://docs.slack.dev/apis/events-api/#callback-field).
func (e envelope) team() string {
	if len(e.Authorizations) > 0 && e.Authorizations[0].TeamID != "" {
		return e.Authorizations[0].TeamID
	}
	return cmp.Or(e.ContextTeam, e.TeamID)
}

// organization reports whether the event is for an installation for a whole organization. Those are refused, because
// tokens, settings and rows belong to a workspace.
func (e envelope) organization() bool {
	return len(e.Authorizations) > 0 && e.Authorizations[0].Organization || e.team() == "" && e.Enterprise != ""
}

// bot returns the user id of our bot, or "" if the event does not name it.
func (e envelope) bot() string {
	for _, a := range e.Authorizations {
		if a.IsBot {
			return a.UserID
		}
	}
	return ""
}

// at returns when the event happened by Slack's clock. Slack gives whole seconds: at returns the end of that second, or
// now if the event has no time.
func (e envelope) at(now time.Time) time.Time {
	if e.EventTime <= 0 {
		return now
	}
	return time.Unix(e.EventTime, 0).Add(time.Second - time.Millisecond)
}

// enterprise returns the organization of the workspace that the event is for, or "".
func (e envelope) enterprise() string {
	if len(e.Authorizations) > 0 && e.Authorizations[0].Enterprise != "" {
		return e.Authorizations[0].Enterprise
	}
	return e.Enterprise
}

// ended returns why an event ends integrations. It is empty if nothing ends, as for a person's revoked token: Ringi
// uses only the bot's.
func (e envelope) ended(what string) (tenancy.IntegrationReason, error) {
	if err := slackapi.CheckIDs("team_id", e.team(), "event_id", e.EventID); err != nil {
		return "", err
	}
	if what == "app_uninstalled" {
		return tenancy.AppUninstalled, nil
	}
	var revoked struct {
		Tokens struct {
			Bot []string `json:"bot"`
		} `json:"tokens"`
	}
	if err := slackapi.Decode(e.Event, &revoked, "event"); err != nil || len(revoked.Tokens.Bot) == 0 {
		return "", err
	}
	return tenancy.TokensRevoked, nil
}

// kind has the members that decide whether an event is handled. It is decoded first, since other members differ between
// kinds of events.
type kind struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
}

type message struct {
	kind
	slackapi.Message
	User        string          `json:"user"`
	BotID       string          `json:"bot_id"`
	AppID       string          `json:"app_id"` // of the app that wrote it
	Edited      *struct{}       `json:"edited"` // in channels an edit of what mentions the bot is its app_mention again
	TS          string          `json:"ts"`
	ThreadTS    string          `json:"thread_ts"`
	Channel     string          `json:"channel"`
	ChannelType string          `json:"channel_type"`
	Team        string          `json:"team"`
	UserTeam    string          `json:"user_team"`
	SourceTeam  string          `json:"source_team"`
	BotProfile  json.RawMessage `json:"bot_profile"`
}

// automatic reports whether Slack, Ringi or another app wrote the message.
func (m message) automatic(e envelope) bool {
	return m.BotID != "" || m.AppID != "" || len(m.BotProfile) > 0 && string(m.BotProfile) != "null" ||
		m.User == slackapi.Slackbot || m.User != "" && m.User == e.bot()
}

// foreign reports whether the author belongs to another workspace. An organization's id doesn't say to which of its
// workspaces they belong: who their request is of asks users.info. In a shared channel Slack must say where they
// belong.
func (m message) foreign(e envelope) bool {
	team, org := cmp.Or(m.UserTeam, m.SourceTeam, m.Team), e.enterprise()
	switch {
	case team == "":
		return e.Shared
	case strings.HasPrefix(team, "E"):
		return org != "" && team != org
	}
	return team != e.team()
}

// channelType returns the channel's type. A mention comes without it; then the channel's id decides.
func (m message) channelType() string {
	return cmp.Or(m.ChannelType, slackapi.ChannelType(m.Channel))
}

// The reasons for which an accepted event makes no task.
const (
	ignoredType    = "type"
	ignoredSubtype = "subtype"
	ignoredBot     = "bot"
	ignoredChannel = "not_addressed"
	ignoredForeign = "foreign_workspace"
	ignoredOrg     = "organization_install" // which is not supported
)

// personal are the subtypes of messages that people write: with a file, as a reply that the channel sees too, by /me.
// Other subtypes are edits and notices.
var personal = []string{"", "file_share", "thread_broadcast", "me_message"}

// ignored says why a kind of event makes no task, or "" if it may make one.
func (k kind) ignored() string {
	switch {
	case k.Type != "app_mention" && k.Type != "message":
		return ignoredType
	case k.Subtype == "bot_message":
		return ignoredBot
	case !slices.Contains(personal, k.Subtype):
		return ignoredSubtype
	}
	return ""
}

// ignored says why this message makes no task, or "" if it makes one.
func (m message) ignored(e envelope, us bot) string {
	switch {
	case m.automatic(e):
		return ignoredBot
	case m.Type == "message" && m.channelType() != "im" && !us.only(m):
		return ignoredChannel
	case m.foreign(e):
		return ignoredForeign
	}
	return ""
}

// request checks every field that is saved, and returns the request. It cuts text over Slack's own limit.
func (m message) request(e envelope, us bot) (task.Request, error) {
	for _, f := range []struct {
		name, value string
		required    bool
	}{
		{"team_id", e.team(), true},
		{"event_id", e.EventID, false},
		{"event.user", m.User, true},
		{"event.channel", m.Channel, true},
		{"event.channel_type", m.ChannelType, false},
	} {
		if err := slackapi.CheckID(f.name, f.value); err != nil && (f.required || f.value != "") {
			return task.Request{}, err
		}
	}
	if err := slackapi.CheckTS("event.ts", m.TS); err != nil {
		return task.Request{}, err
	}
	content := m.Content()
	r := task.Request{
		TeamID: e.team(), Text: us.plain(content.Text), User: m.User, Channel: m.Channel, ChannelType: m.channelType(),
		MessageTS: m.TS, ThreadTS: cmp.Or(m.ThreadTS, m.TS), Source: slackapi.SourceOf(m.channelType()), EventID: e.EventID,
		Forwarded: content.Forwarded, Files: content.Files, MoreFiles: content.MoreFiles,
	}
	return r, slackapi.CheckTS("event.thread_ts", r.ThreadTS)
}

// bot is how messages mention Ringi: by its bot's user id, and by the bot's own id, which some of Slack's clients
// write. Either may be unknown.
type bot struct{ user, id string }

// us returns how a message of this channel may mention Ringi. The bot's own id is read only for a message that mentions
// one. Before a workspace's first request it is unknown; a direct message then mentions nobody else's bot.
func (h *Handler) us(ctx context.Context, e envelope, m message) (bot, error) {
	b := bot{user: e.bot()}
	if !strings.Contains(m.Text, "<@B") {
		return b, nil
	}
	tenant := aggregate.TenantID(e.team())
	id, err := h.bots.Ask(tenant, h.Now(), settingsFor, func() (string, error) {
		t, err := h.Store.Tenant(ctx, tenant)
		if errors.Is(err, aggregate.ErrNotFound) {
			err = nil
		}
		return t.BotID, err
	})
	if b.id = id; id == "" && m.channelType() == "im" {
		b.id = "B[A-Z0-9]+"
	}
	return b, err
}

var leadingMention = regexp.MustCompile(`^\s*<@[A-Z0-9]+(\|[^>]*)?>`)

// mention matches mentions of the bot. If the bot's user id is unknown, it matches a mention at the beginning of a
// text.
func (b bot) mention() *regexp.Regexp {
	if slackapi.CheckID("user_id", b.user) != nil {
		return leadingMention
	}
	ids := b.user
	if b.id != "" {
		ids += "|" + b.id
	}
	return regexp.MustCompile(`<@(?:` + ids + `)(\|[^>]*)?>`)
}

// mentions reports whether the message mentions Ringi.
func (m message) mentions(b bot) bool {
	return m.Type == "app_mention" || b.mention().MatchString(m.Text)
}

// plain returns a text without Slack's escapes as it is saved: without the mentions at its beginning and end, which
// address Ringi. Others are of its user, who has a name.
func (b bot) plain(text string) string {
	mention := b.mention()
	some := `(?:\s*` + mention.String() + `)+`
	text = regexp.MustCompile(`^`+some+`|`+some+`\s*$`).ReplaceAllString(text, "")
	if b.user != "" {
		text = mention.ReplaceAllString(text, "<@"+b.user+">")
	}
	return slackapi.SavedPlain(text)
}

// only reports whether a message of a channel mentions Ringi by nothing but the bot's own id. Slack sends no
// app_mention for it.
func (b bot) only(m message) bool {
	return b.id != "" && strings.Contains(m.Text, "<@"+b.id) && !strings.Contains(m.Text, "<@"+b.user)
}
