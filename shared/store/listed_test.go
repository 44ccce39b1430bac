package store_test

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const tenant = "01TENANT"

func at() time.Time { return time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC) }

// ways are decisions that lead to each status.
func ways() map[task.Status][]task.Decision {
	type agg = *task.Aggregate
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ONE", Team: "T0TEAM", Member: true}
	policy := aggregate.Policy{Team: "T0TEAM", Mode: aggregate.ApproversChannel, AllowSelf: true}
	now, late := at().Add(time.Minute), at().Add(1000*time.Hour)
	s := tenancy.DefaultSettings()
	step := []task.Step{{StepID: "s", Order: 1, Tool: "list_employees", ToolInput: "{}", Access: aggregate.Read, ToolVersion: "v1", Description: "d"}}
	extract := func(a agg) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "t", Priority: task.Medium, TaskType: task.TypeStandard}, now)
	}
	plain := func(k task.ExtractKind) task.Decision {
		return func(a agg) (aggregate.Change, error) {
			return a.Extracted(a.Head.Run, task.Extract{Kind: k, Sentence: "…"}, now)
		}
	}
	begin := func(a agg) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, now) }
	finish := func(a agg) (aggregate.Change, error) { return a.FinishPrompt(a.Head.Run, "方針", s, now) }
	approve := func(a agg) (aggregate.Change, error) { return decide.Approve(a, a.Prompt().ID, by, policy, now) }
	plan := func(a agg) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, now) }
	planned := func(a agg) (aggregate.Change, error) { return a.FinishProcess(a.Head.Run, step, "", s, now) }
	stamp := func(a agg) (aggregate.Change, error) { return decide.Approve(a, a.Process().ID, by, policy, now) }
	fail := func(why aggregate.Reason) task.Decision {
		return func(a agg) (aggregate.Change, error) { return a.FailExecution(a.Head.Run, why, "", now) }
	}
	running := []task.Decision{extract, begin, finish, approve, plan, planned, stamp}
	with := func(more ...task.Decision) []task.Decision {
		return append(running[:len(running):len(running)], more...)
	}
	return map[task.Status][]task.Decision{
		task.StatusDrafting: {extract, begin},
		task.StatusWaits:    {extract, begin, finish},
		task.StatusNotDrafted: {func(a agg) (aggregate.Change, error) {
			return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", now)
		}},
		task.StatusRunning: running,
		task.StatusToRetry: with(fail(task.ReasonStepsChanged)),
		task.StatusFailed:  with(fail(task.ReasonToolValue)),
		task.StatusDone: with(
			func(a agg) (aggregate.Change, error) { return a.StartExecution(a.Head.Run, now) },
			func(a agg) (aggregate.Change, error) {
				call := task.Call{Order: 1, Arguments: aggregate.Blob{JSON: "{}"}, Tool: task.ToolRef{Name: "list_employees"}}
				call.Claim = task.Claim{Invocation: "invocation", LeaseUntil: now.Add(time.Minute)}
				return a.ClaimStep(a.Head.Run, call, now)
			},
			func(a agg) (aggregate.Change, error) {
				return a.FinishStep(task.StepKey(1, 1, 1), "invocation", task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: "{}"}}, now)
			},
			func(a agg) (aggregate.Change, error) { return a.CompleteExecution(a.Head.Run, "完了", now) }),
		task.StatusCancelled: {extract, func(a agg) (aggregate.Change, error) { return a.End(by, policy, now) }},
		task.StatusExpired:   {extract, begin, finish, func(a agg) (aggregate.Change, error) { return a.Expire(late) }},
		task.StatusRefused:   {plain(task.KindUnsupported)},
		task.StatusAnswered:  {plain(task.KindHelp)},
	}
}

func TestEachStatusHasItsList(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	all := ways()
	made := map[string]task.Status{}
	n := 0
	for _, status := range task.Statuses {
		for range 2 {
			n++
			ref := received(t, s, "T0TEAM", "U0ONE", fmt.Sprint(status, " ", n), n)
			for i, d := range all[status] {
				_, err := s.Decide(t.Context(), ref, d)
				expect.Must(t, err == nil, "%s: decision %d: %v", status, i, err)
			}
			made[ref.ID] = status
			a := expect.Value(s.Load(t.Context(), ref))(t)
			expect.Must(t, a.Status() == status, "%s is %s", status, a.Status())
		}
	}
	tenant := aggregate.TenantID("T0TEAM")
	for _, requester := range []string{"", "U0ONE", "U0TWO"} {
		for _, status := range append([]task.Status{""}, task.Statuses...) {
			want := 2
			if status == "" {
				want = len(made)
			}
			if requester == "U0TWO" {
				want = 0
			}
			p := expect.Value(s.Search(t.Context(), tenant, task.Filter{Status: status, Requester: requester}, "", store.MaxPage, 1000, nil))(t)
			expect.That(t, len(p.Items) == want, "%d are %q of %q, want %d", len(p.Items), status, requester, want)
			for i, x := range p.Items {
				expect.That(t, x.Stands == made[x.ID] && x.Requester() == "U0ONE", "%s is %s", made[x.ID], x.Stands)
				expect.That(t, (x.Stands == task.StatusWaits) == (x.WaitsFor == task.CardPrompt), "%s waits for %q", x.Stands, x.WaitsFor)
				expect.That(t, (x.Title != "") != (x.Text != ""), "%+v has no words, or too many", x)
				expect.That(t, i == 0 || !p.Items[i-1].CreatedAt.Before(x.CreatedAt), "they are not in order")
			}
		}
	}
	_, err := s.Search(t.Context(), tenant, task.Filter{Status: "extracted"}, "", 10, 0, nil)
	expect.That(t, err != nil, "a status of the data model is taken")
}

// received makes a request.
func received(t *testing.T, s *store.TaskStore, team, user, text string, n int) aggregate.Ref {
	t.Helper()
	now := at().Add(time.Duration(n) * time.Second)
	r := task.Request{TeamID: team, Channel: "C0CHANNEL", ChannelType: "channel", User: user, Text: text, Source: task.SourceChannel}
	r.MessageTS = fmt.Sprintf("17700000%02d.000100", n)
	r.ThreadTS = r.MessageTS
	c, ref, err := task.Receive(aggregate.TenantID(team), r, now)
	expect.NoError(t, err)
	expect.NoError(t, s.Create(t.Context(), c))
	return ref
}
