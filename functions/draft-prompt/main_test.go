package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/tool"
)

func handler(w *pipelinetest.World, g *modeltest.Demo) *Handler {
	return &Handler{Store: w.StoreOverTransport(), Tools: tool.Builtin, Open: g.Open, Model: "demo",
		Models: teamconfig.Models{Instead: "demo"}, Now: w.Now, Prompts: w.Results().Prompts}
}

func handle(t *testing.T, w *pipelinetest.World, g *modeltest.Demo) aggregate.Next {
	t.Helper()
	return expect.Value(handler(w, g).Handle(t.Context(), w.In()))(t)
}

const reason = "データの検証を追加して"

func reject(w *pipelinetest.World) {
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject(reason)(a, a.Prompt().ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
	})
}

func TestDraftPrompt(t *testing.T) {
	server := pipelinetest.Start(t)
	testDrafts(t, server)
	testVersions(t, server)
	testInterruptions(t, server)
}

func testDrafts(t *testing.T, server *pipelinetest.Server) {
	t.Run("a policy is drafted and waits, once", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		w.Extracted()
		for range 2 {
			next := handle(t, w, g)
			expect.Must(t, next.State == task.StateAwaitPromptApproval && next.Gate == task.PromptKey(1), "%+v", next)
		}
		if p := w.Load().Prompt(); p.Content == "" || p.Status != aggregate.PendingApproval || g.Calls != 1 {
			t.Errorf("%+v after %d calls", p, g.Calls)
		}
	})
	t.Run("a policy that its card can't show whole is not asked of people", func(t *testing.T) {
		unseen := expect.Value(json.Marshal(map[string]string{
			"policy": strings.Repeat("@here ", 1300) + "最後に全員へ送る", "title": "件名"}))(t)
		w, g := server.World(t), &modeltest.Demo{First: string(unseen)}
		w.Extracted()
		next := handle(t, w, g)
		expect.Must(t, next.State == task.StateAwaitPromptApproval, "%+v", next)
		if p := w.Load().Prompt(); g.Calls != 2 || !card.PromptFits(p.Content) || p.Content == "" {
			t.Errorf("after %d calls: %q", g.Calls, p.Content)
		}
	})
	t.Run("the model is told what an administrator does not allow", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		w.Extracted()
		for _, p := range []tenancy.ToolPermission{
			{ToolName: "send_slack_dm", Constraints: "{}"},
			{ToolName: "list_employees", Allowed: true, Constraints: `{"departments":["営業部"]}`},
			{ToolName: "list_attendance", Allowed: true, Constraints: "{}"},
		} {
			p.TenantID = w.Ref.Tenant
			expect.Value(w.Store.SaveToolPermission(t.Context(), p, aggregate.System(), w.Now(), tenancy.OnlyDepartments))(t)
		}
		handle(t, w, g)
		for _, want := range []string{`"forbidden":["send_slack_dm"]`,
			`"constraints":[{"tool":"list_employees","departments":["営業部"]}]`} {
			expect.Has(t, strings.Join(strings.Fields(g.Asked[0]), ""), want, "is not")
		}
	})
}

func testVersions(t *testing.T, server *pipelinetest.Server) {
	t.Run("the next version sees what was rejected, and why", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		w.Extracted()
		handle(t, w, g)
		first := w.Load().Prompt().Content
		reject(w)
		next := handle(t, w, g)
		expect.Must(t, next.Gate == task.PromptKey(2), "%+v", next)
		if last := g.Asked[len(g.Asked)-1]; !strings.Contains(last, reason) || w.Load().Prompt().Content == first {
			t.Errorf("version 2 is %q; asked with %s", w.Load().Prompt().Content, last)
		}
	})
	for _, asks := range []bool{true, false} {
		t.Run(fmt.Sprintf("approvals switched to %v while the model thinks are honoured", asks), func(t *testing.T) {
			w, g := server.World(t), &modeltest.Demo{}
			w.Extracted()
			w.Settings(func(s *tenancy.Settings) { s.PromptApprovalRequired = !asks })
			g.Before = func() { w.Settings(func(s *tenancy.Settings) { s.PromptApprovalRequired, s.MaxVersions = asks, 7 }) }
			handle(t, w, g)
			p := w.Load().Prompt()
			expect.That(t, p.Status == aggregate.PendingApproval && p.Terms.ApprovalRequired == asks && p.Terms.MaxVersions == 7,
				"%s under %+v", p.Status, p.Terms)
			if s := w.Settings(func(*tenancy.Settings) {}); p.Terms.SettingsRev != s.Rev || g.Calls != 1 || p.Usage == nil {
				t.Errorf("settings %d of %d, %d calls, %+v", p.Terms.SettingsRev, s.Rev, g.Calls, p.Usage)
			}
		})
	}
	t.Run("a draft that comes late is not taken for the next version", func(t *testing.T) {
		w, slow := server.World(t), &modeltest.Demo{}
		w.Extracted()
		slow.Before = func() { // a retry succeeded, people judged its draft, and the next is being written
			handle(t, w, &modeltest.Demo{})
			reject(w)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
		}
		expect.Is(t, handle(t, w, slow).State, task.StateDraftPrompt)
		if p := w.Load().Prompt(); p.Version != 2 || p.Status != aggregate.Generating || p.Content != "" {
			t.Errorf("version %d is %s: %q", p.Version, p.Status, p.Content)
		}
	})
}

func testInterruptions(t *testing.T, server *pipelinetest.Server) {
	for name, err := range map[string]error{
		"a failure": &model.Error{Kind: model.Refused}, "asked to wait": &model.Error{Kind: model.RateLimited,
			RetryAfter: time.Minute, Retryable: true},
	} {
		t.Run(name+" that comes late does not stop the next version", func(t *testing.T) {
			w, slow := server.World(t), &modeltest.Demo{Err: err}
			w.Extracted()
			slow.Before = func() {
				handle(t, w, &modeltest.Demo{})
				reject(w)
				w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
			}
			expect.Is(t, handle(t, w, slow).State, task.StateDraftPrompt)
			h := w.Load().Head
			expect.That(t, h.Parked == nil && h.PausedUntil == nil, "parked %+v, paused until %v", h.Parked, h.PausedUntil)
		})
	}
	t.Run("a policy that can't be saved is paid for", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		w.Extracted()
		g.Before = w.RefuseCommits
		_, err := handler(w, g).Handle(t.Context(), w.In())
		w.PaidAlone(err)
	})
	t.Run("a task that is cancelled meanwhile stays so", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		w.Extracted()
		g.Before = func() { w.Cancel() }
		expect.Fails(t, expect.Err(handler(w, g).Handle(t.Context(), w.In())), aggregate.ErrSuperseded)
	})
	t.Run("a model that refuses parks the version, and another try goes on with it", func(t *testing.T) {
		w := server.World(t)
		w.Extracted()
		expect.Is(t, handle(t, w, &modeltest.Demo{Err: &model.Error{Kind: model.Refused}}).State, task.StateFail)
		p := w.Load().Head.Parked
		expect.That(t, p != nil && p.Layer == task.L2 && p.Sentence == task.ReasonModelRefused, "%+v", p)
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.RetryGeneration(pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
		})
		if next := handle(t, w, &modeltest.Demo{}); next.Gate != task.PromptKey(1) || len(w.Load().Prompts) != 1 {
			t.Errorf("%+v with %d prompts", next, len(w.Load().Prompts))
		}
	})
}

// After ExtractTask the run comes here whatever it answered. What is not due changes nothing, goes where the rows lead,
// and counts no failure a second time.
func TestDraftsAfterExtractTaskOnlyWhatIsDue(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, tt := range map[string]struct {
		bring      func(w *pipelinetest.World)
		said, next string
		calls      int
	}{
		"a task": {func(w *pipelinetest.World) { w.Extracted() }, task.StateDraftPrompt, task.StateAwaitPromptApproval, 1},
		"a plain answer": {func(w *pipelinetest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Extracted(a.Head.Run, task.Extract{Kind: task.KindHelp, Sentence: "できること"}, w.Now())
			})
		}, task.StateFinish, task.StateFinish, 0},
		"a pause": {func(w *pipelinetest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.WaitUntil(a.Head.Run, a.Generating(), w.Now().Add(time.Minute), w.Now())
			})
		}, task.StatePause, task.StatePause, 0},
		"a failure": {func(w *pipelinetest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(a.Head.Run, a.Generating(), task.ReasonModelKey, "", w.Now())
			})
		}, task.StateFail, task.StateFail, 0},
		"a gate that waits": {func(w *pipelinetest.World) { w.Prompted(tenancy.DefaultSettings()) },
			task.StateDraftPrompt, task.StateAwaitPromptApproval, 0},
		"a task that was cancelled since": {func(w *pipelinetest.World) { w.Extracted(); w.Cancel() },
			task.StateDraftPrompt, task.StateFinish, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, g := server.World(t), &modeltest.Demo{}
			tt.bring(w)
			before := w.Load()
			in := w.In()
			in.Next = tt.said
			counted := expect.Metrics(t, func() {
				for range 2 {
					out := expect.Value(pipeline.Edge(handler(w, g).Handle)(t.Context(), in))(t)
					expect.That(t, out.Next == tt.next && g.Calls == tt.calls, "%+v after %d calls", out, g.Calls)
				}
			})
			expect.That(t, !strings.Contains(counted, "RunFailed"), "ExtractTask has counted the failure: %s", counted)
			expect.That(t, tt.calls > 0 || w.Load().Head.Rev == before.Head.Rev, "it has changed the task")
		})
	}
}

// A form's policy is its text: neither a model nor a contest drafts one, and nobody is asked about it.
func TestAFormIsItsPolicy(t *testing.T) {
	w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{}
	w.ReceiveForm()
	w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
	w.Extracted()
	next := handle(t, w, g)
	p := w.Load().Prompt()
	expect.That(t, next.State == task.StateAwaitPromptApproval && p.Content == "決裁を求めます" && g.Calls == 0 &&
		!p.Terms.ApprovalRequired && p.Contest == nil, "%+v %+v", next, p)
}
