// Command update-card makes a task's messages in Slack equal to its rows.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/inbox"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/runtime/secret"
	"ringi/shared/runtime/sleep"
	"ringi/shared/secret/bots"
	"ringi/shared/store/conversations"
	"ringi/shared/store/kinds"
	"ringi/shared/store/large"
	"ringi/shared/store/slackstate"
	"ringi/shared/store/tasks"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	config.Table
	config.Slack
	config.Credentials
	config.Results
	CardQueueURL string `env:"CARD_QUEUE_URL" doc:"the queue of cards to draw"`
	Console      string `env:"CONSOLE_ADDRESS" doc:"the console's address, for links on cards"`
	SlackPace    string `env:"SLACK_PACE" doc:"how many times Slack's published pace cards may be posted and updated, above 0"`
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	scale, err := paceScale(env.SlackPace)
	s := kinds.Open(cfg, env.Table)
	results := large.Open(cfg, env.Results)
	bot := bots.Open(cfg, keys, env.Credentials, s, slackTimeout)
	return &Handler{
		Store: s, Rows: s, Kinds: map[string]Kind{task.Kind.Name: taskCards{results, env.Console},
			conversation.Kind.Name: conversationCards{conversations.Of(s), results, bot, env.Console}},
		Slack: bot, Homes: &Homes{Rows: slackstate.Of(s.Table()), Slack: bot, Inbox: inbox.Reader{Rows: s, Store: tasks.Of(s), Sessions: conversations.Of(s), Slack: bot, Now: time.Now}, Console: env.Console}, Queue: sqs.NewFromConfig(cfg), QueueURL: env.CardQueueURL,
		Pace: slackstate.Of(s.Table()), PaceScale: scale, Now: time.Now, NewID: aggregate.NewID, Wait: sleep.For,
	}, err
}
