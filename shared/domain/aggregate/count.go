package aggregate

import (
	"fmt"
	"time"
)

// Count is a counter for one of a tenant's quotas, and what a Change adds to it.
type Count struct {
	Key    string // <user>#<hour>, OPEN#<user>, ASKED#<user>#<gate> or SPENT#<day>
	By     int    // 1 or -1; for a day's costs, millionths of a dollar
	Most   int    // a Change that would take the counter above this is refused; 0: no limit
	Reason Reason // the reason in ErrFull when the limit is reached
	Until  time.Time
	Keep   time.Time // when the counter may be deleted; zero: never
}

// ErrFull says that a quota is used up, which one, and until when.
type ErrFull struct{ Count }

func (e ErrFull) Error() string { return fmt.Sprintf("%s: at most %d", e.Reason, e.Most) }
