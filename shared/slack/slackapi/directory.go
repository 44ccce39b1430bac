package slackapi

import (
	"context"
	"iter"

	"github.com/slack-go/slack"
)

// pageOfUsers is how many people one call asks for. Slack allows 1,000, and may return fewer.
const pageOfUsers = 1000

// slackbot is Slack's own bot, which users.list returns as a person.
const slackbot = "USLACKBOT"

// Users lists the people and bots of the workspace, including deactivated accounts. It fetches each page when it is
// needed. An error ends the list.
func (c *Client) Users(ctx context.Context) iter.Seq2[User, error] {
	pages := c.api.GetUsersPaginated(slack.GetUsersOptionLimit(pageOfUsers), slack.GetUsersOptionIncludeLocale(false))
	return paged(func(string) (page []User, after string, err error) {
		next, err := pages.Next(ctx)
		if err := outcome("users.list", err); err != nil {
			return nil, "", err
		}
		pages = next
		for _, u := range next.Users {
			page = append(page, userOf(&u))
		}
		return page, next.Cursor, nil
	})
}

// Group is a user group of the workspace.
type Group struct {
	ID       string
	Name     string
	Handle   string
	Count    int  // number of members
	Disabled bool // nobody can mention it, and it has no members
}

// Usergroups lists the workspace's user groups, including disabled ones.
func (c *Client) Usergroups(ctx context.Context) ([]Group, error) {
	all, err := c.api.GetUserGroupsContext(ctx, slack.GetUserGroupsOptionIncludeCount(true),
		slack.GetUserGroupsOptionIncludeDisabled(true))
	if err := outcome("usergroups.list", err); err != nil {
		return nil, err
	}
	out := make([]Group, len(all))
	for i, g := range all {
		out[i] = Group{ID: g.ID, Name: shown(g.Name), Handle: shown(g.Handle), Count: g.UserCount,
			Disabled: g.DateDelete != 0}
	}
	return out, nil
}
