package effect

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
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
	numbers := how.fields(now)
	group = m.own()
	switch {
	case m.Tab(): // its time says whether it was just opened
		numbers = map[string]int64{}
	case how.Wait > 0:
		group = fmt.Sprintf("%s%s%d", m.Ref.Tenant, waits, numbers["after"]/slot)
	}
	return m.move(queueURL, group, id, numbers), true
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

// fields are what the moved message says of it.
func (how Moved) fields(now time.Time) map[string]int64 {
	out := map[string]int64{"after": 0, "doubted": 0}
	if how.Wait > 0 {
		out["after"] = now.Add(how.Wait).Unix()
	}
	if how.Doubted {
		out["doubted"] = 1
	}
	return out
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
	return m.move(queueURL, to, id, map[string]int64{"after": 0}), true
}

// Anew returns the message as a new one of its group, which the queue has not received yet.
func (m Message) Anew(queueURL, group, id string) *sqs.SendMessageInput {
	return m.move(queueURL, group, id, map[string]int64{})
}

// in reports whether group is one of the tenant's whose names go on like this.
func (m Message) in(group, suffix string) bool {
	return aggregate.ValidID(m.Ref.Tenant) && m.Ref.ID != "" && strings.HasPrefix(group, m.Ref.Tenant+suffix)
}

// move sends the message to a group, with other numbers.
func (m Message) move(queueURL, group, id string, numbers map[string]int64) *sqs.SendMessageInput {
	numbers["hops"] = int64(m.Hops + 1)
	body := with(m.body, numbers)
	return &sqs.SendMessageInput{
		QueueUrl: &queueURL, MessageBody: &body, MessageGroupId: &group, MessageDeduplicationId: &id,
	}
}

// with returns a message with other numbers, 0 for none. It keeps what a later release wrote into it.
func with(body string, numbers map[string]int64) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &fields) != nil {
		return body
	}
	for name, n := range numbers {
		if fields[name] = strconv.AppendInt(nil, n, 10); n == 0 {
			delete(fields, name)
		}
	}
	out, _ := json.Marshal(fields) // they were just read
	return string(out)
}
