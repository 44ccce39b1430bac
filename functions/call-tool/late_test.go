package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

// slowBucket takes its time to keep what a call returned.
type slowBucket struct {
	*bucket
	w *world
}

func (b slowBucket) KeepCallResult(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	b.w.now = b.w.now.Add(time.Minute)
	return b.bucket.KeepCallResult(ctx, ref, v)
}

func testLateTime(t *testing.T, w *world) {
	id, over := w.action().ActionID, w.now.Add(time.Second)
	w.vendor.returns, w.Results = `{"ok":true}`, slowBucket{w.bucket, w}
	w.vendor.during = func() {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: team, Member: true}
		w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Cancel(id, by, aggregate.Policy{Team: team, AllowSelf: true}, w.now)
		})
		w.now = over
	}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.Must(t, x.Late != nil && w.now.After(over), "%+v at %v", x, w.now)
	expect.That(t, x.Late.At.Equal(over), "it ended at %v, not at %v", over, x.Late.At)
}
