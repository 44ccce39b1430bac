// Package rush makes many requests at once, at the pace that Slack allows. It has its own stack because that pace and
// the sweeper's are those of production.
package rush

import (
	"os"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// running is the only stack of this package's tests.
var running *stack.Stack

func TestMain(m *testing.M) {
	o := driver.Options()
	o.ByHand, o.Sandbox.Rates = false, webapi.Rates{Enforce: true}
	os.Exit(driver.Run(m, o, func(s *stack.Stack) { running = s }))
}

// Lambda ends a chain of sixteen invocations, and then the card would wait until the queue gives it up.
func TestCardsThatWaitForSlackAreNotSentAroundUntilLambdaStopsThem(t *testing.T) {
	driver.Leave(t, running)
	const most = 8
	requests := 6
	if expect.Long() {
		requests = 25
	}
	all := make([]*driver.Request, requests)
	for i := range all {
		all[i] = driver.Say(t, running, webapi.Sato, webapi.HR, "<@"+webapi.Bot+"> 従業員一覧を取得して")
		all[i].Timeout = 8 * time.Minute // all of them take five, in whatever order
	}
	for _, r := range all {
		r.Card(driver.PromptCard, "承認")
	}
	n := running.Lambda.LongestChain("UpdateCardFunction")
	t.Logf("%d invocations in the longest chain", n)
	expect.That(t, 1 < n && n <= most, "%d invocations in one chain; Lambda ends it at 16", n)
}
