package slackapi

import (
	"context"

	"github.com/slack-go/slack"

	"ringi/shared/slack/slackapi/outgoing"
)

// Suggest sets what Slack offers to say in a direct message, below its latest message.
// An app with agent_view names no thread: with one the call does nothing.
func (c *Client) Suggest(ctx context.Context, channel string, suggestions []outgoing.Suggestion) error {
	params := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: channel}
	for _, s := range suggestions {
		params.AddPrompt(s.Title, s.Message)
	}
	return outcome("assistant.threads.setSuggestedPrompts", c.api.SetAssistantThreadsSuggestedPromptsContext(ctx, params))
}
