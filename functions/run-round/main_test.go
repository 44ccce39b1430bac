package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// world plays contests with the demo model.
type world struct {
	*testing.T
	store *store.ContestStore
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t, storetest.Store(t, storetest.Start(t))}
}

// begin opens a contest of these teams, each with a leader and a member.
func (w *world) begin(prompt string, budget aggregate.MicroUSD, teams ...string) *contest.Aggregate {
	w.Helper()
	o := storetest.Order(teams...)
	o.Prompt, o.Budget, o.TeamTimeoutSeconds = prompt, budget, 60
	c := teamconfig.Contest{Evaluator: teamconfig.Evaluator{Metrics: []teamconfig.Metric{{Name: "Coverage", Model: "demo",
		Weight: 1}}}}
	for _, e := range o.Teams {
		c.Teams = append(c.Teams, teamconfig.Team{TeamID: e.TeamID, TeamName: e.TeamName, MaxConcurrentMembers: 1,
			Leader: teamconfig.Leader{Model: "demo"}, Members: []teamconfig.Member{
				{AgentName: "analyst", AgentType: string(contest.Plain), ToolDescription: "調べます", Model: "demo"},
			}})
	}
	text := expect.Value(json.Marshal(c))(w)
	o.Config = aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)}
	expect.NoError(w, storetest.Begin(w, w.store, o))
	return expect.Value(w.store.KindStore.Load(w.Context(), contest.Ref(o.Tenant, o.Execution)))(w)
}

// play plays all rounds of a team, as its branch of the state machine does.
func (w *world) play(a *contest.Aggregate, place int, late time.Duration) (outcome string) {
	h := &Handler{Store: w.store, Models: modelsOf(provider.Wires{Instead: "demo"}),
		Now: func() time.Time { return time.Now().Add(late) }}
	ref := a.Ref()
	for range 20 {
		next, err := h.Handle(w.Context(),
			pipeline.Input{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Run: a.Head.Run, Team: place})
		if err != nil {
			w.Error(err)
			return ""
		}
		if next.State != StateRound {
			return next.Outcome
		}
	}
	w.Errorf("team %d never ends", place)
	return ""
}

func (w *world) team(a *contest.Aggregate, id string) *contest.Team {
	w.Helper()
	return expect.Value(w.store.Teams.Load(w.Context(), contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, id)))(w).Team
}

func TestOneTeamsTroubleIsNotAnothers(t *testing.T) {
	w := newWorld(t)
	a := w.begin("経費精算の手順 demo: hang b demo: refuse c demo: unscored d demo: unscored e round 2", aggregate.USD(5), "a",
		"b", "c", "d", "e")
	var all sync.WaitGroup
	for i := range 5 {
		late := time.Duration(0)
		if i == 1 { // its time is nearly over
			expect.Value(w.store.Enter(t.Context(), a, i+1))(t)
			late = 58 * time.Second
		}
		all.Go(func() { w.play(a, i+1, late) })
	}
	all.Wait()
	for id, want := range map[string]struct {
		status contest.TeamStatus
		exit   contest.ExitReason
		rounds int
	}{
		"a": {contest.TeamEnded, contest.MaxRoundsReached, 5}, "b": {contest.TeamFailed, contest.TeamTimeout,
			0}, "c": {contest.TeamFailed, contest.PartialFailure, 0},
		"d": {contest.TeamFailed, contest.PartialFailure, 0}, "e": {contest.TeamEnded, contest.PartialFailure, 1},
	} {
		got := w.team(a, id)
		expect.That(t, got.Status == want.status && got.ExitReason == want.exit && got.Rounds == want.rounds &&
			(want.exit == contest.MaxRoundsReached || got.Detail != ""), "%s: %+v", id, got)
	}
	settled := expect.Value(w.store.Settle(t.Context(), a.Ref(), a.Head.Run))(t)
	expect.That(t, settled.Summary != nil && settled.Summary.Status == contest.SummaryPartialFailure,
		"%+v", settled.Summary)
	expect.That(t, w.play(a, 1, 0) != "", "a team of a settled contest has no outcome")
}

func TestASpentBudgetEndsATeamAtItsBestRound(t *testing.T) {
	w := newWorld(t)
	// A round costs 0.40.
	a := w.begin("手順 demo: cost 0.10", aggregate.USD(1), "a")
	w.play(a, 1, 0)
	got := w.team(a, "a")
	expect.That(t, got.Status == contest.TeamEnded && got.ExitReason == contest.BudgetExhausted && got.Rounds == 2 &&
		got.Detail != "", "%+v", got)
	spent := expect.Value(w.store.Spent(t.Context(), contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, "a")))(t)
	expect.That(t, spent == aggregate.USD(1), "spent %s", spent)
}

func TestATeamOfAnotherRunIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	a := w.begin("手順", aggregate.USD(1), "a")
	h := &Handler{Store: w.store, Models: modelsOf(provider.Wires{}), Now: time.Now}
	in := pipeline.Input{Tenant: a.Head.TenantID, Kind: a.Ref().Kind, ID: a.Head.ExecutionID, Run: a.Head.Run + 1, Team: 1}
	expect.Fails(t, expect.Err(h.Handle(t.Context(), in)), aggregate.ErrSuperseded)
	in.Run, in.Team = a.Head.Run, 2
	if _, err := h.Handle(t.Context(), in); !errors.Is(err, aggregate.ErrNotFound) {
		t.Error(fmt.Errorf("a place that the contest hasn't got: %w", err))
	}
}

func TestAPolicyThatPeopleCouldNotApproveIsRefused(t *testing.T) {
	crowd := ""
	for i := range task.MaxMentioned + 1 {
		crowd += fmt.Sprintf("<@U%08d> ", i)
	}
	for policy, want := range map[string]int{"目的: 勤怠をまとめる": 0, crowd: 1, strings.Repeat("長い", 20_000): 1,
		"目的" + strings.Repeat("\n", 400_000) + "。": 1} {
		got := fits(policy)
		expect.That(t, len(got) == want, "%.40s: %v", policy, got)
	}
}

func TestToolsAreOpenedForTheTenantOfTeamsThatReadAlone(t *testing.T) {
	down := errors.New("the table is down")
	for _, tt := range []struct {
		of     contest.AgentType
		opened int
	}{{contest.Plain, 0}, {contest.CodeExec, 0}, {contest.WebSearch, 1}} {
		opened := 0
		h := &Handler{Reads: func(_ context.Context, tenant, locale string) (round.Reads, error) {
			if opened++; tenant != "T1" || locale != "ja" {
				t.Errorf("opened for %q in %q", tenant, locale)
			}
			return nil, down
		}}
		a := &contest.Aggregate{Contest: &contest.Contest{Locale: "ja"}}
		a.Head.TenantID = "T1"
		team := &team{Handler: h, contest: a,
			own: teamconfig.Team{Members: []teamconfig.Member{{AgentType: string(contest.Plain)}, {AgentType: string(tt.of)}}}}
		_, err := team.reads(t.Context())
		expect.That(t, opened == tt.opened && errors.Is(err, down) == (tt.opened > 0),
			"%s: opened %d times, %v", tt.of, opened, err)
	}
}

// saying is the demo model with a price.
type saying struct{ demo.Teams }

func (s saying) Open(string) (model.Wire, error) { return s, nil }

func (s saying) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out, err := s.Teams.Say(ctx, r)
	out.Usage.Calls, out.Usage.Cost = 1, 1000
	return out, err
}

func TestWhatEveryModelOfARoundIsSentIsKeptWithWhatItCost(t *testing.T) {
	w := newWorld(t)
	for name, full := range map[string]error{"kept": nil, "a bucket that is down": errors.New("the bucket is full")} {
		a := w.begin("経費精算の手順 "+name, aggregate.USD(5), "a")
		var mu sync.Mutex
		of := map[aggregate.Ref]int{}
		h := &Handler{Store: w.store, Models: opens(saying{}), Now: time.Now, Prompts: func(ref aggregate.Ref) model.Keep {
			return func(_ context.Context, body []byte) (aggregate.Blob, error) {
				mu.Lock()
				defer mu.Unlock()
				of[ref]++
				return aggregate.Blob{S3Key: "prompts/x", Bytes: len(body)}, full
			}
		}}
		ref := a.Ref()
		for range 3 {
			expect.Value(h.Handle(t.Context(),
				pipeline.Input{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Run: a.Head.Run, Team: 1}))(t)
		}
		team := expect.Value(w.store.Teams.Load(t.Context(), contest.TeamRef(ref.Tenant, ref.ID, "a")))(t)
		whose := map[string]bool{}
		for _, u := range team.Uses {
			expect.That(t, (u.Sent == nil) == (full != nil), "%s: %s was sent %+v", name, u.Made, u.Sent)
			whose[strings.Split(u.Prompt, ".")[0]] = true
		}
		for _, want := range []string{"leader", "member-plain", "metric-Coverage"} {
			expect.That(t, whose[want], "%s: nothing of the %s in %v", name, want, whose)
		}
		expect.That(t, of[ref] == len(team.Uses) && len(of) == 1, "%s: %d calls, kept %v", name, len(team.Uses), of)
	}
}

// searcher is a leader, a member that searches, and its vendor, whose search costs money.
type searcher struct{ searches *int }

func (s searcher) Open(string) (model.Wire, error) { return s, nil }

func (s searcher) Say(ctx context.Context, r model.Request) (model.Response, error) {
	call := func(name, input string) model.Response {
		return model.Response{Stop: model.StopEnd, Calls: []model.Call{{ID: "x", Name: name, Input: json.RawMessage(input)}}}
	}
	switch last := r.Messages[len(r.Messages)-1].Parts[0]; {
	case r.Searches > 0:
		*s.searches++
		return model.Response{Text: "45 hours", Stop: model.StopEnd,
			Usage: model.Usage{Provider: "anthropic", Model: "x", Calls: 1, Searches: 3}}, nil
	case last.Result != nil:
		return model.Response{Text: "案 " + last.Result.Text, Stop: model.StopEnd}, nil
	case len(r.Tools) == 1 && r.Tools[0].Name == contest.WebSearchTool:
		return call(contest.WebSearchTool, `{"query":"残業"}`), nil
	case len(r.Tools) == 1:
		return call(r.Tools[0].Name, `{"task":"残業"}`), nil
	}
	return demo.Teams{}.Say(ctx, r)
}

// Members search the web while their tenant's settings allow it, and what a search costs is of the team's part of the
// budget.
func TestMembersSearchTheWebAsTheSettingsSay(t *testing.T) {
	w := newWorld(t)
	for allowed, exit := range map[bool]contest.ExitReason{true: contest.BudgetExhausted, false: ""} {
		o := storetest.Order("a")
		o.Budget, o.TeamTimeoutSeconds = 20_000, 60
		member := teamconfig.Member{AgentName: "searcher", AgentType: string(contest.WebSearch), ToolDescription: "探します",
			Model: "anthropic:claude-sonnet-4-6"}
		text := expect.Value(json.Marshal(teamconfig.Contest{
			Evaluator: teamconfig.Evaluator{Metrics: []teamconfig.Metric{{Name: "Coverage", Model: "demo", Weight: 1}}},
			Teams: []teamconfig.Team{{TeamID: o.Teams[0].TeamID, TeamName: o.Teams[0].TeamName, MaxConcurrentMembers: 1,
				Leader: teamconfig.Leader{Model: "demo"}, Members: []teamconfig.Member{member}}}}))(t)
		o.Config = aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)}
		expect.NoError(t, storetest.Begin(t, w.store, o))
		a := expect.Value(w.store.KindStore.Load(t.Context(), contest.Ref(o.Tenant, o.Execution)))(t)
		searches := 0
		h := &Handler{Store: w.store, Models: opens(searcher{&searches}), Now: time.Now,
			Search: func(_ context.Context, tenant string) (bool, error) {
				expect.Is(t, tenant, o.Tenant)
				return allowed, nil
			}}
		ref := a.Ref()
		expect.Value(h.Handle(t.Context(), pipeline.Input{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Run: a.Head.Run,
			Team: 1}))(t)
		spent := expect.Value(w.store.Spent(t.Context(), contest.TeamRef(ref.Tenant, ref.ID, "a")))(t)
		expect.That(t, (searches == 1) == allowed && (spent == 30_000) == allowed && w.team(a, "a").ExitReason == exit,
			"%d searches, %s, %+v", searches, spent, w.team(a, "a"))
	}
}

// hung is a model that answers only when nobody waits any more.
type hung struct{ called chan struct{} }

func (m hung) Open(string) (model.Wire, error) { return m, nil }

func (m hung) Say(ctx context.Context, _ model.Request) (model.Response, error) {
	m.called <- struct{}{}
	<-ctx.Done()
	return model.Response{}, &model.Error{Provider: "demo", Kind: model.Timeout, Retryable: true, Err: ctx.Err()}
}

// A team has minutes, but a contest that people end waits a few seconds for a model that hangs.
func TestATeamThatHangsHoldsUpNoEnd(t *testing.T) {
	w := &world{t, storetest.Store(t, storetest.StartForBubble(t))}
	a := w.begin("経費精算の手順", aggregate.USD(5), "a")
	synctest.Test(t, func(t *testing.T) {
		m := hung{make(chan struct{}, 1)}
		h, ref := &Handler{Store: w.store, Models: opens(m), Now: time.Now}, a.Ref()
		var next aggregate.Next
		ended := make(chan error, 1)
		go func() {
			var err error
			next, err = h.Handle(t.Context(), pipeline.Input{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Run: a.Head.Run,
				Team: 1})
			ended <- err
		}()
		<-m.called
		expect.Value(w.store.Decide(t.Context(), ref, func(a *contest.Aggregate) (aggregate.Change, error) {
			return a.Withdraw(aggregate.Ref{Tenant: ref.Tenant, Kind: a.Contest.ForKind, ID: a.Contest.ForID}, time.Now())
		}))(t)
		select {
		case err := <-ended:
			expect.NoError(t, err)
			expect.That(t, next.State == aggregate.StateFinish && next.Outcome == "contest_over", "%+v", next)
		case <-time.After(20 * time.Second):
			t.Error("the call goes on after the contest has ended")
		}
	})
	expect.Is(t, w.team(a, "a").Status, contest.TeamRunning, "CloseContest ends it")
}
