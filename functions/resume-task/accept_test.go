package main

import (
	"cmp"
	"strings"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// TestWhoeverMayNotAskCostsNothing: the run of such a request ends before any model is called, and the card shows why.
func TestWhoeverMayNotAskCostsNothing(t *testing.T) {
	server := pipelinetest.Start(t)
	member := slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}
	guest, stranger := member, member
	guest.Guest, stranger.Team = true, "T0OTHER"
	refused := func(code string) error { return slackapi.Refused{Code: code, Permanent: true} }
	for name, tt := range map[string]struct {
		who    answers
		reason aggregate.Reason
	}{
		"a member":                       {answers{user: member}, ""},
		"a guest":                        {answers{user: guest}, task.ReasonGuest},
		"a stranger":                     {answers{user: stranger}, task.ReasonStranger},
		"one whom Slack doesn't show us": {answers{err: refused("user_not_visible")}, task.ReasonStranger},
	} {
		t.Run(name, func(t *testing.T) {
			w := server.World(t)
			h := handler(w)
			tt.who.team = pipelinetest.Team
			h.Slack = tt.who
			next := expect.Value(h.Handle(t.Context(), w.In()))(t)
			ended := w.Load().Head.Ended
			if tt.reason == "" {
				expect.That(t, next.State == task.StateExtractTask && ended == nil, "%+v, ended %+v", next, ended)
				return
			}
			expect.That(t, next.State == task.StateFinish && next.Outcome == "refused" && ended != nil &&
				ended.As == task.TaskRefused && ended.Reason == tt.reason, "%+v, ended %+v", next, ended)
			again, err := h.Handle(t.Context(), w.In())
			expect.That(t, err == nil && again == next, "the second time: %+v, %v", again, err)
		})
	}
}

// A request that nobody could approve is refused before a model is called. Slack says who is in a group. Whom all
// settings leave, package people proves.
func TestWhatNobodyCouldApproveIsRefused(t *testing.T) {
	server := pipelinetest.Start(t)
	list := func(users, groups []string) tenancy.Approvers {
		return tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups}
	}
	channel := tenancy.Approvers{Mode: aggregate.ApproversChannel, Users: []string{}, Usergroups: []string{}}
	own := []string{pipelinetest.Requester}
	for name, tt := range map[string]struct {
		kind      string // the channel's type and id; the id is D0 by default
		approvers tenancy.Approvers
		self      bool
		reason    aggregate.Reason
		unasked   bool // neither policy nor steps need approval
	}{
		"a direct message to oneself":    {"im", channel, false, task.ReasonOnlyAskers, false},
		"in a channel":                   {"channel", channel, false, "", false},
		"in a channel of one's own":      {"channel C0ALONE", channel, false, task.ReasonNoMember, false},
		"in a group's direct message":    {"channel C0GROUP", channel, true, task.ReasonGroupMessage, false},
		"a list of oneself":              {"channel", list(own, []string{}), false, task.ReasonNoApprover, false},
		"a group of others":              {"im", list(own, []string{"S0OTHERS"}), false, "", false},
		"oneself, where nobody is asked": {"im", channel, false, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := server.World(t)
			kind, channel, _ := strings.Cut(tt.kind, " ")
			w.Receive(task.Request{User: pipelinetest.Requester, Channel: cmp.Or(channel, "D0"), ChannelType: kind,
				MessageTS: "1775034000.000200", ThreadTS: "1775034000.000200"})
			w.Settings(func(s *tenancy.Settings) {
				s.Approvers, s.AllowSelfApproval = tt.approvers, tt.self
				s.PromptApprovalRequired, s.ProcessApprovalRequired = !tt.unasked, !tt.unasked
			})
			next := expect.Value(handler(w).Handle(t.Context(), w.In()))(t)
			if tt.reason == "" {
				expect.That(t, next.State == task.StateExtractTask && w.Load().Head.AcceptedAt != nil, "%+v", next)
				return
			}
			a := w.Load()
			e := a.Head.Ended
			expect.Must(t, next.State == task.StateFinish && next.Outcome == "refused" && e != nil && e.Reason == tt.reason &&
				a.Head.AcceptedAt == nil, "%+v, ended %+v", next, e)
		})
	}
}

// If Slack doesn't say who is listed, an accepted task goes on.
func TestATaskThatWasAcceptedDoesNotWaitForSlack(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	w.Extracted()
	w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U0OTHER"}, Usergroups: []string{}}
	})
	h := handler(w)
	h.Slack = answers{team: pipelinetest.Team, err: slackapi.Unknown{Cause: "timeout"}}
	expect.Same(t, task.StateDraftPrompt, expect.Value(h.Handle(t.Context(), w.In()))(t).State)
}

// TestATaskTooManyIsRefused at no cost. When another task ends, the next request is accepted.
func TestATaskTooManyIsRefused(t *testing.T) {
	server := pipelinetest.Start(t)
	w := server.World(t)
	x := tenancy.DefaultSettings()
	x.MaxOpenTasks = 1
	expect.Value(w.Store.SaveSettings(t.Context(), w.Ref.Tenant, x, pipelinetest.Approver(), w.Now()))(t)
	resume := func(w *pipelinetest.World) aggregate.Next {
		t.Helper()
		return expect.Value(handler(w).Handle(t.Context(), w.In()))(t)
	}
	if next := resume(w); next.State != task.StateExtractTask {
		t.Fatalf("%+v", next)
	}
	if next := resume(w); next.State != task.StateExtractTask { // the run still has its own place
		t.Fatalf("%+v", next)
	}
	second := w.Another()
	next := resume(second)
	expect.Must(t, next.Outcome == "refused" && second.Load().Head.Ended.Reason == task.ReasonOpenPerson &&
		second.Load().Head.Ended.Detail == "1", "%+v, %+v", next, second.Load().Head.Ended)
	w.Cancel()
	expect.Same(t, task.StateExtractTask, resume(w.Another()).State)
}
