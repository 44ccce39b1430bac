package task

import "time"

// Failure is why a model gave nothing usable.
type Failure struct {
	Reason     Reason
	Detail     string        // what an administrator needs to know, such as whose key; no content
	RetryAfter time.Duration // what the vendor asked for; 0: nothing
	Transient  bool          // another try may succeed
	Usage      Usage         // of the calls that gave nothing usable
}
