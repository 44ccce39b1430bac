// Package page uses Ringi on the sandbox's page in a browser: on a phone and on a desktop, in both languages.
package page

import (
	"os"
	"testing"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/stack"
)

// running is the only stack of this package's tests; each test leaves it as it found it.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(browser.Share(func() int {
		return driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s })
	}))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	driver.Settings(t, running, driver.SetTitles)
	return running
}
