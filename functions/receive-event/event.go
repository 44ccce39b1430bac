package main

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"ringi/shared/decide/intake"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/slackapi/inbound"
)

type envelope struct {
	Type           string          `json:"type"`
	Challenge      string          `json:"challenge"`
	TeamID         string          `json:"team_id"`
	ContextTeam    string          `json:"context_team_id"`
	Enterprise     string          `json:"enterprise_id"`
	AppID          string          `json:"api_app_id"`
	RateLimited    int64           `json:"minute_rate_limited"` // seconds; of app_rate_limited
	EventID        string          `json:"event_id"`
	EventTime      int64           `json:"event_time"` // seconds
	Event          json.RawMessage `json:"event"`
	Authorizations []authorization `json:"authorizations"`
	Shared         bool            `json:"is_ext_shared_channel"` // with another organization
}

// authorization is the installation that the event is meant for.
type authorization struct {
	TeamID string `json:"team_id"`
	UserID string `json:"user_id"`
	IsBot  bool   `json:"is_bot"`
	// Enterprise is the organization, empty for a workspace without one.
	Enterprise string `json:"enterprise_id"`
	// The app is installed for a whole organization, with one token that belongs to no workspace.
	Organization bool `json:"is_enterprise_install"`
}

// team is the tenant's workspace. In a channel that two workspaces share, team_id may be where the message was
// written; the authorization says where the app is installed that the event is for, as Slack's own Bolt reads it, and
// without one context_team_id does (https://docs.slack.dev/apis/events-api/#callback-field).
func (e envelope) team() string {
	if len(e.Authorizations) > 0 && e.Authorizations[0].TeamID != "" {
		return e.Authorizations[0].TeamID
	}
	return cmp.Or(e.ContextTeam, e.TeamID)
}

// organization reports whether the event is for an installation for all of an organization. Those are refused: tokens,
// settings and rows are a workspace's. The end of such an installation names the organization and no workspace
// (https://docs.slack.dev/enterprise/developing-for-enterprise-orgs): it ends the app in all
// workspaces of that organization.
func (e envelope) organization() bool {
	return len(e.Authorizations) > 0 && e.Authorizations[0].Organization || e.team() == "" && e.Enterprise != ""
}

// enterprise is the organization whose installation the event is for.
func (e envelope) enterprise() string {
	if len(e.Authorizations) > 0 && e.Authorizations[0].Enterprise != "" {
		return e.Authorizations[0].Enterprise
	}
	return e.Enterprise
}

// bot is the user id of our bot, empty when the event does not name it.
func (e envelope) bot() string {
	for _, a := range e.Authorizations {
		if a.IsBot {
			return a.UserID
		}
	}
	return ""
}

// at is when the event happened, by Slack's clock, which gives whole seconds: the end of that
// second. It is now when the event has no time.
func (e envelope) at(now time.Time) time.Time {
	if e.EventTime <= 0 {
		return now
	}
	return time.Unix(e.EventTime, 0).Add(time.Second - time.Millisecond)
}

// end says why integrations end, and whose tokens were revoked.
type end struct {
	why  tenancy.IntegrationReason
	bots []string // user ids, of tokens that were revoked
}

// ends reports whether an event that names only the organization ends the app in this workspace of the organization. A
// revoked token may belong to the bot of another workspace.
func (x end) ends(t tenancy.Tenant) bool {
	return x.why == tenancy.AppUninstalled || slices.Contains(x.bots, t.BotUserID)
}

// ended says what an event ends; its reason is empty where it ends nothing. A person's revoked token ends nothing,
// since only the bot's is used.
func (e envelope) ended(what string) (end, error) {
	field, whose := "team_id", e.team()
	if e.organization() {
		field, whose = "enterprise_id", e.enterprise()
	}
	if err := inbound.CheckIDs(field, whose, "event_id", e.EventID); err != nil {
		return end{}, err
	}
	if what == "app_uninstalled" {
		return end{why: tenancy.AppUninstalled}, nil
	}
	var revoked struct {
		Tokens struct {
			Bot []string `json:"bot"`
		} `json:"tokens"`
	}
	if err := inbound.Decode(e.Event, &revoked, "event"); err != nil || len(revoked.Tokens.Bot) == 0 {
		return end{}, err
	}
	return end{tenancy.TokensRevoked, revoked.Tokens.Bot}, nil
}

// kind is what decides whether an event is handled. It is decoded first, since the other fields
// differ from one kind of event to another.
type kind struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
}

type message struct {
	kind
	Text        string `json:"text"`
	User        string `json:"user"`
	BotID       string `json:"bot_id"`
	TS          string `json:"ts"`
	ThreadTS    string `json:"thread_ts"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"`
	Team        string `json:"team"`
	UserTeam    string `json:"user_team"`
	SourceTeam  string `json:"source_team"`
	Files       []file `json:"files"`
}

// authorTeam is the workspace that the author belongs to, empty when Slack does not say.
func (m message) authorTeam() string {
	return cmp.Or(m.UserTeam, m.SourceTeam, m.Team)
}

// channelType is Slack's. A mention comes without one; then the channel's id tells.
func (m message) channelType() string {
	return cmp.Or(m.ChannelType, intake.ChannelType(m.Channel))
}

// Why an accepted event makes no task.
const (
	ignoredType    = "type"
	ignoredSubtype = "subtype"
	ignoredBot     = "bot"
	ignoredChannel = "not_addressed"
	ignoredForeign = "foreign_workspace"
	ignoredOrg     = "organization_install"
)

// ignored says why a kind of event makes no task, empty when it may make one. A
// message with a file is a person's message; other subtypes are edits and notices.
func (k kind) ignored() string {
	switch {
	case k.Type != "app_mention" && k.Type != "message":
		return ignoredType
	case k.Subtype == "bot_message":
		return ignoredBot
	case k.Subtype != "" && k.Subtype != "file_share":
		return ignoredSubtype
	}
	return ""
}

// ignored says why this message makes no task, empty when it makes one.
func (m message) ignored(e envelope) string {
	switch {
	case m.BotID != "" || m.User != "" && m.User == e.bot():
		return ignoredBot
	case m.Type == "message" && m.channelType() != "im":
		return ignoredChannel
	case m.authorTeam() != e.team() && (m.authorTeam() != "" || e.Shared):
		// in a shared channel Slack must say which workspace the author belongs to
		return ignoredForeign
	}
	return ""
}

// request checks every field that is kept and returns the request to be kept. Text over Slack's own limit is cut.
func (m message) request(e envelope) (task.Request, error) {
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
		if err := inbound.CheckID(f.name, f.value); err != nil && (f.required || f.value != "") {
			return task.Request{}, err
		}
	}
	if err := inbound.CheckTS("event.ts", m.TS); err != nil {
		return task.Request{}, err
	}
	r := task.Request{
		TeamID: e.team(), Text: plain(m.Text, e.bot()), User: m.User, Channel: m.Channel, ChannelType: m.channelType(),
		MessageTS: m.TS, ThreadTS: cmp.Or(m.ThreadTS, m.TS), Source: intake.Source(m.channelType()), EventID: e.EventID,
	}
	return r, inbound.CheckTS("event.thread_ts", r.ThreadTS)
}

var leadingMention = regexp.MustCompile(`^\s*<@[A-Z0-9]+(\|[^>]*)?>`)

// mentionOf finds mentions of the bot. Where the bot's id is unknown, it finds the one that a text begins with.
func mentionOf(bot string) *regexp.Regexp {
	if inbound.CheckID("user_id", bot) == nil {
		return regexp.MustCompile(`[ \t]*<@` + bot + `(\|[^>]*)?>[ \t]*`)
	}
	return leadingMention
}

func (m message) addressed(bot string) bool {
	return m.Type == "app_mention" || mentionOf(bot).MatchString(m.Text)
}

func plain(text, bot string) string {
	return intake.Text(mentionOf(bot).ReplaceAllString(text, " "))
}
