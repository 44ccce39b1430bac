package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Failure is why a model gave nothing usable.
type Failure struct {
	Reason     aggregate.Reason
	Detail     string          // what an administrator needs to know, such as whose key; no content
	Said       string          // what people are told in its place, with words of a model's: never logged
	RetryAfter time.Duration   // what the vendor asked for; 0: nothing
	Transient  bool            // another try may succeed
	Usage      aggregate.Usage // of the calls that gave nothing usable
}
