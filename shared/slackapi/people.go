package slackapi

import (
	"context"
	"iter"

	"github.com/slack-go/slack"
)

// User is what Slack says about a person.
type User struct {
	ID    string
	Team  string
	Guest bool // a restricted account, or a stranger from a shared channel
}

// User asks about a person.
func (c *Client) User(ctx context.Context, id string) (User, error) {
	u, err := c.api.GetUserInfoContext(ctx, id)
	if err := outcome("users.info", err); err != nil {
		return User{}, err
	}
	return User{ID: u.ID, Team: u.TeamID, Guest: u.IsRestricted || u.IsUltraRestricted || u.IsStranger}, nil
}

// ChannelMembers lists the members of a channel, asking for the next page only
// when it is wanted. An error ends the list.
func (c *Client) ChannelMembers(ctx context.Context, channel string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		params := slack.GetUsersInConversationParameters{ChannelID: channel, Limit: 1000}
		for {
			members, cursor, err := c.api.GetUsersInConversationContext(ctx, &params)
			if err := outcome("conversations.members", err); err != nil {
				yield("", err)
				return
			}
			for _, m := range members {
				if !yield(m, nil) {
					return
				}
			}
			if cursor == "" || cursor == params.Cursor {
				return
			}
			params.Cursor = cursor
		}
	}
}

// UsergroupMembers lists the members of a user group.
func (c *Client) UsergroupMembers(ctx context.Context, group string) ([]string, error) {
	members, err := c.api.GetUserGroupMembersContext(ctx, group)
	if err := outcome("usergroups.users.list", err); err != nil {
		return nil, err
	}
	return members, nil
}
