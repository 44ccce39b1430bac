package stack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

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

// A call's access key names the function whose role applies.
func TestAFunctionDoesWhatItsRoleAllows(t *testing.T) {
	s := shared(t)
	for who, want := range map[string]string{"local": "", "KeepNoteFunction": "AccessDeniedException"} {
		as := s.AWS.Copy()
		as.Credentials = credentials.NewStaticCredentialsProvider(who, "local", "")
		_, err := dynamodb.NewFromConfig(as).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &s.TableName,
			Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "TASK#t#1"},
				"SK": &types.AttributeValueMemberS{Value: "NOTE"}}})
		api, refused := errors.AsType[smithy.APIError](err)
		expect.That(t, refused == (want != "") && (!refused || api.ErrorCode() == want), "%s: %v", who, err)
	}
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

func TestStartSaysWhatIsInTheWay(t *testing.T) {
	expect.Patience(t)
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	taken := l.Addr().String()
	unprepared := errors.New("no workspace")
	for want, o := range map[string]stack.Options{
		"-addr":                 {Addr: taken},
		"-aws-addr":             {AWSAddr: taken},
		`no parameter "Colour"`: {Parameters: map[string]string{"Colour": "red"}},
		`RelayNotesFunction: event Notes: filter {"eventName":[{"suffix":"I"}]}: ` +
			`eventName: the local stack's filters know plain values and prefix only`: {
			Parameters: map[string]string{"NotePattern": `{"eventName":[{"suffix":"I"}]}`}},
		"bootstrap": {Artifacts: t.TempDir()},
		"prepare the workspace: no workspace": {PrepareTeam: func(context.Context, *stack.Stack, string) error {
			return unprepared
		}},
	} {
		if o.Template = system; o.Artifacts == "" {
			o.Artifacts = artifacts
		}
		s, err := stack.Start(t.Context(), o)
		if err == nil {
			s.Close()
		}
		expect.That(t, err != nil && strings.Contains(err.Error(), want) &&
			errors.Is(err, stack.ErrInUse) == strings.HasSuffix(want, "-addr") &&
			errors.Is(err, unprepared) == strings.HasPrefix(want, "prepare"), "%v, want %q", err, want)
	}
}

func TestInvokeOnce(t *testing.T) {
	var log bytes.Buffer
	o := stack.Options{Template: system, AWSAddr: strings.TrimPrefix(shared(t).AWSEndpoint, "http://"), FunctionLog: &log,
		Artifacts: artifacts}
	for _, tt := range [][3]string{
		{"tick", `{"source":"me"}`, `"me ringi-Table"`},
		{"TickFunction", `{"source":"me"}`, `"me ringi-Table"`},
		{"tick", `{}`, `"errorMessage":"the event has no source"`},
	} {
		r, err := stack.InvokeOnce(t.Context(), o, tt[0], json.RawMessage(tt[1]))
		expect.That(t, err == nil && r.Failed == (tt[1] == "{}") && strings.Contains(string(r.Payload), tt[2]),
			"%q: %s, %v", tt, r.Payload, err)
	}
	expect.Has(t, log.String(), "ticked", "logged")
	_, err := stack.InvokeOnce(t.Context(), o, "nobody", nil)
	expect.That(t, err != nil && strings.Contains(err.Error(), "there are ask-person, draw-note"),
		"an unknown function: %v", err)
	o.AWSAddr = "127.0.0.1:1"
	expect.Fails(t, expect.Err(stack.InvokeOnce(t.Context(), o, "tick", nil)), stack.ErrNoStack)
}

// foreign is a host name that resolves to this machine.
const foreign = "evil.example"

// TestEveryListenerRefusesWhatAPageSends calls each port of the stack as a browser does for a page, and as a program
// does.
func TestEveryListenerRefusesWhatAPageSends(t *testing.T) {
	s := shared(t)
	expect.Value(s.Fire(t.Context(), "TickFunction"))(t)
	ports := listening(t, s)
	expect.Must(t, len(ports) >= 5,
		"only %v listen: not the sandbox, AWS, its stand-in, the vendors and a function's environment", ports)
	for _, port := range ports {
		for name, dress := range map[string]func(*http.Request){
			"a foreign host":         func(r *http.Request) { r.Host = fmt.Sprintf("%s:%d", foreign, port) },
			"another site's picture": gets("Sec-Fetch-Site", "cross-site"),
			"another site's socket":  gets("Origin", "http://"+foreign, "Connection", "Upgrade", "Upgrade", "websocket"),
			"another site's stream":  gets("Origin", "http://"+foreign, "Accept", "text/event-stream"),
			"a program":              nil,
		} {
			ctx, cancel := context.WithCancel(t.Context())
			r := expect.Value(http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/nowhere", port),
				strings.NewReader("x")))(t)
			if dress != nil {
				dress(r)
			}
			resp := expect.Value(http.DefaultClient.Do(r))(t)
			resp.Body.Close()
			cancel()
			refused, page := resp.StatusCode == http.StatusForbidden, dress != nil
			expect.That(t, refused == page || !page && port == environment(t, s, ports), "port %d answers %s with %d", port,
				name, resp.StatusCode)
			expect.Is(t, resp.Header.Get("Access-Control-Allow-Origin"), "", "port %d lets … read", port)
		}
	}
}

// gets makes a request a GET with these headers.
func gets(headers ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
}

// environment returns the port of the function's environment, which only the function's process calls.
func environment(t *testing.T, s *stack.Stack, ports []int) int {
	t.Helper()
	known := s.URL + " " + s.AWSEndpoint + " " + s.VendorsURL
	for _, port := range ports {
		resp := expect.Value(http.Post(fmt.Sprintf("http://127.0.0.1:%d/2018-06-01/runtime/init/error", port), "",
			strings.NewReader("{}")))(t)
		resp.Body.Close()
		if !strings.Contains(known, fmt.Sprint(":", port)) && resp.StatusCode == http.StatusAccepted {
			return port
		}
	}
	return 0
}

var socket = regexp.MustCompile(`^socket:\[(\d+)\]$`)

// listening returns the TCP ports on which this process and the stack's other processes listen.
func listening(t *testing.T, s *stack.Stack) []int {
	t.Helper()
	mine := map[string]bool{}
	for _, pid := range append(s.PIDs(), os.Getpid()) {
		files := expect.Value(filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)))(t)
		for _, file := range files {
			to, err := os.Readlink(file)
			if m := socket.FindStringSubmatch(to); err == nil && m != nil {
				mine[m[1]] = true
			}
		}
	}
	if len(mine) == 0 {
		expect.Must(t, os.Getenv("CI") == "", "/proc does not tell which ports a process listens on")
		t.Skip("this system does not tell which ports a process listens on")
	}
	var ports []int
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(table), "\n")[1:] {
			f := strings.Fields(line) // sl, local_address, rem_address, st, …, inode
			if len(f) < 10 || f[3] != "0A" || !mine[f[9]] {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			port := expect.Value(strconv.ParseInt(hex, 16, 32))(t)
			ports = append(ports, int(port))
		}
	}
	return ports
}
