package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/runtime/expect"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

// What an invocation died of is handled in a group of its own. Slack's pace doesn't allow all of an answer's parts at
// once there, so each receipt goes on where the one before stopped: the rest is left to the sweeper.
func TestADoubtedMessageGoesOnWhereItStopped(t *testing.T) {
	k := newConversation(t, storetest.Start(t))
	k.says(strings.Repeat("答えの一行。\n", 8000), nil)
	body := k.asking()
	expect.Must(t, k.send(body), "given back for %v s", k.queue.hidden)
	n := len(expect.Value(k.rows.Of.Load(t.Context(), k.ref))(t).Cards)
	expect.Must(t, n > updates, "%d cards", n)
	k.h.Pace, k.h.PaceScale = records.NotesOf(k.Store.Table()), 1
	k.slack.Calls()
	k.queue.sent = nil
	over, nth, fresh := false, 1, body
	body = strings.Replace(body, "}", `,"doubted":1}`, 1)
	for range 40 {
		k.queue.hidden, k.queue.sent = nil, nil
		out := expect.Value(k.h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
			MessageId: "m1", ReceiptHandle: "r1", Body: body,
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(nth), "MessageGroupId": k.ref.ID,
				"ApproximateFirstReceiveTimestamp": strconv.FormatInt(k.Now().UnixMilli(), 10)},
		}}}))(t)
		left := len(out.BatchItemFailures) == 0
		at := expect.Value(k.rows.Of.Load(t.Context(), k.ref))(t).Root().Common().DrawAt
		if over = left && at == nil; over {
			break
		}
		nth++
		if left {
			expect.Is(t, len(k.queue.sent), 0, "sent")
			body, nth = fresh, 1
			k.Later(max(0, at.Sub(k.Now())) + time.Second)
		} else {
			k.Later(time.Duration(k.queue.hidden[0]) * time.Second)
		}
	}
	made := len(k.slack.Calls("chat.update"))
	expect.That(t, over && made == n, "over %v: %d updates of %d cards", over, made, n)
}
