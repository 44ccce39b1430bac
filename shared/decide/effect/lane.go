package effect

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/domain/aggregate"
)

// A tenant's messages share a few groups of the card queue, its lanes. SQS gives the messages of a group to one
// invocation at a time, in their order, so that a tenant's backlog occupies no more updaters than it has lanes, and
// other tenants' messages don't wait behind its own. All messages about one aggregate's cards are in the same lane, but
// for those that only show progress. A message that waits, or that an invocation left behind, is in another group: see
// Aside.
//
// lanes is the number of those for cards. Slack takes 4.1 calls a second of a workspace, on average, of a third of a
// second each; more lanes than four would only wait for it.
const lanes = 4

// Suffixes of a tenant's other groups: progress and copies must not delay what asks for a decision.
const (
	progress = "-progress"
	copies   = "-copies"
	opened   = "-opened"
	waits    = "-waits-" // and the number of the slot in which they are due
)

// slot is how many seconds' messages wait together.
const slot = 4

// lane returns the group for messages about an aggregate's cards, or for a Home tab that was just opened.
func lane(ref aggregate.Ref) string {
	if ref.Kind == Home {
		return ref.Tenant + opened
	}
	h := fnv.New32a()
	h.Write([]byte(ref.ID))
	return fmt.Sprintf("%s-cards-%d", ref.Tenant, h.Sum32()%lanes)
}

// MostHops is how many invocations may have led to a message that still waits outside of its lane, which takes two
// more. Lambda ends a chain of sixteen: it would receive the next message in vain until the queue gives it up.
const MostHops = 2

// Aside returns a message of a lane as one that waits elsewhere and then returns to its lane. Messages that are due
// within the same few seconds share a group, so that nothing waits much longer than it must, and many that wait
// together don't come back as many invocations. With no wait the message gets a group of its own, and is handled
// there. ok is false if the message is in no lane. id is the message's, so that it is moved once.
func (m Message) Aside(queueURL, group, id string, now time.Time, how Moved) (in *sqs.SendMessageInput, ok bool) {
	if !m.in(group, "-") {
		return nil, false
	}
	to, out := m.own(), m.said
	if !m.Tab() { // others' tabs don't fail
		out.After, out.Doubted = 0, 0
		if how.Doubted {
			out.Doubted = 1
		}
		if how.Wait > 0 {
			out.After = now.Add(how.Wait).Unix()
			to = fmt.Sprintf("%s%s%d", m.Ref.Tenant, waits, out.After/slot)
		}
	}
	return out.move(queueURL, to, id), true
}

// Alone reports whether the message is in a group of its own, where nothing waits behind it.
func (m Message) Alone(group string) bool { return group != "" && group == m.own() }

func (m Message) own() string {
	if m.Copies {
		return m.Ref.ID + copies
	}
	return m.Ref.ID
}

// Moved says for how long a message leaves its lane, and what it leaves behind.
type Moved struct {
	Wait    time.Duration // 0: it doesn't return
	Doubted bool          // a receipt may have updated a card and not saved that
}

// Back returns a message that waited as one for its lane. ok is false if it didn't wait.
func (m Message) Back(queueURL, group, id string) (in *sqs.SendMessageInput, ok bool) {
	if !m.in(group, waits) {
		return nil, false
	}
	to := lane(m.Ref)
	if m.Copies {
		to = m.Ref.Tenant + copies
	}
	out := m.said
	out.After = 0
	return out.move(queueURL, to, id), true
}

// Anew returns the message as a new one of its group, which the queue has not received yet.
func (m Message) Anew(queueURL, group, id string) *sqs.SendMessageInput {
	return m.said.move(queueURL, group, id)
}

// in reports whether group is one of the tenant's whose names go on like this.
func (m Message) in(group, suffix string) bool {
	return aggregate.ValidID(m.Ref.Tenant) && m.Ref.ID != "" && strings.HasPrefix(group, m.Ref.Tenant+suffix)
}

// move returns the message for another group, after one more invocation.
func (m message) move(queueURL, group, id string) *sqs.SendMessageInput {
	m.Hops++
	return m.to(queueURL, group, id)
}

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
		QueueUrl: &queueURL, MessageBody: aws.String(string(body)), MessageGroupId: &group,
		MessageDeduplicationId: &deduplication,
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

// Tab reports whether the message asks for a Home tab, and not for cards.
func (m Message) Tab() bool { return m.Ref.Kind == Home }

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
