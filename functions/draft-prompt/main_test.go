package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/tool"
)

func handler(w *ringitest.World, g *modeltest.Demo) *Handler {
	return &Handler{Store: w.StoreOverTransport(), Tools: tool.Builtin, Open: g.Open, Model: "demo",
		Models: teamconfig.Models{Instead: "demo"}, Now: w.Now, Results: w.Results()}
}

func handle(t *testing.T, w *ringitest.World, g *modeltest.Demo) aggregate.Next {
	t.Helper()
	return expect.Value(handler(w, g).Handle(t.Context(), w.In()))(t)
}

const reason = "データの検証を追加して"

func reject(w *ringitest.World) {
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject(reason)(a, a.Prompt().ID, ringitest.Approver(), ringitest.Policy(), w.Now())
	})
}

func TestDraftPrompt(t *testing.T) {
	server := ringitest.Start(t)
	testDrafts(t, server)
	testVersions(t, server)
	testInterruptions(t, server)
}

func testDrafts(t *testing.T, server *ringitest.Server) {
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

func testVersions(t *testing.T, server *ringitest.Server) {
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
}

func testInterruptions(t *testing.T, server *ringitest.Server) {
	for name, err := range map[string]error{
		"a draft": nil, "a failure": &model.Error{Kind: model.Refused},
		"asked to wait": &model.Error{Kind: model.RateLimited, RetryAfter: time.Minute, Retryable: true},
	} {
		t.Run(name+" that comes late is nothing to the next version", func(t *testing.T) {
			w, slow := server.World(t), &modeltest.Demo{Err: err}
			w.Extracted()
			slow.Before = func() { // a retry succeeded, people judged its draft, and the next is being written
				handle(t, w, &modeltest.Demo{})
				reject(w)
				w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
			}
			expect.Is(t, handle(t, w, slow).State, task.StateDraftPrompt)
			h, p := w.Load().Head, w.Load().Prompt()
			expect.That(t, h.Parked == nil && h.PausedUntil == nil, "parked %+v, paused until %v", h.Parked, h.PausedUntil)
			expect.That(t, p.Version == 2 && p.Status == aggregate.Generating && p.Content == "", "%+v", p)
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
			return a.RetryGeneration(ringitest.Approver(), ringitest.Policy(), w.Now())
		})
		if next := handle(t, w, &modeltest.Demo{}); next.Gate != task.PromptKey(1) || len(w.Load().Prompts) != 1 {
			t.Errorf("%+v with %d prompts", next, len(w.Load().Prompts))
		}
	})
}

// After ExtractTask the run comes here whatever it answered. What is not due changes nothing, goes where the rows lead,
// and counts no failure a second time.
func TestDraftsAfterExtractTaskOnlyWhatIsDue(t *testing.T) {
	server := ringitest.Start(t)
	for name, tt := range map[string]struct {
		bring      func(w *ringitest.World)
		said, next string
		calls      int
	}{
		"a task": {func(w *ringitest.World) { w.Extracted() }, task.StateDraftPrompt, task.StateAwaitPromptApproval, 1},
		"a plain answer": {func(w *ringitest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Extracted(a.Head.Run, task.Extract{Kind: task.KindHelp, Sentence: "できること"}, w.Now())
			})
		}, task.StateFinish, task.StateFinish, 0},
		"a pause": {func(w *ringitest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.WaitUntil(a.Head.Run, a.Generating(), w.Now().Add(time.Minute), w.Now())
			})
		}, task.StatePause, task.StatePause, 0},
		"a failure": {func(w *ringitest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(a.Head.Run, a.Generating(), task.ReasonModelKey, "", w.Now())
			})
		}, task.StateFail, task.StateFail, 0},
		"a gate that waits": {func(w *ringitest.World) { w.Prompted(tenancy.DefaultSettings()) },
			task.StateDraftPrompt, task.StateAwaitPromptApproval, 0},
		"a task that was cancelled since": {func(w *ringitest.World) { w.Extracted(); w.Cancel() },
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
	w, g := ringitest.Start(t).World(t), &modeltest.Demo{}
	w.ReceiveForm()
	w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
	w.Extracted()
	next := handle(t, w, g)
	p := w.Load().Prompt()
	expect.That(t, next.State == task.StateAwaitPromptApproval && p.Content == "決裁を求めます" && g.Calls == 0 &&
		!p.Terms.ApprovalRequired && p.Contest == nil, "%+v %+v", next, p)
}

// unwilling is a model that reads the complete request and then refuses.
type unwilling struct{}

func (unwilling) Say(ctx context.Context, r model.Request) (model.Response, error) {
	model.Sent(ctx, []byte(r.Messages[0].Parts[0].Text))
	return model.Response{Stop: model.StopRefused, Usage: model.Usage{Calls: 1, Input: 1000}}, nil
}

func TestWhatTheModelWasSentIsKept(t *testing.T) {
	server := ringitest.Start(t)
	draft := func(t *testing.T, w *ringitest.World, g model.Wire) *aggregate.Use {
		t.Helper()
		w.Extracted()
		h := handler(w, nil)
		h.Open = func(string) (model.Wire, error) { return g, nil }
		expect.Value(h.Handle(t.Context(), w.In()))(t)
		uses := w.Load().Uses
		expect.Must(t, len(uses) == 1, "%d usages", len(uses))
		return uses[0]
	}
	kept := func(t *testing.T, w *ringitest.World, u *aggregate.Use) {
		t.Helper()
		expect.Must(t, u.Sent != nil, "the usage names no prompt")
		body, err := w.Results().Open(t.Context(), w.Ref, *u.Sent)
		expect.That(t, err == nil && strings.Contains(string(body), ringitest.Text) && len(body) == u.Sent.Bytes &&
			strings.Contains(u.Sent.S3Key, aggregate.HashOf(string(body))), "%+v, %v: %s", u.Sent, err, body)
	}
	t.Run("of a draft", func(t *testing.T) {
		w := server.World(t)
		u := draft(t, w, demo.Layers{})
		if kept(t, w, u); u.Made != task.PromptKey(1) {
			t.Errorf("made %q", u.Made)
		}
	})
	t.Run("of a draft that failed and was paid for", func(t *testing.T) {
		w := server.World(t)
		u := draft(t, w, unwilling{})
		if kept(t, w, u); u.Made != "" || w.Load().Head.Parked == nil {
			t.Errorf("made %q, parked %+v", u.Made, w.Load().Head.Parked)
		}
	})
}

// A contest has at most as many rounds as the settings allow, and no model whose price nobody knows.
func TestTheSettingsBoundAContest(t *testing.T) {
	const bedrock = "bedrock:anthropic.claude-9-v1:0"
	files := fstest.MapFS{"contest.toml": {Data: []byte("[orchestrator]\nevaluator_config = 'e.toml'\n" +
		"[[orchestrator.teams]]\nconfig = 'team.toml'\n")},
		"team.toml": {Data: []byte("[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = '" + bedrock + "'\n")},
		"e.toml":    {Data: []byte("default_model = 'demo'\n[[metrics]]\nname = 'Relevance'\n")}}
	h := &Handler{Workspace: func() (teamconfig.Workspace, error) { return teamconfig.Workspace{FS: files}, nil }}
	s := tenancy.Settings{Locale: "en", DraftContest: tenancy.DraftContest{File: "contest.toml"}}
	_, err := h.config(t.Context(), s)
	expect.That(t, err != nil && strings.Contains(err.Error(), "has no known price"), "%v", err)
	s.Prices = []tenancy.ModelPrice{{Model: bedrock, Input: "0.8", Output: "3.2"}}
	for _, most := range []int{1, 3} {
		s.DraftContest.MaxRounds = most
		c := expect.Value(h.config(t.Context(), s))(t)
		expect.That(t, c.MaxRounds == most && slices.Contains(c.Models(), bedrock) && len(c.Prices) == 1, "%+v", c)
	}
}

func TestAFileThatIsOutOfReachIsNoFileThatIsWrong(t *testing.T) {
	var status int
	var code string
	server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		expect.Is(t, r.URL.Path, "/files/contests/configs/contest.toml", "asked for")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>User: arn:aws:sts::1:role</Message></Error>", code)
	}))
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL,
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	h := &Handler{Models: teamconfig.Models{Instead: "demo"},
		Workspace: func() (teamconfig.Workspace, error) {
			return teamconfig.Open("s3://files/contests", teamconfig.Bucket(cfg))
		}}
	for _, tt := range []struct {
		status int
		code   string
		later  bool
		says   string
	}{
		{404, "NoSuchKey", false, "there is no such file in the workspace"},
		{403, "AccessDenied", false, "configs/contest.toml: can't be read: the bucket says AccessDenied"},
		{404, "NoSuchBucket", false, "the bucket says NoSuchBucket"},
		{503, "SlowDown", true, ""},
		{500, "InternalError", true, ""},
	} {
		status, code = tt.status, tt.code
		_, err := h.config(t.Context(), tenancy.Settings{Locale: "en",
			DraftContest: tenancy.DraftContest{File: "configs/contest.toml", MaxRounds: 3}})
		expect.That(t, err != nil && errors.Is(err, explain.ErrUnavailable) == tt.later &&
			strings.Contains(err.Error(), tt.says) && (tt.later || !strings.Contains(err.Error(), "arn:")), "%s: %v", code,
			err)
	}
	server.Close()
	_, err := h.config(t.Context(), tenancy.Settings{DraftContest: tenancy.DraftContest{File: "configs/contest.toml",
		MaxRounds: 3}})
	expect.That(t, errors.Is(err, explain.ErrUnavailable), "nobody answers: %v", err)
}

// What is drafted after a rejection one model drafts, with the reason and the draft that was rejected.
func TestARejectedDraftIsMadeAnewByOneModel(t *testing.T) {
	for _, pick := range []bool{false, true} {
		w := ringitest.Start(t).World(t)
		w.Extracted()
		w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
		h, all := contested(w)
		expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitContest)
		played(t, w, all, "慎重な案", "早い案", "一人の案")
		expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval)
		if pick {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.PickDraft(a.Prompt().ID, "swift", "早い案", "別の案", ringitest.Approver(), ringitest.Policy(), w.Now())
			})
		}
		was := w.Load().Prompt()
		reject(w)
		expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval)
		a := w.Load()
		p := a.Prompt()
		expect.That(t, p.Version == was.Version+1 && p.Contest == nil && p.Entry == nil && p.Content != "", "%+v", p)
		earlier := inputOf(tenancy.DefaultSettings(), a, model.Bounds{}).Earlier
		expect.Same(t, []model.Version{{Content: was.Content, Reason: reason}}, earlier)
	}
}
