package store

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func testLeases(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	lease := func(by string, until time.Time) *aggregate.Lease {
		return &aggregate.Lease{Of: "EXECUTION#0001#001", Invocation: by, LeaseUntil: until, Run: 1, Pauses: 2, Failing: &until}
	}
	load := func() aggregate.Aggregate {
		t.Helper()
		return expect.Value(st.Store.Load(t.Context(), ref))(t)
	}
	first := load()
	put := func(on *Store, a aggregate.Aggregate, l *aggregate.Lease, want error) {
		t.Helper()
		expect.Fails(t, on.PutLease(t.Context(), a, l), want, "%+v", l)
	}
	soon := at().Add(30 * time.Second)
	put(st.Store, first, lease("mine", soon), nil)
	put(st.Store, first, lease("another", soon), aggregate.ErrInFlight)
	put(st.Store, first, lease("mine", soon), nil) // the same again is an answer that was lost
	second := load()
	is := second.Common().Leases
	if len(is) != 1 || !is[0].Same(lease("mine", soon)) || is[0].Run != 1 || is[0].Pauses != 2 || !is[0].Failing.Equal(soon) {
		t.Errorf("%+v", is)
	}
	put(st.Store, second, lease("mine", soon.Add(time.Minute)), nil)                    // renewed
	put(st.Store, second, lease("another", soon.Add(time.Hour)), aggregate.ErrInFlight) // as it was before
	put(st.Store, load(), lease("", soon.Add(time.Minute)), nil)                        // released
	for _, options := range [][]func(*dynamodb.Options){nil, {oneTry}} {
		d := dropping("PutItem", 1)
		soon = soon.Add(time.Hour)
		put(st.over(d, options...).Store, load(), lease("mine", soon), nil)
		if d.dropped.Load() != 1 || !load().Common().Leases[0].Same(lease("mine", soon)) {
			t.Error("no answer was lost, or it is not there")
		}
	}
	last := load().Root().Common()
	was := first.Root().Common()
	expect.That(t, last.Rev == was.Rev && last.DueAt.Equal(*was.DueAt), "the head moved: %+v", last)
}
