package main

import (
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// Rounds that are put back are counted while the rescue still runs: a sum of some restored rounds must not be added to
// old counts of the others.
func TestTeamsStatisticsAreWholeAfterTheirRowsCame(t *testing.T) {
	server := storetest.Start(t)
	was, from := server.Store(t)
	is, table := server.Store(t)
	round := func(row string) store.Counted {
		return store.Counted{Tenant: "01TENANT", Of: "team", Row: row, Rev: 1, Adds: map[string]int{"rounds": 1}}
	}
	for _, row := range []string{"a", "b", "c"} {
		expect.NoError(t, store.CounterOf(was.Of.Table(), was.Of.Kinds()).Count(t.Context(), round(row)))
	}
	expect.NoError(t, store.CounterOf(is.Of.Table(), is.Of.Kinds()).Count(t.Context(),
		round("a"))) // the sealer was faster
	bring(t, server, from, table)
	for _, row := range []string{"a", "b", "c"} { // it goes on, or rescue rounds does
		expect.NoError(t, store.CounterOf(is.Of.Table(), is.Of.Kinds()).Count(t.Context(), round(row)))
	}
	n := expect.Value(store.CounterOf(is.Of.Table(), is.Of.Kinds()).CountedSums(t.Context(), "01TENANT", "team",
		"rounds"))(t)["rounds"]
	expect.Is(t, n, 3, "counted rounds")
}
