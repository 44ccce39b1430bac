package demo

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Layers answers the four layers of the pipeline. Its answers are checked like any other model's.
type Layers struct{}

// Say answers with JSON of the purpose's schema.
func (Layers) Say(ctx context.Context, r model.Request, _ func(string)) (model.Response, error) {
	out := begun(ctx, r)
	if err := ctx.Err(); err != nil {
		return out, err
	}
	q := Question{Purpose: string(r.Purpose), Try: r.Try, Repair: len(r.Messages) > 1,
		Text: r.Standing + r.Messages[0].Parts[0].Text}
	text, err := Answer(q)
	if errors.Is(err, ErrAsked) {
		return out, failure(err)
	}
	if err != nil {
		return out, err
	}
	standing := int64(len(r.Standing) / 4) // a token is about four bytes
	out.Text, out.Usage.Cost = text, aggregate.USD(Cost(q))
	out.Usage.Input, out.Usage.Cached = int64(len(r.System)/4+len(q.Text)/4)-standing, standing
	out.Usage.Output = int64(len(text) / 4)
	return out, nil
}

// begun is an answer without words. It keeps what was sent.
func begun(ctx context.Context, r model.Request) model.Response {
	if body, err := json.Marshal(r); err == nil {
		model.Sent(ctx, body)
	}
	return model.Response{Stop: model.StopEnd, Answered: modelname.Demo,
		Usage: model.Usage{Provider: modelname.Demo, Model: modelname.Demo, Calls: 1}}
}

func failure(err error) error {
	return &model.Error{Provider: modelname.Demo, Model: modelname.Demo, Kind: model.Demo, Err: err}
}

const openFence, closeFence = "<data>", "</data>"

// fenced returns the data of a text, one after the other.
func fenced(text string) (all []string) {
	for {
		_, after, found := strings.Cut(text, openFence)
		if !found {
			return all
		}
		data, after, _ := strings.Cut(after, closeFence)
		all, text = append(all, data), after
	}
}

func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // of texts, numbers and lists
		return json.RawMessage("{}")
	}
	return b
}
