package main

import (
	"context"
	"time"

	"ringi/shared/model/managed"
)

// leaseSpare is the part of a hold that no call may use, so that one that is given up is not still on its way when the hold ends.
const leaseSpare = 10

// leased are the calls of a host to its session: each is over before the host's lease is, so that whoever has the
// session next meets none of them. What became of one that was cut off, the session's events say at the next turn.
type leased struct {
	Sessions
	h *host
}

// inLease makes a call. One that succeeds ends the time of being put off.
func inLease[T any](ctx context.Context, h *host, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, h.lease.Sub(h.Now())-h.HoldFor/leaseSpare)
	defer cancel()
	v, err := call(ctx)
	if err == nil {
		h.failing = time.Time{}
	}
	return v, err
}

func (l leased) Settle(ctx context.Context, tenant, model string) (managed.Place, error) {
	return inLease(ctx, l.h, func(ctx context.Context) (managed.Place, error) { return l.Sessions.Settle(ctx, tenant, model) })
}

func (l leased) Find(ctx context.Context, at managed.Place, tags map[string]string, since time.Time) (string, error) {
	return inLease(ctx, l.h, func(ctx context.Context) (string, error) { return l.Sessions.Find(ctx, at, tags, since) })
}

func (l leased) Start(ctx context.Context, at managed.Place, p managed.Plan) (string, error) {
	return inLease(ctx, l.h, func(ctx context.Context) (string, error) { return l.Sessions.Start(ctx, at, p) })
}

func (l leased) Poll(ctx context.Context, session string) (managed.State, error) {
	return inLease(ctx, l.h, func(ctx context.Context) (managed.State, error) { return l.Sessions.Poll(ctx, session) })
}

func (l leased) Say(ctx context.Context, session, text string) error {
	_, err := inLease(ctx, l.h, func(ctx context.Context) (struct{}, error) { return struct{}{}, l.Sessions.Say(ctx, session, text) })
	return err
}

func (l leased) Answer(ctx context.Context, session, request, text string, failed bool) error {
	_, err := inLease(ctx, l.h, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, l.Sessions.Answer(ctx, session, request, text, failed)
	})
	return err
}
