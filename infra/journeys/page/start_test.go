// Package page walks through Ringi on the page of the sandbox, in a browser: on a phone and at a
// desk, in both languages.
package page

import (
	"os"
	"testing"

	"ringi/infra/driver"
	"ringi/infra/local/browser"
	"ringi/infra/local/stack"
)

// running is the one stack of this package's tests; each leaves it as it found it.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(browser.Share(func() int {
		return driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s })
	}))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	return running
}
