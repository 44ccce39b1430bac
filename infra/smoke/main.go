// Command smoke walks one request through a stack that README.md deploys in a real AWS account, with a stand-in for
// Slack beside it: it makes and stamps the request, opens a Home tab, and reads the audit log.
//
// It has not been run against AWS yet. Its test runs the walk against the local stack. Only an account can show one
// thing: that IAM judges the items of a transaction one by one, as the local stack does, and so lets transactions put
// audit entries although updates on AUDIT#* are denied.
//
// It needs the SAM CLI, Go and credentials. It calls neither Slack nor a vendor nor a model.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"ringi/shared/runtime/clock"
)

func main() {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" { // deployed as the stand-in for Slack
		lambda.Start(answerCall)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err == nil {
		p := program{cfg: cfg, out: os.Stdout, run: command, http: &http.Client{Timeout: 15 * time.Second},
			patience: 3 * time.Minute}
		err = p.main(ctx, os.Args[1:])
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program is what the smoke test needs: AWS, HTTP, commands and output.
type program struct {
	cfg aws.Config
	out io.Writer
	run func(ctx context.Context, name string, args ...string) ([]byte,
		error) // runs a program, and returns its standard output
	http     *http.Client
	patience time.Duration // how long each wait may take
}

// command runs a program and passes its standard error on.
func command(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "SAM_CLI_TELEMETRY=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out, err
}

func (p program) main(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("smoke", flag.ContinueOnError)
	f.SetOutput(p.out)
	name := f.String("stack", "ringi-smoke", "the `name` of the stack; that of the stand-in for Slack ends with -slack")
	if err := f.Parse(args); err != nil {
		return err
	}
	if p.cfg.Region == "" {
		return errors.New("name a region: export AWS_DEFAULT_REGION=us-east-1")
	}
	s := stacks{program: p, name: *name}
	slack, err := s.read(ctx, s.name+"-slack")
	if err != nil {
		return err
	}
	s.slackURL = slack["SlackApiUrl"]
	if s.outputs, err = s.read(ctx, s.name); err != nil {
		return err
	}
	return s.walk(ctx)
}

func (p program) say(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

// until polls until a claim holds, or patience is over.
func (p program) until(ctx context.Context, what string, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	for {
		ok, err := holds()
		if ok {
			p.say("ok  %s", what)
			return nil
		}
		if clock.Sleep(ctx, time.Second) != nil {
			return errors.Join(fmt.Errorf("not within %s: %s", p.patience, what), err)
		}
	}
}

// stacks are the deployment under test and the stand-in for Slack.
type stacks struct {
	program
	name     string
	outputs  map[string]string // of the deployment
	slackURL string
}

// read returns a stack's outputs.
func (s *stacks) read(ctx context.Context, name string) (map[string]string, error) {
	out, err := s.run(ctx, "sam", "list", "stack-outputs", "--stack-name", name, "--region", s.cfg.Region, "--output",
		"json")
	if err != nil {
		return nil, err
	}
	var list []struct{ OutputKey, OutputValue string }
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("the outputs of %s: %w", name, err)
	}
	outputs := map[string]string{}
	for _, o := range list {
		outputs[o.OutputKey] = o.OutputValue
	}
	return outputs, nil
}
