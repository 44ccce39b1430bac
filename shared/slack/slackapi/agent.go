package slackapi

import (
	"context"

	"github.com/slack-go/slack"
)

// AgentStatus is what Slack shows that an agent does in a thread
// (https://docs.slack.dev/reference/methods/agents.sessions.setStatus).
type AgentStatus string

const (
	AgentActive     AgentStatus = "active"
	AgentProcessing AgentStatus = "processing" // with a button that stops it
	AgentSuspended  AgentStatus = "suspended"  // it waits for a person
	AgentClosed     AgentStatus = "closed"
)

// maxTitle is how long the title of an agent's session may be, in characters.
const maxTitle = 200

// SetAgentStatus says what an agent does in a thread. Doing it again is harmless.
func (c *Client) SetAgentStatus(ctx context.Context, channel, thread string, status AgentStatus, title string) error {
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle])
	}
	_, err := c.api.SetAgentSessionStatusContext(ctx,
		slack.AgentSessionSetStatusParameters{ChannelID: channel, ThreadTS: thread, Status: string(status), Title: title})
	return outcome("agents.sessions.setStatus", err)
}
