package slackapi

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/words/legible"
)

// User is Slack's record of a person.
type User struct {
	ID    string
	Team  string
	Name  string // the name that the workspace shows
	Mail  string // the account's address; empty if Slack doesn't give it, without the scope users:read.email
	Bot   bool
	Gone  bool // the account was deactivated
	Guest bool // a restricted account, or a stranger who shares no channel with the app
	// Teams are the workspaces of a person whose organization has several.
	Teams []string
	// Language is the first part of the locale that the person chose in Slack, such as ja.
	Language string
}

// Of reports whether the person belongs to a workspace.
func (u User) Of(team string) bool { return u.Team == team || slices.Contains(u.Teams, team) }

// User looks a person up.
func (c *Client) User(ctx context.Context, id string) (User, error) {
	u, err := c.api.GetUserInfoContext(ctx, id)
	if err := outcome("users.info", err); err != nil {
		return User{}, err
	}
	return userOf(u), nil
}

func userOf(u *slack.User) User {
	language, _, _ := strings.Cut(u.Locale, "-")
	return User{
		ID: u.ID, Team: u.TeamID, Name: cmp.Or(shown(u.Profile.DisplayName), shown(u.RealName), shown(u.Name)),
		Gone: u.Deleted, Mail: u.Profile.Email,
		Guest: u.IsRestricted || u.IsUltraRestricted || u.IsStranger, Bot: u.IsBot || u.ID == slackbot,
		Teams: u.Enterprise.Teams, Language: language,
	}
}

// shown cleans a display name, which people choose freely: one line without invisible characters, which could imitate
// another name or reverse the text next to it. It is empty for a name that shows nothing.
func shown(name string) string {
	name = strings.Join(strings.Fields(legible.Visible(name)), " ")
	if !legible.Text(name) {
		return ""
	}
	return name
}

// Self describes the bot that a token belongs to.
type Self struct {
	User       string
	Bot        string // its id as a bot, B…
	Team       string
	Enterprise string // the workspace's organization (Enterprise Grid), or empty
}

// Self returns the bot that the token belongs to. It asks Slack once for each token
// (https://docs.slack.dev/reference/methods/auth.test).
func (c *Client) Self(ctx context.Context) (Self, error) {
	self, err := c.whoami(ctx)
	if err != nil {
		return Self{}, err
	}
	return Self{self.UserID, self.BotID, self.TeamID, self.EnterpriseID}, nil
}

// Team returns the workspace that the token belongs to, as Self does.
func (c *Client) Team(ctx context.Context) (string, error) {
	self, err := c.Self(ctx)
	return self.Team, err
}

// TeamName returns that workspace's name. Slack refuses it to installations from before the manifest had the scope
// team:read; this refusal does not count as a failed call.
func (c *Client) TeamName(ctx context.Context) (string, error) {
	team, err := c.api.GetTeamInfoContext(ctx)
	refused := normal(err)
	if Code(refused) == CodeMissingScope {
		err = nil
	}
	if err := cmp.Or(outcome("team.info", err), refused); err != nil {
		return "", err
	}
	return team.Name, nil
}

// pageOfChannels is the largest page of users.conversations.
const pageOfChannels = 999

// Channel is a channel that a person is in.
type Channel struct {
	ID   string
	Name string   // without #
	Also []string // other ids that it had
}

// Channels lists the channels of these types that a person is in. For types other than public channels, it lists only
// those that the bot is in, too. A channel that got another id has the one by which rows know it. It fetches each page
// when it is needed. An error ends the list. Slack has no call for
// a single membership; a person's channels are searched, since they are fewer than a channel's members.
func (c *Client) Channels(ctx context.Context, user string, types ...string) iter.Seq2[Channel, error] {
	params := slack.GetConversationsForUserParameters{UserID: user, Types: types, Limit: pageOfChannels,
		ExcludeArchived: true}
	return paged(func(cursor string) (page []Channel, after string, err error) {
		params.Cursor = cursor
		channels, after, err := c.api.GetConversationsForUserContext(ctx, &params)
		if err := outcome("users.conversations", err); err != nil {
			return nil, after, err
		}
		moved, err := c.moved.all(ctx)
		for _, ch := range channels {
			names := moved.Names(ch.ID)
			page = append(page, Channel{names[0], shown(ch.Name), names[1:]})
		}
		return page, after, err
	})
}

// Members returns the members of a channel, including bots, but no more of them than the number most. more reports whether
// there are others.
func (c *Client) Members(ctx context.Context, channel string, most int) (ids []string, more bool, err error) {
	in := slack.GetUsersInConversationParameters{ChannelID: channel, Limit: most}
	ids, cursor, err := c.api.GetUsersInConversationContext(ctx, &in)
	return ids, cursor != "", outcome("conversations.members", err)
}

// UsergroupMembers lists the members of a user group.
func (c *Client) UsergroupMembers(ctx context.Context, group string) ([]string, error) {
	members, err := c.api.GetUserGroupMembersContext(ctx, group)
	return members, outcome("usergroups.users.list", err)
}
