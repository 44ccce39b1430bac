package consoletest

import (
	"fmt"
	"net/url"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

type Conversation struct {
	*World
	ringitest.Talk
	in conversation.Inbound
}

// Talked begins a conversation.
func (w *World) Talked(user, channel, kind, text string) *Conversation {
	w.T.Helper()
	w.Said++
	ts := fmt.Sprintf("%d.%06d", w.Now().Unix(), w.Said)
	in := conversation.Inbound{Team: w.Tenant.TeamID, Channel: channel, ChannelType: kind, Thread: ts, TS: ts, User: user,
		Text: text}
	return &Conversation{w, ringitest.Begin(w.T, w.Console.Conversations, w.Now, in,
		conversation.Opening{AgentID: tenancy.Codex, Locale: "ja"}), in}
}

// Direct begins a conversation of Sato's in a direct message.
func (w *World) Direct() *Conversation {
	w.T.Helper()
	return w.Talked(webapi.Sato, "D0SATO", "im", "集計用のスクリプトを書いて")
}

func (k *Conversation) Page() string { return "/console/sessions/" + k.Ref.ID }

// Run opens a run if none is open.
func (k *Conversation) Run() {
	k.T.Helper()
	if k.Load().Head.Resting {
		k.Wake()
	}
}

func (k *Conversation) Answers(x conversation.Answer) *conversation.Aggregate {
	k.T.Helper()
	k.Run()
	x.Usage = aggregate.Usage{ID: aggregate.NewID(), Provider: "openai", Model: "gpt-5.4", Calls: 1, Input: 1200,
		Output: 34, Cost: 5600}
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), x, k.Now())
	})
}

// Says adds a message from a person. An earlier one whose ts is given gets this text instead, or is deleted.
func (k *Conversation) Says(user, text string, changes ...string) {
	k.T.Helper()
	k.Said++
	in := k.in
	in.TS, in.User, in.Text = fmt.Sprintf("%d.%06d", k.Now().Unix(), k.Said), user, text
	if changes != nil {
		in.Changes, in.Deleted = changes[0], text == ""
	}
	c, err := conversation.Tell(in, conversation.Opening{}, k.Now())
	expect.NoError(k.T, err)
	expect.NoError(k.T, k.Console.Conversations.Tell(k.T.Context(), k.Ref, c))
}

func (k *Conversation) Proposes(typ conversation.ActionType, payload, rule string) *conversation.Action {
	k.T.Helper()
	return k.Proposed("", typ, Inline(kept(typ, payload, "")), rule)
}

// ProposesFor proposes an action for a version of the conversation's files.
func (k *Conversation) ProposesFor(base string, typ conversation.ActionType, payload string) *conversation.Action {
	k.T.Helper()
	return k.Proposed(base, typ, Inline(kept(typ, payload, base)), "")
}

// kept returns a proposal's payload as it is kept, or what is no proposal's as it is.
func kept(typ conversation.ActionType, payload, base string) string {
	p, problems := conversation.ReadPayload(typ, []byte(payload))
	kept, wrong := p.Complete(typ, conversation.On{Base: base}, &files.Tree{})
	if problems != nil || wrong != nil {
		return payload
	}
	return kept.JSON()
}

// Proposed proposes an action whose payload is kept so.
func (k *Conversation) Proposed(base string, typ conversation.ActionType, payload aggregate.Blob,
	rule string) *conversation.Action {
	k.T.Helper()
	by := k.Now().Add(24 * time.Hour)
	p := &conversation.Proposal{Type: typ, Payload: payload, On: conversation.On{Base: base}, Seconds: 60,
		Rule: rule, Summary: "テストを走らせて確かめます",
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by, SettingsRev: k.SettingsNow().Rev}}
	return k.Answers(conversation.Answer{Text: "実行してよいですか", Tokens: 34, Proposal: p}).Current()
}

// Begins starts executing the approved action.
func (k *Conversation) Begins() {
	k.T.Helper()
	k.Run()
	k.Claim()
}

// Acted has a person decide on the conversation's page.
func (k *Conversation) Acted(by *Browser, act aggregate.Act, x *conversation.Action, reason string) {
	k.T.Helper()
	by.Post(k.Page()+"/act", ActOn(act, x, reason)).Leads(k.T, k.Page()+"?done=act_"+string(act))
}

func ActOn(act aggregate.Act, x *conversation.Action, reason string) url.Values {
	form := url.Values{"act": {string(act)}, "reason": {reason}}
	if x != nil {
		form.Set("id", x.ActionID)
		form.Set("hash", x.Payload.Hash())
	}
	return form
}

const Script = `{"script":"make test\nrm -rf build","timeout_seconds":60,"base":""}`

// Outside is a key of an outside agent, and how it asks.
type Outside struct {
	*World
	tenancy.Key
	Calls store.CallStore
}

// KeyOf makes a key for which somebody answers, with cards in #人事.
func (w *World) KeyOf(user string, tools ...string) *Outside {
	w.T.Helper()
	k, _, err := w.Store.CreateKey(w.T.Context(), tenancy.Key{TenantID: w.Tenant.ID, Team: w.Tenant.TeamID,
		Name: "経理エージェント", Answers: user, Tools: tools, Channel: webapi.HR, QuotaDay: 100,
		ExpiresAt: w.Now().Add(24 * time.Hour)}, w.By, w.Now())
	expect.NoError(w.T, err)
	return &Outside{World: w, Key: k, Calls: store.CallsOf(w.Store.KindStore.Store)}
}

// Asks asks for a call with these arguments; change may change what is asked for.
func (o *Outside) Asks(tool, arguments, reason string, change func(*call.Proposal)) *call.Aggregate {
	o.T.Helper()
	members := expect.Value(call.Members([]byte(arguments)))(o.T)
	x := call.Proposal{Key: o.Key, Reason: reason, Content: call.Content{Key: o.Key.ID, Answers: o.Answers, Tool: tool}}
	x.Content.Access = aggregate.Write
	x.Content.Arguments, x.Effect, _ = call.Digest(members, nil)
	x.Terms = o.SettingsNow().ActionTerms(o.Now())
	if change != nil {
		change(&x)
	}
	c := expect.Value(x.Ask(o.Now()))(o.T)
	a, err := o.Calls.Ask(o.T.Context(), &x, c)
	expect.NoError(o.T, err)
	return a
}

// Decide commits a decision about a call.
func (o *Outside) Decide(a *call.Aggregate, f func(*call.Aggregate) (aggregate.Change, error)) *call.Aggregate {
	o.T.Helper()
	return expect.Value(o.Calls.Decide(o.T.Context(), a.Ref(), f))(o.T)
}

type Contest struct {
	*World
	ID string
}

// Compete begins a contest of two teams for a task of this title, which nobody reads if by is nil.
func (w *World) Compete(title string, by *aggregate.Ref) *Contest {
	w.T.Helper()
	k := &Contest{w, contest.NewID()}
	o := contest.Order{Execution: k.ID, Tenant: w.Tenant.ID, Prompt: "<data>" + title + "</data>", Locale: "ja",
		MaxRounds: 3, TeamTimeoutSeconds: 300, Budget: aggregate.USD(1),
		Teams: []contest.Entry{{TeamID: "team-a", TeamName: "堅実"}, {TeamID: "team-b", TeamName: "<b>速攻</b>"}},
		Title: title, For: task.RefOf(w.Tenant.ID, aggregate.NewID()), ForRow: task.PromptKey(1)}
	if by != nil {
		o.For = *by
	}
	expect.NoError(w.T, storetest.Begin(w.T, w.Console.Contests, o))
	return k
}

// Plays adds a round of the team at a place.
func (k *Contest) Plays(place, round int, score float64, text string) {
	k.T.Helper()
	a := expect.Value(k.Console.Contests.Load(k.T.Context(), contest.Ref(k.Tenant.ID, k.ID)))(k.T)
	w := expect.Value(k.Console.Contests.Enter(k.T.Context(), a, place))(k.T)
	e := a.Contest.Teams[place-1]
	said := contest.MemberSubmission{AgentName: "analyst", AgentType: contest.Plain, Content: "調べました",
		Status: contest.Success, Timestamp: k.Now()}
	p := storetest.Round(k.ID, e, round, text, score, k.Now())
	p.Result.EvaluationFeedback, p.Result.ExecutionTimeSeconds = "Relevance (0.90): 要点がそろっています。", 5.2
	p.Result.Usage = contest.RunUsage{InputTokens: 450, OutputTokens: 900, Requests: 3}
	p.Record.Submissions = []contest.MemberSubmission{said}
	p.Metrics = []contest.MetricScore{{MetricName: "Relevance", Score: 100 * score, EvaluatorComment: "要点がそろっています。"}}
	expect.Value(k.Console.Contests.SaveRound(k.T.Context(), w.Ref(), p))(k.T)
}

func (k *Contest) Ends(place int, exit contest.ExitReason, why aggregate.Reason) {
	k.T.Helper()
	a := expect.Value(k.Console.Contests.Load(k.T.Context(), contest.Ref(k.Tenant.ID, k.ID)))(k.T)
	w := expect.Value(k.Console.Contests.Enter(k.T.Context(), a, place))(k.T)
	expect.Value(k.Console.Contests.End(k.T.Context(), w.Ref(), exit, why))(k.T)
}

func (k *Contest) Page() string { return "/console/contests/" + k.ID }
