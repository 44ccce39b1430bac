package infra_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// machine is a state machine's definition, with the fields that ours use. Any other field is misspelled, or a feature
// that the local interpreter lacks (JSONata, variables).
type machine struct {
	Comment, StartAt string
	TimeoutSeconds   int
	ProcessorConfig  map[string]string // of a machine within a Map
	States           map[string]state
}

type state struct {
	Comment, Type, Resource     string
	Parameters                  *parameters
	OutputPath                  string
	ResultPath                  json.RawMessage
	TimeoutSeconds              int
	TimeoutSecondsPath          string
	SecondsPath                 string
	ItemsPath                   string // of a Map, like the following fields
	MaxConcurrency              int
	ItemSelector                map[string]string
	ItemProcessor               *machine
	Retry                       []retrier
	Catch                       []catcher
	Choices                     []choice
	Next, Default, Error, Cause string
}

type parameters struct {
	FunctionName string
	Payload      map[string]string
}

type retrier struct {
	ErrorEquals                                   []string
	IntervalSeconds, MaxAttempts, MaxDelaySeconds int
	BackoffRate                                   float64
	JitterStrategy                                string
}

type catcher struct {
	ErrorEquals []string
	ResultPath  json.RawMessage
	Next        string
}

type choice struct{ Variable, StringEquals, Next string }

func parseMachine(text string) (machine, error) {
	var m machine
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("read the state machine: %w", err)
	}
	return m, nil
}

// next lists every state that s may lead to.
func (s state) next() []string {
	all := []string{}
	for _, c := range s.Choices {
		all = append(all, c.Next)
	}
	for _, c := range s.Catch {
		all = append(all, c.Next)
	}
	for _, n := range []string{s.Next, s.Default} {
		if n != "" {
			all = append(all, n)
		}
	}
	return all
}

// reach returns every state that a run can come to from a state.
func (m machine) reach(from string) map[string]bool {
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if !seen[name] {
			seen[name] = true
			todo = append(todo, m.States[name].next()...)
		}
	}
	return seen
}

// states yields the states of all state machines, in order.
func (s *stack) states() iter.Seq2[string, state] {
	return func(yield func(string, state) bool) {
		for _, file := range slices.Sorted(maps.Keys(s.machines)) {
			m := s.machines[file]
			for _, m := range m.all() {
				for _, name := range m.names() {
					if !yield(name, m.States[name]) {
						return
					}
				}
			}
		}
	}
}

// all returns the machine and those within its Maps.
func (m machine) all() []machine {
	out := []machine{m}
	for _, name := range m.names() {
		if p := m.States[name].ItemProcessor; p != nil {
			out = append(out, p.all()...)
		}
	}
	return out
}

func (m machine) names() []string { return slices.Sorted(maps.Keys(m.States)) }

func (s state) waits() bool {
	return s.Resource == "arn:${Partition}:states:::lambda:invoke.waitForTaskToken"
}

// function returns the resource of the function that a state calls.
func (s state) function() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.Parameters.FunctionName, "${"), "Arn}")
}

func (s state) ends() bool { return s.Type == "Succeed" || s.Type == "Fail" }

// handles tells whether any of the lists names the error.
func handles(lists [][]string, name string) bool {
	return slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, name) })
}

func (s state) retried() [][]string {
	var lists [][]string
	for _, r := range s.Retry {
		lists = append(lists, r.ErrorEquals)
	}
	return lists
}

func (s state) caught() [][]string {
	var lists [][]string
	for _, c := range s.Catch {
		lists = append(lists, c.ErrorEquals)
	}
	return lists
}

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
	{[]string{"ModelUnavailable"}, []string{"ExtractTask", "DraftPrompt", "PlanProcess"}, 6, 5, 60},
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
			out = append(out, retrier{ErrorEquals: t.errors, IntervalSeconds: t.first, BackoffRate: 2, MaxAttempts: t.most,
				MaxDelaySeconds: t.longest, JitterStrategy: "FULL"})
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

// besideACall is the time that a fresh invocation needs besides its first call of a tool: it reads rows,
// settings and large arguments before, and stores and commits the result afterwards.
const besideACall = 40 * time.Second

// timeRules: a fresh invocation gives any tool its whole timeout.
func timeRules(s *stack, wrong report) {
	catalog, err := tool.Builtin()
	if err != nil {
		wrong("the catalog: %v", err)
		return
	}
	longest := tool.MaxPinned
	for _, spec := range catalog.All() {
		longest = max(longest, spec.Timeout)
	}
	for _, id := range []string{"ExecuteProcessFunction", "CallToolFunction"} {
		has := s.functions[id].Timeout
		wrong.where(has < longest+besideACall,
			"%s ends after %s: a call may take %s, and %s go by beside it", id, has, longest, besideACall)
	}
}
