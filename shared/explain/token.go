package explain

import (
	"context"
	"errors"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// NoToken returns the error of a call without a token: why there is none and what people can do.
func NoToken(p Provider, err error) *CallError {
	var known *CallError
	if errors.As(err, &known) {
		return known
	}
	e := &CallError{Outcome: CallFailed, Problem: ProblemLocked, Args: []any{p}, Err: err}
	ended := tenancy.ErrNotConnected{}
	switch {
	case errors.As(err, &ended):
		e.Problem = ending(ended.Reason)
	case errors.Is(err, aggregate.ErrNotFound):
		e.Problem = ProblemNotConnected
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		e.Problem = ProblemTimeout
	}
	return e
}

// ending returns the problem that explains why a provider is no longer connected.
func ending(why tenancy.IntegrationReason) Problem {
	switch why {
	case tenancy.CredentialRefused:
		return ProblemUnauthorized
	case tenancy.CredentialLost:
		return ProblemTokenLost
	case tenancy.AppUninstalled:
		return ProblemUninstalled
	case tenancy.TokensRevoked:
		return ProblemRevoked
	case tenancy.CredentialElsewhere:
		return ProblemElsewhere
	}
	return ProblemNotConnected
}
