package model

import (
	"context"
	"errors"

	"ringi/shared/model/demo"
)

// Demonstration is the provider that needs no network and no key: its answers follow from
// the message alone, and take the same way as anybody's.
type Demonstration struct{}

// Generate answers with JSON of the purpose's schema.
func (Demonstration) Generate(ctx context.Context, r Request) (Response, error) {
	usage := Usage{Provider: "demo", Model: "demo", Calls: 1}
	if err := ctx.Err(); err != nil {
		return Response{Usage: usage}, err
	}
	text, err := demo.Answer(demo.Question{Purpose: string(r.Purpose), Try: r.Try, Repair: len(r.Messages) > 1, Text: r.Standing + r.Messages[0].Text})
	if errors.Is(err, demo.ErrAsked) {
		return Response{Usage: usage}, &Error{Provider: "demo", Model: "demo", Kind: Demo, Err: err}
	}
	if err != nil {
		return Response{Usage: usage}, err
	}
	return Response{Text: text, Stop: StopEnd, Usage: usage}, nil
}
