package model

import (
	"context"
	"log/slog"
	"time"

	"ringi/shared/aggregate"
)

// Keep stores the body of a request as a model was sent it, and says where it is.
type Keep = func(ctx context.Context, body []byte) (aggregate.Blob, error)

// keepWithin bounds the storing of one body, from when it is sent. Most models take longer to answer.
const keepWithin = 5 * time.Second

// keepGrace is how long a body may still take when the caller's time is up: what was sent may have cost something.
const keepGrace = 200 * time.Millisecond

// sending is the key of the function in a context that Sent calls.
type sending struct{}

// Sent tells whoever keeps prompts what is being sent to a model: the body alone, since headers hold keys. Each provider
// calls it just before it sends. In a context of calls that nobody keeps it does nothing.
func Sent(ctx context.Context, body []byte) {
	if sent, ok := ctx.Value(sending{}).(func([]byte)); ok {
		sent(body)
	}
}

// kept is a model whose requests are kept.
type kept struct {
	Generator
	keep Keep
}

// Generate stores the request while the model answers, and waits until it is stored. Of a request that was sent again
// in another form, as to a model that takes no schema, the usage names the last one.
func (k kept) Generate(ctx context.Context, r Request) (Response, error) {
	var stored chan *aggregate.Blob
	answer, err := k.Generator.Generate(context.WithValue(ctx, sending{}, func(body []byte) {
		done := make(chan *aggregate.Blob, 1)
		stored = done
		go func() { done <- k.store(ctx, body) }()
	}), r)
	if stored == nil {
		return answer, err
	}
	select {
	case answer.Usage.Sent = <-stored:
		return answer, err
	case <-ctx.Done(): // the caller's time is up
	}
	select {
	case answer.Usage.Sent = <-stored:
	case <-time.After(keepGrace):
	}
	return answer, err
}

// store keeps a body, also when the call itself was given up: that may have cost something. It returns nil, and logs a
// warning, when it can't: the answer is paid for, people wait for it, and it is checked like any other, so that a bucket
// that is down fails no generation. Then the usage's row names no prompt. An object whose usage is never committed
// expires like the others.
func (k kept) store(ctx context.Context, body []byte) *aggregate.Blob {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWithin)
	defer cancel()
	b, err := k.keep(ctx, body)
	if err != nil {
		slog.WarnContext(ctx, "a prompt is not kept", "bytes", len(body), "err", err)
		return nil
	}
	return &b
}
