package infra_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/infra/local/moto"
	"ringi/infra/local/template"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// answer is the output of a function, or the name of its error.
type answer struct {
	pipeline.Output
	fails string
	wakes bool // answers the task token a moment later
}

func to(next string) answer { return answer{Output: pipeline.Output{Next: next}} }

func await(next, gate string, seconds int) answer {
	return answer{Output: pipeline.Output{Next: next, Gate: gate, TimeoutSeconds: seconds}}
}

// call is a call of a function by the state machine, by the function's folder.
type call struct {
	Function, Gate, Error string
	HasToken              bool
}

// script stands in for Lambda. It gives each function's answers in turn.
type script struct {
	mu      sync.Mutex
	answers map[string][]answer
	calls   []call
	runs    *sfn.Client
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in pipeline.Input
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &in); err != nil || in.Tenant != "t" || in.Task != "01TASK" || in.Run != 1 {
		http.Error(w, fmt.Sprintf("payload %s: %v", body, err), http.StatusBadRequest)
		return
	}
	_, name, _ := strings.Cut(r.URL.Path, "function:")
	id, _, _ := strings.Cut(name, "/")
	folder := template.Folder(id)
	s.mu.Lock()
	s.calls = append(s.calls, call{folder, in.Gate, in.Error, in.TaskToken != ""})
	a := answer{fails: "NothingLeftToSay"}
	if left := s.answers[folder]; len(left) > 0 {
		a, s.answers[folder] = left[0], left[1:]
	}
	s.mu.Unlock()
	w.Header().Set("X-Amzn-RequestId", "request")
	if a.fails != "" {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		fmt.Fprintf(w, `{"errorType":%q,"errorMessage":"a fixed sentence"}`, a.fails)
		return
	}
	a.Tenant, a.Task, a.Run = in.Tenant, in.Task, in.Run
	_ = json.NewEncoder(w).Encode(a.Output)
	if a.wakes {
		go func() {
			_, _ = s.runs.SendTaskSuccess(context.Background(), &sfn.SendTaskSuccessInput{TaskToken: &in.TaskToken,
				Output: aws.String("{}")})
		}()
	}
}

// interpreter is a Step Functions service with the pipeline in it.
type interpreter struct {
	script  *script
	runs    *sfn.Client
	machine string
}

func startInterpreter(t *testing.T) *interpreter {
	t.Helper()
	s := &script{}
	lambda := httptest.NewServer(s)
	t.Cleanup(lambda.Close)
	_, p, err := net.SplitHostPort(lambda.Listener.Addr().String())
	expect.NoError(t, err)
	port := expect.Value(strconv.Atoi(p))(t)
	server := expect.Value(moto.Start(t.Context(), moto.Options{TaskPort: port}))(t)
	t.Cleanup(server.Stop)
	s.runs = sfn.New(sfn.Options{Region: "us-east-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	names := anyAccount
	names.Endpoint = server.URL
	tpl := expect.Value(template.Read(filepath.Join(repository, templateFile), names,
		map[string]string{"Stage": "dev"}))(t)
	at := slices.IndexFunc(tpl.Machines, func(m template.Machine) bool { return m.ID == "Pipeline" })
	made := expect.Value(s.runs.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("pipeline"), Definition: &tpl.Machines[at].Definition,
		RoleArn: aws.String("arn:aws:iam::123456789012:role/pipeline"),
	}))(t)
	return &interpreter{s, s.runs, *made.StateMachineArn}
}

// run plays one run to its end. It returns the run's calls, how it ended, and with which error.
func (i *interpreter) run(t *testing.T, name string, answers map[string][]answer) (calls []call,
	status types.ExecutionStatus, failure string) {
	t.Helper()
	i.script.mu.Lock()
	i.script.answers, i.script.calls = answers, nil
	i.script.mu.Unlock()
	e := expect.Value(i.runs.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: &i.machine, Name: &name,
		Input: aws.String(`{"tenant":"t","task":"01TASK","run":1}`)}))(t)
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		d := expect.Value(i.runs.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: e.ExecutionArn}))(t)
		if d.Status != types.ExecutionStatusRunning {
			i.script.mu.Lock()
			defer i.script.mu.Unlock()
			return i.script.calls, d.Status, aws.ToString(d.Error)
		}
		select {
		case <-deadline.C:
			t.Fatalf("the run has not ended; it called %v", i.script.calls)
		case <-poll.C:
		}
	}
}

// Answers that several journeys use. After wake the task token is answered at once.
var (
	wake    = answer{Output: pipeline.Output{Next: task.StateFinish}, wakes: true}
	pause   = answer{Output: pipeline.Output{Next: task.StatePause, WaitSeconds: 1}}
	prompt  = await(task.StateAwaitPromptApproval, "PROMPT#0001", 3600)
	process = await(task.StateAwaitProcessApproval, "PROCESS#0001", 3600)
	step    = await(task.StateAwaitStepApproval, "GATE#0001#01#02", 3600)
)

// gate is the call that parks a run at a gate.
func gate(key string) call { return call{Function: "request-approval", Gate: key, HasToken: true} }

// journey has the answers of functions, and the calls and the end of a run that follow from them.
type journey struct {
	name    string
	answers map[string][]answer
	calls   []call
	status  types.ExecutionStatus
	failure string
}

var journeys = []journey{
	{
		"from message to done",
		map[string][]answer{
			"resume-task":      {to(task.StateExtractTask), to(task.StateExecuteProcess)},
			"extract-task":     {to(task.StateDraftPrompt)},
			"draft-prompt":     {prompt},
			"plan-process":     {process},
			"execute-process":  {step, pause, to(task.StateFinish)},
			"request-approval": {wake, wake, wake},
		},
		[]call{
			{Function: "resume-task"}, {Function: "extract-task"}, {Function: "draft-prompt"}, gate("PROMPT#0001"),
			{Function: "plan-process"}, gate("PROCESS#0001"),
			{Function: "execute-process"}, gate("GATE#0001#01#02"),
			{Function: "execute-process"}, {Function: "resume-task"}, {Function: "execute-process"},
		},
		types.ExecutionStatusSucceeded, "",
	},
	{
		"what is rejected is drafted anew by ResumeTask",
		map[string][]answer{
			"resume-task":      {prompt, to(task.StateDraftPrompt), to(task.StatePlanProcess)},
			"draft-prompt":     {process},
			"plan-process":     {to(task.StateResumeTask), to(task.StateFinish)},
			"execute-process":  {to(task.StateResumeTask)},
			"request-approval": {wake, wake},
		},
		[]call{
			{Function: "resume-task"}, gate("PROMPT#0001"), {Function: "plan-process"},
			{Function: "resume-task"},
			{Function: "draft-prompt"}, gate("PROCESS#0001"), {Function: "execute-process"},
			{Function: "resume-task"},
			{Function: "plan-process"},
		},
		types.ExecutionStatusSucceeded, "",
	},
	{
		"what heals is tried again",
		map[string][]answer{
			"resume-task":  {{fails: pipeline.Unavailable}, {fails: "Runtime.ExitError"}, to(task.StateExtractTask)},
			"extract-task": {{fails: "Sandbox.Timedout"}, to(task.StateFinish)}, "draft-prompt": {to(task.StateFinish)},
		},
		[]call{{Function: "resume-task"}, {Function: "resume-task"}, {Function: "resume-task"}, {Function: "extract-task"},
			{Function: "extract-task"}, {Function: "draft-prompt"}},
		types.ExecutionStatusSucceeded, "",
	},
	{
		"a bug is written down, and ends red",
		map[string][]answer{"resume-task": {to(task.StatePlanProcess)}, "plan-process": {{fails: pipeline.Internal}},
			"give-up": {to(task.StateFail)}},
		[]call{{Function: "resume-task"}, {Function: "plan-process"}, {Function: "give-up", Error: pipeline.Internal}},
		types.ExecutionStatusFailed, "TaskFailed",
	},
	{
		"a gate that is pending outlives the run",
		map[string][]answer{"resume-task": {prompt}, "request-approval": {{fails: pipeline.BadInput}},
			"give-up": {to(task.StateFinish)}},
		[]call{{Function: "resume-task"}, gate("PROMPT#0001"), {Function: "give-up", Error: pipeline.BadInput}},
		types.ExecutionStatusSucceeded, "",
	},
	{
		"a burnt fuse reads the rows again",
		map[string][]answer{"resume-task": {await(task.StateAwaitPromptApproval, "PROMPT#0001", 1), to(task.StateFinish)},
			"request-approval": {to(task.StateFinish)}},
		[]call{{Function: "resume-task"}, gate("PROMPT#0001"), {Function: "resume-task"}},
		types.ExecutionStatusSucceeded, "",
	},
	{
		"even closing may fail",
		map[string][]answer{"resume-task": {{fails: pipeline.Internal}}, "give-up": {{fails: pipeline.Internal}}},
		[]call{{Function: "resume-task"}, {Function: "give-up", Error: pipeline.Internal}},
		types.ExecutionStatusFailed, "TaskFailed",
	},
	{
		"a state that the definition does not have",
		map[string][]answer{"resume-task": {to("RunContest")}},
		[]call{{Function: "resume-task"}},
		types.ExecutionStatusFailed, "UnknownRoute",
	},
}

// The complete path, and each way off it.
func TestRunsGoWhereTheRowsSay(t *testing.T) {
	expect.Patience(t)
	i := startInterpreter(t)
	for _, c := range journeys {
		t.Run(c.name, func(t *testing.T) {
			calls, status, failure := i.run(t, strings.ReplaceAll(c.name, " ", "-"), c.answers)
			expect.Same(t, c.calls, calls) // wanted (-), made (+)
			expect.That(t, status == c.status && failure == c.failure,
				"the run ended %s %s, not %s %s", status, failure, c.status, c.failure)
		})
	}
}
