package slackapi

import (
	"context"
	"errors"
	"strings"

	"github.com/slack-go/slack"
)

// Link returns the address at which people open a message in Slack, within its thread unless that is empty. It returns
// "" when the workspace's address is unknown. It asks Slack once for each token. A channel that got another id is
// linked by this one.
func (c *Client) Link(ctx context.Context, channel, ts, thread string) string {
	self, err := c.whoami(ctx)
	if err != nil || self.URL == "" || channel == "" || ts == "" {
		return ""
	}
	channel = c.moved.recently(ctx).Now(channel)
	link := strings.TrimSuffix(self.URL, "/") + "/archives/" + channel + "/p" + strings.ReplaceAll(ts, ".", "")
	if thread != "" && thread != ts {
		link += "?thread_ts=" + thread + "&cid=" + channel
	}
	return link
}

// Reaches reports whether the bot may post in a channel, or in the person's direct messages with it. When Slack doesn't
// say, it returns true, and posting will show.
func (c *Client) Reaches(ctx context.Context, channel, user string) (bool, error) {
	if strings.HasPrefix(channel, "D") { // the direct messages may be between two people
		own, err := c.OpenDM(ctx, user)
		return err != nil || own == channel, err
	}
	is, err := c.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: channel})
	if err := outcome("conversations.info", err); err != nil {
		var refused Refused
		return !errors.As(err, &refused) || !refused.Permanent, err
	}
	return is.IsMember && !is.IsArchived, nil
}

// PublishHome replaces a person's Home tab.
func (c *Client) PublishHome(ctx context.Context, user string, view slack.HomeTabViewRequest) error {
	_, err := c.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user, View: view})
	return outcome("views.publish", err)
}
