package faults

import (
	"context"
	"net/url"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// handedOver has an administrator put Alex in the place of Tanaka, who denies the steps for good. Only whom the rule
// names today can be put there, so the rule changes while the steps go round.
func handedOver() scenario {
	const steps = "CARD#process#0001"
	return scenario{name: "succession", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
		d.ruled.Lock()
		defer d.ruled.Unlock()
		ruled := func(second ...string) {
			driver.SaveRules(d.T, d.Stack, always(desk("課長", 1, webapi.Suzuki), desk("部長", 1, second...)))
		}
		ruled(webapi.Tanaka)
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.stamps(webapi.Suzuki, steps, 1)
		ruled(webapi.Tanaka, webapi.Alex)
		d.copyOf(webapi.Tanaka, steps, 2, "reject_process") // none comes later than the act that ends its use
		d.puts(webapi.Alex, webapi.Tanaka, 2)
		d.copyOf(webapi.Alex, steps, 2, "reject_process")
		d.reject(webapi.Alex, steps, "reject_process", "予算がない", circulation.Deny)
	}}
}

// puts has Suzuki send the form of a successor at the second stage of the steps until they have this many acts.
func (d *scenarioRun) puts(to, instead string, acts int) {
	desk := driver.Administrator(d.T, d.Stack, webapi.Suzuki)
	p := d.Load().Process()
	form := url.Values{"gate": {p.ID}, "stage": {"2"}, "for": {instead}, "asked": {p.Asked}, "to": {to},
		"reason": {"異動"}}
	has := func() bool { return len(d.Load().Process().Acts) == acts }
	d.Eventually("the successor is put there", func() bool {
		status, _ := desk.Post("/console/tasks/"+d.Ref.ID+"/successor", form)
		d.T.Logf("the form of a successor: %d", status)
		return expect.Holds(context.Background(), time.Second, d.Poll, has)
	})
}

// Whatever dies while somebody is put in another's place and denies, it happens once.
func TestACrashInASuccessionChangesNothing(t *testing.T) {
	expect.AtNight(t) // TestACrashAlongARouteChangesNothing is a sample
	b := running
	t.Cleanup(func() { driver.SaveRules(t, b.Stack) })
	s := handedOver()
	d, base := b.undisturbedRun(t, s)
	p := d.Load().Process()
	if p.Status != aggregate.Rejected || len(p.Acts) != 3 || p.Acts[1].Kind != circulation.Stand ||
		p.Acts[2].Kind != circulation.Deny || p.Acts[2].Hand.User != webapi.Alex {
		t.Fatalf("the steps are %s with %+v", p.Status, p.Acts)
	}
	b.survivesAny(t, s, d, base)
}
