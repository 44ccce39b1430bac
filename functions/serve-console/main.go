// Command serve-console serves the console's pages, below /console, to people of the workspaces that Ringi serves.
package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/functions/serve-console/console"
	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool/github"
	"ringi/shared/tool/mcp"
)

// slackTimeout bounds one call to Slack, since somebody waits for the page.
const slackTimeout = 5 * time.Second

func main() {
	boot.Run(newConsole, func(c *console.Console) any { return boot.Serve(c.Handler(), web.MaxFile, http.Error) })
}

// environment is what template.yaml sets for this function.
type environment struct {
	boot.Table
	boot.Slack
	boot.Results
	boot.Credentials
	FreeeTokenURL  string `env:"FREEE_TOKEN_URL,optional" doc:"where freee's access tokens are renewed"`
	GoogleTokenURL string `env:"GOOGLE_TOKEN_URL,optional" doc:"where Google's access tokens are renewed"`
	GitHubURL      string `env:"GITHUB_API_URL,optional" doc:"GitHub's API, for sources; only the local stack sets it"`
	OutboundAllow  string `env:"OUTBOUND_ALLOW,optional" doc:"inner addresses that may be called, as host:port"`
}

// deployment finds out the deployment's own workspace: the Slack secret's token belongs to it.
type deployment struct {
	*secret.Slack
	slackapi.HomeWorkspace
}

func newConsole(_ context.Context, cfg aws.Config, env environment) (*console.Console, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	all := store.OpenAll(cfg, env.Table)
	rows := store.TasksOf(all)
	bot, slack := vault.NewBot(cfg, keys, env.Credentials, rows, slackTimeout)
	results := large.Open(cfg, env.Results)
	connected := connections(cfg, env, rows, bot)
	known := &people.People{Slack: slack, Now: time.Now}
	return &console.Console{
		Site: web.Site{Store: store.TasksOf(all), Results: results, Slack: slack, Listing: slack, People: known,
			Own: deployment{keys, slackapi.HomeWorkspace{Slack: slack, Rows: rows}}, Links: slack, Now: time.Now,
		},
		Conversations: store.ConversationsOf(all), Contests: store.ContestsOf(all, results),
		Outbound: strings.Split(env.OutboundAllow, ","), Files: large.OpenVersions(cfg, env.ResultsBucket),
		Messages: slack,
		SignIn:   &slackapi.SignIn{App: keys, HTTP: &http.Client{Timeout: slackTimeout}, Now: time.Now},
		Connect:  connected, GitHub: settings.GitHub{Config: github.At(env.GitHubURL), App: connected.Vault.App},
		Servers: mcp.Admin{Rows: rows, Credentials: connected.Vault, Client: mcp.Client{HTTP: connected.Outbound},
			Now: time.Now},
	}, nil
}

// connections connects the vendors whose addresses the environment has.
func connections(cfg aws.Config, env environment, rows *store.TaskStore, bot *vault.BotKeys) settings.Connections {
	held := vault.ForTools(cfg, rows, env.Credentials,
		boot.Vendors{FreeeTokenURL: env.FreeeTokenURL, GoogleTokenURL: env.GoogleTokenURL}, env.OutboundAllow)
	return settings.Connections{Vault: held, Outbound: outbound.Allowing(env.OutboundAllow).Client(), Bot: bot.Token}
}
