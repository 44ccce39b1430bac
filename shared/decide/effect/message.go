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

// message names an aggregate whose cards are to be drawn, or a Home tab.
type message struct {
	Tenant string `json:"tenant"`
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	After  int64  `json:"after,omitempty"`  // not before, in seconds
	Copies bool   `json:"copies,omitempty"` // not the cards, but their copies in direct messages
	// Rev and Redraws are the head's, as they were before the message was sent.
	Rev     int `json:"rev,omitempty"`
	Redraws int `json:"redraws,omitempty"`
	Hops    int `json:"hops,omitempty"`    // invocations of the card updater that led to this message
	Doubted int `json:"doubted,omitempty"` // 1: it was moved, and a receipt may have updated a card and not saved that
}

// to returns the message for the card queue in a group.
func (m message) to(queueURL, group, deduplication string) *sqs.SendMessageInput {
	body, _ := json.Marshal(m) // strings, a number and a flag can always be encoded
	return &sqs.SendMessageInput{
		QueueUrl: &queueURL, MessageBody: aws.String(string(body)), MessageGroupId: &group, MessageDeduplicationId: &deduplication,
	}
}

// Copies returns a message that asks for the copies of an aggregate's cards. Messages for the same revision and redraw
// are deduplicated. hops are the invocations that led to it.
func Copies(queueURL string, ref aggregate.Ref, rev, redraws, hops int) *sqs.SendMessageInput {
	asks := message{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Copies: true, Rev: rev, Redraws: redraws, Hops: hops}
	return asks.to(queueURL, ref.Tenant+copies, fmt.Sprintf("%s-copies-%d-%d", ref.ID, rev, redraws))
}

// Message is what a message of the card queue says.
type Message struct {
	Ref     aggregate.Ref
	Head    aggregate.Head // Rev and Redraws before the message was sent
	After   time.Time      // it must not be handled before; zero for none
	Copies  bool           // it asks for copies
	Hops    int            // how many invocations of the card updater led to it
	Doubted bool           // it was moved, and a receipt may have updated a card without saving that
	said    message
}

// Tab reports whether the message asks for Home tabs, and not for cards.
func (m Message) Tab() bool { return m.Ref.Kind == Home || m.Ref.Kind == Homes }

// ReadMessage reads a message of the card queue. Its error says that the message names no aggregate.
func ReadMessage(body string) (out Message, err error) {
	m := &out.said
	if err := json.Unmarshal([]byte(body), m); err != nil {
		return out, fmt.Errorf("read a message of the card queue: %w", err)
	}
	out.Ref = aggregate.Ref{Tenant: m.Tenant, Kind: m.Kind, ID: m.ID}
	out.Copies, out.Hops, out.Doubted = m.Copies, m.Hops, m.Doubted != 0
	out.Head.Rev, out.Head.Redraws = m.Rev, m.Redraws
	if m.After > 0 {
		out.After = time.Unix(m.After, 0)
	}
	if !aggregate.ValidID(out.Ref.Tenant) || out.Ref.ID == "" {
		return out, errors.New("the message names no aggregate")
	}
	return out, nil
}
