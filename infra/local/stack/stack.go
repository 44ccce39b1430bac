// Package stack runs the whole system on this machine. It runs everything in template.yaml with the same functions,
// tables and state machine as in AWS, and with stand-ins for the services of AWS and vendors.
package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/template"
	"ringi/infra/local/vendors"
)

// Stack is a running system. Its fields must not be changed.
type Stack struct {
	URL         string // serves the sandbox and the template's routes
	AWSEndpoint string // for the AWS CLI and SDKs
	VendorsURL  string
	SlackURL    string // address of Slack's Web API, with a trailing slash

	AWS      aws.Config // points at AWSEndpoint
	Template *template.Template
	Lambda   *lambda.Service
	Sandbox  *sandbox.Sandbox
	Vendors  *vendors.Vendors

	TableName     string
	BucketName    string
	KeyID         string
	SigningSecret string
	ClientSecret  string // OAuth secret for people's sign-in to the console
	BotToken      string
	ContestFolder string // folder of the contest files

	options   Options
	known     map[string]string // names that the AWS stand-ins gave
	log       *slog.Logger
	moto      *process.Server
	functions []lambda.Function

	schedules map[string][]*lambda.Schedule

	ctx        context.Context // canceled by Close
	cancel     context.CancelFunc
	background sync.WaitGroup
	closing    sync.Once
	stops      []func() // cleanups of Close, run last to first
	failed     chan error
}

// Start starts a stack and returns when everything answers. ctx bounds the start; the stack runs until Close.
//
// It returns an error wrapping ErrInUse if a port is taken, process.ErrMissing if Python is missing, and the
// compiler's message if a function doesn't build.
func Start(ctx context.Context, o Options) (*Stack, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Stack{options: o, log: o.Logger, SigningSecret: o.SigningSecret, ClientSecret: rand.Text(),
		BotToken: o.BotToken, schedules: map[string][]*lambda.Schedule{},
		failed: make(chan error, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.start(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// steps is how many steps of a start are told. Each stays on a line of 80 characters.
const steps = 3

func (s *Stack) start(ctx context.Context) error {
	front, back, err := s.listen()
	if err != nil {
		return err
	}

	s.Vendors = vendors.New()
	s.onClose(s.Vendors.GitHub.Close)
	s.Vendors.Speak(s.options.Sandbox.Language)
	if err := s.startVendors(); err != nil {
		return err
	}
	s.SlackURL = s.URL + "/api/"
	parameters := s.options.parameters()
	names := template.Names{Endpoint: s.AWSEndpoint}
	if s.Template, err = template.Read(s.options.Template, names, parameters); err != nil {
		return err
	}
	s.options.Progress(1, steps, fmt.Sprintf("compiling %d functions (minutes the first time)", len(s.Template.Functions)))
	binaries, err := s.prepare(ctx, port(back))
	if err != nil {
		return err
	}
	s.options.Progress(2, steps, "creating tables, queues and state machines")
	if err := s.create(ctx, names, parameters); err != nil {
		return err
	}
	names.Known = s.known
	bench, err := template.NewBench(s.options.Template, names, parameters, s.log)
	if err != nil {
		return err
	}
	if err := s.connect(bench); err != nil {
		return err
	}
	s.options.Progress(3, steps, "starting the functions and the sandbox")
	if err := s.startFunctions(binaries, back, bench); err != nil {
		return err
	}
	if err := s.startFront(ctx, front); err != nil {
		return err
	}
	return s.startMappings()
}

// listen takes the ports of the sandbox and of AWS, which it returns.
func (s *Stack) listen() (net.Listener, net.Listener, error) {
	front, err := listen(s.options.Addr, "-addr")
	if err != nil {
		return nil, nil, err
	}
	s.onClose(func() { front.Close() })
	back, err := listen(s.options.AWSAddr, "-aws-addr")
	if err != nil {
		return nil, nil, err
	}
	s.onClose(func() { back.Close() })
	s.URL, s.AWSEndpoint = address(front), address(back)
	s.AWS = config(s.AWSEndpoint)
	return front, back, nil
}

// prepare compiles the functions and starts the stand-ins at the same time.
func (s *Stack) prepare(ctx context.Context, taskPort int) (map[string]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	started := make(chan error, 1)
	go func() {
		var err error
		s.moto, err = process.Moto(ctx, process.MotoOptions{TaskPort: taskPort,
			Notify: func(what string) { s.options.Progress(1, steps, what) }})
		started <- err
	}()
	binaries, err := lambda.Binaries(ctx, filepath.Dir(s.options.Template), s.options.Artifacts, lambda.LikeTests,
		s.Template.Functions, func(packages int) {
			s.options.Progress(1, steps, fmt.Sprintf("compiling: %d packages so far", packages))
		})
	if err != nil {
		cancel()
	}
	err = errors.Join(err, <-started)
	if s.moto != nil {
		s.onClose(s.moto.Stop)
	}
	return binaries, err
}

// create creates the template's storage, reads the template again with the resulting names, and creates the rest.
func (s *Stack) create(ctx context.Context, names template.Names, parameters map[string]string) error {
	m := creator{config(s.moto.URL)}
	var err error
	if s.known, err = m.storage(ctx, s.Template); err != nil {
		return err
	}
	names.Known = s.known
	if s.Template, err = template.Read(s.options.Template, names, parameters); err != nil {
		return err
	}
	for _, secret := range s.Template.Secrets {
		if err := m.secret(ctx, secret, s.secret(secret.ID)); err != nil {
			return err
		}
	}
	for _, machine := range s.Template.Machines {
		if err := m.machine(ctx, machine); err != nil {
			return err
		}
	}
	if len(s.Template.Tables) > 0 {
		s.TableName = s.Template.Tables[0].Name
	}
	plain, _ := first(s.Template.Buckets, func(b template.Bucket) bool { return b.Retention.Mode == "" })
	encrypts, _ := first(s.Template.Keys, func(k template.CryptoKey) bool { return k.Usage == "" })
	s.BucketName, s.KeyID = plain.Name, encrypts.Name
	return nil
}

// secret returns the content of a secret of the template.
func (s *Stack) secret(id string) any {
	if id == "ModelSecret" {
		return s.options.ModelKeys
	}
	return map[string]string{"signing_secret": s.SigningSecret, "bot_token": s.BotToken,
		"client_id": sandbox.ClientID, "client_secret": s.ClientSecret}
}

func (s *Stack) startVendors() error {
	host, _, err := net.SplitHostPort(s.options.AWSAddr) // what reaches AWS reaches the vendors
	if err != nil {
		return fmt.Errorf("listen for the vendors: %w", err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return fmt.Errorf("listen for the vendors: %w", err)
	}
	s.VendorsURL = address(l)
	s.onClose(serve(l, s.Vendors.Handler()))
	return nil
}

func (s *Stack) onClose(stop func()) { s.stops = append(s.stops, stop) }

// Close stops everything. When it returns, all processes have ended and all ports are free.
func (s *Stack) Close() {
	s.closing.Do(func() {
		s.cancel()
		for _, stop := range slices.Backward(s.stops) {
			stop()
		}
		s.background.Wait()
	})
}

// Failed delivers an error if a part of the stack ends by itself.
func (s *Stack) Failed() <-chan error { return s.failed }

// QueueURL returns the URL of a queue by its logical id, or "".
func (s *Stack) QueueURL(id string) string {
	q, _ := first(s.Template.Queues, func(q template.Queue) bool { return q.ID == id })
	return q.URL
}

// RunARN returns the ARN of an aggregate's n-th run. machine is the state machine's logical id.
func (s *Stack) RunARN(machine, id string, n int) *string {
	arn := fmt.Sprintf("%s:%s-%d", strings.Replace(s.StateMachineARN(machine), ":stateMachine:", ":execution:", 1), id, n)
	return &arn
}

// StateMachineARN returns the ARN of a state machine by its logical id, or "".
func (s *Stack) StateMachineARN(id string) string {
	m, _ := first(s.Template.Machines, func(m template.Machine) bool { return m.ID == id })
	return m.ARN
}

// PIDs returns the running processes that the stack started.
func (s *Stack) PIDs() []int {
	list := []int{s.moto.PID()}
	for _, f := range s.functions {
		list = append(list, s.Lambda.PIDs(f.ID)...)
	}
	return list
}

// config configures AWS clients of the stack. They retry while it is busy, and ignore the person's own AWS
// configuration.
func config(endpoint string) aws.Config {
	return aws.Config{
		Region: template.Region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		Retryer:     func() aws.Retryer { return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 5 }) },
	}
}
