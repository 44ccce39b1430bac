package provider

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"ringi/shared/chat"
	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/compatible"
	"ringi/shared/model/openai"
	"ringi/shared/model/price"
	"ringi/shared/modelname"
	"ringi/shared/round"
	"ringi/shared/secret"
)

// Contest opens the models that teams of a contest name. It is a round.Models.
type Contest struct {
	Config
	// Instead is called in place of every model that is named; empty: those that are named.
	Instead string
	// Limited says that the contest's costs are: a model whose price nobody knows gives an *model.Error of kind Unpriced.
	Limited bool
}

// googlePrefix is how teams' files name Gemini's models.
const googlePrefix = "google-gla:"

var errNoTools = errors.New("conversations with tools are not spoken with this provider")

// Open makes the wire of a model; nothing is called yet. Its errors are *model.Error.
func (c Contest) Open(name string) (chat.Wire, error) {
	name = strings.TrimPrefix(cmp.Or(c.Instead, name), googlePrefix)
	n, err := modelname.Parse(name)
	switch {
	case err != nil:
		return nil, &model.Error{Provider: "none", Model: name, Kind: model.UnknownModel, Err: err}
	case n.Provider == modelname.Demo:
		return round.Demo{}, nil
	case n.Provider == modelname.Bedrock:
		return nil, &model.Error{Provider: n.Provider, Model: n.Model, Kind: model.UnknownModel, Err: errNoTools}
	case c.Limited && !price.Known(name):
		return nil, &model.Error{Provider: n.Provider, Model: n.Model, Kind: model.Unpriced}
	}
	k := keyed{c.Config, n}
	return speaking{c.Config, k.provider(), n.Model, true, k.wire}, nil
}

// wire is open for conversations.
func (k keyed) wire(s secret.ModelSecret) (chat.Wire, error) {
	g, err := k.open(s)
	if err != nil {
		return nil, err
	}
	switch w := g.(type) {
	case *openai.Client:
		// Responses have neither a seed nor stop sequences, and Chat Completions have both.
		completions := compatible.New(compatible.Config{
			Provider: modelname.OpenAI, BaseURL: strings.TrimRight(k.config.OpenAIURL, "/"), Model: k.name.Model, Key: s.OpenAI, HTTP: k.config.Vendor,
		})
		return sampling{w, completions}, nil
	case *anthropic.Client:
		return w, nil
	case *compatible.Client:
		return w, nil
	}
	return nil, &model.Error{Provider: k.provider(), Model: k.name.Model, Kind: model.UnknownModel, Err: errNoTools}
}

// sampling is a vendor with two protocols, of which one takes all of the sampling.
type sampling struct{ plain, whole chat.Wire }

func (s sampling) Say(ctx context.Context, r chat.Request, onText func(string)) (chat.Response, error) {
	if r.Sampling.Seed != nil || len(r.Sampling.StopSequences) > 0 {
		return s.whole.Say(ctx, r, onText)
	}
	return s.plain.Say(ctx, r, onText)
}
