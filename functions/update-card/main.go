// Command update-card makes a task's messages in Slack equal to its rows.
//
// It goes by levels, not by edges: it loads the aggregate, draws all of its cards and updates those whose hash differs
// from what was shown. Messages may come late, twice or in another order.
//
// A post is claimed in the card's row (posting), sent with metadata that has ids only, and saved on condition of the
// claim; a loser deletes its own message if the row names another. After an unknown outcome it looks for the message
// and adopts what it finds, of our own bot only. After a 500 of Slack's nothing is in flight: it looks, then posts
// anew. After 502 to 504, or no answer, the post may still be: it comes back 31 s after it was sent.
//
// An update takes one write: the hash is saved after the call. If the invocation dies in between, the queue delivers
// the message again, and a second receipt forgets all hashes and draws every card anew. Of two drawings at the same
// time nobody knows which content Slack shows; whoever finds the other's hash asks for a redraw. What Slack refuses to
// one channel or message marks that card unreachable, and is tried again at the next revision and, while people are
// asked, each hour. What Slack refuses to the app as a whole is no card's refusal: the message goes back, and an alarm
// rings.
//
// A tenant has eight lanes (groups of the queue): four for cards, one each for progress, copies, tabs that were opened
// and tabs that follow. SQS gives a lane to one invocation at a time, so a backlog takes no more than its lanes. A
// message that can't be handled now leaves its lane and comes back when it is due.
//
// PACE rows hold Slack's published pace for all invocations: one write counts a drawing's calls, and some of those that
// follow within seconds. What lets people stop work comes first, then what asks for a decision and what is final;
// progress is left out while little is left. A task short of pace keeps its place in line (draw_at). A workspace whose
// Slack doesn't answer is called by one drawing in ten seconds.
//
// What a person owes along routes is listed by rows of copies, which a drawing corrects before its cards, without
// Slack.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/records"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Credentials
	boot.Results
	CardQueueURL string `env:"CARD_QUEUE_URL" doc:"the queue of cards to draw"`
	Console      string `env:"CONSOLE_ADDRESS" doc:"the console's address, for links on cards"`
	SlackPace    string `env:"SLACK_PACE" doc:"how many times Slack's published pace is kept, above 0"`
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	scale, err := paceScale(env.SlackPace)
	s := store.OpenAll(cfg, env.Table)
	results := large.Open(cfg, env.Results)
	bot := vault.OpenBot(cfg, keys, env.Credentials, s, slackTimeout)
	return &Handler{
		Store: s, Rows: s, Kinds: map[string]Kind{task.Kind.Name: taskCards{results, env.Console, bot},
			conversation.Kind.Name: conversationCards{store.ConversationsOf(s), results, env.Console},
			call.Kind.Name:         callCards{env.Console}},
		Slack: bot, Homes: &Homes{Rows: records.NotesOf(s.Table()), Slack: bot,
			Inbox: decide.InboxReader{Rows: s, Store: store.TasksOf(s), Sessions: store.ConversationsOf(s),
				Calls: store.CallsOf(s), Slack: bot, Now: time.Now}, Console: env.Console},
		Queue: sqs.NewFromConfig(cfg), QueueURL: env.CardQueueURL,
		Pace: records.NotesOf(s.Table()), PaceScale: scale, Now: time.Now, NewID: aggregate.NewID, Wait: clock.Sleep,
	}, err
}
