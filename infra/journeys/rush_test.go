package journeys

import (
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// Many requests at once, at the pace that Slack allows, on a stack whose pace and sweeper are those of production.
// Lambda ends a chain of sixteen invocations, and then the card would wait until the queue gives it up. By day
// functions/update-card keeps the pace.
func TestCardsThatWaitForSlackAreNotSentAroundUntilLambdaStopsThem(t *testing.T) {
	expect.AtNight(t)
	o := driver.Options()
	o.ByHand, o.Sandbox.Rates = false, webapi.Rates{Enforce: true}
	s := expect.Value(driver.Start(t.Context(), o))(t)
	defer s.Close()
	const most, requests = 8, 25
	var all []*driver.Request
	for range requests {
		r := driver.Say(t, s, webapi.Sato, webapi.HR, "<@"+webapi.Bot+"> 従業員一覧を取得して")
		r.Timeout = 8 * time.Minute // all of them take five, in whatever order
		all = append(all, r)
	}
	for _, r := range all {
		r.Card(driver.PromptCard, "承認")
	}
	n := s.Lambda.LongestChain("UpdateCardFunction")
	t.Logf("%d invocations in the longest chain", n)
	expect.That(t, 1 < n && n <= most, "%d invocations in one chain; Lambda ends it at 16", n)
}
