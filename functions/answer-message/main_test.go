package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const root = ringitest.Root

// vendor is a scripted model.
type vendor struct {
	requests []model.Request
	says     model.Response
	err      error
	sends    string // the vendor's request
	asked    func() // called during the vendor's answer
}

func (v *vendor) Say(ctx context.Context, r model.Request) (model.Response, error) {
	if v.sends != "" {
		model.Sent(ctx, []byte(v.sends))
	}
	v.requests = append(v.requests, r)
	if v.asked != nil {
		v.asked()
	}
	return v.says, v.err
}

type world struct {
	*Handler
	ringitest.Talk
	vendor *vendor
	full   error // the bucket's error
	asking people.Requesters
	db     *dynamodb.Client
	table  string
}

var inbound = ringitest.Heard

var codex = conversation.Opening{AgentID: "codex", Locale: "en"}

// talking returns a conversation with codex in which U1 said hello.
func talking(t *testing.T, change ...func(*tenancy.Settings)) *world {
	t.Helper()
	return talkingOf(t, inbound(root, "U1", "hello"), codex, change...)
}

// talkingOf returns a conversation whose first message is in.
func talkingOf(t *testing.T, in conversation.Inbound, o conversation.Opening,
	change ...func(*tenancy.Settings)) *world {
	t.Helper()
	server := storetest.Start(t)
	_, name := server.Store(t)
	w := &world{db: server.DB, table: name,
		Talk:   ringitest.Begin(t, store.NewConversations(server.DB, name), time.Now, in, o),
		vendor: &vendor{says: model.Response{Text: "hi", Stop: model.StopEnd}}}
	s := tenancy.DefaultSettings()
	s.Locale = "en"
	for _, f := range change {
		f(&s)
	}
	w.Handler = &Handler{
		Store: settled{w.Rows, s}, Payloads: storetest.Rows{}, Files: &trees{}, Sandbox: true, Now: time.Now,
		Attachments: &kept{trees: trees{all: map[string]*files.Tree{}}},
		Open:        func(context.Context, tenancy.Agent, tenancy.Settings) (model.Wire, error) { return w.vendor, nil },
		Prompts:     func(aggregate.Ref) model.Keep { return w.keep },
		Who: func(_ context.Context, _ aggregate.Ref, team, user string) (aggregate.Actor, error) {
			return aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: team}, nil
		},
		Approvable: func(_ context.Context, _ aggregate.Ref, o aggregate.Origin, s tenancy.Settings,
			askers []string) error {
			slack := ringitest.Workspace{ID: "T1", Group: []string{"U2"}}
			return w.asking.Somebody(t.Context(), slack, o, s, time.Now(), askers...)
		},
		Names: func(_ context.Context, _ aggregate.Ref, _ string, ids ...string) map[string]string {
			out := map[string]string{}
			for _, id := range ids {
				out[id] = "name of " + id
			}
			return out
		},
		Written: func(_ context.Context, _ aggregate.Ref, _, _, text string) string {
			return strings.ReplaceAll(text, "<@U2>", "@鈴木")
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
	for _, full := range []error{nil, errors.New("no room")} {
		w := talking(t)
		w.vendor.sends, w.full = `{"input":"hello"}`, full
		expect.Value(w.handle())(t)
		uses := expect.Value(w.Rows.Uses(t.Context(), w.Ref.Tenant, w.Ref.ID))(t)
		expect.That(t, len(uses) == 1 && (uses[0].Sent == nil) == (full != nil) &&
			(full != nil || uses[0].Sent.JSON == `{"input":"hello"}`) && w.Newest().Content == "hi", "%v: %+v, said %q",
			full, uses, w.Newest().Content)
	}
}

func TestAnAnswerNamesPeople(t *testing.T) {
	w := talking(t)
	w.vendor.says = model.Response{Text: "<@U2> に", Calls: []model.Call{callOf("offer_request", `{"request":"<@U2> へ"}`)}}
	expect.Value(w.handle())(t)
	o := w.Load().OpenOffer()
	expect.Is(t, w.Newest().Content+o.Named+o.Text, "@鈴木 に@鈴木 へ<@U2> へ")
}

func TestAnswers(t *testing.T) {
	sourced := codex
	sourced.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main",
		State: conversation.SourceWanted}
	plain := func(*tenancy.Settings) {}
	gone, npm := conversation.Opening{AgentID: "gone"}, byRule("D1", "npm", "test")
	for name, tt := range map[string]struct {
		test   func(t *testing.T, w *world)
		o      conversation.Opening
		change func(*tenancy.Settings)
	}{
		"people are told apart, and what comes meanwhile is answered next":     {testMeanwhile, codex, plain},
		"a proposal waits for a person":                                        {testWaits, codex, plain},
		"a person's reason is no notice of the system's":                       {testQuoted, codex, plain},
		"the agent is told what commands find, or that there are none":         {testTools, codex, plain},
		"a rule approves tests":                                                {testRuled, codex, npm},
		"an agent that is gone is said to be":                                  {testGone, gone, plain},
		"a vendor that is down is asked again, and a key that is wrong is not": {testDown, codex, plain},
		"after the last try people are told why":                               {testUnreached, codex, plain},
		"what a try cost that came to nothing is recorded, and what it folded": {testTried, codex, plain},
		"a summary stands for nothing that is not in it":                       {testFoldedBeside, codex, plain},
		"what waits is told although there is no summary":                      {testNoSummary, codex, plain},
		"a session that has cost enough asks no model":                         {testCost, codex, costs(0.000001)},
		"guests, strangers and who has left are told so, and cost nothing":     {testOutsiders, codex, plain},
		"where nobody could approve what comes of it no model is asked":        {testUndecidable, codex, otherwise},
		"a source comes before the first answer":                               {testSource, sourced, plain},
	} {
		t.Run(name, func(t *testing.T) { tt.test(t, talkingOf(t, inbound(root, "U1", "hello"), tt.o, tt.change)) })
	}
}

// byRule approves a test by a rule.
func byRule(place string, argv ...string) func(*tenancy.Settings) {
	return func(s *tenancy.Settings) {
		s.AutoActions = []tenancy.AutoRule{{Type: tenancy.TestRun, Argv: argv, Place: place}}
	}
}

func costs(most float64) func(*tenancy.Settings) {
	return func(s *tenancy.Settings) { s.MaxCostUSD = most }
}

func otherwise(s *tenancy.Settings) { s.AllowSelfApproval = false }

func testWaits(t *testing.T, w *world) { testProposal(t, w, conversation.ActionPending) }

func testRuled(t *testing.T, w *world) { testProposal(t, w, conversation.ActionApproved) }

// tests proposes a command that counts tests.
func tests(argv string) []model.Call {
	return []model.Call{callOf("test_run", `{"argv":`+argv+`,"timeout_seconds":60,"summary":"runs the tests"}`)}
}

// messages returns what a request told the model.
func (w *world) messages(request int) string {
	w.T.Helper()
	return string(expect.Value(json.Marshal(w.vendor.requests[request].Messages))(w.T))
}

func testMeanwhile(t *testing.T, w *world) {
	w.vendor.asked = func() {
		w.vendor.asked = nil
		w.Tell("1775034001.000100", "U2", "and me")
	}
	next, err := w.handle()
	expect.Must(t, err == nil && next.State == conversation.StateAnswer, "%+v %v", next, err)
	next, err = w.handle()
	expect.Must(t, err == nil && next.State == aggregate.StateFinish, "%+v %v", next, err)
	first, then := w.messages(0), w.messages(1)
	expect.That(t, !strings.Contains(first, "and me") && strings.Contains(first, "name of U1") &&
		strings.Contains(then, "name of U2") && strings.Count(then, "hello") == 1, "first %s\nthen %s", first, then)
	a := w.Load()
	expect.That(t, a.Head.Resting && len(a.Cards) == 2 && len(a.Inbox) == 0, "%+v with %d cards", a.Head, len(a.Cards))
}

// objects keeps payloads in a bucket, and what was read in rows.
type objects struct{ storetest.Bucket }

func (objects) KeepReads(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return storetest.Rows{}.KeepReads(ctx, ref, v)
}

// testProposal: the payload of what waits goes with the conversation, that of what a rule approves stays.
func testProposal(t *testing.T, w *world, want conversation.ActionStatus) {
	bucket := storetest.Bucket{}
	w.Payloads = objects{bucket}
	w.vendor.says.Calls = tests(`["npm","test"]`)
	next := expect.Value(w.handle())(t)
	x := w.Load().Current()
	expect.Must(t, x != nil && x.Status == want && x.TimeoutSeconds == 60 && x.Gate.Terms.DecideBy != nil &&
		x.Askers[0] == "U1", "%+v", x)
	if auto := want == conversation.ActionApproved; auto != (next.State == conversation.StateAct) ||
		auto != (x.ApprovedBy == conversation.ApprovedByAuto && strings.Contains(x.Rule, "npm")) {
		t.Errorf("%+v goes to %+v", x, next)
	}
	under := map[conversation.ActionStatus]string{conversation.ActionPending: "talks/",
		conversation.ActionApproved: "arguments/"}[want]
	expect.That(t, strings.HasPrefix(x.Payload.S3Key, under) && bucket[x.Payload.S3Key] != "",
		"its payload is %s of %v",
		x.Payload.S3Key, bucket)
}

func testTools(t *testing.T, w *world) {
	w.Programs = "git, python3"
	expect.Value(w.handle())(t)
	w.Sandbox = false
	w.says("1775034001.000100", "and now?")
	for i, on := range []bool{true, false} {
		system, none := w.vendor.requests[i].System, "can't be executed in this deployment"
		expect.That(t, strings.Contains(system, isolated.Installed("git, python3")) == on &&
			strings.Contains(system, none) != on,
			"a sandbox: %t, but the prompt is\n%s", on, system)
	}
}

func testGone(t *testing.T, w *world) {
	expect.Value(w.handle())(t)
	m := w.Newest()
	expect.That(t, m.Reason == conversation.ReasonNoAgent && strings.Contains(m.Content, "gone") &&
		w.Load().Conversation.Status == conversation.Failing && len(w.vendor.requests) == 0, "%+v", m)
}

func testDown(t *testing.T, w *world) {
	w.vendor.err = &model.Error{Provider: "openai", Kind: model.Overloaded, Retryable: true}
	_, err := w.handle()
	expect.Must(t, errors.Is(err, explain.ErrModelUnavailable) && len(w.Load().Inbox) == 1, "%v", err)
	w.vendor.err = &model.Error{Provider: "openai", Kind: model.Unauthorized}
	expect.Value(w.handle())(t)
	m, s := w.Newest(), w.Load().Conversation
	expect.Must(t, m.Sender == conversation.FromSystem && m.Content != "" && s.Status == conversation.Failing &&
		s.Error != "", "%+v %+v", m, s)
	w.vendor.err = nil
	w.says("1775034001.000100", "again?")
	m, s = w.Newest(), w.Load().Conversation
	expect.That(t, m.Content == "hi" && s.Status == conversation.Open && s.Error == "", "%+v %+v", m, s)
}

// testUnreached: after the last try people see that the model can't be reached.
func testUnreached(t *testing.T, w *world) {
	w.vendor.err = &model.Error{Provider: "openai", Kind: model.RateLimited, Retryable: true}
	for range 2 {
		_, err := w.handle()
		expect.Must(t, errors.Is(err, explain.ErrModelUnavailable), "%v", err)
	}
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.GiveUp(a.Head.Run, time.Now()) })
	m, s := w.Newest(), w.Load().Conversation
	expect.That(t, m.Reason == task.ReasonModelUnavailable && strings.Contains(m.Content, "didn't respond") &&
		s.Status == conversation.Failing && s.TriedError == "", "%+v %+v", m, s)
}

func testCost(t *testing.T, w *world) {
	dear := conversation.Answer{Text: "dear", Usage: aggregate.Usage{ID: "u", Cost: 9}}
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Answered(1, nil, dear, time.Now()) })
	expect.Value(w.handle())(t)
	m := w.Newest()
	expect.That(t, m.Reason == reasonSessionCost && len(w.vendor.requests) == 0 && len(w.Load().Inbox) == 0, "%+v", m)
}

func testOutsiders(t *testing.T, w *world) {
	says, silent := aggregate.Actor{}, errors.New("Slack is away")
	w.Who = func(context.Context, aggregate.Ref, string, string) (aggregate.Actor, error) { return says, silent }
	if _, err := w.handle(); explain.ClassOf(err) != explain.Unavailable || len(w.Load().Inbox) != 1 {
		t.Fatalf("while Slack doesn't say who writes: %v", err)
	}
	silent = nil
	for n, tt := range []struct {
		by   aggregate.Actor
		want aggregate.Reason
	}{{aggregate.Actor{Team: "T1", Guest: true}, task.ReasonGuest}, {aggregate.Actor{Team: "T2"},
		task.ReasonStranger}, {aggregate.Actor{}, task.ReasonStranger}} {
		if says = tt.by; n > 0 {
			w.Tell(fmt.Sprintf("177503400%d.000100", n), "U1", "more")
			w.Wake()
		}
		expect.Value(w.handle())(t)
		if m := w.Newest(); m.Reason != tt.want || m.Content == "" || len(w.vendor.requests) != 0 ||
			!w.Load().Head.Resting {
			t.Errorf("%+v is answered %+v, and the model was asked %d times", tt.by, m, len(w.vendor.requests))
		}
	}
}
