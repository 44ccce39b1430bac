package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
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
			a, err := w.rows.Load(ctx, w.ref)
			if err == nil {
				j := &job{Handler: w.Handler, ref: w.ref, session: a.Conversation, action: a.Current(), invocation: "i"}
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
	given := expect.Value(store.Decisions(t.Context(), rows.Of.Store, all[0].ref.Tenant, year, "", 0))(t)
	slices.Reverse(given)
	expect.Is(t, len(given), many)
	for i, n := range given {
		expect.That(t, n.N == i+1, "number %d is the %dth", n.N, i+1)
	}
	for _, w := range all {
		x := expect.Value(rows.Load(t.Context(), w.ref))(t).Current()
		expect.That(t, slices.ContainsFunc(given, func(n task.Numbered) bool {
			return n.String() == x.DecisionNumber && n.ActionID == x.ActionID && n.SessionID == w.ref.ID
		}), "%q is another's", x.DecisionNumber)
	}
}
