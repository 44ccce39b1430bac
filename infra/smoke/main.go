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
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

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

// stacks are the deployment under test and the stand-in for Slack.
type stacks struct {
	program
	name     string
	begun    []string          // names that sam was told to deploy, in this order
	outputs  map[string]string // of the deployment, once deployed
	slackURL string
}

func (s *stacks) slackName() string { return s.name + "-slack" }

func (s *stacks) try(ctx context.Context) error {
	if _, err := s.run(ctx, "sam", "build"); err != nil {
		return err
	}
	if err := s.deploySlack(ctx); err != nil {
		return err
	}
	s.say("deploying %s", s.name)
	err := s.deploy(ctx, s.name, "--parameter-overrides", "Stage=dev", "Model=demo", "Canary=AllAtOnce",
		"TenantAdmin="+slackStamper)
	if err != nil {
		return err
	}
	if s.outputs, err = s.read(ctx, s.name); err != nil {
		return err
	}
	return s.walk(ctx)
}

// deploySlack builds the stand-in in a folder with a copy of its template, and deploys it.
func (s *stacks) deploySlack(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "ringi-smoke-")
	if err != nil {
		return fmt.Errorf("make a folder for the stand-in: %w", err)
	}
	defer os.RemoveAll(folder)
	source := filepath.Join("infra", "smoke")
	if _, err := s.run(ctx, "env", "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "go", "build",
		"-tags", "lambda.norpc,nethttpomithttp2",
		"-o", filepath.Join(folder, "bootstrap"), "./"+filepath.ToSlash(source)); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(source, "template.yaml"))
	if err != nil {
		return fmt.Errorf("run this in the project's folder: %w", err)
	}
	template := filepath.Join(folder, "template.yaml")
	if err := os.WriteFile(template, text, 0o600); err != nil {
		return fmt.Errorf("copy the stand-in's template: %w", err)
	}
	s.say("deploying %s, which stands in for Slack", s.slackName())
	if err := s.deploy(ctx, s.slackName(), "--template-file", template); err != nil {
		return err
	}
	outputs, err := s.read(ctx, s.slackName())
	s.slackURL = outputs["SlackApiUrl"]
	return err
}

func (s *stacks) deploy(ctx context.Context, name string, more ...string) error {
	s.begun = append(s.begun, name)
	args := []string{"deploy", "--stack-name", name, "--region", s.cfg.Region, "--resolve-s3", "--s3-prefix", name,
		"--capabilities", "CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND", "--no-confirm-changeset", "--tags", "stage=smoke"}
	_, err := s.run(ctx, "sam", append(args, more...)...)
	return err
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

// remove deletes the stacks, last first, and the resources that outlive their stack.
func (s *stacks) remove(ctx context.Context) error {
	var errs error
	for _, name := range slices.Backward(s.begun) {
		s.say("deleting %s", name)
		_, err := s.run(ctx, "sam", "delete", "--stack-name", name, "--region", s.cfg.Region, "--no-prompts")
		errs = errors.Join(errs, err)
	}
	if s.outputs != nil {
		errs = errors.Join(errs, s.forget(ctx))
	} else if len(s.begun) > 1 {
		s.say("%s was not finished: if a table named %s-Table-… is left, delete it by hand (it is empty and protected)",
			s.name, s.name)
	}
	return errs
}

// keyWaitDays is how many days KMS waits before it deletes a key: the shortest that KMS accepts.
const keyWaitDays = 7

// forget deletes the resources that the template retains when its stack is deleted. An error names its resource and
// does not stop the others.
func (s *stacks) forget(ctx context.Context) error {
	var errs error
	for _, r := range []struct {
		what, output string
		delete       func(context.Context, string) error
	}{
		{"table", "TableName", s.forgetTable},
		{"bucket", "ResultsBucketName", s.forgetBucket(nil)},
		// Its objects are locked under GOVERNANCE, as in stage dev. Nobody could delete them under COMPLIANCE.
		{"bucket of heads", "HeadsBucketName", s.forgetBucket(aws.Bool(true))},
		{"key", "CredentialsKeyArn", s.forgetKey},
		{"key", "ChainKeyArn", s.forgetKey},
		{"secret", "SlackSecretArn", s.forgetSecret},
		{"secret", "ModelSecretArn", s.forgetSecret},
	} {
		name := s.outputs[r.output]
		err := errors.New("the stack has no such output")
		if name != "" {
			err = r.delete(ctx, name)
		}
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("delete the %s %s (%s): %w", r.what, name, r.output, err))
			continue
		}
		s.say("ok  deleted the %s %s", r.what, name)
	}
	return errs
}

// forgetTable switches the table's deletion protection off first.
func (s *stacks) forgetTable(ctx context.Context, name string) error {
	db := dynamodb.NewFromConfig(s.cfg)
	if _, err := db.UpdateTable(ctx,
		&dynamodb.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: aws.Bool(false)}); err != nil {
		return err
	}
	if err := dynamodb.NewTableExistsWaiter(db).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name},
		5*time.Minute); err != nil {
		return err
	}
	_, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
	return err
}

// forgetBucket deletes a bucket with all versions of its objects. bypass is only for buckets with object lock; S3
// rejects it for others.
func (s *stacks) forgetBucket(bypass *bool) func(context.Context, string) error {
	return func(ctx context.Context, name string) error { return s.empty(ctx, name, bypass) }
}

func (s *stacks) empty(ctx context.Context, name string, bypass *bool) error {
	c := s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	pages := s3.NewListObjectVersionsPaginator(c, &s3.ListObjectVersionsInput{Bucket: &name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		var ids []types.ObjectIdentifier
		for _, v := range page.Versions {
			ids = append(ids, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
		}
		for _, m := range page.DeleteMarkers {
			ids = append(ids, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
		}
		if len(ids) == 0 {
			continue
		}
		out, err := c.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &name, BypassGovernanceRetention: bypass,
			Delete: &types.Delete{Objects: ids, Quiet: aws.Bool(true)}})
		if err != nil {
			return err
		}
		if len(out.Errors) > 0 {
			return fmt.Errorf("%d objects stay: %s", len(out.Errors), aws.ToString(out.Errors[0].Message))
		}
	}
	_, err := c.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name})
	return err
}

func (s *stacks) forgetKey(ctx context.Context, id string) error {
	_, err := kms.NewFromConfig(s.cfg).ScheduleKeyDeletion(ctx,
		&kms.ScheduleKeyDeletionInput{KeyId: &id, PendingWindowInDays: aws.Int32(keyWaitDays)})
	return err
}

func (s *stacks) forgetSecret(ctx context.Context, id string) error {
	_, err := secretsmanager.NewFromConfig(s.cfg).DeleteSecret(ctx,
		&secretsmanager.DeleteSecretInput{SecretId: &id, ForceDeleteWithoutRecovery: aws.Bool(true)})
	return err
}
