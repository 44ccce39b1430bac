package stack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/stack"
	functions "ringi/infra/local/stack/testdata/system"
	"ringi/shared/runtime/expect"
)

var system = filepath.Join("testdata", "system", "template.yaml")

// artifacts is a folder in which this test binary is the binary of each function.
var artifacts string

// running is the stack of tests that neither change it for others nor need their own; nil before the first.
var running *stack.Stack

func TestMain(m *testing.M) {
	functions.Run()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "system")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		binary, err := os.Executable()
		if err != nil {
			panic(err)
		}
		for id := range functions.Functions {
			if err := errors.Join(os.Mkdir(filepath.Join(dir, id), 0o755),
				os.Symlink(binary, filepath.Join(dir, id, "bootstrap"))); err != nil {
				panic(err)
			}
		}
		artifacts = dir
		defer func() {
			if running != nil {
				running.Close()
			}
		}()
		return m.Run()
	}())
}

func start(t *testing.T, o stack.Options) *stack.Stack {
	t.Helper()
	expect.Patience(t)
	o.Template, o.ByHand, o.Artifacts = system, true, artifacts
	s := expect.Value(stack.Start(t.Context(), o))(t)
	t.Cleanup(s.Close)
	return s
}

// shared returns the stack that tests have in common. Each takes ids of its own.
func shared(t *testing.T) *stack.Stack {
	t.Helper()
	if running == nil {
		expect.Patience(t)
		running = expect.Value(stack.Start(context.Background(), stack.Options{Template: system, ByHand: true,
			Artifacts: artifacts, SigningSecret: "sign", BotToken: "xoxb-1", Model: "demo"}))(t)
	}
	return running
}

func until[T any](t *testing.T, what string, look func() (T, bool)) (v T) {
	t.Helper()
	expect.Eventually(t, what, func() (there bool) {
		v, there = look()
		return there
	})
	return v
}

// written waits for an attribute of a task's row and returns it.
func written(t *testing.T, s *stack.Stack, id, sk, attribute string) string {
	t.Helper()
	return until(t, attribute+" of "+id, func() (string, bool) { v := row(t, s, id, sk, attribute); return v, v != "" })
}

// row returns an attribute of a task's row, or "" if there is none.
func row(t *testing.T, s *stack.Stack, id, sk, attribute string) string {
	t.Helper()
	out := expect.Value(dynamodb.NewFromConfig(s.AWS).GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &s.TableName, Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "TASK#t#" +
			id}, "SK": &types.AttributeValueMemberS{Value: sk}},
	}))(t)
	if v, ok := out.Item[attribute].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func keep(t *testing.T, s *stack.Stack, id string) string {
	t.Helper()
	resp := expect.Value(http.PostForm(s.URL+"/slack/events", url.Values{"id": {id}}))(t)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	expect.Must(t, err == nil && resp.StatusCode == http.StatusOK, "keep: %d %s %v", resp.StatusCode, body, err)
	return string(body)
}

func TestEverythingOfTheTemplateIsConnected(t *testing.T) {
	s := shared(t)
	got, want := keep(t, s, "n1"), "demo "+s.VendorsURL+"/freee/hr"
	expect.That(t, got == want, "the function sees %q, want %q", got, want)
	secret := written(t, s, "n1", "DRAWN", "secret")
	if want := `{"bot_token":"xoxb-1","client_id":"` + sandbox.ClientID + `","client_secret":"` + s.ClientSecret +
		`","signing_secret":"sign"}`; secret != want {
		t.Errorf("the secret is %s, want %s", secret, want)
	}
	object := expect.Value(s3.NewFromConfig(s.AWS).GetObject(t.Context(), &s3.GetObjectInput{Bucket: &s.BucketName,
		Key: aws.String("n1")}))(t)
	body, err := io.ReadAll(object.Body)
	expect.That(t, err == nil && string(body) == "n1", "the object is %q, %v", body, err)

	token := written(t, s, "n1", "WAIT", "token")
	view := until(t, "a waiting run", func() (stack.TaskView, bool) {
		v, err := s.Task(t.Context(), "n1")
		return v, err == nil && len(v.Runs) == 1 && v.Runs[0].Waiting != nil
	})
	r := view.Runs[0]
	expect.That(t, view.Tenant == "t" && r.Name == "n1-1" && r.Status == "RUNNING" && len(r.States) == 1 &&
		r.States[0].Name == "AwaitAnswer" && !r.Waiting.Since.IsZero(), "view is %+v", view)
	expect.Value(sfn.NewFromConfig(s.AWS).SendTaskSuccess(t.Context(), &sfn.SendTaskSuccessInput{TaskToken: &token,
		Output: aws.String("{}")}))(t)
	view = until(t, "the end of the run", func() (stack.TaskView, bool) {
		v, err := s.Task(t.Context(), "n1")
		return v, err == nil && v.Runs[0].Status == "SUCCEEDED"
	})
	var states, keys []string
	for _, state := range view.Runs[0].States {
		states = append(states, state.Name)
	}
	for _, row := range view.Rows {
		keys = append(keys, row.Type+" "+row.Key)
	}
	diff := cmp.Diff([]string{"AwaitAnswer", "Finish"}, states)
	expect.That(t, diff == "" && view.Runs[0].Waiting == nil, "waiting %v, %s", view.Runs[0].Waiting, diff)
	expect.Same(t, []string{"note NOTE", "drawing DRAWN", "wait WAIT"}, keys)
}

// A call's access key names the function whose role applies.
func TestAFunctionDoesWhatItsRoleAllows(t *testing.T) {
	s := shared(t)
	get := func(who string) error {
		as := s.AWS.Copy()
		as.Credentials = credentials.NewStaticCredentialsProvider(who, "local", "")
		_, err := dynamodb.NewFromConfig(as).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &s.TableName,
			Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "TASK#t#1"},
				"SK": &types.AttributeValueMemberS{Value: "NOTE"}}})
		return err
	}
	expect.NoError(t, get("local"))
	var api smithy.APIError
	err := get("KeepNoteFunction")
	expect.That(t, errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException", "what it may not: %v", err)
	keep(t, s, "n7")
	expect.Is(t, row(t, s, "n7", "NOTE", "type"), "note", "what the role allows")
}

func TestEachStateMachineRunsUnderItsOwnName(t *testing.T) {
	s := shared(t)
	told := map[string]string{}
	for _, f := range s.Template.Functions {
		if arn := f.Environment["STATE_MACHINE_ARN"]; arn != "" {
			told[f.ID] = arn
		}
	}
	want := map[string]string{"RelayNotesFunction": s.StateMachineARN("Pipeline"),
		"TickFunction": s.StateMachineARN("Reminder")}
	diff := cmp.Diff(want, told)
	expect.Must(t, diff == "" && want["RelayNotesFunction"] != want["TickFunction"] &&
		s.StateMachineARN("Nobody") == "", "functions are told %v, %s", told, diff)
	keep(t, s, "n8")
	written(t, s, "n8", "WAIT", "token")
	runs := sfn.NewFromConfig(s.AWS)
	started := expect.Value(runs.StartExecution(t.Context(), &sfn.StartExecutionInput{
		StateMachineArn: aws.String(told["TickFunction"]), Name: aws.String("n8-2"),
		Input: aws.String(`{"tenant":"t","source":"me"}`),
	}))(t)
	output := until(t, "the second machine's output", func() (string, bool) {
		d, err := runs.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: started.ExecutionArn})
		return aws.ToString(d.Output), err == nil && d.Status == "SUCCEEDED"
	})
	view, err := s.Task(t.Context(), "n8")
	expect.Must(t, err == nil && strings.Contains(output, "me ringi-Table"), "it said %s, %v", output, err)
	var states []string
	for _, r := range view.Runs {
		states = append(states, r.Name+" "+r.States[0].Name)
	}
	expect.Same(t, []string{"n8-1 AwaitAnswer", "n8-2 Tick"}, states)
}

func TestWhatCannotBeRelayedGoesToItsDestinationAndDelaysNothing(t *testing.T) {
	s := shared(t)
	keep(t, s, "poison")
	keep(t, s, "n2")
	written(t, s, "n2", "DRAWN", "type")
	lost := s.QueueURL("LostNotes")
	body := until(t, "the dead letter", func() (string, bool) {
		out, err := sqs.NewFromConfig(s.AWS).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &lost,
			WaitTimeSeconds: 1})
		if err != nil || len(out.Messages) == 0 {
			return "", false
		}
		return aws.ToString(out.Messages[0].Body), true
	})
	expect.That(t, strings.Contains(body, `"condition":"RetryAttemptsExhausted"`), "the dead letter is %s", body)
}

func TestSchedulesFireByHand(t *testing.T) {
	s := shared(t)
	r, err := s.Fire(t.Context(), "TickFunction")
	expect.That(t, err == nil && !r.Failed && string(r.Payload) == `"aws.events ringi-Table"`,
		"fired: %s, %v", r.Payload, err)
	got := until(t, "the log", func() ([]string, bool) { l := s.Lambda.Logs("TickFunction"); return l, len(l) > 0 })
	expect.Is(t, got[0], "ticked")
	expect.That(t, expect.Err(s.Fire(t.Context(), "KeepNoteFunction")) != nil, "a function without a schedule fired")
}

func TestStacksLiveSideBySideAndCloseLeavesNothing(t *testing.T) {
	one, two := start(t, stack.Options{}), shared(t)
	keep(t, one, "n3")
	expect.Is(t, row(t, two, "n3", "NOTE", "type"), "", "the other stack has the note too")
	pids := one.PIDs()
	expect.That(t, len(pids) >= 2, "%d processes, want the stand-ins and a function at least", len(pids))
	one.Close()
	for _, pid := range pids {
		expect.Fails(t, syscall.Kill(pid, 0), syscall.ESRCH, "process %d is left", pid)
	}
	for _, address := range []string{one.URL, one.AWSEndpoint, one.VendorsURL} {
		if c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://")); err == nil {
			c.Close()
			t.Errorf("%s still answers", address)
		}
	}
	keep(t, two, "n4")
}

func TestSandboxHasEveryPathThatIsNoRoute(t *testing.T) {
	s := shared(t)
	for path, want := range map[string]int{"/": 200, "/api/api.test": 200, "/sandbox/run?task=none": 200,
		"/slack/events": 404} {
		resp := expect.Value(http.Get(s.URL + path))(t)
		resp.Body.Close()
		expect.That(t, resp.StatusCode == want, "GET %s is %d, want %d", path, resp.StatusCode, want)
	}
}

func TestStartSaysWhatIsInTheWay(t *testing.T) {
	expect.Patience(t)
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	taken := l.Addr().String()
	unprepared := errors.New("no workspace")
	tests := []struct {
		name    string
		options stack.Options
		want    string
		is      error
	}{
		{"the sandbox's port", stack.Options{Addr: taken}, "-addr", stack.ErrInUse},
		{"the AWS port", stack.Options{AWSAddr: taken}, "-aws-addr", stack.ErrInUse},
		{"an unknown parameter", stack.Options{Parameters: map[string]string{"Colour": "red"}}, `no parameter "Colour"`, nil},
		{"a filter's operator", stack.Options{Parameters: map[string]string{"NotePattern": `{"eventName":[{"suffix":"I"}]}`}},
			`RelayNotesFunction: event Notes: filter {"eventName":[{"suffix":"I"}]}: ` +
				`eventName: the local stack's filters know plain values and prefix only`, nil},
		{"no artifacts", stack.Options{Artifacts: t.TempDir()}, "bootstrap", nil},
		{"a workspace that can't be prepared", stack.Options{PrepareTeam: func(context.Context, *stack.Stack, string) error {
			return unprepared
		}}, "prepare the workspace: no workspace", unprepared},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.options.Template = system; tt.options.Artifacts == "" {
				tt.options.Artifacts = artifacts
			}
			s, err := stack.Start(t.Context(), tt.options)
			if err == nil {
				s.Close()
				t.Fatal("it started")
			}
			expect.That(t, strings.Contains(err.Error(), tt.want) && (tt.is == nil || errors.Is(err, tt.is)),
				"got %v, want %q in it", err, tt.want)
		})
	}
}

func TestInvokeOnce(t *testing.T) {
	var log bytes.Buffer
	o := stack.Options{Template: system, AWSAddr: strings.TrimPrefix(shared(t).AWSEndpoint, "http://"), FunctionLog: &log,
		Artifacts: artifacts}
	for name, tt := range map[string]struct {
		function, event, want string
		failed                bool
	}{
		"by folder":     {"tick", `{"source":"me"}`, `"me ringi-Table"`, false},
		"by logical id": {"TickFunction", `{"source":"me"}`, `"me ringi-Table"`, false},
		"that fails":    {"tick", `{}`, `"errorMessage":"the event has no source"`, true},
	} {
		r, err := stack.InvokeOnce(t.Context(), o, tt.function, json.RawMessage(tt.event))
		expect.That(t, err == nil && r.Failed == tt.failed && strings.Contains(string(r.Payload), tt.want),
			"%s: got %s, %v; want %s", name, r.Payload, err, tt.want)
	}
	expect.Has(t, log.String(), "ticked", "logged")
	_, err := stack.InvokeOnce(t.Context(), o, "nobody", nil)
	expect.That(t, err != nil && strings.Contains(err.Error(), "there are ask-person, draw-note"),
		"an unknown function: %v", err)
	o.AWSAddr = "127.0.0.1:1"
	expect.Fails(t, expect.Err(stack.InvokeOnce(t.Context(), o, "tick", nil)), stack.ErrNoStack)
}
