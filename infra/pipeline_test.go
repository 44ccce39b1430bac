package infra_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/template"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/model/teamconfig"
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
	Comment, Type, Resource string
	Parameters              struct {
		FunctionName string
		Payload      map[string]string
	}
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
func (s state) next() (all []string) {
	for _, c := range s.Choices {
		all = append(all, c.Next)
	}
	for _, c := range s.Catch {
		all = append(all, c.Next)
	}
	return slices.DeleteFunc(append(all, s.Next, s.Default), func(name string) bool { return name == "" })
}

// reach returns every state that a run can come to from a state.
func (m machine) reach(from string) map[string]bool {
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		if name := todo[0]; !seen[name] {
			seen[name] = true
			todo = append(todo, m.States[name].next()...)
		}
	}
	return seen
}

// all returns the machine and those within its Maps.
func (m machine) all() []machine {
	out := []machine{m}
	for _, st := range m.States {
		if st.ItemProcessor != nil {
			out = append(out, st.ItemProcessor.all()...)
		}
	}
	return out
}

// tasks yields the states of all state machines that call a function.
func (s *stack) tasks() iter.Seq2[string, state] {
	return func(yield func(string, state) bool) {
		for _, id := range slices.Sorted(maps.Keys(s.machines)) {
			for _, m := range s.machines[id].all() {
				for _, name := range slices.Sorted(maps.Keys(m.States)) {
					if m.States[name].Type == "Task" && !yield(name, m.States[name]) {
						return
					}
				}
			}
		}
	}
}

func (s state) waits() bool {
	return s.Resource == "arn:aws:states:::lambda:invoke.waitForTaskToken"
}

// function returns the resource of the function that a state calls.
func (s state) function() string {
	return s.Parameters.FunctionName[strings.LastIndex(s.Parameters.FunctionName, ":")+1:]
}

// shapeRule: every state can be reached, leads to states that exist, and to an end; a run lasts less than a year, and
// no longer than its tokens; the router knows exactly the states that functions may name as the next.
func shapeRule(s *stack, wrong report) {
	for _, m := range s.machines {
		for _, m := range m.all() {
			reached := m.reach(m.StartAt)
			for name, st := range m.States {
				wrong.where(!reached[name], "%s: no state leads here", name)
				for _, next := range st.next() {
					wrong.where(m.States[next].Type == "", "%s leads to %s, which does not exist", name, next)
				}
				ends := func(name string) bool { return slices.Contains([]string{"Succeed", "Fail"}, m.States[name].Type) }
				wrong.where(!slices.ContainsFunc(slices.Collect(maps.Keys(m.reach(name))), ends),
					"%s: from here a run never ends", name)
			}
			year := 365 * 24 * 3600
			wrong.where(m.ProcessorConfig == nil && (m.TimeoutSeconds <= 0 || m.TimeoutSeconds >= year),
				"a run lasts a year at most; TimeoutSeconds %d must end it before", m.TimeoutSeconds)
		}
	}
	longest := time.Duration(s.pipeline.TimeoutSeconds) * time.Second
	wrong.where(longest > pipeline.LongestRun, "a run lasts %s, its tokens expire after %s", longest, pipeline.LongestRun)
	route, routed := s.pipeline.States["Route"], []string{}
	for _, c := range route.Choices {
		routed = append(routed, c.StringEquals)
		to := cmp.Or(map[string]string{task.StateFail: "TaskFailed"}[c.StringEquals], c.StringEquals)
		wrong.where(c.Variable != "$.next" || c.Next != to, "Route sends %s of %s to %s", c.StringEquals, c.Variable, c.Next)
	}
	want := slices.Sorted(slices.Values(task.NextStates))
	wrong.where(!slices.Equal(want, slices.Sorted(slices.Values(routed))), "functions may point to %v, routed are %v",
		want, routed)
	wrong.where(s.pipeline.States["TaskFailed"].Type != "Fail" || s.pipeline.States[route.Default].Type != "Fail",
		"a failed task, or one sent to an unknown state, is not red")
}

// edges is where each state leads when nothing goes wrong, and where the last of its catchers does.
var edges = map[string]string{"ResumeTask": "Route CloseTask", "ExtractTask": "DraftPrompt CloseTask",
	"DraftPrompt": "Route CloseTask", "PlanProcess": "Route CloseTask", "ExecuteProcess": "Route CloseTask",
	"AwaitPromptApproval": "PlanProcess CloseTask", "AwaitProcessApproval": "ExecuteProcess CloseTask",
	"AwaitStepApproval": "ExecuteProcess CloseTask", "AwaitContest": "ResumeTask CloseTask", "Pause": "ResumeTask",
	"CloseTask": "Route TaskFailed"}

func edgeRule(s *stack, wrong report) {
	wrong.where(s.pipeline.StartAt != "ResumeTask" || s.pipeline.States["Pause"].SecondsPath != "$.wait_seconds",
		"a run begins or pauses otherwise")
	for name, want := range edges {
		is := s.pipeline.States[name].Next
		if all := s.pipeline.States[name].Catch; len(all) > 0 {
			is += " " + all[len(all)-1].Next
		}
		wrong.where(is != want, "%s leads to %s, not %s", name, is, want)
	}
}

// noRoom is Step Functions' error when Lambda's concurrency limit is reached.
const noRoom = "Lambda.TooManyRequestsException"

// everyState is tried again as the template says for all of them.
var everyState = []retrier{
	{ErrorEquals: []string{noRoom}, MaxAttempts: 28},
	{ErrorEquals: []string{pipeline.Unavailable, "Lambda.ClientExecutionTimeoutException", "Lambda.ServiceException",
		"Lambda.AWSLambdaException", "Lambda.SdkClientException"}, MaxAttempts: 8},
	{ErrorEquals: diedOrHung, MaxAttempts: 3},
}

var diedOrHung = []string{"Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError", "States.Timeout"}

// tries returns the Retry of a state: what it has to itself comes first, and so counts.
func tries(name string, st state, asks bool) (out []retrier) {
	if asks {
		most := 6
		if slices.Contains([]string{"AnswerMessage", "RunRound"}, name) {
			most = 4
		}
		out = append(out, retrier{ErrorEquals: []string{pipeline.ModelUnavailable}, IntervalSeconds: 5, MaxAttempts: most})
	}
	if name == "RunRound" {
		out = append(out, retrier{ErrorEquals: diedOrHung, MaxAttempts: 6})
	}
	out = append(out, everyState...)
	for i := range out {
		out[i].MaxDelaySeconds, out[i].JitterStrategy = 60, "FULL"
	}
	if st.waits() { // a burnt fuse is caught
		out = slices.Insert(out, 0, retrier{ErrorEquals: []string{"States.Timeout"}})
	}
	return out
}

// errorRule: each state has its tries, those of a model where it asks one and only there. Bugs and bad input are
// caught, and a run whose functions can't be invoked ends with an error of its own, without a function: it has not
// failed. The states that report failures are excepted, and so are teams, which are one of many.
func errorRule(s *stack, wrong report) {
	for name, st := range s.tasks() {
		_, asks := s.functions[st.function()].Environment["MODEL"]
		// execute-process asks for a summary only, and does without; the end of a contest asks none.
		asks = asks && st.function() != "ExecuteProcessFunction" && name != "CloseContest"
		wrong.where(!reflect.DeepEqual(st.Retry, tries(name, st, asks)), "%s: not the tries of its states: %+v", name,
			st.Retry)
		last := len(st.Catch) - 1
		wrong.where(last < 0 || !slices.Equal(st.Catch[last].ErrorEquals, []string{"States.ALL"}),
			"%s: Catch ends with States.ALL, alone", name)
		room := false
		for _, c := range st.Catch {
			room = room || slices.Equal(c.ErrorEquals, []string{noRoom}) && c.Next == aggregate.EndedNoRoom
			kept := map[bool]string{true: `"$.error"`, false: "null"}[c.Next == "CloseTask"]
			wrong.where(string(c.ResultPath) != kept, "%s: on the way to %s an error is at %s", name, c.Next, c.ResultPath)
		}
		wrong.where(!room && !slices.Contains([]string{"CloseTask", "GiveUp", "RunRound"}, name),
			"%s: a run for which there is no room ends as %s", name, aggregate.EndedNoRoom)
	}
	for _, m := range s.machines {
		wrong.where(m.States[aggregate.EndedNoRoom].Error != aggregate.EndedNoRoom, "no state ends a run without room")
	}
}

// A function that can't be invoked is tried for some twelve minutes: never so long that the sweeper takes the run for
// dead, and twice as long as a team may play, or a team would fail before it began, just because others play.
func TestNoRoomForTwelveMinutes(t *testing.T) {
	mean, variance := 0.0, 0.0 // full jitter draws each wait between nothing and the one before, doubled, up to 60 s
	for next, i := 1.0, 0; i < everyState[0].MaxAttempts; i++ {
		wait := min(next, 60)
		mean, variance, next = mean+wait/2, variance+wait*wait/12, next*2
	}
	expect.That(t, mean >= 11*60 && mean <= 12*60 && mean >= 2*teamconfig.DefaultTeamTimeout, "%.0f s on average", mean)
	longest := mean + 5*math.Sqrt(variance) // once in three million runs
	expect.That(t, longest < aggregate.StuckAfter.Seconds(), "%.0f s, and %s mean that a run is dead", longest,
		aggregate.StuckAfter)
}

// Each error of Step Functions' states is returned by somebody: the service, Lambda and its runtimes, or our functions.
func TestStatesNameErrorsThatAreReturned(t *testing.T) {
	known := append(slices.Clip(pipeline.ErrorNames), "States.ALL", "States.Timeout",
		"Lambda.ClientExecutionTimeoutException", "Lambda.ServiceException", "Lambda.AWSLambdaException",
		"Lambda.SdkClientException", "Lambda.TooManyRequestsException", "Lambda.Unknown", "Sandbox.Timedout",
		"Runtime.ExitError")
	for name, st := range expect.Value(read(t.TempDir(), files(t)))(t).tasks() {
		for _, c := range st.Catch {
			st.Retry = append(st.Retry, retrier{ErrorEquals: c.ErrorEquals})
		}
		for _, r := range st.Retry {
			for _, e := range r.ErrorEquals {
				expect.That(t, slices.Contains(known, e), "%s names %s, which nothing returns", name, e)
			}
		}
	}
}

// ids are the members that a payload may have, with their sources. None of them is content.
var ids = map[string]string{
	"tenant.$": "$.tenant", "task.$": "$.task", "kind.$": "$.kind", "id.$": "$.id", "run.$": "$.run", "gate.$": "$.gate",
	"team.$": "$.team", "error.$": "$.error.Error", "next.$": "$.next", "task_token.$": "$$.Task.Token",
	"entered.$": "$$.State.EnteredTime", "retry.$": "$$.State.RetryCount",
}

// served are the functions of states that are not called like them.
var served = map[string]string{"CloseTask": "GiveUp", "CloseContest": "HoldContest"}

// callRule: each state calls its function, which its state machine may, with ids only, and with a timeout slightly
// longer than the function's.
func callRule(s *stack, wrong report) {
	for name, st := range s.tasks() {
		want := cmp.Or(served[name], name) + "Function"
		if st.waits() {
			want = "RequestApprovalFunction"
		}
		f := s.functions[st.function()]
		wrong.where(f.ID != want, "%s calls %s, not %s", name, st.Parameters.FunctionName, want)
		fuse := time.Duration(st.TimeoutSeconds) * time.Second
		wrong.where(!st.waits() && (fuse <= f.Timeout || fuse > f.Timeout+time.Minute || st.OutputPath != "$.Payload"),
			"%s ends after %s, its function after %s: a little longer is wanted", name, fuse, f.Timeout)
		wrong.where(!slices.ContainsFunc([]string{"Pipeline", "Chat", "Contest"}, func(id string) bool {
			return may(s.roles[id], "lambda:InvokeFunction", "function:"+f.ID, "")
		}), "no state machine may call %s", f.ID)
		for _, keys := range [][]string{{"tenant.$"}, {"task.$", "id.$"}, {"run.$"}} {
			wrong.where(!slices.ContainsFunc(keys, func(key string) bool { return st.Parameters.Payload[key] != "" }),
				"%s: the payload lacks %s", name, strings.TrimSuffix(keys[0], ".$"))
		}
		for key, from := range st.Parameters.Payload {
			wrong.where(ids[key] != from, "%s: %s from %s is no id", name, key, from)
		}
		checkWait(name, st, wrong)
	}
	for _, name := range []string{task.StateDraftPrompt, task.StatePlanProcess, task.StateExecuteProcess} {
		wrong.where(s.pipeline.States[name].Parameters.Payload["entered.$"] == "",
			"%s doesn't say when it was entered: what follows a gate proves that the run has left it", name)
	}
	for file, text := range s.files { // GovCloud and China have partitions of their own
		for _, literal := range literalPartition.FindAllString(text, -1) {
			wrong("%s says %s, which is one partition's", file, literal)
		}
	}
}

var literalPartition = regexp.MustCompile(`\barn:aws[a-z-]*:[a-z0-9-]*`)

// checkWait: a wait for people has a token and a timeout that is caught, and leads to a state that asks whether it is
// due.
func checkWait(name string, st state, wrong report) {
	wrong.where(strings.HasPrefix(name, "Await") != st.waits(),
		"%s: states that wait for people, and they alone, are called Await…", name)
	if !st.waits() {
		return
	}
	wrong.where(st.TimeoutSecondsPath != "$.timeout_seconds", "%s would wait for ever", name)
	wrong.where(st.Parameters.Payload["task_token.$"] != "$$.Task.Token", "%s gives nobody its token", name)
	wrong.where(!slices.Contains(st.Catch[0].ErrorEquals, "States.Timeout") || st.Catch[0].Next != "ResumeTask",
		"%s: a burnt fuse is caught, not tried again", name)
	wrong.where(string(st.ResultPath) != "null",
		"%s: the answer to a token is a wake-up, and is dropped (ResultPath null)", name)
	wrong.where(!slices.Contains([]string{"ResumeTask", "PlanProcess", "ExecuteProcess"}, st.Next),
		"%s leads to %s, which does not ask whether it is due", name, st.Next)
}

// A fresh invocation gives any tool its whole timeout: beside the call it reads rows, settings and large arguments
// before, and stores and commits the result afterwards.
func TestACallOfAToolHasItsTime(t *testing.T) {
	const besideACall = 40 * time.Second
	longest := tool.MaxPinned
	for _, spec := range expect.Value(tool.Builtin())(t).All() {
		longest = max(longest, spec.Timeout)
	}
	read := expect.Value(template.Read("../"+templateFile, anyAccount, map[string]string{"Stage": "dev"}))(t)
	for _, f := range read.Functions {
		expect.That(t, f.ID != "ExecuteProcessFunction" && f.ID != "CallToolFunction" || f.Timeout >= longest+besideACall,
			"%s ends after %s, a call may take %s", f.ID, f.Timeout, longest)
	}
}
