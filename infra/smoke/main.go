// Command smoke walks one request through a stack that README.md deploys in a real AWS account, with a stand-in for
// Slack beside it: it makes and stamps the request, and reads the audit log.
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
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
)

func main() {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" { // deployed as the stand-in for Slack
		lambda.Start(answerCall)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	name := flag.String("stack", "ringi-smoke", "the `name` of the stack; that of the stand-in for Slack ends with -slack")
	flag.Parse()
	if err := run(ctx, *name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stack string) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	if cfg.Region == "" {
		return errors.New("name a region: export AWS_DEFAULT_REGION=us-east-1")
	}
	slack, err := outputs(ctx, cfg.Region, stack+"-slack")
	if err != nil {
		return err
	}
	of, err := outputs(ctx, cfg.Region, stack)
	if err != nil {
		return err
	}
	w := &walk{cfg: cfg, outputs: of, slackURL: slack["SlackApiUrl"], out: os.Stdout, patience: 3 * time.Minute}
	return w.through(ctx)
}

// outputs returns a stack's outputs.
func outputs(ctx context.Context, region, stack string) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, "sam", "list", "stack-outputs", "--stack-name", stack, "--region", region, "--output",
		"json")
	cmd.Env, cmd.Stderr = append(os.Environ(), "SAM_CLI_TELEMETRY=0"), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	var list []struct{ OutputKey, OutputValue string }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("the outputs of %s: %w", stack, err)
	}
	all := map[string]string{}
	for _, o := range list {
		all[o.OutputKey] = o.OutputValue
	}
	return all, nil
}
