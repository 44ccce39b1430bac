package main

import (
	"testing"

	"ringi/shared/pipeline/pipelinetest"
	"ringi/shared/slackapi"
	"ringi/shared/task"
)

// TestWhoeverMayNotAskCostsNothing: the run of such a request ends here, before any
// model, with an end that the card shows.
func TestWhoeverMayNotAskCostsNothing(t *testing.T) {
	server := pipelinetest.Start(t)
	member := slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}
	guest, stranger, grid := member, member, member
	guest.Guest, stranger.Team = true, "T0OTHER"
	grid.Team, grid.Teams = "T0HOME", []string{"T0HOME", pipelinetest.Team}
	refused := func(code string) error { return slackapi.Refused{Code: code, Permanent: true} }
	for name, tt := range map[string]struct {
		who    answers
		reason task.Reason
	}{
		"a member":                             {answers{user: member}, ""},
		"a guest":                              {answers{user: guest}, task.ReasonGuest},
		"a stranger":                           {answers{user: stranger}, task.ReasonStranger},
		"one whom Slack doesn't show us":       {answers{err: refused("user_not_visible")}, task.ReasonStranger},
		"one whom Slack doesn't know":          {answers{err: refused("user_not_found")}, task.ReasonStranger},
		"a member of several workspaces":       {answers{user: grid}, ""},
		"where Slack can't say who people are": {answers{err: refused("unknown_method")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := server.World(t)
			h := handler(w)
			tt.who.team = pipelinetest.Team
			h.Slack = tt.who
			next, err := h.Handle(t.Context(), w.In())
			if err != nil {
				t.Fatal(err)
			}
			ended := w.Load().Head.Ended
			if tt.reason == "" {
				if next.State != task.StateExtractTask || ended != nil {
					t.Errorf("%+v, ended %+v", next, ended)
				}
				return
			}
			if next.State != task.StateFinish || next.Outcome != "refused" || ended == nil || ended.As != task.TaskRefused || ended.Reason != tt.reason {
				t.Errorf("%+v, ended %+v", next, ended)
			}
			if again, err := h.Handle(t.Context(), w.In()); err != nil || again != next {
				t.Errorf("the second time: %+v, %v", again, err)
			}
		})
	}
}

// TestATaskTooManyIsRefused and costs nothing; another gets its place when one ends.
func TestATaskTooManyIsRefused(t *testing.T) {
	server := pipelinetest.Start(t)
	w := server.World(t)
	x := task.DefaultSettings()
	x.MaxOpenTasks.Person = 1
	if _, err := w.Store.SaveSettings(t.Context(), w.Ref.Tenant, x, pipelinetest.Approver(), w.Now()); err != nil {
		t.Fatal(err)
	}
	resume := func(w *pipelinetest.World) task.Next {
		t.Helper()
		next, err := handler(w).Handle(t.Context(), w.In())
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	if next := resume(w); next.State != task.StateExtractTask {
		t.Fatalf("%+v", next)
	}
	if next := resume(w); next.State != task.StateExtractTask { // the run comes back to its own place
		t.Fatalf("%+v", next)
	}
	second := w.Another()
	if next := resume(second); next.Outcome != "refused" || second.Load().Head.Ended.Reason != task.ReasonOpenPerson || second.Load().Head.Ended.Detail != "1" {
		t.Fatalf("%+v, %+v", next, second.Load().Head.Ended)
	}
	w.Cancel()
	if next := resume(w.Another()); next.State != task.StateExtractTask {
		t.Errorf("%+v", next)
	}
}
