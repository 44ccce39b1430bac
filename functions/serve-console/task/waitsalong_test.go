package task

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// Whatever a route is for, the list of what waits follows it.
func TestEachGateUnderARuleIsKnownAsOne(t *testing.T) {
	g := aggregate.Gate{Terms: aggregate.Terms{Rule: &circulation.Rule{ID: "r1"}}}
	for _, row := range []aggregate.Asking{
		&task.Prompt{Gate: g}, &task.Process{Gate: g}, &task.StepGate{Gate: g}, &task.Again{Gate: g},
	} {
		var x askedItem
		x.Row = row
		expect.That(t, x.ruled() != nil, "%T has no rule", row)
	}
}
