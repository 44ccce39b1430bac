package faults

import (
	"context"
	"slices"
	"testing"

	"ringi/infra/local/driver"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

// sourcePoints is how many crash points of a fetch are tried.
const sourcePoints = 1

// TestACrashInAFetchLosesNoFiles kills processes anywhere while a conversation's first files are fetched: it begins with
// the files of one commit, or says that it has none, and says either once.
func TestACrashInAFetchLosesNoFiles(t *testing.T) {
	t.Parallel()
	b := running
	begin := func(t driver.T, kills ...point) *talk {
		return b.opens(t, "run: cat shop/price.py", conversation.SourceOf(driver.Shop(b.Stack)), kills...)
	}
	first := begin(t)
	if x := first.end(t); x.Status != conversation.ActionSucceeded || first.load(t).Conversation.Source.Tries != 1 {
		t.Fatalf("undisturbed, the action is %s (%s %s) after %d tries", x.Status, x.Error, x.ErrorDetail,
			first.load(t).Conversation.Source.Tries)
	}
	all := slices.DeleteFunc(first.points(), func(p point) bool { return p.function != "FetchSourceFunction" })
	trials := trialsOf(all)
	if !expect.Long() {
		trials = sampleOf(trials, sourcePoints, seed)
	}
	sideBySide(t, trials, func(t driver.T, _ int, kills []point) {
		k := begin(t, kills...)
		x := k.end(t)
		s := k.load(t).Conversation
		there := s.Source.State == conversation.SourceThere
		if there != (x.Status == conversation.ActionSucceeded) || there != (s.WorkspaceVersion != "") || !there {
			driver.Failf("the action is %s, the source %+v", x.Status, s.Source)
		}
		said := 0
		for _, m := range expect.Value(k.rows.Messages(context.Background(), k.ref.Tenant, k.ref.ID, ""))(t) {
			if m.Reason == conversation.ReasonSourceThere {
				said++
			}
		}
		if said != 1 {
			driver.Failf("where the files are from is said %d times", said)
		}
	})
	t.Logf("%d of %d points; seed %d", len(trials), len(all), seed)
}
