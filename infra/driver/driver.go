// Package driver does what people do with a running stack, and sees what they
// see: requests, cards, clicks, forms; and behind them the rows and runs.
package driver

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/tasks"
)

// defaultTimeout is how long one thing may take on a busy machine, defaultQuietTime how long nothing
// may move before a request calls WhenQuiet, and poll how often it looks.
const defaultTimeout, defaultQuietTime, poll = 60 * time.Second, 6 * time.Second, 40 * time.Millisecond

// T is a test, or what Try makes of a program.
type T interface {
	expect.T
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

var _ T = (*testing.T)(nil)

// Request is one person's request and what became of it.
type Request struct {
	T       T
	S       *stack.Stack
	Store   *tasks.Store
	Channel string
	Root    string // the message's timestamp, and the thread's
	Ref     aggregate.Ref
	Asked   time.Time // when the message was said

	Timeout, Poll time.Duration        // how long one thing may take, and how often it is looked for
	WhenQuiet     func()               // called now and then while something is waited for; may be nil
	QuietTime     func() time.Duration // how long nothing may move before WhenQuiet is called; nil is six seconds
	Pressed       func()               // called after each press of a button that is pressed until it is taken; may be nil
	Unsaved       int                  // how often a person pressed or sent again what was not saved
}

// Ask says something to Ringi in #人事 and waits for the first card.
func Ask(t T, s *stack.Stack, user, text string) *Request {
	t.Helper()
	return AskIn(t, s, user, workspace.HR, "<@"+workspace.Bot+"> "+text)
}

// AskIn is Ask in a channel or direct message, with the text just as it is.
func AskIn(t T, s *stack.Stack, user, channel, text string) *Request {
	t.Helper()
	r := Say(t, s, user, channel, text)
	r.Card(TaskCard, "")
	return r
}

// Say is AskIn that waits for nothing.
func Say(t T, s *stack.Stack, user, channel, text string) *Request {
	t.Helper()
	asked := time.Now()
	r := At(t, s, channel, expect.Value(s.Sandbox.Say(user, channel, text))(t))
	r.Asked = asked
	return r
}

// At is the request of a message that was said.
func At(t T, s *stack.Stack, channel, ts string) *Request {
	t.Helper()
	team := s.Sandbox.TeamID()
	id := expect.Value(task.ID(team, channel, ts))(t)
	return &Request{
		T: t, S: s, Channel: channel, Root: ts, Ref: task.RefOf(aggregate.TenantID(team), id),
		Store: tasks.New(dynamodb.NewFromConfig(s.AWS), s.TableName), Timeout: defaultTimeout, Poll: poll,
	}
}

// Eventually waits until a claim holds, and calls WhenQuiet now and then meanwhile.
func (r *Request) Eventually(what string, holds func() bool) {
	r.T.Helper()
	expect.Must(r.T, r.wait(holds), "task %s: not within %s: %s", r.Ref.ID, r.Timeout, what)
}

// wait is Eventually that reports whether the claim came to hold.
func (r *Request) wait(holds func() bool) bool {
	pause := r.QuietTime
	if pause == nil {
		pause = func() time.Duration { return defaultQuietTime }
	}
	nudge := time.Now().Add(pause())
	return expect.Holds(r.T.Context(), r.Timeout, r.Poll, func() bool {
		if holds() {
			return true
		}
		if r.WhenQuiet != nil && time.Now().After(nudge) {
			r.WhenQuiet()
			nudge = time.Now().Add(pause())
		}
		return false
	})
}

// pressAgain is the time after which a person presses a button again if nothing happened.
const pressAgain = 5 * time.Second

// UntilTaken presses something, again and again, until a person sees that it was taken.
func UntilTaken(t T, what string, press func(), taken func() bool) {
	t.Helper()
	var pressed time.Time
	expect.Eventually(t, what, func() bool {
		if taken() {
			return true
		}
		if time.Since(pressed) > pressAgain {
			press()
			pressed = time.Now()
		}
		return false
	})
}

// attempt is a T without a test.
type attempt struct{ ctx context.Context }

// failure is what ended an attempt.
type failure struct{ error }

// Try does something in a program as a test would, and returns what it failed
// with. Whatever waits in it ends with ctx.
func Try(ctx context.Context, do func(T)) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	do(attempt{ctx})
	return nil
}

// Failf ends what Try does.
func Failf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

func (attempt) Helper()                           {}
func (a attempt) Context() context.Context        { return a.ctx }
func (attempt) Logf(string, ...any)               {}
func (attempt) Errorf(format string, args ...any) { Failf(format, args...) }
func (a attempt) Fatal(args ...any)               { a.Fatalf("%s", fmt.Sprint(args...)) }

func (a attempt) Fatalf(format string, args ...any) {
	if err := a.ctx.Err(); err != nil {
		Failf("%w: "+format, append([]any{err}, args...)...)
	}
	Failf(format, args...)
}
