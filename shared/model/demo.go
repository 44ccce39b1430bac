package model

import (
	"context"
	"encoding/json"
	"errors"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model/demo"
)

// Demonstration is the provider that needs no network and no key. Its answers are checked like any other model's.
type Demonstration struct{}

// Say answers with JSON of the purpose's schema.
func (Demonstration) Say(ctx context.Context, r Request, _ func(string)) (Response, error) {
	usage := Usage{Provider: "demo", Model: "demo", Calls: 1}
	if err := ctx.Err(); err != nil {
		return Response{Usage: usage}, err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return Response{Usage: usage}, err
	}
	Sent(ctx, body)
	q := demo.Question{Purpose: string(r.Purpose), Try: r.Try, Repair: len(r.Messages) > 1,
		Text: r.Standing + r.Messages[0].Parts[0].Text}
	text, err := demo.Answer(q)
	if errors.Is(err, demo.ErrAsked) {
		return Response{Usage: usage}, &Error{Provider: "demo", Model: "demo", Kind: Demo, Err: err}
	}
	if err != nil {
		return Response{Usage: usage}, err
	}
	usage.Input, usage.Cached, usage.Output = tokens(r.System, q.Text)-tokens(r.Standing), tokens(r.Standing), tokens(text)
	usage.Cost = aggregate.USD(demo.Cost(q))
	return Response{Text: text, Stop: StopEnd, Usage: usage}, nil
}

// tokens estimates a number of tokens, four bytes each.
func tokens(texts ...string) (n int64) {
	for _, text := range texts {
		n += int64(len(text)) / 4
	}
	return n
}
