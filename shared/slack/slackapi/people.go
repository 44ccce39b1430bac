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

// User is what Slack says about a person.
type User struct {
	ID    string
	Team  string
	Name  string // as the workspace shows it
	Bot   bool
	Gone  bool // the account was deactivated
	Guest bool // a restricted account, or a stranger who shares no channel with the app
	// Teams are the workspaces of a person of an organization that has several.
	Teams []string
	// Language is the first part of the locale that the person chose in Slack, such as ja.
	Language string
}

// Of reports whether the person belongs to a workspace.
func (u User) Of(team string) bool { return u.Team == team || slices.Contains(u.Teams, team) }

// User asks about a person.
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
		Gone:  u.Deleted,
		Guest: u.IsRestricted || u.IsUltraRestricted || u.IsStranger, Bot: u.IsBot || u.ID == slackbot,
		Teams: u.Enterprise.Teams, Language: language,
	}
}

// shown is a name as people see it, on one line: people choose their names themselves, and an invisible sign could make
// one look like another's, or reverse the text beside it. It is empty for a name that shows nothing.
func shown(name string) string {
	name = strings.Join(strings.Fields(legible.Visible(name)), " ")
	if !legible.Text(name) {
		return ""
	}
	return name
}

// Self is the bot that a token belongs to.
type Self struct {
	User       string
	Team       string
	Enterprise string // the organization (Enterprise Grid) of its workspace, empty without one
}

// Self is the bot to which the token belongs; Slack is asked once for each token
// (https://docs.slack.dev/reference/methods/auth.test).
func (c *Client) Self(ctx context.Context) (Self, error) {
	self, err := c.whoami(ctx)
	if err != nil {
		return Self{}, err
	}
	return Self{self.UserID, self.TeamID, self.EnterpriseID}, nil
}

// Team is the workspace that the token belongs to, as Self says.
func (c *Client) Team(ctx context.Context) (string, error) {
	self, err := c.Self(ctx)
	return self.Team, err
}

// TeamName is the name of that workspace. Slack refuses it to an installation without the scope team:read, from before
// the manifest had that scope; this refusal is not counted as a failed call.
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

// pageOfChannels is the most that users.conversations gives at once.
const pageOfChannels = 999

// Channel is one that a person is in.
type Channel struct {
	ID   string
	Name string // without #
}

// Channels lists the channels of these types that a person is a member of: all public ones, and those others that the
// bot is in, too. It asks for the next page only when it is wanted. An error ends the list. Slack has no call for one
// membership; a person's channels are looked through, since they are fewer than a channel's members.
func (c *Client) Channels(ctx context.Context, user string, types ...string) iter.Seq2[Channel, error] {
	params := slack.GetConversationsForUserParameters{UserID: user, Types: types, Limit: pageOfChannels,
		ExcludeArchived: true}
	return paged(func(cursor string) (page []Channel, after string, err error) {
		params.Cursor = cursor
		channels, after, err := c.api.GetConversationsForUserContext(ctx, &params)
		for _, ch := range channels {
			page = append(page, Channel{ch.ID, shown(ch.Name)})
		}
		return page, after, outcome("users.conversations", err)
	})
}

// Members returns at most so many of a channel's members, bots too; more reports whether there are others.
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
