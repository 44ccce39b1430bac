// Command receive-event saves people's requests in Slack: one write, then the answer.
package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Slack
	CardQueueURL string `env:"CARD_QUEUE_URL" doc:"the queue of cards and Home tabs to draw"`
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	rows := store.OpenTasks(cfg, env.Table)
	return &Handler{
		Store:         rows,
		Tasks:         rows,
		Conversations: store.OpenConversations(cfg, env.Table),
		Slack:         slackapi.With(keys, noteWithin),
		Edge:          slackapi.Edge{Keys: keys, Now: time.Now},
		Queue:         sqs.NewFromConfig(cfg),
		QueueURL:      env.CardQueueURL,
		Now:           time.Now,
		cached:        clock.Answers[string, tenancy.Settings]{Most: mostKnown},
	}, nil
}

// noteWithin is how long Slack may take to show a note.
const noteWithin = time.Second

// maxChallenge bounds the text that url_verification asks to return, in bytes.
const maxChallenge = 4096

// Store saves a new task in one transaction, and ends an integration with one conditional write.
type Store interface {
	Create(ctx context.Context, c aggregate.Change) error
	Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
	LookAgain(ctx context.Context, tenant string, now time.Time) error
	RevokeKeysOf(ctx context.Context, tenant, user string, now time.Time) (int, error)
	EndIntegrations(ctx context.Context, tenant string, why tenancy.IntegrationReason, at, now time.Time) (int, error)
}

// Tasks decides on requests.
type Tasks interface {
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
	Thread(ctx context.Context, tenant, channel, thread string, limit int) ([]aggregate.Ref, error)
}

type Handler struct {
	Store         Store
	Tasks         Tasks
	Conversations Conversations
	Slack         Slack
	Queue         effect.Queue
	QueueURL      string
	Edge          slackapi.Edge
	Now           func() time.Time

	cached clock.Answers[string, tenancy.Settings] // by tenant
	bots   clock.Answers[string, string]           // the bots' own ids, by tenant
}

// Handle saves an event's rows and then answers 200, also for an event that was saved before. If the write fails, it
// answers 503 and Slack sends the event again.
func (h *Handler) Handle(ctx context.Context, r slackapi.Request) (slackapi.Response, error) {
	return h.Edge.Serve(ctx, r, h.receive), nil
}

func (h *Handler) receive(ctx context.Context, body []byte) (slackapi.Response, error) {
	var e envelope
	if err := slackapi.Decode(body, &e, "body"); err != nil {
		return slackapi.Response{}, err
	}
	if err := h.Edge.FromOurs(e.AppID); err != nil {
		return slackapi.Response{}, err
	}
	switch e.Type {
	case "url_verification":
		if e.Challenge == "" || len(e.Challenge) > maxChallenge {
			return slackapi.Response{}, slackapi.Bad("challenge must have 1 to %d bytes", maxChallenge)
		}
		return slackapi.JSON(200, map[string]string{"challenge": e.Challenge}), nil
	case "event_callback":
		return h.event(ctx, e)
	case "":
		return slackapi.Response{}, slackapi.Bad("type is required")
	}
	return ignore(ctx, e, ignoredType)
}

func (h *Handler) event(ctx context.Context, e envelope) (slackapi.Response, error) {
	var k kind
	if len(e.Event) == 0 {
		return slackapi.Response{}, slackapi.Bad("event is required")
	}
	if err := slackapi.Decode(e.Event, &k, "event"); err != nil {
		return slackapi.Response{}, err
	}
	if k.Type == "" {
		return slackapi.Response{}, slackapi.Bad("event.type is required")
	}
	switch {
	case k.Type == "app_uninstalled" || k.Type == "tokens_revoked":
		return h.end(ctx, e, k.Type)
	case e.organization():
		return ignore(ctx, e, ignoredOrg)
	case k.Type == "app_home_opened":
		return h.opened(ctx, e)
	case k.Type == "user_change":
		return h.changed(ctx, e)
	case k.Type == "agent_session_stopped":
		return h.stopped(ctx, e)
	}
	switch why := k.ignored(); {
	case why == ignoredSubtype && (k.Subtype == "message_changed" || k.Subtype == "message_deleted"):
		return h.change(ctx, e, why)
	case why != "":
		return ignore(ctx, e, why)
	}
	var m message
	if err := slackapi.Decode(e.Event, &m, "event"); err != nil {
		return slackapi.Response{}, err
	}
	return h.message(ctx, e, m)
}

// message handles what a person wrote.
func (h *Handler) message(ctx context.Context, e envelope, m message) (slackapi.Response, error) {
	us, err := h.us(ctx, e, m)
	if err != nil {
		return slackapi.Response{}, unkept(ctx, e.EventID, err)
	}
	why := m.ignored(e, us)
	acts := why == ignoredChannel && m.ThreadTS != "" && card.Acts(m.Text) && !m.foreign(e)
	if why != "" && !acts {
		return ignore(ctx, e, why)
	}
	h.Slack.Label(slackapi.For(ctx, aggregate.TenantID(e.team())), &m.Message)
	request, err := m.request(e, us)
	if err != nil {
		return slackapi.Response{}, err
	}
	if acts {
		_, err := h.beside(ctx, request, nil)
		return slackapi.OK(), err
	}
	if m.Edited != nil { // Slack mentions Ringi again; message_changed says so to the author
		if known, err := h.known(ctx, request); known || err != nil {
			return slackapi.OK(), err
		}
	}
	if m.channelType() == "im" || request.Threaded() || calls.MatchString(request.Text) {
		if out, taken, err := h.toAgent(ctx, e, m, request); taken {
			return out, err
		}
	}
	if request.Threaded() {
		var otherwise func(locale string) string
		switch {
		case card.Acts(request.Text):
			otherwise = card.NoteActs.Told
		case !m.mentions(us):
			otherwise = card.Elsewhere
		}
		if done, err := h.beside(ctx, request, otherwise); done || err != nil {
			return slackapi.OK(), err
		}
	}
	change, ref, err := task.Receive(aggregate.TenantID(request.TeamID), request, h.Now())
	if err != nil {
		return slackapi.Response{}, slackapi.Bad("event.ts: %s", err)
	}
	return h.create(ctx, change, ref, request)
}

// create saves a request, or a message of Ringi's to a person who has requested nothing. If the rows exist, Slack has
// repeated the event: the answer is 200.
func (h *Handler) create(
	ctx context.Context, change aggregate.Change, ref aggregate.Ref, r task.Request,
) (slackapi.Response, error) {
	repeated, err := slackapi.Create(ctx, h.Store, change)
	log := slog.With("task_id", ref.ID, "event_id", r.EventID)
	switch {
	case repeated:
		log.InfoContext(ctx, "repeated")
	case err != nil:
		log.ErrorContext(ctx, "not kept", "err", err)
		return slackapi.Response{}, errAgain
	default:
		log.InfoContext(ctx, "received", "source", r.Source, "characters", len([]rune(r.Text)))
	}
	return slackapi.OK(), nil
}

// end disconnects the integrations that an app_uninstalled or tokens_revoked event ends. An event that is repeated, or
// older than the present connection, changes nothing.
func (h *Handler) end(ctx context.Context, e envelope, what string) (slackapi.Response, error) {
	if e.organization() {
		return ignore(ctx, e, ignoredOrg)
	}
	why, err := e.ended(what)
	if err != nil {
		return slackapi.Response{}, err
	}
	if why == "" {
		return ignore(ctx, e, ignoredType)
	}
	all, err := h.Store.EndIntegrations(ctx, aggregate.TenantID(e.team()), why, e.at(h.Now()), h.Now())
	if err != nil {
		slog.ErrorContext(ctx, "not disconnected", "event_id", e.EventID, "why", why, "integrations", all, "err", err)
		return slackapi.Response{}, errAgain
	}
	slog.InfoContext(ctx, "disconnected", "event_id", e.EventID, "why", why, "integrations", all)
	return slackapi.OK(), nil
}

// ignore accepts an event that makes no task.
func ignore(ctx context.Context, e envelope, why string) (slackapi.Response, error) {
	if len(e.EventID) > 64 {
		e.EventID = ""
	}
	slog.InfoContext(ctx, "ignored", "why", why, "event_id", e.EventID)
	return slackapi.OK(), nil
}
