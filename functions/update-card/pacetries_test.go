package main

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// A message that only waits for Slack's pace has not failed, however often its turn was another's.
func TestWaitsForSlacksPaceAreNoFailures(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.done()
	w.Extracted()
	w.paced(0)
	w.Cancel()
	in := w.inLane()
	for n := range mostTries + 2 {
		w.useUp() // by others
		expect.Must(t, w.post(in, 1), "given back for %v s", w.queue.hidden)
		expect.Must(t, len(w.queue.sent) == 1, "after %d waits: %d sent", n, len(w.queue.sent))
		in = w.queue.sent[0]
		m := saying(*in.MessageBody)
		expect.Must(t, strings.Contains(*in.MessageGroupId, "-waits-") && !m.Doubted, "after %d waits: group %s, %s", n, *in.MessageGroupId, *in.MessageBody)
		w.Later(max(0, m.After.Sub(w.Now())) + time.Second)
		expect.Must(t, w.post(in, 2) && len(w.queue.sent) == 1, "not back")
		in = w.queue.sent[0]
	}
}
