package task

import "errors"

var (
	// ErrMaxAttempts: the process was already tried MaxAttempts times.
	ErrMaxAttempts = errors.New("no more attempts")
	// ErrMaxRetries: the generation was already retried MaxRetries times.
	ErrMaxRetries = errors.New("no more retries")
	// ErrNumber: the execution can't begin without the next number of its year, which must be read; then decide again.
	ErrNumber = errors.New("its number isn't known, or is taken by now")
	// ErrNumbersGone: all MostNumbers of the fiscal year are given, so that no other try helps.
	ErrNumbersGone = errors.New("all numbers of the fiscal year are given")
	// ErrEdited: the request's message says something else by now than where the person clicked.
	ErrEdited = errors.New("the request's message was edited since")
	// ErrNothingToRetry: there is neither a failed execution nor a parked generation.
	ErrNothingToRetry = errors.New("nothing to try again")
)
