package contest

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// The test tries every pair of statuses. Moves that are not listed must be refused and write nothing.
func TestAMoveThatIsNotListedIsRefused(t *testing.T) {
	for from := range Moves {
		for to := range Moves {
			c := (&Aggregate{Contest: &Contest{Status: from}}).begin(time.Now())
			c.to(to)
			made, err := c.done()
			listed := Moves.Allows(from, to)
			expect.That(t, listed && err == nil || !listed && errors.Is(err, aggregate.ErrConflict) && made.Empty(),
				"%s to %s: %v", from, to, err)
		}
	}
}
