package aggregate

import (
	"testing"

	"github.com/oklog/ulid/v2"

	"ringi/shared/runtime/expect"
)

// An id source that counts up within a millisecond would produce ids with equal beginnings.
func TestNewIDsOfOneMomentAreUnrelated(t *testing.T) {
	seen := map[[4]byte]bool{}
	for range 200 {
		id := expect.Value(ulid.ParseStrict(NewID()))(t)
		begin := [4]byte(id.Entropy()[:4])
		expect.Must(t, !seen[begin], "two ids begin their random part with %x", begin)
		seen[begin] = true
	}
}
