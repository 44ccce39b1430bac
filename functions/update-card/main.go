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
// An update saves the card's hash afterwards, on condition that nothing was saved since the card was read. Of two
// drawings at the same time nobody knows which content Slack shows; the later to save forgets the hash and asks for a
// redraw. A message that is received again after an invocation died has all hashes forgotten first.
//
// What Slack refuses to one channel or message marks that card unreachable, and is tried again at the next revision
// and, while people are asked, each hour. What Slack refuses to the app as a whole is no card's refusal: the message
// goes back, and an alarm rings.
//
// The queue's groups are the aggregates, so one invocation at a time draws each; progress has a group beside. A message
// that can't be handled now is hidden: as long as Slack's 429 says, spread over some time more, or longer after each
// failure. After twenty receives the queue gives it up, and the sweeper asks for the cards again.
//
// Those who are asked by name get a direct message with the same buttons, after the cards. It is changed once, when
// they aren't asked any more: to a line.
package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Credentials
	boot.Results
	CardQueueURL string `env:"CARD_QUEUE_URL" doc:"the queue of cards and Home tabs to draw"`
	Console      string `env:"CONSOLE_ADDRESS" doc:"the console's address, for links on cards"`
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	s := store.OpenAll(cfg, env.Table)
	bot := vault.OpenBot(cfg, keys, env.Credentials, s, slackTimeout)
	return &Handler{
		Store: s, Results: large.Open(cfg, env.Results), Said: store.ConversationsOf(s),
		Slack: bot, Console: env.Console,
		Inbox: decide.InboxReader{Rows: s, Store: store.TasksOf(s), Slack: bot, Now: time.Now},
		Queue: sqs.NewFromConfig(cfg), QueueURL: env.CardQueueURL,
		Now: time.Now, NewID: aggregate.NewID, Wait: clock.Sleep, Random: rand.Int64N,
	}, nil
}
