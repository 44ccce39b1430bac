package main

import (
	"context"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

type hanging struct {
	Store
	ref aggregate.Ref
}

func (s hanging) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	if ref == s.ref {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Store.Load(ctx, ref)
}

func TestWhatIsBesideDelaysNoExpiry(t *testing.T) {
	setup := func(t *testing.T, w *pipelinetest.World) (*Handler, *pipelinetest.World) {
		w.Prompted(tenancy.DefaultSettings())
		b, _ := w.Load().OpenGateBeside()
		reply := w.Reply()
		reply.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Ask(1, b, tenancy.DefaultSettings(), w.Now())
		})
		return handler(w), reply
	}
	pipelinetest.Each(t, map[string]func(*testing.T, *pipelinetest.World){
		"a read beside that hangs": func(t *testing.T, w *pipelinetest.World) {
			h, reply := setup(t, w)
			h.Store = hanging{h.Store, w.Ref}
			w.Later(reply.Load().Choice.Terms.DecideBy.Sub(w.Now()) + time.Second)
			_, err := h.sweep(t.Context(), reply.Ref)
			expect.That(t, reply.Load().Head.Ended != nil, "the choice did not expire: %v", err)
		},
		"put off past decide_by": func(t *testing.T, w *pipelinetest.World) {
			h, reply := setup(t, w)
			h.Store = poisoned{Store: h.Store, ref: w.Ref}
			by := *reply.Load().Choice.Terms.DecideBy
			w.Later(by.Sub(w.Now()) - 20*time.Minute)
			for w.Now().Before(by) { // as each minute's sweep
				due := *reply.Load().Head.DueAt
				w.Later(max(0, due.Sub(w.Now())) + time.Second)
				if !w.Now().Before(by) {
					break
				}
				_, err := h.sweep(t.Context(), reply.Ref)
				if err != nil {
					h.putOff(t.Context(), reply.Ref, err)
				}
			}
			if late := reply.Load().Head.DueAt.Sub(by); late > 6*time.Minute {
				t.Errorf("decide by %s, due %s: %s late", by, reply.Load().Head.DueAt, late)
			}
		},
	})
}
