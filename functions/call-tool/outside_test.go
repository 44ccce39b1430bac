package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide"
	"ringi/shared/decide/calls"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

// beyond is a world in which an outside agent asks for calls with a key.
type beyond struct {
	*world
	calls.Calls
	all  *store.Store
	key  tenancy.Key
	left string // who has left Slack
}

func outsideOf(t *testing.T) *beyond {
	t.Helper()
	w := opened(t)
	b := &beyond{world: w, all: store.New(w.server.DB, w.Rows.Table().Name, store.Kinds()...)}
	rows := store.CallsOf(b.all)
	w.Handler.Calls = rows
	w.Handler.Stays = func(_ context.Context, _, _, user string) (bool, error) { return user != b.left, nil }
	b.Calls = calls.Calls{Store: rows, Catalog: w.Handler.Catalog, Now: func() time.Time { return w.now }}
	var err error
	b.key, _, err = b.all.CreateKey(t.Context(), tenancy.Key{TenantID: w.Ref.Tenant, Team: "T1", Name: "ci",
		Answers: "U1", Tools: []string{write.tool, "Bash"}, Channel: "C1", QuotaDay: 10, ExpiresAt: w.now.AddDate(0, 1, 0)},
		ringitest.Member("U9"), w.now)
	expect.NoError(t, err)
	return b
}

// others lets everybody stamp what somebody else asks for.
func others() aggregate.Policy {
	p := ringitest.Anyone()
	p.AllowSelf = false
	return p
}

// asks asks for the call of the world's tests, and has somebody stamp it.
func (b *beyond) stamped() *call.Aggregate {
	b.T.Helper()
	a, err := b.Ask(context.Background(), b.key, calls.Request{Tool: write.tool, Arguments: []byte(write.arguments)})
	expect.Must(b.T, err == nil, "ask: %v", err)
	by := ringitest.Member("U2")
	a, err = b.Store().Decide(context.Background(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Act(a.Head.CallID, a.Call.Gate.Acting(circulation.Stamp, by, ""), by, others(), b.now)
	})
	expect.Must(b.T, err == nil, "stamp: %v", err)
	return a
}

func (b *beyond) Store() store.CallStore { return store.CallsOf(b.all) }

func (b *beyond) make(a *call.Aggregate) *call.Aggregate {
	b.T.Helper()
	in := pipeline.Input{Tenant: b.Ref.Tenant, Kind: call.Kind.Name, ID: a.Head.CallID, Run: a.Head.Run}
	next, err := b.Handle(context.Background(), in)
	expect.Must(b.T, err == nil && next.State == aggregate.StateFinish, "%v, %+v", err, next)
	return expect.Value(b.Get(context.Background(), b.key, a.Head.CallID))(b.T)
}

// late does something once, after all is read and before anything is committed.
type late struct {
	Calls
	do func()
}

func (l *late) Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[*call.Aggregate]) (
	*call.Aggregate, error) {
	if l.do != nil {
		l.do()
		l.do = nil
	}
	return l.Calls.Decide(ctx, ref, decide)
}

func TestACallOfAnOutsideAgentIsMadeOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(b *beyond)
		status conversation.ActionStatus
		why    aggregate.Reason
		calls  int
	}{
		"it succeeds": {nil, conversation.ActionSucceeded, "", 1},
		"the vendor refuses": {func(b *beyond) {
			b.vendor.err = &explain.CallError{Outcome: explain.CallFailed, Problem: explain.ProblemTimeout, Detail: "slow"}
		}, conversation.ActionFailed, reasonFailed, 1},
		"nobody knows whether it arrived": {func(b *beyond) { b.vendor.err = errors.New("cut off") },
			conversation.ActionFailed, conversation.ReasonUnknown, 1},
		"Ringi sees that it arrived": {func(b *beyond) { b.vendor.err, b.vendor.sees = errors.New("cut off"), true },
			conversation.ActionSucceeded, "", 1},
		"it panics": {func(b *beyond) { b.vendor.during = func() { panic("a fault") } }, conversation.ActionFailed,
			conversation.ReasonUnknown, 1},
		"what it returned can't be kept": {func(b *beyond) { b.bucket.err = errors.New("down") },
			conversation.ActionSucceeded, "", 1},
		"its key was revoked": {func(b *beyond) {
			expect.NoError(b.T, b.all.RevokeKey(context.Background(), b.Ref.Tenant, b.key.ID, aggregate.System(), b.now))
		}, conversation.ActionFailed, call.ReasonKey, 0},
		"its key is revoked while the call begins": {func(b *beyond) {
			b.Handler.Calls = &late{b.Handler.Calls, func() {
				expect.NoError(b.T, b.all.RevokeKey(context.Background(), b.Ref.Tenant, b.key.ID, aggregate.System(), b.now))
			}}
		}, conversation.ActionFailed, call.ReasonKey, 0},
		"who answers for it has left": {func(b *beyond) { b.left = "U1" }, conversation.ActionFailed, call.ReasonKey, 0},
		"the tool was switched off": {func(b *beyond) { b.permit(tenancy.ToolPermission{ToolName: write.tool}) },
			conversation.ActionFailed, reasonForbidden, 0},
		"the tool is switched off while the call begins": {func(b *beyond) {
			b.Handler.Calls = &late{b.Handler.Calls, func() { b.permit(tenancy.ToolPermission{ToolName: write.tool}) }}
		}, conversation.ActionFailed, reasonForbidden, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := outsideOf(t)
			a := b.stamped()
			if tt.before != nil {
				tt.before(b)
			}
			in := pipeline.Input{Tenant: b.Ref.Tenant, Kind: call.Kind.Name, ID: a.Head.CallID, Run: a.Head.Run}
			for range 2 { // and once
				next, err := b.Handle(t.Context(), in)
				expect.That(t, err == nil && next.State == aggregate.StateFinish, "%+v, %v", next, err)
			}
			x := expect.Value(store.CallsOf(b.all).Load(t.Context(), a.Ref()))(t).Call
			expect.That(t, x.Status == tt.status && x.Error == tt.why && len(b.vendor.calls) == tt.calls,
				"%s, %s, %d calls", x.Status,
				x.Error, len(b.vendor.calls))
			expect.Is(t, x.Outcome == conversation.OutcomeUnknown, tt.why == conversation.ReasonUnknown)
			var open struct{ N int }
			expect.NoError(t, b.all.Table().Get(t.Context(), "QUOTA#"+b.Ref.Tenant, "CALLS#"+b.key.ID, &open))
			expect.Is(t, open.N, 0, "open calls")
			for _, c := range b.vendor.calls {
				expect.That(t, c.Tool == write.tool && c.Asked == "U1" && c.Stamped[0] == "U2", "%+v", c)
			}
		})
	}
}

func TestACallsRowNamesWhatWasStamped(t *testing.T) {
	b := outsideOf(t)
	for name, change := range map[string]func(x *call.Call){
		"key": func(x *call.Call) {
			x.Payload.JSON = aggregate.JSON(strings.ReplaceAll(string(x.Payload.JSON), b.key.ID, ""))
		},
		"tool":   func(x *call.Call) { x.Tool = "Bash" },
		"access": func(x *call.Call) { x.Access = aggregate.Read },
	} {
		m := asked{making: b.making(pipeline.Input{Tenant: b.Ref.Tenant}, "en"), call: b.stamped().Call}
		change(m.call)
		expect.Is(t, expect.Value(m.prepare(t.Context()))(t).reason, conversation.ReasonUnread, "a row of another %s", name)
	}
}

// claimed has an invocation claim the call in place of the first commit, whose answer is lost.
type claimed struct {
	Calls
	by    string // "": nobody
	until time.Time
	over  bool
}

func (c *claimed) Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[*call.Aggregate]) (
	*call.Aggregate, error) {
	if c.over {
		return c.Calls.Decide(ctx, ref, decide)
	}
	if c.over = true; c.by != "" {
		if _, err := c.Calls.Decide(ctx, ref, func(a *call.Aggregate) (aggregate.Change, error) {
			return a.Claim(a.Head.Run, c.by, task.Series{}, c.until, c.until.Add(-time.Minute))
		}); err != nil {
			return nil, err
		}
	}
	return nil, aggregate.ErrUnconfirmed
}

// An invocation whose claim's answer is lost makes the call only if the claim is its own.
func TestAClaimWhoseAnswerIsLostMakesItsOwnCallAlone(t *testing.T) {
	for by, want := range map[string]struct {
		calls int
		err   error
	}{"i1": {1, nil}, "another": {0, aggregate.ErrSuperseded}, "": {0, aggregate.ErrSuperseded}} {
		b := outsideOf(t)
		a := b.stamped()
		b.Handler.Calls = &claimed{Calls: b.Handler.Calls, by: by, until: b.now.Add(time.Minute)}
		_, err := b.Handle(t.Context(), pipeline.Input{Tenant: b.Ref.Tenant, Kind: call.Kind.Name, ID: a.Head.CallID,
			Run: a.Head.Run})
		expect.Fails(t, err, want.err, by)
		expect.Is(t, len(b.vendor.calls), want.calls, "calls, claimed by %q", by)
	}
}

// Whoever repeats a call gets the same one, also after its end; a second one is asked for by the id of the first. From
// then on a repeat gets the second one, by 32 at once, too, and makes nothing.
func TestARepeatedCallIsTheSame(t *testing.T) {
	b := outsideOf(t)
	a := b.make(b.stamped())
	want := calls.Request{Tool: write.tool, Arguments: []byte(write.arguments), Reason: "in other words"}
	is, err := b.Ask(t.Context(), b.key, want)
	expect.That(t, err == nil && is.Head.CallID == a.Head.CallID &&
		is.Call.Status == conversation.ActionSucceeded, "%v", err)
	want.Again = a.Head.CallID
	second, err := b.Ask(t.Context(), b.key, want)
	expect.Must(t, err == nil && second.Head.CallID != a.Head.CallID, "%v", err)
	for _, id := range []string{"call-x", second.Head.CallID} { // which has not ended
		want.Again = id
		_, err = b.Ask(t.Context(), b.key, want)
		field, is := errors.AsType[aggregate.Problem](err)
		expect.That(t, is && field.Field == "again", "%v", err)
	}
	b.make(b.stamped()) // which repeats it
	want.Again = ""
	expect.AtOnce(32, func(int) {
		is, err := b.Ask(t.Context(), b.key, want)
		expect.That(t, err == nil && is.Head.CallID == second.Head.CallID &&
			is.Call.Status == conversation.ActionSucceeded, "%v", err)
	})
	expect.Is(t, len(b.vendor.calls), 2)
}

// mailing is a Slack in which mail addresses begin with the user's id.
type mailing struct{ ringitest.Workspace }

func (m mailing) User(ctx context.Context, id string) (slackapi.User, error) {
	u, err := m.Workspace.User(ctx, id)
	u.Mail = strings.ToLower(id) + "@example.com"
	return u, err
}

func (m mailing) UserByMail(ctx context.Context, mail string) (slackapi.User, error) {
	id, _, _ := strings.Cut(mail, "@")
	return m.User(ctx, strings.ToUpper(id))
}

// The organisation in which people are found is a condition of the opening: here another one is saved meanwhile.
func TestACallsRouteIsOfTheOrganisationThatStands(t *testing.T) {
	b := outsideOf(t)
	b.rules("上長", rules.Who{Superior: 1})
	b.Finder = decide.Finder{Store: b.world.Handler.Calls, Slack: mailing{ringitest.Workspace{ID: "T1"}},
		Known: &people.Requesters{}, Within: time.Minute}
	headed := func(over int, by string) {
		o, wrong := rules.ReadOrganisation([]byte("email,department,head\nu1@example.com,HQ\n" + by +
			"@example.com,HQ,yes\n"))
		expect.NoError(t, wrong.Err())
		expect.NoError(t, b.all.SaveOrganisation(t.Context(), b.Ref.Tenant, over, o, ringitest.Member("U9"), b.now))
	}
	headed(0, "u3")
	a, err := b.Ask(t.Context(), b.key, calls.Request{Tool: write.tool, Arguments: []byte(write.arguments)})
	expect.NoError(t, err)
	b.Handler.Calls = &late{b.Handler.Calls, func() { headed(1, "u4") }}
	g := b.make(a).Asked(a.Head.CallID).Gate
	expect.Must(t, g.Ruled(), "%+v", g)
	expect.Is(t, g.Route.Stages[0].People[0].User, "U4")
}

// rules has one rule say who stamps calls.
func (b *beyond) rules(stage string, who rules.Who) {
	b.T.Helper()
	x := &rules.Rules{Rules: []rules.Rule{{
		ID: "01KS000000000000000000000A", Name: "外部", Conditions: rules.Conditions{Asks: []rules.Kind{rules.KindCall}},
		Outcome: rules.Outcome{Stages: []rules.Stage{{Name: stage, Need: 1, Who: who}}}}}}
	_, _, err := b.all.SaveRules(b.T.Context(), b.Ref.Tenant, x, 0, nil, ringitest.Member("U9"), b.now)
	expect.NoError(b.T, err)
}

// keiri is a Slack that may be silent about its groups.
type keiri struct {
	ringitest.Workspace
	silent bool
}

func (k *keiri) UsergroupMembers(context.Context, string) ([]string, error) {
	if k.silent {
		return nil, errors.New("silent")
	}
	return k.Group, nil
}

// A rule that names calls says who stamps them. Of a group Slack is asked by a run; while Slack is silent that is put
// off, and where nobody is found the call is refused.
func TestARuleSaysWhoStampsACall(t *testing.T) {
	b := outsideOf(t)
	b.rules("経理", rules.Who{Group: "S0KEIRI"})
	slack := &keiri{Workspace: ringitest.Workspace{ID: "T1"}, silent: true}
	b.Finder = decide.Finder{Store: b.world.Handler.Calls, Slack: slack, Known: &people.Requesters{}, Within: time.Minute}
	ask := func(command string) *call.Aggregate {
		a, err := b.Ask(t.Context(), b.key, calls.Request{Tool: "Bash", Arguments: []byte(`{"command":"` + command + `"}`),
			Elsewhere: true})
		expect.Must(t, err == nil && a.LooksUp(b.now) && !a.Asked(a.Head.CallID).Open, "%v", err)
		return a
	}
	a := b.make(ask("a"))
	expect.That(t, !a.LooksUp(b.now) && !a.Call.Over() && a.Head.Run == 2, "%+v", a.Call)
	slack.silent, b.now = false, b.now.Add(time.Minute)
	refused := b.make(ask("b"))
	expect.That(t, refused.Call.Status == call.Refused && refused.Call.CancelReason == task.ReasonNoRoute, "%+v",
		refused.Call)
	b.now = b.now.Add(11 * time.Minute) // Slack's word counts for ten
	slack.Group = []string{"U1", "U3"}  // U1 answers for the key
	a = b.make(a)
	g := a.Asked(a.Head.CallID).Gate
	expect.Must(t, a.Asked(a.Head.CallID).Open && g.Ruled() && len(g.Route.Stages[0].People) == 1 &&
		g.Route.Stages[0].People[0].User == "U3", "%+v", g.Route)
	b.now = b.now.Add(2 * time.Hour)
	slack.silent = true
	late := b.make(ask("c"))
	b.now = b.now.Add(2 * time.Hour)
	late = b.make(late)
	expect.Is(t, late.Call.CancelReason, call.ReasonSilent)
}
