package model

import (
	"context"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
)

// Keep stores the body of a request as a model was sent it, and says where it is.
type Keep = func(ctx context.Context, body []byte) (aggregate.Blob, error)

// keepWithin bounds the storing of one body, from when it is sent. Most models take longer to answer.
const keepWithin = 5 * time.Second

// keepGrace is how long a body may still take when the caller's time is up: what was sent may have cost something.
const keepGrace = 200 * time.Millisecond

// sending is the key of the function in a context that Sent calls.
type sending struct{}

// Sent tells whoever keeps prompts what is being sent to a model: the body alone, since headers hold keys. Each
// provider calls it just before it sends. In a context of calls that nobody keeps it does nothing.
func Sent(ctx context.Context, body []byte) {
	if sent, ok := ctx.Value(sending{}).(func([]byte)); ok {
		sent(body)
	}
}

// Keeping is a wire of which each request is kept as it is sent; the usage of the answer names the last.
func Keeping(w Wire, keep Keep) Wire { return keeping{w, keep} }

type keeping struct {
	Wire
	keep Keep
}

// Say is that of the wire.
func (k keeping) Say(ctx context.Context, r Request, onText func(string)) (out Response, err error) {
	sent := kept(ctx, k.keep, func(ctx context.Context) { out, err = k.Wire.Say(ctx, r, onText) })
	out.Usage.Sent = sent
	return out, err
}

// kept makes a call of a model, stores the request while the model answers, and waits until it is stored. Of a request
// that was sent again in another form, as to a model that takes no schema, it returns the last one; nil of one that was
// not sent, or not stored in time.
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

// store keeps a body, also when the call itself was given up: that may have cost something. It returns nil, and logs a
// warning, when it can't: the answer is paid for, people wait for it, and it is checked like any other, so that a
// bucket that is down fails no generation. Then the usage's row names no prompt. An object whose usage is never
// committed expires like the others.
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
