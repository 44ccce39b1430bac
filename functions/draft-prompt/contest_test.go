package main

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/vendors/models"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// contested returns a handler with the sample's teams.
func contested(w *ringitest.World) (*Handler, *store.ContestStore) {
	all := store.ContestsOf(store.OpenAll(w.Config, boot.Table{TableName: w.Table()}), w.Results())
	h := handler(w, &modeltest.Demo{})
	h.Contests, h.Workspace = all, func() (teamconfig.Workspace, error) {
		return teamconfig.Workspace{FS: models.Sample()}, nil
	}
	return h, all
}

func ordered(t *testing.T, p *task.Prompt) (o contest.Order) {
	t.Helper()
	expect.NoError(t, json.Unmarshal([]byte(p.Contest.Order), &o))
	return o
}

// Calls in progress may cost more than the task has left. People can still judge the best draft, and no other model is
// called.
func TestADraftWhoseContestReachedTheTasksLimitIsShownToPeopleAndNothingMoreIsCalled(t *testing.T) {
	w, h := overspent(t, 1, 1)
	calls := &modeltest.Demo{}
	h.Open = func(string) (model.Wire, error) { return calls, nil }
	if next := expect.Value(h.Handle(t.Context(), w.In()))(t); next.State != task.StateAwaitPromptApproval {
		t.Fatalf("%+v, spent %s, ended %+v", next, w.Load().Spent(), w.Load().Head.Ended)
	}
	if p := w.Load().Prompt(); p.Status != aggregate.PendingApproval || p.CostLimit != aggregate.USD(1) {
		t.Errorf("%s, limit %s", p.Status, p.CostLimit)
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("短くしてください")(a, a.Prompt().ID, ringitest.Approver(), ringitest.Policy(), w.Now())
	})
	next := expect.Value(h.Handle(t.Context(), w.In()))(t)
	e := w.Load().Head.Ended
	expect.That(t, next.State == task.StateFinish && e != nil && e.Reason == task.ReasonCostLimit && calls.Calls == 0,
		"%+v, ended %+v, %d calls", next, e, calls.Calls)
}

// overspent returns a handler whose contest has ended. Each team spent its part of what a task of limit dollars leaves,
// and beyond dollars more.
func overspent(t *testing.T, limit, beyond float64) (*ringitest.World, *Handler) {
	t.Helper()
	w := ringitest.Start(t).World(t)
	w.Extracted()
	w.Settings(func(s *tenancy.Settings) {
		s.DraftContest.Enabled, s.DraftContest.BudgetUSD, s.MaxCostUSD = true, 5, limit
	})
	h, all := contested(w)
	next := expect.Value(h.Handle(t.Context(), w.In()))(t)
	expect.Must(t, next.State == task.StateAwaitContest, "%+v", next)
	o := ordered(t, w.Load().Prompt())
	begun := expect.Value(contest.Begin(o, w.Now()))(t)
	expect.NoError(t, all.Create(t.Context(), contest.Ref(o.Tenant, o.Execution), begun))
	a := expect.Value(all.Load(t.Context(), contest.Ref(o.Tenant, o.Execution)))(t)
	for i, e := range o.Teams { // each spends its part, and one call more
		team := expect.Value(all.Enter(t.Context(), a, i+1))(t).Ref()
		expect.Value(all.SaveRound(t.Context(), team, storetest.Round(o.Execution, e, 1, "方針: "+e.TeamName, 0.5, w.Now())))(t)
		expect.NoError(t, store.Kept{Store: all, Team: team, Execution: o.Execution, ChargedTo: w.Ref.ID}.Keep(t.Context(),
			"01/leader/1", nil,
			aggregate.Usage{ID: aggregate.NewID(), Calls: 1, Cost: a.Contest.Share + aggregate.USD(beyond)}))
	}
	outcome, _ := expect.Value(all.Settle(t.Context(), a.Ref(), a.Head.Run))(t).Outcome()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.ContestEnded(o.ForRow, outcome, w.Now()) })
	return w, h
}

func TestAContestMayCostWhatTheDayLeaves(t *testing.T) {
	w := ringitest.Start(t).World(t)
	w.Extracted()
	w.Settings(func(s *tenancy.Settings) {
		s.DraftContest.Enabled, s.DraftContest.MaxRounds, s.DraftContest.BudgetUSD, s.MaxCostDayUSD = true, 2, 5, 1
	})
	w.Decide(task.Charge(aggregate.Usage{ID: "earlier", Calls: 1, Cost: aggregate.USD(0.9)}, w.Now(),
		func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	h, _ := contested(w)
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	o := ordered(t, w.Load().Prompt())
	expect.Is(t, o.Budget, aggregate.USD(0.1), "of the 0.10 that are left")
	expect.That(t, o.Title == w.Load().Task.Title && o.MaxRounds == 2, "%q, %d rounds", o.Title, o.MaxRounds)
}

func TestContestsOfManyRequestsShareWhatTheDayLeaves(t *testing.T) {
	w := ringitest.Start(t).World(t)
	w.Settings(func(s *tenancy.Settings) {
		s.DraftContest.Enabled, s.DraftContest.BudgetUSD, s.MaxCostDayUSD = true, 0.4, 1
	})
	sum := aggregate.MicroUSD(0)
	for range 4 {
		x := w.Another()
		x.Extracted()
		h, _ := contested(x)
		expect.Value(h.Handle(t.Context(), x.In()))(t)
		if k := x.Load().Prompt().Contest; k != nil {
			sum += k.Reserved
		}
	}
	sums := expect.Value(w.Store.Spent(t.Context(), w.Ref.Tenant, w.Now()))(t)
	expect.That(t, sum == aggregate.USD(1) && sums.Day == sum, "%s are reserved, the day counts %s", sum, sums.Day)
}

func TestARequestThatIsTooLongForTeamsIsDraftedWithoutThem(t *testing.T) {
	w := ringitest.Start(t).World(t)
	w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
	c, ref, err := task.Receive(w.Ref.Tenant, task.Request{User: ringitest.Requester, Channel: "C0HR",
		ChannelType: "channel", MessageTS: "1713450000.000100", ThreadTS: "1713450000.000100", TeamID: w.By.Team,
		Text: strings.Repeat("勤怠", 15_000), Source: task.SourceChannel, EventID: "Ev2"}, w.Now())
	expect.NoError(t, err)
	expect.NoError(t, w.Store.Create(t.Context(), c))
	w.Ref = ref
	w.Extracted()
	h, _ := contested(w)
	expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval, "parked")
	a := w.Load()
	x := a.Prompt().Contest
	expect.That(t, x.Over() && x.As == task.ContestTooLong, "the version does not say why: %+v", x)
	expect.Has(t, explain.DraftedAlone(a.Prompt(), "ja"), "依頼が長い", "the card says")
}

// played begins the version's contest, has each team submit a text ("" means that the team failed), and informs the
// task.
func played(t *testing.T, w *ringitest.World, all *store.ContestStore, texts ...string) {
	t.Helper()
	o := ordered(t, w.Load().Prompt())
	begun := expect.Value(contest.Begin(o, w.Now()))(t)
	expect.NoError(t, all.Create(t.Context(), contest.Ref(o.Tenant, o.Execution), begun))
	a := expect.Value(all.Load(t.Context(), contest.Ref(o.Tenant, o.Execution)))(t)
	for i, text := range texts {
		if text == "" {
			continue
		}
		team := expect.Value(all.Enter(t.Context(), a, i+1))(t).Ref()
		expect.Value(all.SaveRound(t.Context(), team, storetest.Round(o.Execution, o.Teams[i], 1, text, 0.9-float64(i)/10,
			w.Now())))(t)
	}
	outcome, _ := expect.Value(all.Settle(t.Context(), a.Ref(), a.Head.Run))(t).Outcome()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.ContestEnded(o.ForRow, outcome, w.Now()) })
}

func TestTheBestSubmissionThatACardCanShowIsThePolicy(t *testing.T) {
	server := ringitest.Start(t)
	long := strings.Repeat("@here ", 1300) + "最後に全員へ送る"
	for name, tt := range map[string]struct {
		texts []string
		want  string // team; empty: the settings' model drafts
	}{
		"the first":                             {[]string{"慎重な案", "早い案", "一人の案"}, "careful"},
		"the second, for the first is too long": {[]string{long, "早い案", "一人の案"}, "swift"},
		"that of the one team that has one":     {[]string{"", "", "一人の案"}, "solo"},
		"none that can be shown":                {[]string{long, long, ""}, ""},
		"none at all":                           {[]string{"", "", ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := server.World(t)
			w.Extracted()
			w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
			h, all := contested(w)
			for range 2 { // the contest is requested only once
				next := expect.Value(h.Handle(t.Context(), w.In()))(t)
				expect.Must(t, next.State == task.StateAwaitContest && next.Gate == task.PromptKey(1), "%+v", next)
			}
			played(t, w, all, tt.texts...)
			for range 2 {
				next := expect.Value(h.Handle(t.Context(), w.In()))(t)
				expect.Must(t, next.State == task.StateAwaitPromptApproval, "%+v", next)
			}
			p, team := w.Load().Prompt(), ""
			if p.Entry != nil {
				team = p.Entry.TeamID
			}
			expect.That(t, team == tt.want && p.Status == aggregate.PendingApproval && p.Content != "" && p.Content != long,
				"drafted by %q, %s: %.50s", team, p.Status, p.Content)
		})
	}
}

// Nobody waits for a file: the policy is drafted without a contest, its card says why, and an alarm rings.
func TestAContestsFileThatCantBeUsedParksNothing(t *testing.T) {
	server := ringitest.Start(t)
	for name, tt := range map[string]struct {
		open  func() (teamconfig.Workspace, error)
		names string
	}{
		"that isn't there": {func() (teamconfig.Workspace, error) { return teamconfig.Workspace{FS: fstest.MapFS{}}, nil },
			models.SampleFile + ": このファイルはありません"},
		"of no workspace": {func() (teamconfig.Workspace, error) { return teamconfig.Open("", nil) },
			"MIXSEEK_WORKSPACE"},
	} {
		t.Run(name, func(t *testing.T) {
			w := server.World(t)
			w.Extracted()
			w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
			h, _ := contested(w)
			h.Workspace = tt.open
			for range 2 {
				expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval)
			}
			a := w.Load()
			x := a.Prompt().Contest
			expect.That(t, a.Head.Parked == nil && x.Over() && x.As == task.ContestFiles, "%+v, parked %+v", x, a.Head.Parked)
			expect.Has(t, x.Detail, tt.names)
			expect.Has(t, explain.DraftedAlone(a.Prompt(), "ja"), tt.names)
			sums := expect.Value(w.Store.Spent(t.Context(), w.Ref.Tenant, w.Now()))(t)
			expect.That(t, sums.Day < aggregate.USD(0.5), "the day counts a contest's budget: %s", sums.Day)
		})
	}
}

func TestAPickIsNoRemarkThatTheNextVersionHasToFollow(t *testing.T) {
	gate := func(reason string) aggregate.Gate {
		return aggregate.Gate{Status: aggregate.Rejected, Verdict: aggregate.Verdict{RejectionReason: reason}}
	}
	a := &task.Aggregate{Task: &task.Task{}, Request: &task.Request{}, Prompts: []*task.Prompt{
		{Content: "初めの案", Gate: gate("9月にして")}, {Content: "最良の案", Gate: gate("別の案 (経理) を選んだため")}, {Content: "経理の案",
			Author: "U0SUZUKI", Gate: gate("DM も送って")}, {},
	}}
	var reasons []string
	for _, v := range inputOf(tenancy.DefaultSettings(), a, model.Bounds{}).Earlier {
		reasons = append(reasons, v.Reason)
	}
	expect.Is(t, strings.Join(reasons, ", "), "9月にして, DM も送って", "the model is told to follow")
}
