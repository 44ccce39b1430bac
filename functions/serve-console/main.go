// Command serve-console serves the console's pages, below /console, to the people of the workspaces that Ringi knows.
package main

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/boot"
	"ringi/shared/config"
	"ringi/shared/people"
	"ringi/shared/result"
	"ringi/shared/secret"
	"ringi/shared/signin"
	"ringi/shared/slackapi"
	"ringi/shared/tasks"
	"ringi/shared/web"
)

// slackTimeout bounds one call of Slack: somebody waits for a page.
const slackTimeout = 5 * time.Second

func main() {
	boot.Run(newConsole, func(c *Console) any { return web.Serve(c.Handler()) })
}

// environment is what template.yaml sets for this function.
type environment struct {
	config.Table
	config.Slack
	config.Results
	ExportAudit string `env:"EXPORT_AUDIT_FUNCTION" doc:"the function that writes the audit log into files"`
	PipelineARN string `env:"PIPELINE_ARN" doc:"the pipeline, whose runs the page of a task links to"`
}

func newConsole(_ context.Context, cfg aws.Config, env environment) (*Console, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	slack := slackapi.With(keys, slackTimeout)
	results := result.Open(cfg, env.Results)
	return &Console{
		Store: tasks.Open(cfg, env.Table), Results: results, Exports: newExportAudit(cfg, env.ExportAudit, results),
		Slack: slack, Listing: slack, People: &people.People{Slack: slack, Now: time.Now},
		Links: slack, Machine: env.PipelineARN,
		SignIn: &signin.Slack{App: keys, HTTP: &http.Client{Timeout: slackTimeout}, Now: time.Now},
		Now:    time.Now,
	}, nil
}
