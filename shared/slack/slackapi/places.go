package slackapi

import (
	"context"
	"errors"
	"strings"

	"github.com/slack-go/slack"
)

// Link is where people open a message in Slack, in its thread unless that is empty; empty when that can't be said.
// Slack is asked once for each token.
func (c *Client) Link(ctx context.Context, channel, ts, thread string) string {
	self, err := c.whoami(ctx)
	if err != nil || self.URL == "" || channel == "" || ts == "" {
		return ""
	}
	link := strings.TrimSuffix(self.URL, "/") + "/archives/" + channel + "/p" + strings.ReplaceAll(ts, ".", "")
	if thread != "" && thread != ts {
		link += "?thread_ts=" + thread + "&cid=" + channel
	}
	return link
}

// Reaches reports whether the bot may post where a person is: in a channel that it is a member of, or in the person's
// direct messages with it. When Slack doesn't say, it is true, and posting will tell.
func (c *Client) Reaches(ctx context.Context, channel, user string) (bool, error) {
	if strings.HasPrefix(channel, "D") { // the bot need not be one of the two
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

// PublishHome shows a view as a person's Home tab of the app.
func (c *Client) PublishHome(ctx context.Context, user string, view slack.HomeTabViewRequest) error {
	_, err := c.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user, View: view})
	return outcome("views.publish", err)
}
