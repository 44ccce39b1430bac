package store_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// told returns the table's rows as the stream would deliver them.
func (w *contestWorld) told(t *testing.T) (all []store.Counted) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(w.db, &dynamodb.ScanInput{TableName: &w.table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page := expect.Value(pages.NextPage(t.Context()))(t)
		for _, it := range page.Items {
			c, ok, err := store.CounterOf(w.Of.Table(), w.Of.Kinds()).CountedOf(map[string]types.AttributeValue(it))
			expect.NoError(t, err)
			if ok {
				all = append(all, c)
			}
		}
	}
	return all
}

func testStatistics(t *testing.T, w *contestWorld) {
	expect.Is(t, expect.Value(w.TeamStatistics(t.Context(), contestTenant, "team-001"))(t), store.Statistics{},
		"of no rounds")
	id := contest.NewID()
	w.begin(t, id, "team-001", "b")
	for i, score := range []float64{0.75, 0.95, 0.8, 0.7, 0.9} {
		w.save(t, id, "team-001", i+1, score)
	}
	w.save(t, id, "b", 1, 0.3)
	before := w.told(t)
	w.save(t, id, "team-001", 2, 0.2) // an upsert: round 5 is the best now
	after := w.told(t)
	all := append(append(append(before, after...), before...), after...)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var wait sync.WaitGroup
	for lane := range 4 {
		wait.Go(func() {
			for i, c := range all {
				if i%4 == lane {
					for t.Context().Err() == nil && store.CounterOf(w.Of.Table(), w.Of.Kinds()).Count(t.Context(), c) != nil {
					}
				}
			}
		})
	}
	wait.Wait()
	got := expect.Value(w.TeamStatistics(t.Context(), contestTenant, "team-001"))(t)
	if want := (store.Statistics{TotalRounds: 5, AvgScore: 0.67, BestScore: 0.9, TotalInputTokens: 2250,
		TotalOutputTokens: 4500}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if b := expect.Value(w.TeamStatistics(t.Context(), contestTenant, "b"))(t); b.TotalRounds != 1 || b.BestScore != 0.3 {
		t.Errorf("%+v", b)
	}
}
