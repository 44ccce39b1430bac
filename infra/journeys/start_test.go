// Package journeys uses Ringi as its users do: signed HTTP requests in, Slack's Web API out, and everything between as
// it runs in AWS.
package journeys

import (
	"errors"
	"flag"
	"log"
	"os"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
)

// running is the only stack of this package's tests; each test leaves it as it found it.
var running *stack.Stack

// short matches what runs with -short: one request, from its message to its end.
const short = "^TestARequestBecomesDoneWork$"

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		if err := errors.Join(flag.Set("test.run", short), flag.Set("test.short", "false")); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s }))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	return running
}

// endedAndShown reports whether a request has ended, and its cards show that.
func endedAndShown(a *task.Aggregate) bool {
	return a.Head.Ended != nil && a.Head.ShownRev >= a.Head.Rev
}
