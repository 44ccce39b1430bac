package slackapi

import (
	"context"

	"github.com/slack-go/slack"
)

// AgentStatus is the state of an agent that Slack shows in a thread
// (https://docs.slack.dev/reference/methods/agents.sessions.setStatus).
type AgentStatus string

const (
	AgentActive     AgentStatus = "active"
	AgentProcessing AgentStatus = "processing" // shown with a button that stops the agent
	AgentSuspended  AgentStatus = "suspended"  // the agent waits for a person
	AgentClosed     AgentStatus = "closed"
)

// maxTitle is the greatest length of a session's title, in characters.
const maxTitle = 200

// SetAgentStatus sets an agent's state in a thread. It is idempotent.
func (c *Client) SetAgentStatus(ctx context.Context, channel, thread string, status AgentStatus, title string) error {
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle])
	}
	_, err := c.api.SetAgentSessionStatusContext(ctx,
		slack.AgentSessionSetStatusParameters{ChannelID: channel, ThreadTS: thread, Status: string(status), Title: title})
	return outcome("agents.sessions.setStatus", err)
}
