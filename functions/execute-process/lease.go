package main

import (
	"context"
	"time"

	"ringi/shared/model/managed"
)

// leaseSpare: a call must end when a tenth of the lease is left, so that no call is in progress when the lease ends.
const leaseSpare = 10

// leased ends a sessionJob's calls before its lease ends, so that they never overlap with those of the next invocation.
// If a call was cut off, the session's events tell the next turn whether it arrived.
type leased struct {
	Sessions
	j *sessionJob
}

// inLease makes a call within the lease. A successful call resets failing.
func inLease[T any](ctx context.Context, j *sessionJob, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, j.lease.Sub(j.Now())-j.HoldFor/leaseSpare)
	defer cancel()
	v, err := call(ctx)
	if err == nil {
		j.failing = time.Time{}
	}
	return v, err
}

func (l leased) CreateAgent(ctx context.Context, tenant, model string) (managed.Place, error) {
	return inLease(ctx, l.j, func(ctx context.Context) (managed.Place, error) {
		return l.Sessions.CreateAgent(ctx, tenant, model)
	})
}

func (l leased) Find(ctx context.Context, at managed.Place, tags map[string]string, since time.Time) (string, error) {
	return inLease(ctx, l.j, func(ctx context.Context) (string, error) { return l.Sessions.Find(ctx, at, tags, since) })
}

func (l leased) Start(ctx context.Context, at managed.Place, p managed.Plan) (string, error) {
	return inLease(ctx, l.j, func(ctx context.Context) (string, error) { return l.Sessions.Start(ctx, at, p) })
}

func (l leased) Poll(ctx context.Context, session string) (managed.State, error) {
	return inLease(ctx, l.j, func(ctx context.Context) (managed.State, error) { return l.Sessions.Poll(ctx, session) })
}

func (l leased) Say(ctx context.Context, session, text string) error {
	_, err := inLease(ctx, l.j, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, l.Sessions.Say(ctx, session, text)
	})
	return err
}

func (l leased) Answer(ctx context.Context, session, request, text string, failed bool) error {
	_, err := inLease(ctx, l.j, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, l.Sessions.Answer(ctx, session, request, text, failed)
	})
	return err
}
