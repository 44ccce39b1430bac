package main

import (
	"fmt"
	"runtime"
	"testing"

	"ringi/shared/runtime/expect"
)

// The function has little memory, and a busy workspace's day many rows.
func TestTheKeysOfALongDayAreSmall(t *testing.T) {
	const n, most = 200_000, 48 // bytes for each
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	key := func(i int) string {
		return fmt.Sprintf("AUDIT#00000000006KYFXYRCTT23PT5E#2026-04/2026-04-18T09:00:00.000Z#%026d", i)
	}
	before, k := used(), newKeys()
	for i := range n {
		k.add(key(i))
	}
	per := (used() - before) / n
	for i := range 2 * n {
		expect.Must(t, k.has(key(i)) == (i < n), "key %d of %d is taken for the contrary", i, n)
	}
	t.Logf("%d bytes for each of %d keys", per, n)
	expect.That(t, per <= most, "a key takes %d bytes", per)
}
