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

// Aside returns a message of a lane as one that waits until after in a group of its own, where no other aggregate's
// messages wait behind it. ok is false if it isn't in a lane or must stay there, as one for all tabs must. id is the
// message's, so that it is moved once. A Home tab keeps its time, by which it is known whether it was just opened.
func Aside(queueURL, group, body, id string, after time.Time) (in *sqs.SendMessageInput, ok bool) {
	ref, err := ReadMessage(body)
	if err != nil || ref.Kind == Homes || !strings.HasPrefix(group, ref.Tenant+"-") {
		return nil, false
	}
	own := ref.ID
	if ReadCopies(body) {
		own += copies
	}
	if ref.Kind != Home {
		body = waiting(body, after)
	}
	return &sqs.SendMessageInput{
		QueueUrl: &queueURL, MessageBody: &body, MessageGroupId: &own, MessageDeduplicationId: &id,
	}, true
}

// waiting returns the message with a later time. It keeps what a newer release wrote into it.
func waiting(body string, after time.Time) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &fields) != nil {
		return body
	}
	fields["after"] = strconv.AppendInt(nil, after.Unix(), 10)
	out, _ := json.Marshal(fields) // they were just read
	return string(out)
}
