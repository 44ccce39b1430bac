package main

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// short is a store whose invocations end after so many rows of the log.
type short struct {
	Store
	rows int
}

func (s *short) RowsOfLog(ctx context.Context, tenant string, from, until time.Time) iter.Seq2[chain.Row, error] {
	return func(yield func(chain.Row, error) bool) {
		n := 0
		for r, err := range s.Store.RowsOfLog(ctx, tenant, from, until) {
			if n++; n > s.rows {
				yield(chain.Row{}, errors.New("the invocation's time is over"))
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// A day whose rows take longer than an invocation is looked at bit by bit.
func TestALongDayIsLookedAtBitByBit(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	yesterday := began.AddDate(0, 0, -1)
	w.now = yesterday
	var rows []chain.Row
	for n := range 700 {
		rows = append(rows, expect.Value(store.SealedRow(w.row(tenant, yesterday.Add(time.Duration(n)*time.Second))))(t))
	}
	for part := range slices.Chunk(rows, 350) {
		expect.NoError(t, w.seal(t.Context(), tenant, part, false))
	}
	w.now = began.Add(time.Hour)
	w.Store = &short{w.store, 600}
	for range 3 {
		w.tick()
	}
	if is := expect.Value(w.store.Chain(t.Context(), tenant))(t); is.Checked.Before(began.Truncate(24 * time.Hour)) {
		t.Errorf("three invocations, and looked at no further than %v", is.Checked)
	}
	w.finds(tenant, 700)
}
