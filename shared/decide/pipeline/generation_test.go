package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

func fail(w *ringitest.World, f task.Failure) (aggregate.Next, error) {
	f.Reason = task.ReasonModelUnavailable
	return pipeline.Failed(w.T.Context(), w.StoreOverTransport(), w.In(), task.Generation{Layer: task.L1}, f, 0, w.Now())
}

func TestAGenerationThatFails(t *testing.T) {
	t.Run("what may mend is tried again by the state machine", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		expect.Fails(t, expect.Err(fail(w, task.Failure{Transient: true})), explain.ErrModelUnavailable)
		h := w.Load().Head
		expect.That(t, h.Rev == 1, "something was written: %+v", h)
	})
	t.Run("tasks that were turned away together part", func(t *testing.T) {
		waits := map[time.Duration]bool{}
		for range 8 {
			waits[pipeline.RetryDelay(time.Minute, 0, pipeline.MinRetryDelay)] = true
		}
		expect.That(t, len(waits) >= 3, "eight tasks wait for %v", waits)
	})
}

func TestAVendorsTime(t *testing.T) {
	t.Run("a pause deserves its name", func(t *testing.T) {
		next, err := fail(ringitest.Start(t).World(t), task.Failure{RetryAfter: time.Millisecond})
		expect.That(t, err == nil && next.State == task.StatePause && next.WaitSeconds >= 5, "%+v, %v", next, err)
	})
	t.Run("time without room to run is none of the vendor's hour", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		asks := func() aggregate.Next {
			next := expect.Value(fail(w, task.Failure{Transient: true, RetryAfter: 25 * time.Minute}))(t)
			w.Later(25 * time.Minute)
			return next
		}
		next := asks()
		expect.Must(t, next.State == task.StatePause, "%+v", next)
		for range 6 {
			w.Later(25 * time.Minute)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.PauseRun(a.Head.Run, w.Now().Add(5*time.Minute), w.Now())
			})
			w.Later(5 * time.Minute)
		}
		if next := asks(); next.State != task.StatePause {
			t.Errorf("after three hours without room: %+v, parked %+v", next, w.Load().Head.Parked)
		}
		next = asks()
		expect.That(t, next.State == task.StateFail, "a vendor has more than its hour: %+v", next)
	})
	t.Run("a vendor that says five seconds for an hour is asked ever more rarely", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		rounds, began, longest := 0, w.Now(), time.Duration(0)
		for w.Load().Head.Parked == nil {
			next := expect.Value(fail(w, task.Failure{Transient: true, RetryAfter: 5 * time.Second}))(t)
			if next.State != task.StatePause {
				break
			}
			wait := w.Load().Head.PausedUntil.Sub(w.Now())
			expect.Must(t, wait >= 5*time.Second, "paused for %s, the vendor asked for 5 s", wait)
			longest = max(longest, wait)
			rounds++
			w.Later(wait)
		}
		tried := w.Now().Sub(began)
		expect.That(t, rounds <= 40 && tried >= 55*time.Minute && tried <= time.Hour+time.Minute && longest >= 4*time.Minute,
			"%d rounds in %s, the longest wait %s", rounds, tried, longest)
	})
}

const secret = "今月の勤怠をまとめて"

var in = pipeline.Input{Tenant: "T", Task: "A", Run: 2}

func TestEdgeAnswersWithEveryKey(t *testing.T) {
	w := func(context.Context, pipeline.Input) (aggregate.Next, error) {
		return aggregate.Next{State: task.StateAwaitPromptApproval, Gate: "PROMPT#0001", TimeoutSeconds: 60}, nil
	}
	out := expect.Value(pipeline.Edge(w)(t.Context(), in))(t)
	b := expect.Value(json.Marshal(out))(t)
	var got map[string]any
	expect.NoError(t, json.Unmarshal(b, &got))
	want := map[string]any{
		"tenant": "T", "task": "A", "run": 2.0, "next": "AwaitPromptApproval", "gate": "PROMPT#0001",
		"timeout_seconds": 60.0, "wait_seconds": 0.0, "outcome": "",
	}
	expect.Same(t, want, got)
}

// RunFailed, an alarm for operators, counts our bugs and unavailable models. It doesn't count steps that a vendor
// refused or limits that were reached: cards tell people about these.
func TestARunThatFailsIsCountedForWhomItConcerns(t *testing.T) {
	for reason, want := range map[aggregate.Reason]bool{
		task.ReasonRunFailed: true, task.ReasonModelKey: true, task.ReasonModelUnavailable: true,
		task.ReasonToolFailed: false, task.ReasonToolNotAllowed: false, task.ReasonCostLimit: false,
		task.ReasonPlanNever: false,
	} {
		for _, state := range []string{task.StateFail, task.StatePause} {
			w := func(context.Context, pipeline.Input) (aggregate.Next, error) {
				return aggregate.Next{State: state, Outcome: "failed", Reason: reason}, nil
			}
			counted := expect.Metrics(t, func() { expect.Value(pipeline.Edge(w)(t.Context(), in))(t) })
			expect.That(t, strings.Contains(counted, `"RunFailed":1`) == (want && state == task.StateFail),
				"%s of a run that goes to %s counts %q", reason, state, counted)
		}
	}
}

func TestASupersededRunEndsQuietly(t *testing.T) {
	w := func(context.Context, pipeline.Input) (aggregate.Next, error) {
		return aggregate.Next{}, fmt.Errorf("commit: %w", aggregate.ErrSuperseded)
	}
	out, err := pipeline.Edge(w)(t.Context(), in)
	expect.That(t, err == nil && out.Next == task.StateFinish && out.Run == 2, "%+v, %v", out, err)
}

func TestErrorsLeaveAsANameAndAFixedSentence(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error // nil: it panics
		want string
	}{
		{"any other", errors.New(secret), pipeline.Internal},
		{"no such task", aggregate.ErrNotFound, pipeline.BadInput},
		{"a field is missing", explain.ErrBadInput, pipeline.BadInput},
		{"the model is away", explain.ErrModelUnavailable, pipeline.ModelUnavailable},
		{"a conflict that lasts", aggregate.ErrConflict, pipeline.Unavailable},
		{"time ran out", context.DeadlineExceeded, pipeline.Unavailable},
		{"AWS says that we are wrong", &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "Query",
			Err: &smithy.GenericAPIError{Code: "ValidationException", Message: secret, Fault: smithy.FaultClient}},
			pipeline.Internal},
		{"a panic", nil, pipeline.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			old := slog.Default()
			slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
			defer slog.SetDefault(old)
			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
			out, err := pipeline.Edge(func(context.Context, pipeline.Input) (aggregate.Next, error) {
				if tt.err == nil {
					panic(errors.New(secret))
				}
				return aggregate.Next{}, fmt.Errorf("%s: %w", secret, tt.err)
			})(ctx, in)
			var bare messages.InvokeResponse_Error
			expect.Must(t, errors.As(err, &bare) && bare.Type == tt.want, "%#v, want %s", err, tt.want)
			expect.Is(t, out, pipeline.Output{}, "beside the error")
			expect.That(t, slices.Contains(pipeline.ErrorNames, bare.Type), "%s is none of the names", bare.Type)
			expect.That(t, !strings.Contains(bare.Message, secret) && strings.HasSuffix(bare.Message, "Request request-1.") &&
				len(bare.StackTrace) == 0, "message %q, trace %v", bare.Message, bare.StackTrace)
			expect.That(t, tt.err != nil || !strings.Contains(log.String(), secret) &&
				strings.Contains(log.String(), "generation_test.go"), "the log has not just where it happened: %s", log.String())
		})
	}
}

func TestEdgeRefusesWhatNamesNoRun(t *testing.T) {
	for name, bad := range map[string]pipeline.Input{
		"tenant": {Task: "A", Run: 1}, "task": {Tenant: "T", Run: 1}, "run": {Tenant: "T", Task: "A"},
	} {
		_, err := pipeline.Edge(func(context.Context, pipeline.Input) (aggregate.Next, error) {
			t.Errorf("%s: the worker was asked", name)
			return aggregate.Next{}, nil
		})(t.Context(), bad)
		var bare messages.InvokeResponse_Error
		expect.That(t, errors.As(err, &bare) && bare.Type == pipeline.BadInput, "%s: %v", name, err)
	}
}

func TestModelName(t *testing.T) {
	s := tenancy.Settings{Model: "theirs"}
	expect.Is(t, pipeline.ModelName("", s), "theirs")
	expect.Is(t, pipeline.ModelName("demo", s), "demo")
}

func TestACommitNotesWhenItsStateWasEntered(t *testing.T) {
	early, later := time.UnixMilli(1), time.UnixMilli(2)
	at := func(entered time.Time) pipeline.Input { return pipeline.Input{Run: 2, Entered: entered} }
	for name, tt := range map[string]struct {
		head aggregate.Head
		in   pipeline.Input
		want time.Time
	}{
		"the first":           {aggregate.Head{Run: 2}, at(early), early},
		"a later state":       {aggregate.Head{Run: 2, Entered: &early}, at(later), later},
		"an earlier state":    {aggregate.Head{Run: 2, Entered: &later}, at(early), later},
		"no time":             {aggregate.Head{Run: 2}, at(time.Time{}), time.Time{}},
		"no time, after one":  {aggregate.Head{Run: 2, Entered: &early}, at(time.Time{}), early},
		"another run's begin": {aggregate.Head{Run: 3, Entered: &early}, at(later), early},
	} {
		c, err := tt.in.Entering(func(a *task.Aggregate) (aggregate.Change, error) {
			return aggregate.Change{Head: &a.Head}, nil
		})(&task.Aggregate{Head: task.Head{Head: tt.head}})
		expect.That(t, err == nil && aws.ToTime(c.Head.Common().Entered).Equal(tt.want), "%s: %v, %v", name,
			c.Head.Common().Entered, err)
	}
	none, err := in.Entering(func(*task.Aggregate) (aggregate.Change, error) {
		return aggregate.Change{},
			nil
	})(&task.Aggregate{})
	expect.That(t, err == nil && none.Empty(), "%+v, %v", none, err)
}

// numbering is what takes a number of a series whose last one is given.
type numbering struct{ last int }

func (numbering) Unnumbered() (settled time.Time, is bool) { return time.Unix(0, 0), true }

func (n numbering) Load(context.Context, aggregate.Ref) (numbering, error) { return n, nil }

func (numbering) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

func (n numbering) Series(_ context.Context, _ string, year int) (task.Series, error) {
	return task.Series{Year: year, Last: n.last}, nil
}

// A year of which all numbers are given is not tried again, as one is whose number another has taken.
func TestNumberingEndsWithTheYear(t *testing.T) {
	for last, want := range map[int]int{0: 3, task.MostNumbers: 2} {
		tries := 0
		_, err := pipeline.Numbering(t.Context(), numbering{last}, aggregate.Ref{},
			func(of task.Series) (numbering, error) {
				_, _, err := of.Give(task.Numbered{})
				if tries++; err == nil && tries == 2 {
					return numbering{}, task.ErrNumber // another was faster
				}
				return numbering{}, err
			})
		expect.That(t, tries == want && (err == nil) == (last == 0), "the last is %d: %d tries, %v", last, tries, err)
	}
}
