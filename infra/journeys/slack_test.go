// Package journeys uses Ringi as its users do: signed HTTP requests in, Slack's Web API out, and everything between as
// it runs in AWS. What strangers put into their agents is held against a stand-in for Ringi's door, and at night a real
// Claude Code against Ringi itself.
package journeys

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// running is the stack of most of this package's tests; each leaves it as it found it. With -short there is none. A
// test that changes settings or what vendors do has it alone.
var (
	running *stack.Stack
	alone   sync.RWMutex
)

// Tests mostly wait, so more of them run at once than there are cores.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	if driver.LeftOut() {
		os.Exit(m.Run())
	}
	os.Exit(driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s }))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	expect.Patience(t)
	t.Parallel()
	alone.Lock()
	t.Cleanup(alone.Unlock)
	driver.Leave(t, running)
	return running
}

// beside is start for a test that runs beside others, since it changes neither settings nor what vendors do.
func beside(t *testing.T) *stack.Stack {
	t.Helper()
	expect.Patience(t)
	t.Parallel()
	alone.RLock()
	t.Cleanup(alone.RUnlock)
	return running
}

func ended(a *task.Aggregate) bool { return a.Head.Ended != nil }

// The samples of Slack's requests have no signature; invoking them signs them.
func TestASampleRequestIsSignedWhenItIsInvoked(t *testing.T) {
	o := driver.Options()
	o.AWSAddr = strings.TrimPrefix(beside(t).AWSEndpoint, "http://")
	for _, tt := range []struct{ sample, function, code string }{
		{"app_mention.json", "receive-event", "200"}, {"approve_prompt.json", "receive-interaction", "200"},
		{"approve_prompt.json", "receive-interaction", "401"},
	} {
		event := expect.Value(os.ReadFile(filepath.Join("..", "events", tt.sample)))(t)
		if tt.code == "401" { // it has another signature
			event = bytes.Replace(event, []byte("v0=0"), []byte("v0=1"), 1)
		}
		result, err := stack.InvokeOnce(t.Context(), o, tt.function, event)
		expect.That(t, err == nil && !result.Failed, "%s: %v", tt.sample, err)
		expect.Has(t, string(result.Payload), `"statusCode":`+tt.code, tt.sample)
	}
}
