package infra_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// tries says how often a state is retried after some errors.
type tries struct {
	errors, states       []string
	most, first, longest int // tries; seconds
}

const (
	everyState = "every state"
	otherState = "every other state" // that no earlier row names for the same error
)

// triesOfStates has the Retry of every state, in order: the first row counts that names the state and the error. With
// full jitter each wait is drawn between nothing and the wait before, doubled, up to the longest.
var triesOfStates = []tries{
	{[]string{pipeline.NoRoom}, []string{everyState}, 28, 1, 60},
	{[]string{"ModelUnavailable"}, []string{"ExtractTask", "DraftPrompt", "PlanProcess", "PlanProcessAtOnce"}, 6, 5, 60},
	{[]string{"ModelUnavailable"}, []string{"AnswerMessage", "RunRound"}, 4, 5, 60},
	{[]string{"Unavailable", "Lambda.ClientExecutionTimeoutException", "Lambda.ServiceException",
		"Lambda.AWSLambdaException", "Lambda.SdkClientException"}, []string{everyState}, 8, 1, 60},
	{died, []string{"AwaitContest", "AwaitPromptApproval", "AwaitProcessApproval", "AwaitStepApproval"}, 3, 1, 60},
	{diedOrHung, []string{"RunRound"}, 6, 1, 60},
	{diedOrHung, []string{otherState}, 3, 1, 60},
}

var (
	died       = []string{"Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError"}
	diedOrHung = append(slices.Clip(died), "States.Timeout")
)

// blocks returns the Retry of a state.
func blocks(state string) (out []retrier) {
	for i, t := range triesOfStates {
		before := slices.ContainsFunc(triesOfStates[:i], func(x tries) bool {
			return x.errors[0] == t.errors[0] && slices.Contains(x.states, state)
		})
		if slices.Contains(t.states, state) || t.states[0] == everyState || t.states[0] == otherState && !before {
			out = append(out, retrier{ErrorEquals: t.errors, IntervalSeconds: t.first, BackoffRate: 2, MaxAttempts: t.most, MaxDelaySeconds: t.longest, JitterStrategy: "FULL"})
		}
	}
	return out
}

// waits returns the longest wait before each try, in seconds. Step Functions waits between 0 and that, at random.
func (t tries) waits() (out []float64) {
	next := float64(t.first)
	for range t.most {
		out = append(out, min(next, float64(t.longest)))
		next *= 2
	}
	return out
}

// triesRule: each state has the tries of triesOfStates.
func triesRule(s *stack, wrong report) {
	for name, st := range s.states() {
		if st.Type != "Task" {
			continue
		}
		want := blocks(name)
		wrong.where(!slices.EqualFunc(want, st.Retry, func(a, b retrier) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
			"%s: not the tries of its states: %+v, want %+v", name, st.Retry, want)
	}
}

// A function that can't be invoked is tried for some twelve minutes, and never so long that the sweeper takes the run
// for dead.
func TestNoRoomForTwelveMinutes(t *testing.T) {
	row := triesOfStates[0]
	const runs = 100_000
	random, all, longest := rand.New(rand.NewPCG(1, 2)), 0.0, 0.0
	for range runs {
		sum := 0.0
		for _, w := range row.waits() {
			sum += random.Float64() * w
		}
		all, longest = all+sum, max(longest, sum)
	}
	average := time.Duration(all / runs * float64(time.Second))
	expect.That(t, average >= 11*time.Minute && average <= 12*time.Minute, "tried for %s on average", average)
	expect.That(t, longest < aggregate.StuckAfter.Seconds(),
		"one of %d is tried for %.0f s, the sweeper takes runs for dead after %s", runs, longest, aggregate.StuckAfter)
}
