package main

import (
	"context"
	"strings"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// unwilling is a model that reads the whole request and then refuses.
type unwilling struct{}

func (unwilling) Say(ctx context.Context, r model.Request, _ func(string)) (model.Response, error) {
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
		if _, err := h.Handle(t.Context(), w.In()); err != nil {
			t.Fatal(err)
		}
		uses := w.Load().Uses
		expect.Must(t, len(uses) == 1, "%d usages", len(uses))
		return uses[0]
	}
	kept := func(t *testing.T, w *pipelinetest.World, u *aggregate.Use) {
		t.Helper()
		expect.Must(t, u.Sent != nil, "the usage names no prompt")
		body, err := large.Store{S3: w.S3(), Bucket: w.Bucket}.Open(t.Context(), w.Ref, *u.Sent)
		if err != nil || !strings.Contains(string(body), pipelinetest.Text) || len(body) != u.Sent.Bytes || !strings.Contains(u.Sent.S3Key, aggregate.HashOf(string(body))) {
			t.Errorf("%+v, %v: %s", u.Sent, err, body)
		}
	}
	t.Run("of a draft", func(t *testing.T) {
		w := server.World(t)
		u := draft(t, w, model.Demonstration{})
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
		if u := draft(t, w, model.Demonstration{}); u.Sent != nil || u.Made != task.PromptKey(1) {
			t.Errorf("%+v", u)
		}
	})
}
