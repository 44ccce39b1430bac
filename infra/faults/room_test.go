package faults

import (
	"context"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// TestNoRoomToRun: Lambda refuses to run an approved task's function for longer than its state retries. Nothing is
// shown as failed and nobody has to act; the task continues once Lambda runs the function.
func TestNoRoomToRun(t *testing.T) {
	t.Parallel()
	running.triesSoon(t)
	for name, functions := range map[string][]string{
		"for the steps": {execute}, "for any function of its run": {execute, "ResumeTaskFunction", "GiveUpFunction"},
	} {
		t.Run(name, func(t *testing.T) {
			if len(functions) == 1 {
				expect.AtNight(t)
			}
			t.Parallel()
			running.runHappy(t, func(d *scenarioRun) {
				run := d.approvedWithoutRoom(functions...)
				runs := 1
				if expect.Long() {
					runs = 2
				}
				for n := 1; n <= runs; n++ {
					d.Eventually("the run has ended", func() bool { return d.ended(run) })
					if tries := d.refusals(functions[0]) + d.refusals("ResumeTaskFunction"); tries < 29*n {
						failf("%d tries, want 28 and the first for each of %d runs", tries, n)
					}
					d.stands()
					d.sweep()
					run++
					if h := d.Load().Head; h.Run != run || h.Restarts != 0 || h.PausedUntil == nil {
						failf("while it pauses: %+v", h)
					}
					d.Eventually("the cards are drawn", func() bool { h := d.Load().Head; return h.ShownRev == h.Rev })
					if n == runs {
						d.throttles() // from here on Lambda runs it
					}
					d.clock.set(d, aggregate.HeadKey, "SET paused_until = :past", "attribute_exists(paused_until)", nil)
					d.sweep()
				}
				d.untilCompleted()
				if h := d.Load().Head; h.Run != run || h.Restarts != 0 {
					failf("ended by run %d after %d restarts", h.Run, h.Restarts)
				}
			})
		})
	}
}

// approvedWithoutRoom approves both gates, the second while Lambda refuses to run these functions, and returns the
// task's run.
func (d *scenarioRun) approvedWithoutRoom(functions ...string) (run int) {
	d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Eventually("the steps wait", func() bool {
		return d.Shows("CARD#process#0001", "approve_process") && len(d.Load().Waits) == 1
	})
	d.throttles(functions...)
	d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
	return d.Load().Head.Run
}

// stands checks that nothing reports a failure or asks people to click.
func (d *scenarioRun) stands() {
	a := d.Load()
	if a.Head.Parked != nil || a.Head.Ended != nil || d.Shows("CARD#execution", "retry_execution") ||
		d.Shows("CARD#execution", "❌") {
		failf("parked %+v, ended %+v", a.Head.Parked, a.Head.Ended)
	}
}

// ended reports whether a run of the task has failed.
func (d *scenarioRun) ended(run int) bool {
	arn := d.RunARN("Pipeline", d.Ref.ID, run)
	seen, err := sfn.NewFromConfig(d.AWS).DescribeExecution(context.Background(),
		&sfn.DescribeExecutionInput{ExecutionArn: arn})
	return err == nil && seen.Status == types.ExecutionStatusFailed
}

// triesSoon shortens the waits between tries to a second until the test ends: the state machine's take twelve minutes.
func (b *harness) triesSoon(t *testing.T) {
	t.Helper()
	c, arn := sfn.NewFromConfig(b.AWS), aws.String(b.StateMachineARN("Pipeline"))
	was := expect.Value(c.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: arn}))(t)
	soon := regexp.MustCompile(`"MaxDelaySeconds": ?60`).ReplaceAllString(*was.Definition, `"MaxDelaySeconds": 1`)
	expect.Must(t, soon != *was.Definition, "the machine has no longest wait")
	expect.Value(c.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: arn,
		Definition: &soon}))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := c.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: arn, Definition: was.Definition})
		expect.That(t, err == nil, "%v", err)
	})
}

// throttles makes Lambda refuse to run exactly these functions.
func (t *trace) throttles(functions ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.throttle = functions
}

func (t *trace) busy(function string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.throttle, function) {
		return false
	}
	t.throttled[function]++
	return true
}

// refusals counts how often Lambda refused to run a function.
func (t *trace) refusals(function string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.throttled[function]
}

// Busy implements lambda.Faults.
func (w *injector) Busy(function string, event []byte) bool {
	t := w.whose(lambda.Call{Function: function, Event: event})
	return t != nil && t.busy(function)
}
