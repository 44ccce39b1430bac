// Command answer-message has an agent answer all waiting messages of a conversation, in one turn of its model.
//
// A turn answers what waited when it began, twenty messages at most. Who may not ask is refused before a model is paid,
// and what a model needs to know (who is an app, what was said in the thread before, the text of attachments) is found
// out before too.
//
// The agent reads its files within a turn: 12 rounds of 8 calls, 256 KiB of results. Each answer that reads is
// committed with its cost before it is read for (ReadOn); so another try goes on from there, nothing is paid for twice,
// and nothing is read for a turn that was stopped. The tools are taken away for the last call, with a budget used up,
// or with less than a minute left. An answer that reads and proposes has its proposal refused: it comes after the
// reads.
//
// A proposal is completed here: base, the changes of each line, the version of a tool. What can't be made, or is over
// what people can read, goes back to the model in the same turn, by field and limit.
//
// What is sent is counted from above in tokens, against what the agent's model takes. What alone is too large is left
// out and said; older messages are folded into a summary. A refusal for length is folded to half, and tried once more.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/isolated"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Models
	boot.Results
	boot.Slack
	boot.Credentials
	ReadFileFunction string `env:"READ_FILE_FUNCTION" doc:"the function that reads the text of attachments"`

	Sandbox  string `env:"SANDBOX" doc:"on or off: whether agents may run what people approved"`
	Programs string `env:"SANDBOX_PROGRAMS,optional" doc:"where commands' programs are; for the local stack only"`
}

// namesWithin bounds each call to Slack for a person's name.
const namesWithin = 5 * time.Second

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenConversations(cfg, env.Table)
	models := provider.New(cfg, env.Models)
	slack := vault.OpenBot(cfg, secret.OpenSlack(cfg, env.Slack), env.Credentials, store.TasksOf(rows.KindStore.Store),
		namesWithin)
	names, asking, payloads := &people.Names{}, &people.Requesters{}, large.Open(cfg, env.Results)
	files := large.OpenVersions(cfg, env.ResultsBucket)
	return &Handler{
		Store: rows, Payloads: payloads, Files: files, Attachments: files.Attached(),
		Text:    payloads.Texts(cfg, env.ReadFileFunction),
		Prompts: func(ref aggregate.Ref) model.Keep { return payloads.Prompts(ref) },
		Catalog: sync.OnceValues(tool.Builtin),
		Allow:   strings.Split(env.OutboundAllow, ","), Sandbox: env.Sandbox == "on",
		Programs: env.Programs, Now: time.Now,
		Open: func(ctx context.Context, d tenancy.Agent, s tenancy.Settings) (model.Wire, error) {
			return models.OpenAgent(ctx, d, env.Model, s)
		},
		File: func(ctx context.Context, ref aggregate.Ref, id string, most int) (slackapi.File, error) {
			return slack.File(slackapi.For(ctx, ref.Tenant), id, most)
		},
		Thread: func(ctx context.Context, ref aggregate.Ref, channel, thread, before string,
			n int) ([]slackapi.Said, error) {
			return slack.Before(slackapi.For(ctx, ref.Tenant), channel, thread, before, n)
		},
		Rest: time.Second,
		Who: func(ctx context.Context, ref aggregate.Ref, team, user string) (aggregate.Actor, error) {
			return asking.Requester(slackapi.For(ctx, ref.Tenant), slack, team, user, time.Now())
		},
		Approvable: func(ctx context.Context, ref aggregate.Ref, o aggregate.Origin, s tenancy.Settings,
			askers []string) error {
			return asking.Somebody(slackapi.For(ctx, ref.Tenant), slack, o, s, time.Now(), askers...)
		},
		Names: func(ctx context.Context, ref aggregate.Ref, team string, ids ...string) map[string]string {
			return names.Of(slackapi.For(ctx, ref.Tenant), slack, team, time.Now(), ids...)
		},
		Written: func(ctx context.Context, ref aggregate.Ref, team, user, text string) string {
			return names.Written(slackapi.For(ctx, ref.Tenant), slack, team, user, text, time.Now())
		},
	}, nil
}

type Store interface {
	pipeline.Conversations
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Messages(ctx context.Context, tenant, id, from string) ([]conversation.Message, error)
	Message(ctx context.Context, tenant, id, key string) (conversation.Message, error)
	Archived(ctx context.Context, tenant, id string) ([]conversation.Action, error)
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	Integrations(ctx context.Context, tenant string) ([]tenancy.Integration, error)
	pipeline.SpentReader
}

// Payloads stores and reads what may be too large for a row: payloads, and what agents read.
type Payloads interface {
	KeepPayload(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error)
	large.Copier
	KeepReads(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// Files stores versions of conversations' files, or of what people attached. *large.Versions implements it.
type Files interface {
	Get(ctx context.Context, of aggregate.Ref, version string) (*files.Tree, error)
	Put(ctx context.Context, of aggregate.Ref, t *files.Tree) (version string, err error)
}

type Handler struct {
	Store    Store
	Payloads Payloads
	Files    Files // as actions left them
	// Catalog returns Ringi's own tools; nil: no tool can be called.
	Catalog     func() (*tool.Catalog, error)
	Attachments Files
	// Text has a file's text read by the function read-file. Its error says that this may work later.
	Text func(ctx context.Context, ref aggregate.Ref, file []byte) (isolated.FileText, error)
	Open func(ctx context.Context, d tenancy.Agent, s tenancy.Settings) (model.Wire, error)
	// Prompts stores the requests that are sent to models.
	Prompts func(ref aggregate.Ref) model.Keep
	Who     func(ctx context.Context, ref aggregate.Ref, team, user string) (aggregate.Actor, error) // asks Slack
	// Approvable returns aggregate.ErrNotAllowed if nobody may approve what these people together ask for.
	Approvable func(ctx context.Context, ref aggregate.Ref, o aggregate.Origin, s tenancy.Settings, askers []string) error
	Names      func(ctx context.Context, ref aggregate.Ref, team string, ids ...string) map[string]string
	Written    func(ctx context.Context, ref aggregate.Ref, team, user, text string) string // names people and channels
	// File reads a file from Slack.
	File func(ctx context.Context, ref aggregate.Ref, id string, most int) (slackapi.File, error)
	// Thread reads what was said in a thread before a message; if it is nil, nothing is read.
	Thread  func(ctx context.Context, ref aggregate.Ref, channel, thread, before string, n int) ([]slackapi.Said, error)
	Rest    time.Duration // between tries to read a thread
	Allow   []string      // non-public endpoints that agents may use
	Sandbox bool          // whether commands can be executed here
	// Programs are those that commands find, if not those of Lambda's runtime; see isolated.Installed.
	Programs string
	Now      func() time.Time
}

// answering makes one answer.
type answering struct {
	*Handler
	in       pipeline.Input
	ref      aggregate.Ref
	a        *conversation.Aggregate
	seen     []*conversation.Inbox
	settings tenancy.Settings
	from     string                             // messages up to this key are only in the summary
	read     map[string]conversation.Attachment // the attachments of earlier answers, by Slack's id
	tree     *files.Tree                        // the conversation's files, once they are needed
	laid     *attachments                       // the conversation's attachments
	lost     string                             // the version of the files, if they are deleted
	calls    *tool.Catalog                      // the tools that the agent may call; nil: none
	words    []said                             // what people said, as far as the agent is shown it
	spoke    []spoken                           // who spoke since a person last approved an action
	summed   []spoken                           // the same of the messages that are summed up
}

// Handle answers the conversation's waiting messages, if there are any, and returns the run's next state.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	ref := in.Ref()
	ctx = slackapi.For(ctx, ref.Tenant)
	a, err := pipeline.Load(ctx, h.Store, in)
	if errors.Is(err, aggregate.ErrNotFound) {
		conversation.LogError(ctx, conversation.EventMessage, ref.ID, "", "", conversation.CodeSessionNotFound,
			"there is no such session, or it is forgotten")
	}
	if err != nil {
		return aggregate.Next{}, err
	}
	switch next := a.Next(h.Now()); {
	case next.State == aggregate.StateFinish:
		return pipeline.Rest(ctx, h.Store, in, h.Now, next)
	case next.State != conversation.StateAnswer && next.State != conversation.StateFetch:
		return next, nil
	}
	settings, err := h.Store.Settings(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the settings: %w", err)
	}
	t := &answering{Handler: h, in: in, ref: ref, a: a, seen: a.Waiting(), settings: settings}
	if next := a.Next(h.Now()); next.State == conversation.StateFetch { // nothing is fetched for whom nobody would answer
		if why, err := t.limits(ctx); err != nil || why != nil {
			next, err := t.refused(ctx, why, err)
			if next.State == conversation.StateFetch { // the messages that are left are looked at, too, before that
				next.State = conversation.StateAnswer
			}
			return next, err
		}
		return next, nil
	}
	return t.answer(ctx)
}

// noAgent says that the settings don't have the conversation's agent any more.
func (t *answering) noAgent(ctx context.Context) *conversation.Refusal {
	id := t.a.Conversation.AgentID
	conversation.LogError(ctx, conversation.EventMessage, t.ref.ID, id, "", conversation.CodeAgentNotFound,
		"the settings have no such agent")
	return &conversation.Refusal{Reason: conversation.ReasonNoAgent, Detail: id, Failed: true,
		Text: explain.EndedInTalk(t.settings.Locale, conversation.ReasonNoAgent, id)}
}

// answer makes one turn. If no turn is possible, it answers with a sentence that says why.
func (t *answering) answer(ctx context.Context) (aggregate.Next, error) {
	if why, err := t.limits(ctx); err != nil || why != nil {
		return t.refused(ctx, why, err)
	}
	d, known := tenancy.AgentByID(tenancy.Agents(t.settings.Agents, t.Allow), t.a.Conversation.AgentID)
	if !known {
		return t.refused(ctx, t.noAgent(ctx), nil)
	}
	wire, err := t.Open(ctx, d, t.settings)
	if err != nil {
		return t.failed(ctx, err, conversation.Answer{})
	}
	wire = model.Keeping(wire, t.Prompts(t.ref))
	if err := t.giveThread(ctx); err != nil {
		return t.stopped(ctx, err)
	}
	history, err := t.history(ctx)
	if err != nil {
		return aggregate.Next{}, err
	}
	t.lay(ctx, history)
	t.attach(ctx, history)
	if err := t.openCalls(ctx, d); err != nil {
		return aggregate.Next{}, err
	}
	x, reply, err := t.ask(ctx, wire, turn.Turn{Calls: t.calls, Agent: d, History: history, MaySandbox: t.Sandbox,
		Tools: isolated.Installed(t.Programs), Busy: t.a.Current() != nil, Complete: t.complete(ctx),
		Locale: t.settings.Locale, Now: t.Now(), More: t.unseen(), Files: t.conversationFiles(), Earlier: t.earlier(ctx)})
	if unpaid, is := errors.AsType[*turn.PaidError](err); is {
		return t.stopped(ctx, unpaid.Err)
	}
	if err != nil {
		return t.failed(ctx, err, x)
	}
	if reply.Code != "" {
		conversation.LogError(ctx, conversation.EventMessage, t.ref.ID, d.ID, "", string(reply.Code),
			"the agent's answer could not be used as it was")
	}
	x.Unread = t.unreadable(x.Read)
	if len(t.laid.added) > 0 {
		x.Attached, x.AttachmentsVersion = t.laid.List, t.laid.version
	}
	x.Lost, x.Files = t.lost, reads(reply.Rounds)
	named := func(text string) string {
		return t.Written(ctx, t.ref, t.a.Conversation.TeamID, t.a.Conversation.Opener, text)
	}
	x.Text, x.Tokens, x.Request, x.Named = named(reply.Text), reply.Usage.Output, reply.Request, named(reply.Request)
	for _, m := range history {
		x.Shown = max(x.Shown, m.Key)
	}
	return t.commit(ctx, d, x, reply.Action)
}

// unseen returns how many of people's messages wait that this answer is not to.
func (t *answering) unseen() int {
	n := -len(t.seen)
	for _, i := range t.a.Inbox {
		if i.User != "" || slices.ContainsFunc(t.seen, func(s *conversation.Inbox) bool { return s.Message == i.Message }) {
			n++
		}
	}
	return max(0, n)
}

func (t *answering) commit(ctx context.Context, d tenancy.Agent, x conversation.Answer,
	p *turn.Proposal) (aggregate.Next, error) {
	a, err := pipeline.Paid(ctx, x.Usage, func(ctx context.Context) (*conversation.Aggregate, error) {
		return t.record(ctx, x, p)
	}, t.alone(x.Usage))
	if err != nil {
		return t.stopped(ctx, fmt.Errorf("record the answer: %w", err))
	}
	action := ""
	if now := a.Current(); now != nil && p != nil {
		action = now.ActionID
	}
	conversation.Log(ctx, conversation.EventMessage, t.ref.ID, d.ID, action, "answered", len(t.seen), "input_tokens",
		x.Usage.Input, "output_tokens", x.Usage.Output)
	return a.Next(t.Now()), nil
}

// stopped returns the next state if err says that another invocation has answered or a person stopped this one.
func (t *answering) stopped(ctx context.Context, err error) (aggregate.Next, error) {
	if errors.Is(err, aggregate.ErrMoved) {
		return t.again(ctx)
	}
	return aggregate.Next{}, err
}

// again returns the next state after another commit came first.
func (t *answering) again(ctx context.Context) (aggregate.Next, error) {
	a, err := t.Store.Load(ctx, t.ref)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("load the session: %w", err)
	}
	t.a = a
	if a.Head.Run != t.in.Run {
		return aggregate.Next{}, aggregate.ErrSuperseded
	}
	return pipeline.Rest(ctx, t.Store, t.in, t.Now, a.Next(t.Now()))
}

const (
	reasonWithdrawn aggregate.Reason = "message_withdrawn"
	reasonChanged   aggregate.Reason = "message_changed"
	reasonDeleted   aggregate.Reason = "message_deleted"
)

// unsaid answers by a sentence what needs no model: changes of messages that were answered before, and messages that
// were deleted. A change of a message that waits is answered with that message, unless it was deleted. unsaid
// leaves one of these groups in t.seen; the other messages are answered next.
func (t *answering) unsaid() *conversation.Refusal {
	waits, gone := map[string]bool{}, map[string]bool{}
	for _, i := range t.seen {
		waits[i.Message] = true
		gone[i.Changes] = gone[i.Changes] || i.Deleted
	}
	groups := map[aggregate.Reason][]*conversation.Inbox{}
	for _, i := range t.seen {
		why := aggregate.Reason("")
		switch changes := i.Changes != ""; {
		case gone[i.Message], changes && gone[i.Changes] && waits[i.Changes]:
			why = reasonWithdrawn
		case changes && gone[i.Changes]:
			why = reasonDeleted
		case changes && !waits[i.Changes]:
			why = reasonChanged
		}
		groups[why] = append(groups[why], i)
	}
	w := wordsIn(t.settings.Locale)
	for _, say := range []conversation.Refusal{{Reason: reasonWithdrawn, Text: w.withdrawn},
		{Reason: reasonChanged, Text: w.changed}, {Reason: reasonDeleted, Text: w.deleted}} {
		if group := groups[say.Reason]; group != nil {
			t.seen = group
			return &say
		}
	}
	return nil
}
