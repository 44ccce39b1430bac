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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	programs "ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// move is a call of a function by the state machine, and what the function then does.
type move struct {
	call string // its folder, and the gate or the error that it is told
	pipeline.Output
	fails string // the name of its error, instead of an output
	wakes bool   // it answers the task token a moment later
}

func to(call, next string) move { return move{call: call, Output: pipeline.Output{Next: next}} }

func fails(call, name string) move { return move{call: call, fails: name} }

// asks sends the run to a gate.
func asks(call, next, gate string, seconds int) move {
	return move{call: call, Output: pipeline.Output{Next: next, Gate: gate, TimeoutSeconds: seconds}}
}

// decided parks the run at a gate until people decide, which they do at once.
func decided(gate string) move { return move{call: "request-approval " + gate, wakes: true} }

// script stands in for Lambda. It plays the turns in order.
type script struct {
	mu    sync.Mutex
	turns []move
	made  []string // calls
	runs  *sfn.Client
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
	s.mu.Lock()
	s.made = append(s.made, strings.TrimSpace(template.Folder(id)+" "+in.Gate+in.Error))
	x := fails("", "NothingLeftToSay")
	if len(s.turns) >= len(s.made) {
		x = s.turns[len(s.made)-1]
	}
	s.mu.Unlock()
	w.Header().Set("X-Amzn-RequestId", "request")
	if x.fails != "" {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		fmt.Fprintf(w, `{"errorType":%q,"errorMessage":"a fixed sentence"}`, x.fails)
		return
	}
	x.Tenant, x.Task, x.Run = in.Tenant, in.Task, in.Run
	_ = json.NewEncoder(w).Encode(x.Output)
	if x.wakes {
		go func() {
			_, _ = s.runs.SendTaskSuccess(context.Background(), &sfn.SendTaskSuccessInput{TaskToken: &in.TaskToken,
				Output: aws.String("{}")})
		}()
	}
}

// startInterpreter starts a Step Functions service with the pipeline in it, and returns the pipeline's ARN.
func startInterpreter(t *testing.T) (s *script, machine string) {
	t.Helper()
	s = &script{}
	lambda := httptest.NewServer(s)
	t.Cleanup(lambda.Close)
	_, port, err := net.SplitHostPort(lambda.Listener.Addr().String())
	expect.NoError(t, err)
	tasks := expect.Value(strconv.Atoi(port))(t)
	server := expect.Value(programs.Moto(t.Context(), programs.MotoOptions{TaskPort: tasks}))(t)
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
	return s, *made.StateMachineArn
}

// run plays one run to its end, and returns how it ended.
func (s *script) run(t *testing.T, machine, name string, turns []move) (end string) {
	t.Helper()
	s.mu.Lock()
	s.turns, s.made = turns, nil
	s.mu.Unlock()
	e := expect.Value(s.runs.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: &machine, Name: &name,
		Input: aws.String(`{"tenant":"t","task":"01TASK","run":1}`)}))(t)
	expect.Eventually(t, "the run ends", func() bool {
		d, err := s.runs.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: e.ExecutionArn})
		if err != nil || d.Status == types.ExecutionStatusRunning {
			return false
		}
		end = strings.TrimSpace(string(d.Status) + " " + aws.ToString(d.Error))
		return true
	})
	return end
}

const (
	prompt, process, step = "PROMPT#0001", "PROCESS#0001", "GATE#0001#01#02"
	hour                  = 3600
)

// The complete path, and each way off it.
func TestRunsGoWhereTheRowsSay(t *testing.T) {
	expect.Patience(t)
	s, machine := startInterpreter(t)
	for _, c := range []struct {
		name, end string
		turns     []move
	}{
		{"from message to done", "SUCCEEDED", []move{to("resume-task", task.StateExtractTask),
			to("extract-task", task.StateDraftPrompt), asks("draft-prompt", task.StateAwaitPromptApproval, prompt, hour),
			decided(prompt), asks("plan-process", task.StateAwaitProcessApproval, process, hour), decided(process),
			asks("execute-process", task.StateAwaitStepApproval, step, hour), decided(step),
			{call: "execute-process", Output: pipeline.Output{Next: task.StatePause, WaitSeconds: 1}},
			to("resume-task", task.StateExecuteProcess), to("execute-process", task.StateFinish)}},
		{"what is rejected is drafted anew by ResumeTask", "SUCCEEDED", []move{
			asks("resume-task", task.StateAwaitPromptApproval, prompt, hour), decided(prompt),
			to("plan-process", task.StateResumeTask), to("resume-task", task.StateDraftPrompt),
			asks("draft-prompt", task.StateAwaitProcessApproval, process, hour), decided(process),
			to("execute-process", task.StateResumeTask), to("resume-task", task.StatePlanProcess),
			to("plan-process", task.StateFinish)}},
		{"what heals is tried again", "SUCCEEDED", []move{fails("resume-task", pipeline.Unavailable),
			fails("resume-task", "Runtime.ExitError"), to("resume-task", task.StateExtractTask),
			fails("extract-task", "Sandbox.Timedout"), to("extract-task", task.StateFinish),
			to("draft-prompt", task.StateFinish)}},
		{"a bug is written down, and ends red", "FAILED TaskFailed", []move{to("resume-task", task.StatePlanProcess),
			fails("plan-process", pipeline.Internal), to("give-up "+pipeline.Internal, task.StateFail)}},
		{"a gate that is pending outlives the run", "SUCCEEDED", []move{
			asks("resume-task", task.StateAwaitPromptApproval, prompt, hour),
			fails("request-approval "+prompt, pipeline.BadInput), to("give-up "+pipeline.BadInput, task.StateFinish)}},
		{"a burnt fuse reads the rows again", "SUCCEEDED", []move{
			asks("resume-task", task.StateAwaitPromptApproval, prompt, 1), to("request-approval "+prompt, ""),
			to("resume-task", task.StateFinish)}},
		{"even closing may fail", "FAILED TaskFailed", []move{fails("resume-task", pipeline.Internal),
			fails("give-up "+pipeline.Internal, pipeline.Internal)}},
		{"a state that the definition does not have", "FAILED UnknownRoute", []move{to("resume-task", "RunContest")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := s.run(t, machine, strings.ReplaceAll(c.name, " ", "-"), c.turns)
			var want []string
			for _, x := range c.turns {
				want = append(want, x.call)
			}
			expect.Same(t, want, s.made)
			expect.Is(t, end, c.end)
		})
	}
}
