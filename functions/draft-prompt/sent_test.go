package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

// unwilling is a model that reads the complete request and then refuses.
type unwilling struct{}

func (unwilling) Say(ctx context.Context, r model.Request) (model.Response, error) {
	model.Sent(ctx, []byte(r.Messages[0].Parts[0].Text))
	return model.Response{Stop: model.StopRefused, Usage: model.Usage{Calls: 1, Input: 1000}}, nil
}

func TestWhatTheModelWasSentIsKept(t *testing.T) {
	server := pipelinetest.Start(t)
	draft := func(t *testing.T, w *pipelinetest.World, g model.Wire) *aggregate.Use {
		t.Helper()
		w.Extracted()
		h := handler(w, nil)
		h.Open = func(string) (model.Wire, error) { return g, nil }
		expect.Value(h.Handle(t.Context(), w.In()))(t)
		uses := w.Load().Uses
		expect.Must(t, len(uses) == 1, "%d usages", len(uses))
		return uses[0]
	}
	kept := func(t *testing.T, w *pipelinetest.World, u *aggregate.Use) {
		t.Helper()
		expect.Must(t, u.Sent != nil, "the usage names no prompt")
		body, err := w.Results().Open(t.Context(), w.Ref, *u.Sent)
		expect.That(t, err == nil && strings.Contains(string(body), pipelinetest.Text) && len(body) == u.Sent.Bytes &&
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
	t.Run("or not, while the bucket is down, and the draft is made all the same", func(t *testing.T) {
		w := server.World(t)
		w.Transport.DropCalls("PUT", 99)
		defer w.Transport.ClearFaults()
		u := draft(t, w, demo.Layers{})
		expect.That(t, u.Sent == nil && u.Made == task.PromptKey(1), "%+v", u)
	})
}

// A contest is not ordered with a model whose price nobody knows.
func TestAModelOfAContestNeedsAPrice(t *testing.T) {
	const bedrock = "bedrock:anthropic.claude-9-v1:0"
	files := fstest.MapFS{"contest.toml": {Data: []byte("[orchestrator]\nevaluator_config = 'e.toml'\n" +
		"[[orchestrator.teams]]\nconfig = 'team.toml'\n")},
		"team.toml": {Data: []byte("[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = '" + bedrock + "'\n")},
		"e.toml":    {Data: []byte("default_model = 'demo'\n[[metrics]]\nname = 'Relevance'\n")}}
	h := &Handler{Workspace: func() (teamconfig.Workspace, error) { return teamconfig.Workspace{FS: files}, nil }}
	s := tenancy.Settings{Locale: "en", DraftContest: tenancy.DraftContest{File: "contest.toml", MaxRounds: 3}}
	_, err := h.config(t.Context(), s)
	expect.That(t, err != nil && strings.Contains(err.Error(), "has no known price"), "%v", err)
	s.Prices = []tenancy.ModelPrice{{Model: bedrock, Input: "0.8", Output: "3.2"}}
	c := expect.Value(h.config(t.Context(), s))(t)
	expect.That(t, slices.Contains(c.Models(), bedrock) && len(c.Prices) == 1, "%v", c.Models())
}

func TestAFileThatIsOutOfReachIsNoFileThatIsWrong(t *testing.T) {
	var status int
	var code string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		expect.Is(t, r.URL.Path, "/files/contests/configs/contest.toml", "asked for")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>User: arn:aws:sts::1:role</Message></Error>", code)
	}))
	defer server.Close()
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1,
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
		w := pipelinetest.Start(t).World(t)
		w.Extracted()
		w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
		h, all := contested(w)
		expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitContest)
		played(t, w, all, "慎重な案", "早い案", "一人の案")
		expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval)
		if pick {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.PickDraft(a.Prompt().ID, "swift", "早い案", "別の案", pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
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
