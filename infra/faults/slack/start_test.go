// Package slack makes Slack fail in every way that it can while people work with Ringi, and sends forged requests.
package slack

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// first returns all faults of a list at night, else the first n.
func first[T any](n int, faults []T) []T {
	if expect.Long() {
		return faults
	}
	return faults[:n]
}

// running is the only stack of this package's tests; each test leaves it as it found it.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s }))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	return running
}

// callCounter counts the app's calls to Slack from a moment on.
type callCounter struct {
	s     *stack.Stack
	since time.Time
}

func listen(s *stack.Stack) callCounter { return callCounter{s, time.Now()} }

// count returns how often a method was called about a channel; "": any.
func (e callCounter) count(method, channel string) (n int) {
	for _, c := range e.s.Sandbox.Calls() {
		if c.Method == method && (channel == "" || c.Channel == channel) && !c.At.Before(e.since) {
			n++
		}
	}
	return n
}

// untilQueueEmpty waits until no message about cards is left: from then on nothing happens by itself.
func untilQueueEmpty(t *testing.T, s *stack.Stack) {
	t.Helper()
	queue, url := sqs.NewFromConfig(s.AWS), s.QueueURL("CardQueue")
	expect.Eventually(t, "the card queue is empty", func() bool {
		out := expect.Value(queue.GetQueueAttributes(context.Background(), &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"},
		}))(t)
		return !slices.ContainsFunc([]string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}, func(name string) bool {
			return out.Attributes[name] != "0"
		})
	})
}

// clicks presses a button of the policy's card while a call fails, and returns what was counted before. The call must
// be made and Slack answered in time; a busy machine may be too slow once, but not always.
func clicks(d *driver.Request, action string, fault webapi.Fault) (heard callCounter, noted int) {
	d.T.Helper()
	m := d.Card("CARD#prompt#0001", action)
	var err error
	for range 5 {
		heard, noted = listen(d.S), len(d.Notes(webapi.Suzuki))
		d.S.Sandbox.Faults().Clear("")
		d.S.Sandbox.Faults().Add(fault)
		if err = d.S.Sandbox.Click(webapi.Suzuki, d.Channel, m.TS, action); err == nil && heard.count(fault.Method, "") > 0 {
			return heard, noted
		}
	}
	d.T.Errorf("Slack had no good answer: %v, and %d calls of %s", err, heard.count(fault.Method, ""), fault.Method)
	return heard, noted
}

// always makes a fault last until it is cleared.
func always(f webapi.Fault) webapi.Fault {
	f.Times = -1
	return f
}
