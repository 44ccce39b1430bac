package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// counted are results in a bucket that counts its reads, or is down.
type counted struct {
	Results
	in    map[string]json.RawMessage
	reads int
	down  error
}

func (c *counted) Keep(_ context.Context, _ aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	key := aggregate.HashOf(string(v))
	if c.down == nil {
		c.in[key] = v
	}
	return aggregate.Blob{S3Key: key, Bytes: len(v)}, c.down
}

func (c *counted) Open(_ context.Context, _ aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	c.reads++
	v, ok := c.in[b.S3Key]
	if !ok {
		return nil, errors.New("there is none")
	}
	return v, c.down
}

func TestAResultIsReadOnceInAnInvocation(t *testing.T) {
	bucket := &counted{in: map[string]json.RawMessage{}}
	invocation := func() *remembering { return &remembering{Results: bucket, of: map[string]json.RawMessage{}} }
	r, ctx := invocation(), t.Context()
	reads := func(want int, b aggregate.Blob, text string) {
		t.Helper()
		v := expect.Value(r.Open(ctx, aggregate.Ref{}, b))(t)
		expect.That(t, bucket.reads == want && string(v) == text, "%.20s after %d reads, want %d", v, bucket.reads, want)
	}
	kept := expect.Value(r.Keep(ctx, aggregate.Ref{}, json.RawMessage(`"a"`)))(t)
	reads(0, kept, `"a"`)
	r = invocation()
	reads(1, kept, `"a"`)
	reads(1, kept, `"a"`)
	large := expect.Value(r.Keep(ctx, aggregate.Ref{}, json.RawMessage(strings.Repeat("x", maxRemembered))))(t)
	expect.Value(r.Open(ctx, aggregate.Ref{}, large))(t)
	expect.That(t, bucket.reads == 2, "more is remembered than may be")
	bucket.down = errors.New("slow down")
	lost, err := r.Keep(ctx, aggregate.Ref{}, json.RawMessage(`"b"`))
	expect.That(t, err != nil, "it is down")
	_, err = r.Open(ctx, aggregate.Ref{}, lost)
	expect.That(t, err != nil, "what was not kept is remembered")
}
