package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// Actions that a numbered rule had people settle, and that are claimed at once, have the numbers from 1 on.
func TestActionsThatAreClaimedAtOnceHaveNumbersWithoutAGap(t *testing.T) {
	const many = 32
	server := storetest.Start(t)
	_, name := server.Store(t)
	rows := store.NewConversations(server.DB, name)
	rule := circulation.Rule{ID: "r1", Name: "commands", Revision: 1, Numbered: true}
	var all []*world
	for i := range many {
		w := approvedIn(t, rows, fmt.Sprintf("17766000%02d.000100", i), conversation.ShellCommand, command)
		w.settledBy(rule, command)
		all = append(all, w)
	}
	var wg sync.WaitGroup
	began := time.Now()
	for _, w := range all {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 60*time.Second)
			defer cancel()
			a, err := w.Rows.Load(ctx, w.Ref)
			if err == nil {
				j := &job{Handler: w.Handler, ref: w.Ref, session: a.Conversation, action: a.Current(), invocation: "i"}
				err = j.claim(ctx, a.Head.Run)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d were claimed in %s", many, time.Since(began))
	year := tenancy.DefaultSettings().FiscalYear(all[0].now)
	given := expect.Value(rows.Numbers(t.Context(), all[0].Ref.Tenant, year, "", 0))(t)
	slices.Reverse(given)
	expect.Is(t, len(given), many)
	for i, n := range given {
		expect.That(t, n.N == i+1, "number %d is the %dth", n.N, i+1)
	}
	for _, w := range all {
		x := expect.Value(rows.Load(t.Context(), w.Ref))(t).Current()
		expect.That(t, slices.ContainsFunc(given, func(n task.Numbered) bool {
			return n.String() == x.DecisionNumber && n.ActionID == x.ActionID && n.SessionID == w.Ref.ID
		}), "%q is another's", x.DecisionNumber)
	}
}

// What was settled along a route is executed for 14 days; then it ends, and the run with it.
func TestWhatWasSettledTooLongAgoIsNotExecuted(t *testing.T) {
	server := storetest.Start(t)
	for days, runs := range map[int]bool{14: true, 15: false} {
		w := approved(t, server, conversation.ShellCommand, command)
		w.settledAlong(command)
		w.now = w.now.AddDate(0, 0, days)
		expect.Value(w.handle())(t)
		a := w.Load()
		x := a.Actions[1]
		expect.Is(t, w.box.ran > 0, runs, days, "days later it is executed")
		if !runs {
			expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonAged &&
				a.Current() == nil, "%+v", x)
		}
	}
}

// settledAlong has U1 propose the same in place of the approved action, and U2 settle it along a route.
func (w *world) settledAlong(p conversation.Payload) {
	w.settledBy(circulation.Rule{ID: "r1", Name: "commands", Revision: 1}, p)
}

// settledBy is settledAlong by a rule.
func (w *world) settledBy(rule circulation.Rule, p conversation.Payload) {
	w.T.Helper()
	stage := circulation.Stage{Name: "U2", Mode: circulation.ModePeople, Need: 1,
		People: []circulation.Person{{User: "U2"}}}
	again := w.proposal(conversation.ShellCommand, p, "")
	again.Terms.ApprovalHours = 72
	again.Opening = &aggregate.Opening{
		Rule: rule, Askers: []circulation.Person{{User: "U1"}},
		Route: circulation.Route{Form: circulation.Form, Hands: 1, Stages: []circulation.Stage{stage}},
	}
	hand, by := circulation.Person{User: "U2"}, aggregate.Actor{Type: aggregate.ActorUser, ID: "U2", Team: "T1"}
	for _, decide := range []conversation.Decision{
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Cancel(a.Current().ActionID, pipelinetest.Member("U1"), pipelinetest.Anyone(), w.now)
		},
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Propose(*again, pipelinetest.Member("U1"), pipelinetest.Anyone(), w.now)
		},
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			x := a.Current()
			act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: 1, Hash: x.Gate.AskedSum}
			return a.Act(x.ActionID, act, by, pipelinetest.Anyone(), w.now)
		},
	} {
		w.Do(decide)
	}
}

// slowFiles takes its time to keep what a command left.
type slowFiles struct {
	*archives
	w *world
}

func (s slowFiles) Take(ctx context.Context, of large.VersionsOf, action string) (string, error) {
	s.w.now = s.w.now.Add(time.Minute)
	return s.archives.Take(ctx, of, action)
}

func testLateTime(t *testing.T, w *world) {
	over := w.now.Add(time.Second)
	w.box.running = func() {
		w.Cancel()
		w.now = over
	}
	w.box.end, w.Files = isolated.End{Version: "x"}, slowFiles{w.archives, w}
	w.archives.uploaded = &files.Tree{}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.Must(t, x.Late != nil && w.now.After(over), "%+v at %v", x, w.now)
	expect.That(t, x.Late.At.Equal(over), "it ended at %v, not at %v", over, x.Late.At)
}
