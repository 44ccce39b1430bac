package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Failure says why a model's answer was not usable.
type Failure struct {
	Reason     aggregate.Reason
	Detail     string          // for administrators, such as whose API key failed; never content
	Said       string          // shown to people instead of Detail; may quote the model, so it is never logged
	RetryAfter time.Duration   // the delay that the vendor asked for, or 0
	Transient  bool            // another try may succeed
	Usage      aggregate.Usage // of the failed calls
}
