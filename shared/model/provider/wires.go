package provider

import (
	"cmp"
	"context"
	"errors"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
	"ringi/shared/model/compatible"
	"ringi/shared/model/price"
	"ringi/shared/model/turn"
)

// Wires opens the models of conversations by their names, as the files of contests have them.
type Wires struct {
	Config
	Instead string    // the model that stands for every other; empty: none does
	Demo    chat.Wire // the demo's
	// Unlimited says that nothing bounds what a contest costs. Else a model whose price nobody knows is not opened, because
	// the contest's budget could not be held.
	Unlimited bool
}

// Open makes the wire of a model; nothing is called yet. Its errors are *model.Error: of kind UnknownModel for a name of no
// known form and for a provider that has no conversations here, Unpriced for what can't be limited.
func (w Wires) Open(name string) (chat.Wire, error) {
	name = cmp.Or(w.Instead, name)
	n, err := modelname.Parse(name)
	switch {
	case err != nil:
		return nil, &model.Error{Provider: "none", Model: name, Kind: model.UnknownModel, Err: err}
	case n.Provider == modelname.Demo:
		return w.Demo, nil
	case n.Provider == modelname.Bedrock:
		return nil, &model.Error{Provider: n.Provider, Model: n.Model, Kind: model.UnknownModel, Err: errNoTalk}
	case !w.Unlimited && !price.Known(n.String()):
		return nil, &model.Error{Provider: n.Provider, Model: n.Model, Kind: model.Unpriced}
	}
	return keyed{w.Config, n}, nil
}

var errNoTalk = errors.New("models of Amazon Bedrock don't hold conversations here")

// Say makes one call of a conversation with the key as it is now; see Generate.
func (k keyed) Say(ctx context.Context, r chat.Request, onText func(string)) (chat.Response, error) {
	nothing := chat.Response{Usage: model.Usage{Provider: k.provider(), Model: k.name.Model}}
	g, err := k.now(ctx)
	if err != nil {
		return nothing, err
	}
	w, ok := g.(chat.Wire)
	if s, err := k.config.Secret.Get(ctx); err == nil && k.name.Provider == modelname.OpenAI && (r.Sampling.Seed != nil || len(r.Sampling.StopSequences) > 0) {
		// Responses have neither a seed nor stop sequences, and Chat Completions have both.
		w = compatible.New(compatible.Config{Provider: modelname.OpenAI, BaseURL: k.config.OpenAIURL, Model: k.name.Model, Key: s.OpenAI, HTTP: k.config.Vendor})
	}
	if !ok {
		return nothing, &model.Error{Provider: k.provider(), Model: k.name.Model, Kind: model.UnknownModel, Err: errNoTalk}
	}
	answer, err := w.Say(ctx, r, onText)
	k.forget(err)
	return answer, err
}
