package aggregate

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// What a text says about one place isn't paid for at each of its values.
func TestALongNameCostsNoMoreThanItsText(t *testing.T) {
	var short uint64 // what a name of one character allocates
	for _, n := range []int{1, 150, 16000} {
		name := strings.Repeat("n", n)
		list := func(last string) JSON {
			return JSON(fmt.Sprintf(`{"a":{"%s":[%s%s]}}`, name, strings.Repeat("0,", (60<<10-n)/2), last))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := list("0").Unambiguous("body", 64, 1)
		runtime.ReadMemStats(&after)
		bytes := after.TotalAlloc - before.TotalAlloc
		if n == 1 {
			short = bytes
		}
		expect.That(t, err == nil && bytes < short+20<<20, "%d: %v, %d bytes, %d of a short name", n, err, bytes, short)
		wrong := list(`{"x":1,"x":2}`).Unambiguous("body", 64, 1)
		expect.That(t, wrong != nil && strings.HasPrefix(wrong.Error(), "a."+name[:min(n, 198)]) &&
			len(wrong.Error()) < 250 &&
			strings.HasSuffix(wrong.Error(), " is there twice"), "%d: %v", n, wrong)
	}
}
