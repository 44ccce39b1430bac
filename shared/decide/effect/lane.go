package effect

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

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

// Suffixes of a tenant's other groups: progress and copies must not delay what asks for a decision, nor the tabs that
// are published again those that were just opened.
const (
	progress = "-progress"
	copies   = "-copies"
	homes    = "-homes"
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
	if !m.Tab() { // its time says whether it was just opened
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
