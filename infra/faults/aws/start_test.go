// Package aws makes AWS throttle, fail and refuse the functions' calls while people work with Ringi, and searches logs
// and histories afterwards for secrets.
package aws

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

var (
	running *stack.Stack
	faulty  *serviceFaults
	printed = &printedLines{}
)

// printedLines collects everything that functions print.
type printedLines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printedLines) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printedLines) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func TestMain(m *testing.M) {
	faulty = newServiceFaults(expect.Seed())
	o := driver.Options()
	o.Faults, o.FunctionLog, o.SigningSecret = faulty, printed, signingSecret
	o.Sandbox.AnswerTime = 10 * time.Second // longer than Slack's 3 s, because the machine may be busy
	o.BotToken = botToken
	code := driver.Run(m, o, func(s *stack.Stack) { running = s })
	if code != 0 {
		log.Printf("the seed was %d", expect.Seed())
	}
	os.Exit(code)
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	t.Cleanup(func() { faulty.set(0, 0, nil) })
	return running
}

// withLongTimeout makes a request wait long enough for the next sweep or the end of a lease.
func withLongTimeout(d *driver.Request) *driver.Request {
	d.Timeout, d.WhenQuiet = 150*time.Second, d.Sweep
	return d
}

func (w *serviceFaults) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, times := range w.calls {
		n += times
	}
	return fmt.Sprintf("seed %d: %d calls, faults %v", w.seed, n, w.hit)
}
