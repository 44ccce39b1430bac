package model

import (
	"context"
	"log/slog"
	"strings"

	"ringi/shared/model/demo"
)

// demonstration is the provider that needs no network and no key: its answers
// follow from the message alone, and take the same way as anybody's.
type demonstration struct{ log *slog.Logger }

// Generate answers with JSON of the purpose's schema.
func (d demonstration) Generate(ctx context.Context, r Request) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	d.log.InfoContext(ctx, "model call", "provider", "demo", "purpose", r.Purpose, "try", r.Try)
	data := strings.TrimSuffix(strings.TrimPrefix(r.Messages[0].Text, "<data>"), "</data>")
	text, err := demo.Answer(demo.Question{Purpose: string(r.Purpose), Try: r.Try, Repair: len(r.Messages) > 1, Data: []byte(data)})
	usage := Usage{Provider: "demo", Model: "demo", Calls: 1}
	if err != nil {
		return Response{Usage: usage}, &Error{Provider: "demo", Kind: Demo, Err: err}
	}
	return Response{Text: text, Stop: StopEnd, Usage: usage}, nil
}
