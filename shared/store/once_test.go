package store_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"ringi/shared/expect"
	"ringi/shared/store/storetest"
)

func TestOneOfManyBeginsWhatIsToBeDoneOnce(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	begin := func(what string) bool { return expect.Value(s.Once(t.Context(), "01TENANT", what))(t) }
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
	if first.Load() != 1 {
		t.Errorf("%d of eight were the first", first.Load())
	}
	if !begin("trigger 2") {
		t.Error("another is taken for the same")
	}
	expect.NoError(t, s.Again(t.Context(), "01TENANT", "trigger 1"))
	if !begin("trigger 1") || begin("trigger 1") {
		t.Error("what failed begins again, and only once")
	}
}
