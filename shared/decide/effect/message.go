package effect

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/domain/aggregate"
)

// SQS gives the messages of a group to one invocation at a time, in their order. A group is an aggregate, so that
// nothing waits behind another one. Messages that only ask for progress wait for their time in a group beside: what
// asks for a decision doesn't wait behind them.
const progress = "-progress"

// message names an aggregate whose cards are to be drawn, or a Home tab.
type message struct {
	Tenant string `json:"tenant"`
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Team   string `json:"team,omitempty"`  // of the person whose Home tab it is
	After  int64  `json:"after,omitempty"` // not before, in seconds
	// Rev and Redraws are the head's, as they were before the message was sent.
	Rev     int `json:"rev,omitempty"`
	Redraws int `json:"redraws,omitempty"`
}

// to returns the message for the card queue in a group.
func (m message) to(queueURL, group, deduplication string) *sqs.SendMessageInput {
	body, _ := json.Marshal(m) // strings and numbers can always be encoded
	return &sqs.SendMessageInput{
		QueueUrl: &queueURL, MessageBody: aws.String(string(body)), MessageGroupId: &group,
		MessageDeduplicationId: &deduplication,
	}
}

// Message is what a message of the card queue says.
type Message struct {
	Ref   aggregate.Ref
	Team  string         // Slack's id of the workspace, of a Home tab
	Head  aggregate.Head // Rev and Redraws before the message was sent
	After time.Time      // it must not be handled before; zero for none
}

// home is the kind of messages that ask for one person's Home tab, whose id is the person's.
const home = "home"

// OpenedHome returns a message that asks for the Home tab that a person has opened.
func OpenedHome(queueURL, team, user, event string) *sqs.SendMessageInput {
	asks := message{Tenant: aggregate.TenantID(team), Kind: home, ID: user, Team: team}
	return asks.to(queueURL, asks.Tenant+"-"+user, event)
}

// Tab reports whether the message asks for a Home tab, and not for cards.
func (m Message) Tab() bool { return m.Ref.Kind == home }

// ReadMessage reads a message of the card queue. Its error says that the message names no aggregate.
func ReadMessage(body string) (out Message, err error) {
	var m message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return out, fmt.Errorf("read a message of the card queue: %w", err)
	}
	out.Ref = aggregate.Ref{Tenant: m.Tenant, Kind: m.Kind, ID: m.ID}
	out.Team, out.Head.Rev, out.Head.Redraws = m.Team, m.Rev, m.Redraws
	if m.After > 0 {
		out.After = time.Unix(m.After, 0)
	}
	if !aggregate.ValidID(out.Ref.Tenant) || out.Ref.ID == "" {
		return out, errors.New("the message names no aggregate")
	}
	return out, nil
}
