package faults

import (
	"context"
	"slices"
	"sync"
	"testing"

	"ringi/infra/driver"
	"ringi/infra/local/admin"
	"ringi/shared/domain/conversation"
)

// sourcePoints is how many crash points of a fetch are tried.
const sourcePoints = 6

// TestACrashInAFetchLosesNoFiles kills processes anywhere while a conversation's first files are fetched: it begins with
// the files of one commit, or says that it has none, and says either once.
func TestACrashInAFetchLosesNoFiles(t *testing.T) {
	b := running
	begin := func(t driver.T, kills ...point) *talk {
		return b.opens(t, "run: cat shop/price.py", conversation.SourceOf(admin.Shop(b.Stack)), kills...)
	}
	first := begin(t)
	if x := first.end(t); x.Status != conversation.ActionSucceeded || first.load(t).Conversation.Source.Tries != 1 {
		t.Fatalf("undisturbed, the action is %s (%s %s) after %d tries", x.Status, x.Error, x.ErrorDetail, first.load(t).Conversation.Source.Tries)
	}
	all := slices.DeleteFunc(first.points(), func(p point) bool { return p.function != "FetchSourceFunction" })
	points := all
	if !*long {
		points = nil
		for _, x := range sampleOf(trialsOf(all), sourcePoints, *seed) {
			points = append(points, x.kills...)
		}
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, *beside)
	for _, p := range points {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			if err := driver.Try(context.Background(), func(t driver.T) {
				k := begin(t, p)
				x := k.end(t)
				s := k.load(t).Conversation
				there := s.Source.State == conversation.SourceThere
				if there != (x.Status == conversation.ActionSucceeded) || there != (s.WorkspaceVersion != "") || !there {
					driver.Failf("the action is %s, the source %+v", x.Status, s.Source)
				}
				said := 0
				for _, m := range must(k.rows.Messages(context.Background(), k.ref.Tenant, k.ref.ID, "")) {
					if m.Reason == conversation.ReasonSourceThere {
						said++
					}
				}
				if said != 1 {
					driver.Failf("where the files are from is said %d times", said)
				}
			}); err != nil {
				t.Errorf("%v: %v", p, err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d points; seed %d", len(points), len(all), *seed)
}

func trialsOf(all []point) (out []trial) {
	for _, p := range all {
		out = append(out, trial{scenario: scenario{name: "source"}, kills: []point{p}})
	}
	return out
}

func must[V any](v V, err error) V {
	if err != nil {
		driver.Failf("%v", err)
	}
	return v
}
