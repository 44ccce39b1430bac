package faults

import (
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

// callPoints is how many crash points of a call are tried.
const callPoints = 1

// asked counts how often call-tool asked freee for employees.
func (k *talk) asked() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, times := range k.left {
		if strings.HasPrefix(key, "CallToolFunction ") && strings.Contains(key, "/employees") {
			n += times
		}
	}
	return n
}

// TestACrashInACallOfAToolCallsNothingTwice kills call-tool anywhere while it reads: the action is done and names what
// was returned, or it failed and did nothing, and the tool was called by one claim.
func TestACrashInACallOfAToolCallsNothingTwice(t *testing.T) {
	t.Parallel()
	b := running
	begin := func(t driver.T, kills ...point) *talk { return b.says(t, "list the employees", kills...) }
	first := begin(t)
	if x := first.end(t); x.Status != conversation.ActionSucceeded || x.CallResult == nil {
		t.Fatalf("undisturbed, the call is %s (%s %s): %v", x.Status, x.Error, x.ErrorDetail, first.counts)
	}
	once := first.asked()
	points := slices.DeleteFunc(first.points(), func(p point) bool { return p.function != "CallToolFunction" })
	if len(points) == 0 {
		t.Fatal("call-tool has no crash point")
	}
	trials := trialsOf(points)
	if !expect.Long() {
		trials = sampleOf(trials, callPoints, seed)
	}
	sideBySide(t, trials, func(t driver.T, _ int, kills []point) {
		k := begin(t, kills...)
		x := k.end(t)
		done := x.Status == conversation.ActionSucceeded && x.CallResult != nil
		nothing := x.Status == conversation.ActionFailed && x.Outcome == "" && x.CallResult == nil
		if !done && !nothing || k.asked() > once {
			driver.Failf("the call is %s (%s %q) after %d of %d requests", x.Status, x.Error, x.Outcome, k.asked(), once)
		}
	})
	t.Logf("%d points of call-tool, %d requests each; seed %d", len(trials), once, seed)
}
