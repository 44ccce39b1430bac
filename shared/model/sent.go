package model

import (
	"context"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
)

// Keep stores the body of a request that was sent to a model, and returns where.
type Keep = func(ctx context.Context, body []byte) (aggregate.Blob, error)

// keepWithin limits the time to store one body, counted from when it is sent. Most models take longer to answer.
const keepWithin = 5 * time.Second

// keepGrace is how much longer storing may take after the caller's deadline, because the call may have cost something.
const keepGrace = 200 * time.Millisecond

// sending is the context's key for the function that Sent calls.
type sending struct{}

// Sent passes the body of a request to the context's keeper of prompts, if there is one. Each provider calls Sent just
// before it sends. Headers are left out, since they hold keys.
func Sent(ctx context.Context, body []byte) {
	if sent, ok := ctx.Value(sending{}).(func([]byte)); ok {
		sent(body)
	}
}

// Keeping wraps a wire so that each request is stored as it is sent. An answer's usage names the last one.
func Keeping(w Wire, keep Keep) Wire { return keeping{w, keep} }

type keeping struct {
	Wire
	keep Keep
}

func (k keeping) Say(ctx context.Context, r Request, onText func(string)) (out Response, err error) {
	sent := kept(ctx, k.keep, func(ctx context.Context) { out, err = k.Wire.Say(ctx, r, onText) })
	out.Usage.Sent = sent
	return out, err
}

// kept calls a model, stores the request while the model answers, and waits until it is stored. If the request was sent
// again in another form, such as without a schema, kept returns the last one. It returns nil if nothing was sent, or
// not stored in time.
func kept(ctx context.Context, keep Keep, call func(ctx context.Context)) *aggregate.Blob {
	var stored chan *aggregate.Blob
	call(context.WithValue(ctx, sending{}, func(body []byte) {
		done := make(chan *aggregate.Blob, 1)
		stored = done
		go func() { done <- store(ctx, keep, body) }()
	}))
	if stored == nil {
		return nil
	}
	select {
	case sent := <-stored:
		return sent
	case <-ctx.Done(): // the caller's time is up
	}
	select {
	case sent := <-stored:
		return sent
	case <-time.After(keepGrace):
		return nil
	}
}

// store saves a body even if the call was given up, since the call may have cost something. On failure it logs a
// warning and returns nil, and the usage row names no prompt: the answer is paid for and people wait for it, so an
// unavailable bucket must not make it fail. An object whose usage is never committed expires like the others.
func store(ctx context.Context, keep Keep, body []byte) *aggregate.Blob {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWithin)
	defer cancel()
	b, err := keep(ctx, body)
	if err != nil {
		slog.WarnContext(ctx, "a prompt is not kept", "bytes", len(body), "err", err)
		return nil
	}
	return &b
}
