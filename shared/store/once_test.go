package store_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

func TestOneOfManyBeginsWhatIsToBeDoneOnce(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	begin := func(what string) bool {
		first, came, err := s.Once(t.Context(), "01TENANT", what)
		expect.That(t, err == nil && came == (store.Came{}), "%+v, %v", came, err)
		return first
	}
	var first atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if begin("trigger 1") {
				first.Add(1)
			}
		})
	}
	all.Wait()
	expect.That(t, first.Load() == 1, "%d of eight were the first", first.Load())
	expect.That(t, begin("trigger 2"), "another is taken for the same")
	expect.NoError(t, s.Again(t.Context(), "01TENANT", "trigger 1"))
	expect.That(t, begin("trigger 1") && !begin("trigger 1"), "what failed begins again, and only once")
	is := store.Came{As: "accepted", Channel: "C1", TS: "1776675600.000900"}
	expect.NoError(t, s.Came(t.Context(), "01TENANT", "trigger 1", is))
	if first, came, err := s.Once(t.Context(), "01TENANT", "trigger 1"); first || came != is || err != nil {
		t.Errorf("%v, %+v, %v", first, came, err)
	}
}
