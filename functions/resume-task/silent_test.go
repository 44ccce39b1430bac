package main

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// A request waits for as long as Slack doesn't say who asks, or whose the app is: nothing
// is accepted, spent or parked, and it goes on by itself once Slack answers.
func TestARequestWaitsForSlack(t *testing.T) {
	expect.Patience(t)
	server := pipelinetest.Start(t)
	member := slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}
	refused := func(code string) error { return slackapi.Refused{Code: code, App: true} }
	for name, s := range map[string]answers{
		"no answer about a person":    {err: slackapi.Unknown{Cause: "timeout"}},
		"too many questions":          {err: slackapi.RateLimited{RetryAfter: 10 * time.Minute}},
		"a token that is refused":     {err: refused("invalid_auth")},
		"a permission that is missed": {err: refused("missing_scope")},
		"no token":                    {err: errors.New("no token")},
		"no answer whose the app is":  {unsure: slackapi.Unknown{Cause: "timeout"}},
		"a token that is nobody's":    {unsure: refused("invalid_auth")},
	} {
		t.Run(name, func(t *testing.T) {
			w := server.World(t)
			s.team = pipelinetest.Team
			now := w.Now()
			h := handler(w)
			h.Slack, h.Now = s, func() time.Time { return now }
			began := now
			var last time.Duration
			for tries := 0; now.Sub(began) < 3*time.Hour; tries++ {
				next, err := h.Handle(t.Context(), w.In())
				a := w.Load()
				if err != nil || next.State != task.StatePause || a.Head.Parked != nil || a.Head.AcceptedAt != nil ||
					a.Head.Ended != nil {
					t.Fatalf("after %s: %+v, %v, %+v", now.Sub(began), next, err, a.Head)
				}
				if tries > 0 && a.Head.PausedUntil.Sub(now) < last/2 || tries > 1000 {
					t.Fatalf("try %d after %s: again in %s", tries, now.Sub(began), a.Head.PausedUntil.Sub(now))
				}
				last = a.Head.PausedUntil.Sub(now)
				expect.Must(t, s.err != error(slackapi.RateLimited{RetryAfter: 10 * time.Minute}) || last >= 10*time.Minute,
					"again in %s, before Slack said", last)
				rev := a.Head.Rev
				if next, err := h.Handle(t.Context(), w.In()); err != nil || next.State != task.StatePause ||
					w.Load().Head.Rev != rev {
					t.Fatalf("asked again before its time: %+v, %v", next, err)
				}
				now = *a.Head.PausedUntil
			}
			h.Slack = answers{team: pipelinetest.Team, user: member}
			if next, err := h.Handle(t.Context(), w.In()); err != nil || next.State != task.StateExtractTask ||
				w.Load().Head.AcceptedAt == nil {
				t.Errorf("%+v, %v", next, err)
			}
		})
	}
}

// What a message waited until somebody said that it is a request is no silence of Slack's.
func TestAChoiceThatTookLongIsNoSilence(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	w.Prompted(tenancy.DefaultSettings())
	reply := w.Reply()
	now := reply.Now()
	h := handler(reply)
	h.Now = func() time.Time { return now }
	if next, err := h.Handle(t.Context(), reply.In()); err != nil || next.Outcome != "asked" {
		t.Fatalf("%+v, %v", next, err)
	}
	now = now.Add(10 * time.Hour)
	choice := reply.Load().Choice.ID
	reply.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.TakeAsRequest(choice, pipelinetest.Approver(), pipelinetest.Policy(), now)
	})
	h.Slack = answers{team: pipelinetest.Team, err: slackapi.Unknown{Cause: "timeout"}}
	expect.Value(h.Handle(t.Context(), reply.In()))(t)
	rest := reply.Load().Head.PausedUntil.Sub(now)
	expect.That(t, rest <= 10*time.Second, "one answer was lost, and Slack is asked again in %s", rest)
}
