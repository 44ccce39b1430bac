package task

import "errors"

var (
	// ErrMaxAttempts: the process was tried MaxAttempts times.
	ErrMaxAttempts = errors.New("no more attempts")
	// ErrMaxRetries: one generation was asked for again MaxRetries times.
	ErrMaxRetries = errors.New("no more retries")
	// ErrNothingToRetry: neither a failed execution nor a parked generation is there.
	ErrNothingToRetry = errors.New("nothing to try again")
)
