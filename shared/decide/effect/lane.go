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
// invocation at a time, in their order, so that a tenant never occupies more updaters than it has lanes, and other
// tenants' messages don't wait behind its own. All messages about one aggregate's cards are in the same lane.
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
)

// lane returns the group for messages about an aggregate's cards, or for a Home tab that was just opened.
func lane(ref aggregate.Ref) string {
	if ref.Kind == Home {
		return ref.Tenant + opened
	}
	h := fnv.New32a()
	h.Write([]byte(ref.ID))
	return fmt.Sprintf("%s-cards-%d", ref.Tenant, h.Sum32()%lanes)
}

// Aside returns a message of a lane as one for a group of its own, where nothing waits behind it. It waits there until
// after, having failed so many times, and then returns to its lane; with no time it is handled there. ok is false if the
// message is in no lane. id is the message's, so that it is moved once.
func Aside(queueURL, group, body, id string, after time.Time, tries int) (in *sqs.SendMessageInput, ok bool) {
	ref, err := ReadMessage(body)
	if err != nil || !strings.HasPrefix(group, ref.Tenant+"-") {
		return nil, false
	}
	group = alone(ref, body)
	if drawn(ref) && after.IsZero() {
		body = with(body, map[string]int64{"after": 0})
	} else if drawn(ref) {
		body = with(body, map[string]int64{"after": after.Unix(), "tries": int64(tries)})
	}
	return move(queueURL, group, body, id), true
}

// drawn reports whether a message asks for cards. A Home tab's time says whether it was just opened.
func drawn(ref aggregate.Ref) bool { return ref.Kind != Home && ref.Kind != Homes }

// Back returns a message that waited in a group of its own as one for its lane. ok is false if it wasn't moved there to
// wait, as an early release's, which was sent there.
func Back(queueURL, group, body, id string) (in *sqs.SendMessageInput, ok bool) {
	ref, err := ReadMessage(body)
	if err != nil || !drawn(ref) || group != alone(ref, body) || ReadAfter(body).IsZero() {
		return nil, false
	}
	to := lane(ref)
	if ReadCopies(body) {
		to = ref.Tenant + copies
	}
	return move(queueURL, to, with(body, map[string]int64{"after": 0}), id), true
}

// alone returns the group of one aggregate's messages that wait.
func alone(ref aggregate.Ref, body string) string {
	if ReadCopies(body) {
		return ref.ID + copies
	}
	return ref.ID
}

func move(queueURL, group, body, id string) *sqs.SendMessageInput {
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

// ReadTries returns how often the handling of a message failed before it was moved.
func ReadTries(body string) int {
	var m message
	_ = json.Unmarshal([]byte(body), &m) // then it never failed
	return m.Tries
}
