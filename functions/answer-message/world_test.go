package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const root = pipelinetest.Root

// vendor is a scripted model.
type vendor struct {
	requests []model.Request
	says     model.Response
	err      error
	sends    string // the vendor's request
	asked    func() // called during the vendor's answer
	writes   func(onText func(string))
}

func (v *vendor) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	if v.sends != "" {
		model.Sent(ctx, []byte(v.sends))
	}
	v.requests = append(v.requests, r)
	if v.writes != nil {
		v.writes(onText)
	}
	if v.asked != nil {
		v.asked()
	}
	return v.says, v.err
}

type world struct {
	*Handler
	pipelinetest.Talk
	vendor *vendor
	full   error // the bucket's error
	asking people.Requesters
	db     *dynamodb.Client
	table  string
}

// members is a Slack in which everybody belongs to the workspace, with a user group of U2.
type members struct{}

func (members) User(_ context.Context, id string) (slackapi.User, error) {
	return slackapi.User{ID: id, Team: "T1"}, nil
}
func (members) Members(context.Context, string, int) ([]string, bool, error) { return nil, true, nil }
func (members) UsergroupMembers(context.Context, string) ([]string, error) {
	return []string{"U2"}, nil
}

var inbound = pipelinetest.Heard

// talking returns a conversation in which U1 said hello.
func talking(t *testing.T, server *storetest.Server, o conversation.Opening, change func(*tenancy.Settings)) *world {
	t.Helper()
	return talkingOf(t, server, inbound(root, "U1", "hello"), o, change)
}

// talkingOf returns a conversation whose first message is in.
func talkingOf(t *testing.T, server *storetest.Server, in conversation.Inbound, o conversation.Opening,
	change func(*tenancy.Settings)) *world {
	t.Helper()
	_, name := server.Store(t)
	w := &world{db: server.DB, table: name,
		Talk:   pipelinetest.Begin(t, store.NewConversations(server.DB, name), time.Now, in, o),
		vendor: &vendor{says: model.Response{Text: "hi", Stop: model.StopEnd}}}
	s := tenancy.DefaultSettings()
	s.Locale = "en"
	change(&s)
	w.Handler = &Handler{
		Store: settled{w.Rows, s}, Payloads: storetest.Rows{}, Files: &trees{}, Sandbox: true, Now: time.Now,
		Open: func(context.Context, agent.Definition, tenancy.Settings) (model.Wire, error) { return w.vendor, nil },
		Answers: func(_ context.Context, d agent.Definition, _ tenancy.Settings) (agent.Answering, error) {
			return agent.Answering{ID: d.ID}, nil
		},
		Prompts: func(aggregate.Ref) model.Keep { return w.keep },
		Who: func(_ context.Context, _ aggregate.Ref, team, user string) (aggregate.Actor, error) {
			return aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: team}, nil
		},
		Approvable: func(_ context.Context, _ aggregate.Ref, o aggregate.Origin, s tenancy.Settings, askers []string) error {
			return w.asking.Somebody(t.Context(), members{}, o, s, time.Now(), askers...)
		},
		Names: func(_ context.Context, _ aggregate.Ref, _ string, ids ...string) map[string]string {
			out := map[string]string{}
			for _, id := range ids {
				out[id] = "name of " + id
			}
			return out
		},
	}
	return w
}

// settled is a store with its own settings, which are in no row.
type settled struct {
	*store.ConversationStore
	settings tenancy.Settings
}

func (s settled) Settings(context.Context, string) (tenancy.Settings, error) { return s.settings, nil }

func (s settled) Spent(ctx context.Context, tenant string, now time.Time) (tenancy.Sums, error) {
	return store.TasksOf(s.ConversationStore.KindStore.Store).Spent(ctx, tenant, now)
}

func (w *world) handle() (aggregate.Next, error) { return w.Handle(context.Background(), w.In()) }

// keep stores a model's request in the row.
func (w *world) keep(_ context.Context, body []byte) (aggregate.Blob, error) {
	return aggregate.Blob{JSON: aggregate.JSON(body), Bytes: len(body)}, w.full
}

// Requests to a model are stored, but a failing bucket prevents no answer.
func TestWhatTheAgentsModelWasSentIsKept(t *testing.T) {
	server := storetest.Start(t)
	for _, full := range []error{nil, errors.New("no room")} {
		w := talking(t, server, conversation.Opening{AgentID: "codex"}, func(*tenancy.Settings) {})
		w.vendor.sends, w.full = `{"input":"hello"}`, full
		expect.Value(w.handle())(t)
		uses := expect.Value(w.Rows.Uses(t.Context(), w.Ref.Tenant, w.Ref.ID))(t)
		if len(uses) != 1 || (uses[0].Sent == nil) != (full != nil) || full == nil &&
			uses[0].Sent.JSON != `{"input":"hello"}` || w.Newest().Content != "hi" {
			t.Errorf("%v: %+v, said %q", full, uses, w.Newest().Content)
		}
	}
}
