package infra_test

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/model/teamconfig"
)

// serviceErrors are the errors of Step Functions, Lambda and its runtimes; functions return the others.
var serviceErrors = []string{
	"States.ALL", "States.Timeout", "States.HeartbeatTimeout",
	"Lambda.ClientExecutionTimeoutException", "Lambda.ServiceException", "Lambda.AWSLambdaException",
	"Lambda.SdkClientException",
	"Lambda.TooManyRequestsException", "Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError",
}

// ids are the members that a payload may have, with their sources. None of them is content.
var ids = map[string]string{
	"tenant.$": "$.tenant", "task.$": "$.task", "kind.$": "$.kind", "id.$": "$.id", "run.$": "$.run", "gate.$": "$.gate",
	"team.$": "$.team", "error.$": "$.error.Error",
	"next.$": "$.next", "task_token.$": "$$.Task.Token", "entered.$": "$$.State.EnteredTime",
	"retry.$": "$$.State.RetryCount",
}

// pipelineRules are about the state machine, and about it and the functions.
func pipelineRules() []rule {
	return []rule{shapeRule, routeRule, errorRule, roomRule, triesRule, waitRule, callRule, placeRule, dueRule,
		partitionRule}
}

// shapeRule: every state can be reached, leads to states that exist, and to an end.
func shapeRule(s *stack, wrong report) {
	for _, m := range s.machines {
		for _, m := range m.all() {
			checkShape(m, wrong)
		}
	}
}

func checkShape(m machine, wrong report) {
	reached := m.reach(m.StartAt)
	for _, name := range m.names() {
		st := m.States[name]
		wrong.where(!reached[name], "%s: no state leads here", name)
		for _, next := range st.next() {
			if _, ok := m.States[next]; !ok {
				wrong("%s leads to %s, which does not exist", name, next)
			}
		}
		if end := len(st.next()) == 0; end != st.ends() {
			wrong("%s (%s): Succeed and Fail lead nowhere, everything else leads on", name, st.Type)
		}
		wrong.where(st.Comment == "" && st.Type != "Choice", "%s: Comment is empty", name)
		finishes := false
		for at := range m.reach(name) {
			finishes = finishes || m.States[at].ends()
		}
		wrong.where(!finishes, "%s: from here a run never ends", name)
	}
	if _, ok := m.States[m.StartAt]; !ok {
		wrong("StartAt %s does not exist", m.StartAt)
	}
	if m.ProcessorConfig != nil {
		return // it ends with its run
	}
	if year := 365 * 24 * 3600; m.TimeoutSeconds <= 0 || m.TimeoutSeconds >= year {
		wrong("a run lasts a year at most; TimeoutSeconds %d must end it before", m.TimeoutSeconds)
	}
}

// routeRule: the router knows exactly the states that functions may name as the next.
func routeRule(s *stack, wrong report) {
	var routed []string
	for _, name := range s.pipeline.names() {
		for _, c := range s.pipeline.States[name].Choices {
			routed = append(routed, c.StringEquals)
			wrong.where(c.Variable != "$.next", "%s looks at %s, the functions answer with $.next", name, c.Variable)
			if want := c.StringEquals; c.Next != want && want != task.StateFail {
				wrong("%s sends %s to %s", name, want, c.Next)
			}
			wrong.where(c.StringEquals == task.StateFail && s.pipeline.States[c.Next].Type != "Fail",
				"%s sends a failed task to %s, which is not red", name, c.Next)
			wrong.where(!slices.Contains(task.NextStates, c.StringEquals),
				"%s: no function ever points to %s", name, c.StringEquals)
		}
	}
	for _, next := range task.NextStates {
		wrong.where(!slices.Contains(routed, next), "a function may point to %s, and no route goes there", next)
	}
	if route, ok := s.pipeline.States["Route"]; !ok || s.pipeline.States[route.Default].Type != "Fail" {
		wrong("Route must end a run that is sent to an unknown state")
	}
}

// errorRule: temporary errors are retried, all others are caught.
func errorRule(s *stack, wrong report) {
	for name, st := range s.states() {
		if st.Type != "Task" {
			continue
		}
		wrong.where(handles(st.retried(), "States.ALL"), "%s tries everything again, bugs too", name)
		for _, transient := range slices.Concat(serviceErrors[3:], []string{pipeline.Unavailable}) {
			wrong.where(!handles(st.retried(), transient), "%s does not try again after %s", name, transient)
		}
		for _, final := range []string{pipeline.Internal, pipeline.BadInput} {
			wrong.where(handles(st.retried(), final), "%s tries again after %s, which does not heal", name, final)
		}
		_, asks := s.functions[st.function()].Environment["MODEL"]
		// execute-process asks for a summary only, and does without; the end of a contest asks none.
		asks = asks && st.function() != "ExecuteProcessFunction" && name != "CloseContest"
		wrong.where(asks != handles(st.retried(), pipeline.ModelUnavailable),
			"%s: %s is tried again where a model is asked, and only there", name, pipeline.ModelUnavailable)
		if last := len(st.Catch) - 1; last < 0 || !slices.Equal(st.Catch[last].ErrorEquals, []string{"States.ALL"}) {
			wrong("%s: Catch ends with States.ALL, alone", name)
		}
		for _, l := range slices.Concat(st.retried(), st.caught()) {
			wrong.where(len(l) > 1 && slices.Contains(l, "States.ALL"), "%s: States.ALL stands alone", name)
			for _, e := range l {
				wrong.where(!slices.Contains(serviceErrors, e) && !slices.Contains(pipeline.ErrorNames, e),
					"%s names %s, which nothing returns", name, e)
			}
		}
		for _, c := range st.Catch {
			wrong.where(c.Next == "CloseTask" && string(c.ResultPath) != `"$.error"`,
				"%s: CloseTask finds its error at $.error, not at %s", name, c.ResultPath)
			wrong.where(c.Next != "CloseTask" && string(c.ResultPath) != "null",
				"%s: what is caught on the way to %s must be dropped (ResultPath null)", name, c.Next)
		}
		for _, r := range st.Retry {
			wrong.where(r.MaxAttempts < 1 || r.IntervalSeconds < 1 || r.BackoffRate < 1 || r.JitterStrategy != "FULL",
				"%s: a Retry says how often, how soon, and with jitter", name)
		}
	}
}

// roomRule: a run whose functions can't be invoked has not failed. It ends with an error of its own, without a
// function. The states that report failures are excepted, and so are teams, which are one of many.
func roomRule(s *stack, wrong report) {
	for file, m := range s.machines {
		for name, st := range m.States {
			if st.Type != "Task" || name == "CloseTask" || name == "GiveUp" {
				continue
			}
			at := slices.IndexFunc(st.Catch, func(c catcher) bool {
				return slices.Equal(c.ErrorEquals, []string{pipeline.NoRoom})
			})
			wrong.where(at < 0 || m.States[st.Catch[at].Next].Error != aggregate.EndedNoRoom,
				"%s, %s: a run for which there is no room ends as %s", file, name, aggregate.EndedNoRoom)
		}
	}
}

// waitRule: a wait for people has a token and a timeout that is caught.
func waitRule(s *stack, wrong report) {
	for name, st := range s.states() {
		wrong.where(strings.HasPrefix(name, "Await") != st.waits(),
			"%s: states that wait for people, and they alone, are called Await…", name)
		if !st.waits() {
			continue
		}
		wrong.where(st.TimeoutSecondsPath != "$.timeout_seconds", "%s would wait for ever", name)
		wrong.where(st.Parameters.Payload["task_token.$"] != "$$.Task.Token", "%s gives nobody its token", name)
		wrong.where(!handles(st.caught(), "States.Timeout") || handles(st.retried(), "States.Timeout"),
			"%s: a burnt fuse is caught, not tried again", name)
		wrong.where(string(st.ResultPath) != "null",
			"%s: the answer to a token is a wake-up, and is dropped (ResultPath null)", name)
	}
	longest := time.Duration(s.pipeline.TimeoutSeconds) * time.Second
	wrong.where(longest > pipeline.LongestRun, "a run lasts %s, and its tokens expire after %s", longest,
		pipeline.LongestRun)
	for _, name := range []string{task.StateDraftPrompt, task.StatePlanProcess, task.StateExecuteProcess} {
		wrong.where(s.pipeline.States[name].Parameters.Payload["entered.$"] == "",
			"%s doesn't say when it was entered: what follows a gate proves that the run has left it", name)
	}
}

// served are the functions of states that are not called like them.
var served = map[string]string{"CloseTask": "GiveUp", "CloseContest": "HoldContest"}

// callRule: each state calls its function, with ids only, and with a timeout slightly longer than the
// function's.
func callRule(s *stack, wrong report) {
	for name, st := range s.states() {
		if st.Type != "Task" {
			continue
		}
		function := st.function()
		want := cmp.Or(served[name], name) + "Function"
		if st.waits() {
			want = "RequestApprovalFunction"
		}
		wrong.where(function != want, "%s calls %s, not %s", name, st.Parameters.FunctionName, want)
		f, ok := s.functions[function]
		switch fuse := time.Duration(st.TimeoutSeconds) * time.Second; {
		case !ok:
			wrong("%s: the template has no %s", name, function)
		case !st.waits() && (fuse <= f.Timeout || fuse > f.Timeout+time.Minute):
			wrong("%s ends after %s, its function after %s: a little longer is wanted", name, fuse, f.Timeout)
		case !st.waits() && st.OutputPath != "$.Payload":
			wrong("%s: OutputPath is %q, not the function's answer", name, st.OutputPath)
		}
		for _, keys := range [][]string{{"tenant.$"}, {"task.$", "id.$"}, {"run.$"}} {
			wrong.where(!slices.ContainsFunc(keys, func(key string) bool { return st.Parameters.Payload[key] != "" }),
				"%s: the payload lacks %s", name, strings.TrimSuffix(keys[0], ".$"))
		}
		for key, from := range st.Parameters.Payload {
			wrong.where(ids[key] != from, "%s: %s from %s is no id", name, key, from)
		}
	}
	for _, id := range s.of("AWS::Serverless::StateMachine") {
		for name, v := range object(s.resources[id].Properties["DefinitionSubstitutions"]) {
			want := strings.TrimSuffix(name, "Arn") + ".Arn"
			if name == "Partition" {
				want = "AWS::Partition"
			}
			wrong.where(target(v) != want, "%s: ${%s} is %s", id, name, target(v))
		}
	}
}

// placeRule: a team that Lambda has no capacity for waits on average twice as long as a running team may take; else it
// would fail before it began, just because others play. The end of a contest waits as long, or the contest would fail
// and be abandoned.
func placeRule(s *stack, wrong report) {
	const refused = "Lambda.TooManyRequestsException"
	for name, st := range s.states() {
		at := slices.IndexFunc(st.Retry, func(r retrier) bool { return slices.Contains(r.ErrorEquals, refused) })
		if name != "RunRound" && name != "CloseContest" || at < 0 {
			continue
		}
		r, sum, next := st.Retry[at], 0.0, 0.0
		for range r.MaxAttempts {
			next = min(max(float64(r.IntervalSeconds), next*r.BackoffRate), float64(r.MaxDelaySeconds))
			sum += next / 2 // with jitter
		}
		wrong.where(sum < 2*teamconfig.DefaultTeamTimeout,
			"%s waits %.0f s for a place to run in, teams have %d s", name, sum, teamconfig.DefaultTeamTimeout)
	}
}

// dueRule: a gate leads to a state that asks whether it is due.
func dueRule(s *stack, wrong report) {
	for name, st := range s.pipeline.States {
		asks := slices.Contains([]string{"ResumeTask", "PlanProcess", "ExecuteProcess"}, st.Next)
		wrong.where(st.Type == "Task" && st.waits() && !asks,
			"%s leads to %s, which does not ask whether it is due", name, st.Next)
	}
}

// partitionRule: GovCloud and China have partitions of their own. A run would fail at a state that names another
// partition, and nothing would catch that.
func partitionRule(s *stack, wrong report) {
	for file, text := range s.files {
		for _, literal := range literalPartition.FindAllString(text, -1) {
			wrong("%s says %s, which is one partition's", file, literal)
		}
	}
}

var literalPartition = regexp.MustCompile(`\barn:aws[a-z-]*:[a-z0-9-]*`)
