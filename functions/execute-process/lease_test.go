package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/managed"
	"ringi/shared/runtime/expect"
)

// late is a vendor that answers the first call of each kind after the caller has given up.
type late struct {
	Sessions
	m   *sessionWorld
	met map[string]bool
}

// until waits until a call is given up, which must happen before its lease ends.
func (l late) until(ctx context.Context, call string) error {
	if l.met[call] {
		return nil
	}
	l.met[call] = true
	ends, ok := ctx.Deadline()
	if left := time.Until(ends); !ok || left >= l.m.leaseUntil().Sub(l.m.h.Now()) {
		l.m.T.Errorf("%s is still out when its lease is over", call)
		return nil
	}
	<-ctx.Done()
	return &model.Error{Provider: aggregate.Anthropic, Kind: model.Overloaded, Retryable: true, Err: ctx.Err()}
}

func (l late) Start(ctx context.Context, at managed.Place, p managed.Plan) (string, error) {
	gone := l.until(ctx, "start")
	id, err := l.Sessions.Start(context.WithoutCancel(ctx), at, p)
	if gone != nil {
		return "", gone
	}
	return id, err
}

func (l late) Answer(ctx context.Context, session, request, text string, failed bool) error {
	gone := l.until(ctx, "answer")
	err := l.Sessions.Answer(context.WithoutCancel(ctx), session, request, text, failed)
	if gone != nil {
		return gone
	}
	return err
}

// A call to a session ends before the caller's lease: it never overlaps with the next caller, however late the vendor
// answers, and a message that the vendor accepted is not sent again.
func TestNoCallOutlivesItsLease(t *testing.T) {
	expect.Patience(t)
	m := newSessionWorld(t, pipelinetest.Start(t))
	m.h.HoldFor = 3 * time.Second
	m.h.Sessions = late{m.h.Sessions, m, map[string]bool{}}
	m.approved(m.read(1), m.write(2))
	m.through()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	if x := m.session(); len(x.Messages) != 1 || len(x.Answers) != 2 || x.Refused != 0 {
		t.Errorf("told %d times, %d answers, %d refused", len(x.Messages), len(x.Answers), x.Refused)
	}
}

// If a vendor always says five seconds, the waits grow over many invocations. If it gives a longer time, no call is
// earlier.
func TestAVendorThatPutsASessionOffIsAskedEverMoreRarely(t *testing.T) {
	m := newSessionWorld(t, pipelinetest.Start(t))
	m.h.PollFor = time.Second
	m.agents.Fail(models.ListEvents, slices.Repeat([]models.Fault{{Status: 429, RetryAfter: "5"}}, 30)...)
	m.agents.Fail(models.ListEvents, models.Fault{Status: 429, RetryAfter: "900"})
	m.approved(m.lone(1))
	began := m.h.Now()
	var asked []time.Time
	m.agents.Before = func(op string) {
		if op == models.ListEvents {
			asked = append(asked, m.h.Now())
		}
	}
	m.through()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	expect.Must(t, len(asked) >= 32 && asked[30].Sub(began) >= time.Hour && asked[31].Sub(asked[30]) >= 15*time.Minute,
		"asked %d times: %v", len(asked), asked)
	for i := 1; i <= 30; i++ {
		wait := asked[i].Sub(asked[i-1])
		expect.That(t, wait >= 5*time.Second && wait <= 8*time.Minute, "asked again after %s", wait)
	}
}

// A run that is superseded just before it takes the session sends nothing. The next run only waits until that lease
// ends.
func TestARunThatIsSupersededAsItTakesTheSessionOnlyDelaysTheNext(t *testing.T) {
	m := newSessionWorld(t, pipelinetest.Start(t))
	sent := 0
	m.agents.Before = func(string) { sent++ }
	m.approved(m.lone(1))
	m.Transport.Before("PutItem", m.Restart)
	if next, err := m.try(functionTime); !errors.Is(err, aggregate.ErrSuperseded) || sent != 0 {
		t.Errorf("%+v, %v, %d requests", next, err, sent)
	}
	held := m.leaseUntil().Sub(m.h.Now())
	expect.That(t, held > 0 && held <= m.h.HoldFor, "the session is held for %s", held)
	next := m.run()
	if wait := time.Duration(next.WaitSeconds) * time.Second; next.State != task.StatePause || wait > m.h.HoldFor+time.Second || sent != 0 {
		t.Errorf("the next run: %+v, %d requests", next, sent)
	}
	m.later(m.h.HoldFor)
	m.through()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
}
