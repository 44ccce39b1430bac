package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ringi/infra/smoke/standin"
)

// stacks are the deployment under test and the stand-in for Slack beside it.
type stacks struct {
	program
	name     string
	begun    []string          // names that sam was told to deploy, in this order
	outputs  map[string]string // of the deployment, once it stands
	slackURL string
}

func (s *stacks) slackName() string { return s.name + "-slack" }

// try deploys both and tries them.
func (s *stacks) try(ctx context.Context) error {
	if _, err := s.run(ctx, "sam", "build"); err != nil {
		return err
	}
	if err := s.deploySlack(ctx); err != nil {
		return err
	}
	s.say("deploying %s", s.name)
	err := s.deploy(ctx, s.name, "--parameter-overrides", "Stage=dev", "Model=demo", "Canary=AllAtOnce", "TenantAdmin="+standin.Stamper)
	if err != nil {
		return err
	}
	if s.outputs, err = s.read(ctx, s.name); err != nil {
		return err
	}
	return s.walk(ctx)
}

// deploySlack builds the stand-in beside a copy of its template and deploys it.
func (s *stacks) deploySlack(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "ringi-smoke-")
	if err != nil {
		return fmt.Errorf("make a folder for the stand-in: %w", err)
	}
	defer os.RemoveAll(folder)
	source := filepath.Join("infra", "smoke", "slack")
	if _, err := s.run(ctx, "env", "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "go", "build", "-tags", "lambda.norpc",
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
		"--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset", "--tags", "stage=smoke"}
	_, err := s.run(ctx, "sam", append(args, more...)...)
	return err
}

// read asks for a stack's outputs.
func (s *stacks) read(ctx context.Context, name string) (map[string]string, error) {
	out, err := s.run(ctx, "sam", "list", "stack-outputs", "--stack-name", name, "--region", s.cfg.Region, "--output", "json")
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

// remove deletes the stacks, last first, and what the template keeps beyond its stack.
func (s *stacks) remove(ctx context.Context) error {
	var errs error
	for i := len(s.begun) - 1; i >= 0; i-- {
		s.say("deleting %s", s.begun[i])
		_, err := s.run(ctx, "sam", "delete", "--stack-name", s.begun[i], "--region", s.cfg.Region, "--no-prompts")
		errs = errors.Join(errs, err)
	}
	if s.outputs != nil {
		errs = errors.Join(errs, s.forget(ctx))
	} else if len(s.begun) > 1 {
		s.say("%s was not finished: if a table named %s-Table-… is left, delete it by hand (it is empty and protected)", s.name, s.name)
	}
	return errs
}
