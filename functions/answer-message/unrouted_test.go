package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

// silentWorld is a conversation in which Slack was silent when the agent proposed a command, which a rule has a group
// approve.
type silentWorld struct {
	*ruledWorld
	at     time.Time
	lookUp int // how often Slack was asked
}

func silent(t *testing.T, server *storetest.Server, locale string) *silentWorld {
	t.Helper()
	w := &silentWorld{ruledWorld: inChannel(t, server, locale, unset), at: time.Now()}
	w.Handler.Now = func() time.Time { return w.at }
	w.saved(0, rules.KindAction, asks(ofGroup()))
	w.answers(explain.ErrUnverified)
	return w
}

// answers has Slack answer with an error, or say who is in the group.
func (w *silentWorld) answers(err error, users ...string) {
	w.LookUp = func(_ context.Context, _ string, _ *decide.Organisation, do func(d decide.Seats) error) error {
		if w.lookUp++; err != nil {
			return err
		}
		return do(group{users})
	}
}

// later lets time pass until the action is looked up again, and begins a run if none is open.
func (w *silentWorld) later() {
	w.T.Helper()
	a := w.Load()
	if x := a.Unrouted(); x != nil && x.LookUpAt != nil {
		w.at = *x.LookUpAt
	}
	if a.Head.Resting {
		w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.StartRun(w.at) })
	}
}

// asks delivers what somebody else says in the channel's thread.
func (w *silentWorld) asks(user string) {
	in := inbound("1775034000.000200", user, "and?")
	in.Channel, in.ChannelType = "C1", "channel"
	c := expect.Value(conversation.Tell(in, conversation.Opening{}, w.at))(w.T)
	expect.NoError(w.T, w.Rows.Tell(w.T.Context(), w.Ref, c))
}

func (w *silentWorld) entries(action aggregate.Action) int {
	w.T.Helper()
	f := store.AuditFilter{Action: action}
	return len(expect.Value(w.Rows.KindStore.Store.Audit(w.T.Context(), w.Ref.Tenant, f, "", 50))(w.T).Items)
}

// While Slack is silent the action waits for its route, as the conversation's one; nothing is paid or proposed twice.
func TestWhileSlackIsSilentAnActionWaitsForItsRoute(t *testing.T) {
	w := silent(t, storetest.Start(t), "en")
	x := w.proposes()
	a := w.Load()
	expect.Must(t, x != nil && a.Unrouted() != nil && a.Pending() == nil && a.Head.Resting && len(w.vendor.requests) == 1,
		"%+v after %d requests", x, len(w.vendor.requests))
	expect.That(t, x.Gate.Terms.Rule.Name == "操作" && x.LookUpAt.After(w.at) && x.LookUpAt.Before(w.at.Add(10*time.Second)),
		"%+v", x)

	w.vendor.says = model.Response{Text: "wait", Stop: model.StopEnd}
	w.asks("U3")
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.StartRun(w.at) })
	expect.Value(w.handle())(t)
	expect.That(t, w.Newest().Content == "wait" && w.lookUp == 1 && w.Load().Unrouted() != nil, "people wait for Slack")

	w.later()
	w.answers(fmt.Errorf("%w: %w", explain.ErrUnverified, slackapi.RateLimited{RetryAfter: 10 * time.Minute}))
	next := expect.Value(w.handle())(t)
	rest := w.Load().Unrouted().LookUpAt.Sub(w.at)
	expect.That(t, next.State == aggregate.StateFinish && rest >= 10*time.Minute && rest <= 13*time.Minute,
		"%+v, %s", next, rest)

	w.later()
	w.answers(nil, "U1", "U2", "U3")
	next = expect.Value(w.handle())(t)
	x = w.Load().Pending()
	expect.Must(t, next.State == aggregate.StateFinish && x != nil && x.Gate.AskedAt.Equal(w.Load().Head.ChangedAt),
		"%+v", x)
	var asked []string
	for _, p := range x.Gate.Route.Stages[0].People {
		asked = append(asked, p.User)
	}
	expect.Is(t, strings.Join(asked, " "), "U2 U3", "who wrote after the proposal is no asker of it")
	expect.That(t, len(w.vendor.requests) == 2 && w.Load().Conversation.Actions == 1 &&
		w.entries(conversation.AuditRouted) == 1 &&
		w.entries(conversation.AuditProposed) == 1, "%d requests", len(w.vendor.requests))
}

// It is opened before anything is answered, and what waits is answered by the same run.
func TestAnActionOpensBeforeAnythingIsAnswered(t *testing.T) {
	w := silent(t, storetest.Start(t), "en")
	w.proposes()
	w.vendor.says = model.Response{Text: "it waits", Stop: model.StopEnd}
	w.asks("U3")
	w.answers(nil, "U2")
	w.later()
	next := expect.Value(w.handle())(t)
	expect.That(t, next.State == conversation.StateAnswer && w.Load().Pending() != nil && len(w.vendor.requests) == 1,
		"%+v after %d requests", next, len(w.vendor.requests))
	next = expect.Value(w.handle())(t)
	expect.That(t, next.State == aggregate.StateFinish && w.Newest().Content == "it waits", "%+v", next)
}

// It is tried for an hour; then people and the agent are told, and the agent has no turn for it.
func TestAnActionIsRefusedWhenSlackWasSilentForTooLong(t *testing.T) {
	server := storetest.Start(t)
	for locale, want := range map[string]string{
		"ja": "ルール「操作」の回覧先を Slack に 1 時間確認できなかった", "en": "Slack didn't say whom rule “操作” asks",
	} {
		w := silent(t, server, locale)
		proposed := w.proposes()
		tries := 0
		for ; w.Load().Unrouted() != nil; tries++ {
			w.later()
			expect.Value(w.handle())(t)
		}
		a := w.Load()
		x := a.Actions[0]
		lasted := w.at.Sub(proposed.CreatedAt)
		expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonSilent &&
			a.Head.Resting, "%+v", x)
		expect.That(t, lasted >= time.Hour && lasted < 70*time.Minute && tries < 40, "%d tries in %s", tries, lasted)
		expect.That(t, len(w.vendor.requests) == 1 && len(a.Inbox) == 0, "the agent has a turn")
		expect.Has(t, w.Newest().Content, want)
	}
}

// What is known only then may refuse it: the agent is told by a turn.
func TestWhatIsFoundLaterMayRefuseAnAction(t *testing.T) {
	server := storetest.Start(t)
	for name, c := range map[string]struct {
		then func(w *silentWorld)
		why  aggregate.Reason
		says string
	}{
		"nobody is in the group": {func(w *silentWorld) {}, task.ReasonNoRoute, "Nobody is found for the stage “経理”"},
		"the rules changed": {func(w *silentWorld) { w.saved(1, rules.KindAction, rules.Outcome{Refuse: "購買部へ。"}) },
			task.ReasonRuleRefuses, "Reason: Rule “操作” doesn't let this action be proposed. 購買部へ。"},
	} {
		w := silent(t, server, "en")
		w.proposes()
		c.then(w)
		w.answers(nil)
		w.later()
		next := expect.Value(w.handle())(t)
		x := w.Load().Actions[0]
		expect.That(t, next.State == conversation.StateAnswer && x.CancelReason == c.why && x.Status.Over(),
			"%s: %+v, %+v", name, next, x)
		expect.Has(t, w.Newest().Content, c.says)
	}
}

// Rules that have ended leave it to the settings, under which nobody may be left.
func TestWhereRulesHaveEndedTheSettingsAskAboutAnAction(t *testing.T) {
	server := storetest.Start(t)
	for _, nobody := range []bool{false, true} {
		w := silent(t, server, "en")
		w.proposes()
		w.saved(1, rules.KindSteps, asks(ofPeople("U2")))
		w.Approvable = func(context.Context, aggregate.Ref, aggregate.Origin, tenancy.Settings, []string) error {
			if nobody {
				return aggregate.ErrNotAllowed{Rule: aggregate.RuleSelf}
			}
			return nil
		}
		w.later()
		expect.Value(w.handle())(t)
		x := w.Load().Actions[0]
		if nobody {
			expect.That(t, x.CancelReason == task.ReasonNoApprover, "%+v", x)
			continue
		}
		expect.That(t, w.Load().Pending() != nil && !x.Gate.Ruled() && w.lookUp == 1, "%+v", x)
	}
}

// The arguments of a tool's call are read again from the proposal.
func TestARuleAboutToolsIsAskedAboutTheCallAsItWasProposed(t *testing.T) {
	w := silent(t, storetest.Start(t), "en")
	tools := &rules.Tools{Use: rules.UseWriting}
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
		ID: "01KS000000000000000000000A", Name: "書き込み", Outcome: asks(ofGroup()),
		When: rules.Conditions{Kinds: []rules.Kind{rules.KindAction}, Tools: tools}}}}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U9", Team: "T1"}
	_, _, err := w.Rows.KindStore.Store.SaveRules(t.Context(), w.Ref.Tenant, x, 1, nil, by, w.Now())
	expect.NoError(t, err)
	w.vendor.says.Calls = []model.Call{wish("send_slack_dm", `{"recipient":"U002","text":"welcome","details":[]}`)}
	expect.Must(t, w.proposes() != nil && w.Load().Unrouted() != nil, "%s", w.Newest().Content)
	w.answers(nil, "U2")
	w.later()
	expect.Value(w.handle())(t)
	got := w.Load().Pending()
	expect.That(t, got != nil && got.Gate.Terms.Rule.Name == "書き込み", "%+v", w.Load().Actions[0])
}

// dying is a store whose process dies at a call, before or after it was made.
type dying struct {
	Store
	at    string
	after bool
}

var errDied = errors.New("the process died")

func (d dying) Rules(ctx context.Context, tenant string) (*rules.Rules, int, error) {
	if d.at == "rules" {
		return nil, 0, errDied
	}
	return d.Store.Rules(ctx, tenant)
}

func (d dying) Decide(ctx context.Context, ref aggregate.Ref,
	f conversation.Decision) (*conversation.Aggregate, error) {
	if d.at != "commit" {
		return d.Store.Decide(ctx, ref, f)
	}
	if d.after {
		if _, err := d.Store.Decide(ctx, ref, f); err != nil {
			return nil, err
		}
	}
	return nil, errDied
}

// A run that dies anywhere leaves an action that the next one opens once, and the model is asked once.
func TestAnActionOpensOnceWhereverARunDies(t *testing.T) {
	server := storetest.Start(t)
	for _, d := range []dying{{at: "rules"}, {at: "commit"}, {at: "commit", after: true}} {
		w := silent(t, server, "en")
		w.proposes()
		w.answers(nil, "U2")
		w.later()
		whole := w.Store
		d.Store = whole
		w.Store = d
		_, err := w.handle()
		expect.Fails(t, err, errDied)
		w.Store = whole
		if run := w.Load().Head.Run; !w.Load().Head.Resting { // else the relay sees that nothing is left
			_, err = w.handle()
			expect.That(t, err == nil && w.Load().Head.Run == run, "%+v: %v", d, err)
		}
		a := w.Load()
		expect.That(t, a.Pending() != nil && a.Conversation.Actions == 1 && w.entries(conversation.AuditRouted) == 1 &&
			len(w.vendor.requests) == 1, "%s, %t: %+v", d.at, d.after, a.Actions)
	}
}

// Whose words stand in the thread before is known once it is read. No model is paid where rules refuse whatever it
// would propose for the sake of one of them.
func TestAStrangerInTheThreadBeforeIsFoundBeforeAModelIsPaid(t *testing.T) {
	server := storetest.Start(t)
	for user, asked := range map[string]int{"U7PARTNER": 0, "U1": 1} {
		in := inbound("1775034009.000100", "U1", "please list employees")
		in.Channel, in.ChannelType = "C1", "channel"
		w := &ruledWorld{world: talkingOf(t, server, in, conversation.Opening{AgentID: "codex", Locale: "en"}, unset)}
		s := tenancy.DefaultSettings()
		s.Locale = "en"
		w.Store, w.Catalog = noting{joined{w.Store}, w, s}, tool.Builtin
		w.Thread = func(context.Context, aggregate.Ref, string, string, string, int) ([]slackapi.Said, error) {
			return []slackapi.Said{{User: user, Text: "the build is red", TS: "1775034001.000100"}}, nil
		}
		w.saved(0, rules.KindAction, asks(ofPeople("U3")))
		w.staffed(map[string]string{"1": "U1"})
		w.vendor.says = model.Response{Text: "hi", Stop: model.StopEnd}
		expect.Value(w.handle())(t)
		expect.Is(t, len(w.vendor.requests), asked, user)
		if asked == 0 {
			expect.Is(t, w.Newest().Reason, task.ReasonNoRowWords)
		}
	}
}

// What a person typed that waited for the files is no way around the rules.
func TestWhatAPersonTypedGoesAlongItsRoute(t *testing.T) {
	server := storetest.Start(t)
	for name, o := range map[string]rules.Outcome{
		"asks": asks(ofPeople("U1", "U2", "U3")), "refuses": {Refuse: "購買部へ。"},
	} {
		w := inChannel(t, server, "en", unset)
		w.vendor.says.Calls = nil
		expect.Value(w.handle())(t)
		w.saved(0, rules.KindAction, o)
		w.types("form", conversation.Own{Path: "a.txt", Content: "one\n"})
		w.Wake()
		x := w.proposes()
		if name == "refuses" {
			expect.That(t, x == nil && len(w.world.refused()) == 1, "%s: %+v", name, x)
			expect.Has(t, w.world.refused()[0].Content, "doesn't let this action be proposed. 購買部へ。")
			continue
		}
		expect.Must(t, x != nil && x.Gate.Ruled(), "%s: %+v", name, x)
		expect.That(t, len(x.Gate.Route.Stages[0].People) == 2 && x.Gate.Askers[0].User == "U2" && len(x.Gate.Askers) == 2,
			"%+v", x.Gate)
	}
}
