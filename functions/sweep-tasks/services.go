package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
)

const (
	// answerWithin is how long the sweeper waits for a service. Services answer in milliseconds, and the next minute
	// retries.
	answerWithin = 3 * time.Second
	// mostFailures is the number of consecutive failures after which the rest of this sweep doesn't call a service. The
	// SDK has retried each of those calls, unless there was no answer at all.
	mostFailures = 3
)

// errLeftAlone means that a call was not made because its service failed repeatedly in this sweep.
var errLeftAlone = errors.New("left alone for this sweep")

// service is a service that many tasks need. All tasks of a sweep share the record of its failures.
type service struct {
	name string

	mu       sync.Mutex
	failures int // in a row
}

// call makes a call of at most answerWithin, unless the service failed repeatedly. A refusal counts as an answer.
func (s *service) call(ctx context.Context, do func(context.Context) error) error {
	if s.leftAlone() {
		return fmt.Errorf("%s: %w", s.name, errLeftAlone)
	}
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err := do(within)
	if failed := unavailable(err); !failed || ctx.Err() == nil { // otherwise the task's own time was over
		s.heard(ctx, failed)
	}
	return err
}

func (s *service) leftAlone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures >= mostFailures
}

// heard records how a call ended. A service that is no longer called stays so for this sweep.
func (s *service) heard(ctx context.Context, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failures >= mostFailures:
	case !failed:
		s.failures = 0
	default:
		if s.failures++; s.failures == mostFailures {
			slog.ErrorContext(ctx, "a service is left alone for this sweep", "service", s.name)
		}
	}
}

// unavailable reports whether an error is the service's fault, not the task's.
func unavailable(err error) bool {
	class := explain.ClassOf(err)
	return class == explain.Unavailable || class == explain.Unconfirmed
}

// ofOneSweep returns the handler for one sweep, which stops calling a service that fails repeatedly.
func (h *Handler) ofOneSweep() *Handler {
	table := watched{Store: h.Store, effects: h.Effects.Store, reads: &service{name: "reads of the table"},
		writes: &service{name: "writes of the table"}}
	one := *h
	one.begun = &sync.Map{}
	one.Store, one.Effects.Store = table, table
	one.Effects.Runs = watchedRuns{h.Effects.Runs, &service{name: "Step Functions"}}
	one.Effects.Queue = watchedQueue{h.Effects.Queue, &service{name: "the card queue"}}
	return &one
}

// watched is the table as a service.
type watched struct {
	Store
	effects       effect.Store
	reads, writes *service
}

func (w watched) Load(ctx context.Context, ref aggregate.Ref) (a aggregate.Aggregate, err error) {
	err = w.reads.call(ctx, func(ctx context.Context) error { a, err = w.Store.Load(ctx, ref); return err })
	return a, err
}

func (w watched) Head(ctx context.Context, ref aggregate.Ref) (r aggregate.Root, err error) {
	err = w.reads.call(ctx, func(ctx context.Context) error { r, err = w.Store.Head(ctx, ref); return err })
	return r, err
}

func (w watched) Decide(
	ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate],
) (a aggregate.Aggregate, err error) {
	err = w.writes.call(ctx, func(ctx context.Context) error { a, err = w.Store.Decide(ctx, ref, decide); return err })
	return a, err
}

func (w watched) Postpone(ctx context.Context, ref aggregate.Ref, h aggregate.Head, due *time.Time) error {
	return w.writes.call(ctx, func(ctx context.Context) error { return w.Store.Postpone(ctx, ref, h, due) })
}

func (w watched) SweepFailed(ctx context.Context, ref aggregate.Ref, failures int, due, now time.Time) error {
	return w.writes.call(ctx, func(ctx context.Context) error { return w.Store.SweepFailed(ctx, ref, failures, due, now) })
}

func (w watched) Create(ctx context.Context, ref aggregate.Ref, c aggregate.Change) error {
	return w.writes.call(ctx, func(ctx context.Context) error { return w.effects.Create(ctx, ref, c) })
}

func (w watched) DropWait(ctx context.Context, ref aggregate.Ref, x aggregate.Wait) error {
	return w.writes.call(ctx, func(ctx context.Context) error { return w.effects.DropWait(ctx, ref, x) })
}

type watchedRuns struct {
	effect.Runs
	service *service
}

func (w watchedRuns) StartExecution(
	ctx context.Context, in *sfn.StartExecutionInput, o ...func(*sfn.Options),
) (out *sfn.StartExecutionOutput, err error) {
	err = w.service.call(ctx,
		func(ctx context.Context) error { out, err = w.Runs.StartExecution(ctx, in, o...); return err })
	return out, err
}

func (w watchedRuns) DescribeExecution(
	ctx context.Context, in *sfn.DescribeExecutionInput, o ...func(*sfn.Options),
) (out *sfn.DescribeExecutionOutput, err error) {
	err = w.service.call(ctx,
		func(ctx context.Context) error { out, err = w.Runs.DescribeExecution(ctx, in, o...); return err })
	return out, err
}

func (w watchedRuns) SendTaskSuccess(
	ctx context.Context, in *sfn.SendTaskSuccessInput, o ...func(*sfn.Options),
) (out *sfn.SendTaskSuccessOutput, err error) {
	err = w.service.call(ctx,
		func(ctx context.Context) error { out, err = w.Runs.SendTaskSuccess(ctx, in, o...); return err })
	return out, err
}

type watchedQueue struct {
	effect.Queue
	service *service
}

func (w watchedQueue) SendMessage(
	ctx context.Context, in *sqs.SendMessageInput, o ...func(*sqs.Options),
) (out *sqs.SendMessageOutput, err error) {
	err = w.service.call(ctx,
		func(ctx context.Context) error { out, err = w.Queue.SendMessage(ctx, in, o...); return err })
	return out, err
}
