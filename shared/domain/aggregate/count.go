package aggregate

import (
	"fmt"
	"time"
)

// Count is a counter of a tenant's quotas and how a Change moves it.
type Count struct {
	Key    string // <user>#<hour>, OPEN#<user>, ASKED#<user>#<gate> or SPENT#<day>
	By     int    // 1 or -1; of a day's costs, millionths of a dollar
	Most   int    // a Change that would move it above this is refused; 0: no limit
	Reason Reason // what ErrFull says when the limit is reached
	Until  time.Time
	Keep   time.Time // zero: for ever
}

// ErrFull says that there is no place for it, why, and when there may be one.
type ErrFull struct{ Count }

func (e ErrFull) Error() string { return fmt.Sprintf("%s: at most %d", e.Reason, e.Most) }
