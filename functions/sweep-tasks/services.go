package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

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

// services records the failures of the services that many tasks need. All tasks of a sweep share it.
type services struct {
	mu       sync.Mutex
	failures map[string]int // in a row
}

type sweepKey struct{}

// ofOneSweep returns a context whose calls stop for a service that fails repeatedly.
func ofOneSweep(ctx context.Context) context.Context {
	return context.WithValue(ctx, sweepKey{}, &services{failures: map[string]int{}})
}

// watched has each call of a client of this configuration made by guarded.
func watched(cfg aws.Config) aws.Config {
	watch := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		out middleware.InitializeOutput, meta middleware.Metadata, err error) {
		service, operation := middleware.GetServiceID(ctx), middleware.GetOperationName(ctx)
		err = guarded(ctx, serviceOf(service, operation), func(ctx context.Context) (err error) {
			if out, meta, err = next.HandleInitialize(ctx, in); err != nil {
				err = &smithy.OperationError{ServiceID: service, OperationName: operation, Err: err}
			}
			return err
		})
		return out, meta, err
	}
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("Watched", watch), middleware.After)
	})
	return cfg
}

// serviceOf names a service. A table may be readable while it takes no writes.
func serviceOf(service, operation string) string {
	for _, reads := range []string{"Get", "BatchGet", "TransactGet", "Query", "Scan"} {
		if strings.HasPrefix(operation, reads) {
			return service + ", which is read"
		}
	}
	return service
}

// guarded makes a call of at most answerWithin, unless the service failed repeatedly in the context's sweep. A refusal
// counts as an answer.
func guarded(ctx context.Context, service string, do func(context.Context) error) error {
	all, is := ctx.Value(sweepKey{}).(*services)
	switch {
	case !is:
		return do(ctx)
	case all.leftAlone(service):
		return fmt.Errorf("%s: %w", service, errLeftAlone)
	}
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err := do(within)
	if failed := unavailable(err); !failed || ctx.Err() == nil { // otherwise the task's own time was over
		all.heard(ctx, service, failed)
	}
	return err
}

func (s *services) leftAlone(service string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures[service] >= mostFailures
}

// heard records how a call ended. A service that is no longer called stays so for this sweep.
func (s *services) heard(ctx context.Context, service string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failures[service] >= mostFailures:
	case !failed:
		s.failures[service] = 0
	default:
		if s.failures[service]++; s.failures[service] == mostFailures {
			slog.ErrorContext(ctx, "a service is left alone for this sweep", "service", service)
		}
	}
}

// unavailable reports whether an error is the service's fault, not the task's.
func unavailable(err error) bool {
	class := explain.ClassOf(err)
	return class == explain.Unavailable || class == explain.Unconfirmed
}
