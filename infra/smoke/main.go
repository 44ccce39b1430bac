// Command smoke tries this deployment in a real AWS account: it deploys the template as a new stack with a stand-in for
// Slack, makes and stamps one request, opens a Home tab, types /ringi list, reads the audit log, and deletes
// everything:
//
//	AWS_DEFAULT_REGION=us-east-1 go run ./infra/smoke
//
// It has not been run against AWS yet. Its test runs everything after the deployment against the local stack. Only an
// account can show one thing: that IAM judges the items of a transaction one by one, as the local stack does, and so
// lets transactions put audit entries although updates on AUDIT#* are denied.
//
// It needs the SAM CLI, Go, make and credentials that may deploy. It takes about ten minutes and costs a few cents. It
// calls neither Slack nor a vendor nor a model.
package main

import (
	"context"
	"crypto/rand"
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
	keep := f.Bool("keep", false, "leave the stacks where they are")
	if err := f.Parse(args); err != nil {
		return err
	}
	if p.cfg.Region == "" {
		return errors.New("name a region: export AWS_DEFAULT_REGION=us-east-1")
	}
	s := stacks{program: p, name: "ringi-smoke-" + strings.ToLower(rand.Text()[:8])}
	err := s.try(ctx)
	if *keep {
		p.say("the stacks %s and %s stay", s.name, s.slackName())
		return err
	}
	// Also after Ctrl-C: remaining stacks cost money.
	return errors.Join(err, s.remove(context.WithoutCancel(ctx)))
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
