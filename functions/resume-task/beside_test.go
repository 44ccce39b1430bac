package main

import (
	"context"
	"fmt"
	"testing"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// A message in a thread with a waiting gate may be an answer to the gate. People are asked, and until they decide no
// model is called.
func TestAMessageBesideAGateThatWaits(t *testing.T) {
	server := pipelinetest.Start(t)
	off := tenancy.DefaultSettings()
	off.PromptApprovalRequired = false
	for _, tt := range []struct {
		name  string
		bring func(w *pipelinetest.World) (waits, reply *pipelinetest.World)
		asks  bool
	}{
		{"a policy waits", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Prompted(tenancy.DefaultSettings())
			return w, w.Reply()
		}, true},
		{"the policy of a request that is itself a reply", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			first := w.Reply()
			first.Prompted(tenancy.DefaultSettings())
			w.Cancel()
			return first, w.Reply()
		}, true},
		{"steps wait", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", aggregate.Read, `{}`))
			return w, w.Reply()
		}, true},
		{"a gate that asks nobody", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Prompted(off)
			return w, w.Reply()
		}, false},
		{"a policy is being drafted", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Extracted()
			return w, w.Reply()
		}, false},
		{"the task of the thread is over", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Prompted(tenancy.DefaultSettings())
			w.Cancel()
			return w, w.Reply()
		}, false},
		{"a policy waits in another thread", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Prompted(tenancy.DefaultSettings())
			return w, w.Another().Reply()
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			waits, reply := tt.bring(server.World(t))
			checkAsked(t, waits, reply, tt.asks)
		})
	}
}

// checkAsked runs a reply's task twice. With asks it checks that people are asked about the waiting gate, otherwise
// that the reply is extracted.
func checkAsked(t *testing.T, waits, reply *pipelinetest.World, asks bool) {
	want := task.StateExtractTask
	if asks {
		want = task.StateFinish
	}
	for range 2 {
		next, err := handler(reply).Handle(t.Context(), reply.In())
		expect.Must(t, err == nil && next.State == want, "%+v, %v, want %s", next, err, want)
	}
	a := reply.Load()
	expect.Must(t, (a.Choosing() != nil) == asks, "%+v", a.Choice)
	b, _ := waits.Load().OpenGateBeside()
	expect.That(t, !asks || a.Choice.Gate == b, "%+v, and %+v waits", a.Choice, b)
}

// Beside a gate along a route the question that waits for the message's author is noted, and nobody else's.
func TestAMessageBesideAQuestion(t *testing.T) {
	server := pipelinetest.Start(t)
	for user, question := range map[string]int{pipelinetest.Requester: 1, "U0TANAKA": 0} {
		w := server.World(t)
		o := pipelinetest.Along([]string{pipelinetest.Requester}, 1, pipelinetest.Desk("課長", 1, pipelinetest.Approver().ID))
		id := w.PlannedOnRoute(tenancy.DefaultSettings(), o,
			pipelinetest.Step(1, "list_employees", aggregate.Read, `{}`)).Process().ID
		by := pipelinetest.Approver()
		by.Stage = 1
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return decide.Ask("何社?")(a, id, by, pipelinetest.Policy(), w.Now())
		})
		reply := w.ReplyOf(user, "3社です")
		expect.Value(handler(reply).Handle(t.Context(), reply.In()))(t)
		choice := reply.Load().Choosing()
		expect.That(t, choice != nil && choice.Gate.Ruled && choice.Gate.Question == question, "%s: %+v", user, choice)
	}
}

// A person who may not ask is refused in such a thread, too, without a choice. A person beyond the quota is refused
// only if the message turns out to be a request: a reason doesn't count towards the quota.
func TestWhoMayAskBesideAGate(t *testing.T) {
	server := pipelinetest.Start(t)
	resume := func(h *Handler, w *pipelinetest.World, outcome string) *task.Aggregate {
		t.Helper()
		next, err := h.Handle(t.Context(), w.In())
		expect.Must(t, err == nil && next.Outcome == outcome, "%+v, %v, want %s", next, err, outcome)
		return w.Load()
	}
	t.Run("a guest", func(t *testing.T) {
		w := server.World(t)
		w.Prompted(tenancy.DefaultSettings())
		reply := w.Reply()
		h := handler(reply)
		h.Slack = answers{team: pipelinetest.Team,
			user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team, Guest: true}}
		if a := resume(h, reply, "refused"); a.Choice != nil || a.Head.Ended.Reason != task.ReasonGuest {
			t.Errorf("asked %+v, ended %+v", a.Choice, a.Head.Ended)
		}
	})
	for _, as := range []task.ChoiceAs{task.AsRequest, task.AsReason} {
		t.Run("beyond the quota, as a "+string(as), func(t *testing.T) {
			w := server.World(t)
			x := tenancy.DefaultSettings()
			x.MaxOpenTasks.Person = 1
			expect.Value(w.Store.SaveSettings(t.Context(), w.Ref.Tenant, x, pipelinetest.Approver(), w.Now()))(t)
			resume(handler(w), w, "")
			settings := expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t)
			w.Prompted(settings)
			reply := w.Reply()
			a := resume(handler(reply), reply, "asked")
			expect.That(t, a.Head.AcceptedAt == nil, "it has a place before anybody said that it is a request")
			choice := a.Choice.ID
			reply.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				if as == task.AsReason {
					return a.TakeAsReason(choice, a.Request.Saying(), pipelinetest.Approver(), pipelinetest.Policy(), reply.Now())
				}
				return a.TakeAsRequest(choice, pipelinetest.Approver(), pipelinetest.Policy(), reply.Now())
			})
			if as == task.AsReason {
				expect.Same(t, task.TaskAnswered, reply.Load().Head.Ended.As)
				return
			}
			if a := resume(handler(reply), reply, "refused"); a.Head.Ended.Reason != task.ReasonOpenPerson ||
				a.Head.Ended.Detail != "1" {
				t.Errorf("ended %+v", a.Head.Ended)
			}
		})
	}
}

// In a busy thread, the waiting gate is found behind newer requests that have ended.
func TestAGateBehindManyRequestsThatAreOver(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	w.Cancel()
	w.Reply().Prompted(tenancy.DefaultSettings())
	for range maxBeside + 1 {
		w.Reply().Cancel()
	}
	reply := w.Reply()
	next, err := handler(reply).Handle(t.Context(), reply.In())
	expect.That(t, err == nil && next.Outcome == "asked",
		"%+v, %v: a policy waits in this thread, and nobody is asked", next, err)
}

// A person with a quota of one request an hour writes many messages next to a gate. People are asked about the newest,
// and each older one says why they no longer are. What another person wrote stays, and thanks end nothing.
func TestAPersonIsAskedAboutTheNewestMessageBesideAGate(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	w.Prompted(w.Settings(func(s *tenancy.Settings) { s.MaxOpenTasks.Person, s.MaxTasksPerHour.Person = 1, 1 }))
	resume := func(reply *pipelinetest.World, outcome string) *pipelinetest.World {
		t.Helper()
		for range 2 {
			next, err := handler(reply).Handle(t.Context(), reply.In())
			expect.Must(t, err == nil && next.Outcome == outcome, "%+v, %v, want %s", next, err, outcome)
		}
		return reply
	}
	another := resume(w.ReplyOf(pipelinetest.Approver().ID, "営業部だけ"), "asked")
	last := resume(w.Reply(), "asked")
	for range 5 {
		next := resume(w.Reply(), "asked")
		e := last.Load().Head.Ended
		expect.Must(t, e != nil && e.As == task.TaskCancelled && e.Reason == task.ReasonNewerMessage, "%+v", e)
		last = next
	}
	thanks := resume(w.ReplyOf(pipelinetest.Requester, "OK 👍"), "answered").Load()
	expect.That(t, thanks.Choice == nil && thanks.Head.Ended.Reason == task.ReasonCourtesy, "%+v", thanks.Head.Ended)
	expect.That(t, last.Load().Choosing() != nil, "thanks end a question")
	expect.That(t, another.Load().Choosing() != nil, "another person's question has ended")
	last.Cancel()
	resume(w.Reply(), "asked")
}

// Two messages come together, and the newer one is asked about first: the older one gives way. If neither sees the
// other at first, the second looks again.
func TestTheOlderOfTwoMessagesGivesWay(t *testing.T) {
	server := pipelinetest.Start(t)
	resume := func(reply *pipelinetest.World, s Store) *task.Aggregate {
		t.Helper()
		h := handler(reply)
		if s != nil {
			h.Store = s
		}
		expect.Value(h.Handle(t.Context(), reply.In()))(t)
		return reply.Load()
	}
	w := server.World(t)
	w.Prompted(tenancy.DefaultSettings())
	older, newer := w.Reply(), w.Reply()
	expect.That(t, resume(newer, nil).Choosing() != nil, "nobody is asked")
	e := resume(older, nil).Head.Ended
	expect.That(t, e != nil && e.Reason == task.ReasonNewerMessage && newer.Load().Choosing() != nil, "%+v", e)

	w = server.World(t)
	w.Prompted(tenancy.DefaultSettings())
	older, newer = w.Reply(), w.Reply()
	unlisted := &blind{Store: newer.Store, times: 1}
	expect.That(t, resume(older, nil).Choosing() != nil && resume(newer, unlisted).Choosing() != nil, "nobody is asked")
	expect.That(t, older.Load().Head.Ended != nil && unlisted.times == 0, "%+v", older.Load().Head)

	third := w.Reply()
	e = resume(third, &blind{Store: third.Store, times: 2}).Head.Ended
	expect.That(t, e != nil && e.Reason == task.ReasonAsked && newer.Load().Choosing() != nil, "%+v", e)
}

// blind lists nothing of a thread for some times.
type blind struct {
	Store
	times int
}

func (b *blind) Thread(ctx context.Context, tenant, channel, thread string, limit int) ([]aggregate.Ref, error) {
	if b.times > 0 {
		b.times--
		return nil, nil
	}
	return b.Store.Thread(ctx, tenant, channel, thread, limit)
}

// Rules cost a tenant nothing that has none.
func TestWhatATenantWithoutRulesPays(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, c := range map[string]struct {
		bring func(w *pipelinetest.World)
		want  string
	}{
		"a new request":   {func(*pipelinetest.World) {}, "1 Query, 5 GetItem, 3 TransactWriteItems"},
		"before a policy": {func(w *pipelinetest.World) { w.Extracted() }, "1 Query, 1 GetItem, 0 TransactWriteItems"},
		"before steps": {func(w *pipelinetest.World) {
			w.Prompted(tenancy.DefaultSettings())
			w.Approve()
		}, "1 Query, 1 GetItem, 0 TransactWriteItems"},
		"steps wait": {func(w *pipelinetest.World) {
			w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", "read", "{}"))
		}, "1 Query, 0 GetItem, 0 TransactWriteItems"},
	} {
		w := server.World(t)
		c.bring(w)
		h, in := handler(w), w.In()
		actions := []string{"Query", "GetItem", "TransactWriteItems"}
		var before, n []any
		for _, action := range actions {
			before = append(before, w.Transport.Count(action))
		}
		h.Store = unruled{h.Store, t}
		expect.Value(h.Handle(t.Context(), in))(t)
		for i, action := range actions {
			n = append(n, w.Transport.Count(action)-before[i].(int))
		}
		got := fmt.Sprintf("%d Query, %d GetItem, %d TransactWriteItems", n...)
		expect.That(t, got == c.want, "%s: %s, want %s", name, got, c.want)
	}
}

// unruled is the table of a tenant without rules, of which nothing is read because of rules.
type unruled struct {
	Store
	t *testing.T
}

func (u unruled) Rules(context.Context, string) (*rules.Rules, int, error) {
	u.t.Error("rules are read")
	return nil, 0, nil
}

func (u unruled) ToolPermissions(context.Context, string) ([]tenancy.ToolPermission, error) {
	u.t.Error("permissions are read")
	return nil, nil
}

// Rules cost one read before a request is accepted, and where its people are looked up that, the settings, and a query
// of the marks.
func TestWhatATenantWithRulesPays(t *testing.T) {
	server := pipelinetest.Start(t)
	calls := func(w *ruledWorld) []int {
		var n []int
		actions := []string{"Query", "GetItem", "TransactWriteItems"}
		for _, action := range actions {
			n = append(n, -w.Transport.Count(action))
		}
		w.resume()
		for i, action := range actions {
			n[i] += w.Transport.Count(action)
		}
		return n
	}
	had, has := newRuled(t, server), newRuled(t, server)
	for _, w := range []*ruledWorld{had, has} {
		w.rules(asks(desk("経理", group("S0KEIRI"))))
	}
	had.rules(nil)
	without, with := calls(had), calls(has)
	expect.Same(t, with, []int{without[0], without[1] + 1, without[2]})
	expect.Same(t, has.slack.asked, had.slack.asked)
	has.unrouted()
	expect.Same(t, calls(has), []int{2, 2, 1})
}
