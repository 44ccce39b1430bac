package provider

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/modelname"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/compatible"
	"ringi/shared/model/openai"
	"ringi/shared/model/price"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/secret"
)

// OpenAgent makes the wire of an agent; nothing is called yet. instead is the deployment's MODEL: where it is the demo, every
// agent is. Where the settings limit what sessions cost, an agent whose model's price nobody knows gives an *model.Error of
// kind Unpriced, because the limit could not be held.
func (c Config) OpenAgent(d agent.Definition, instead string, s tenancy.Settings) (chat.Wire, error) {
	if n, err := modelname.Parse(instead); err == nil && n.Provider == modelname.Demo {
		return chat.Demo{}, nil
	}
	if s.SessionCostsLimited() && !price.Known(string(d.Provider)+":"+d.Model) {
		return nil, &model.Error{Provider: string(d.Provider), Model: d.Model, Kind: model.Unpriced}
	}
	return speaking{c, d}, nil
}

// speaking is an agent whose key is looked up when it is called.
type speaking struct {
	config Config
	agent  agent.Definition
}

// Say calls the agent's model with the key as it is now; see keyed.Generate.
func (k speaking) Say(ctx context.Context, r chat.Request, onText func(string)) (chat.Response, error) {
	nothing := chat.Response{Usage: model.Usage{Provider: string(k.agent.Provider), Model: k.agent.Model}}
	var s secret.ModelSecret
	if k.agent.Provider == agent.OpenAI || k.agent.Provider == agent.Anthropic || k.agent.AuthRef != "" {
		var err error
		if s, err = k.config.Secret.Get(ctx); err != nil {
			e := &model.Error{Provider: string(k.agent.Provider), Model: k.agent.Model, Kind: model.Overloaded, Retryable: true, Err: err}
			if errors.Is(err, secret.ErrMalformed) {
				e.Kind, e.Retryable = model.Unauthorized, false
			}
			return nothing, e
		}
	}
	w, err := k.open(s)
	if err != nil {
		k.config.Secret.Forget()
		return nothing, err
	}
	out, err := w.Say(ctx, r, onText)
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.Unauthorized {
		k.config.Secret.Forget()
	}
	return out, err
}

func (k speaking) open(s secret.ModelSecret) (chat.Wire, error) {
	c, d := k.config, k.agent
	key, err := k.key(s)
	if err != nil {
		return nil, &model.Error{Provider: string(d.Provider), Model: d.Model, Kind: model.Unauthorized, Err: err}
	}
	switch d.Provider {
	case agent.Anthropic:
		return anthropic.New(anthropic.Config{BaseURL: c.AnthropicURL, Model: d.Model, Key: key, HTTP: c.Vendor}), nil
	case agent.OpenAI:
		return openai.New(openai.Config{BaseURL: c.OpenAIURL, Model: d.Model, Key: key, HTTP: c.Vendor}), nil
	case agent.HTTP, agent.Local:
		name := d.Model
		if name == "" { // of a server that has one model
			name = d.ID
		}
		return compatible.New(compatible.Config{Endpoint: d.ID, BaseURL: strings.TrimRight(d.Endpoint, "/"), Model: name, Key: key, HTTP: c.Outbound}), nil
	}
	return nil, &model.Error{Provider: string(d.Provider), Model: d.Model, Kind: model.UnknownModel}
}

var errElsewhere = errors.New("the model secret has no key of that name for the agent's address")

// key is the agent's. An administrator of a workspace writes the definition, and the deployment owns the keys: a key goes
// only to the vendor that it is of, or to the address that stands beside it.
func (k speaking) key(s secret.ModelSecret) (string, error) {
	own := map[agent.Provider]string{agent.OpenAI: s.OpenAI, agent.Anthropic: s.Anthropic}
	key, vendor := own[k.agent.Provider]
	ref := k.agent.AuthRef
	switch {
	case vendor && (ref == "" || ref == string(k.agent.Provider)):
	case vendor:
		named, ok := s.Agents[ref]
		if key = named.Key; !ok || named.URL != string(k.agent.Provider) {
			return "", errElsewhere
		}
	case ref == "":
		return "", nil
	default:
		named, ok := s.Agents[ref]
		if !ok {
			named, ok = s.Compatible[ref]
		}
		if key = named.Key; !ok || !sameOrigin(named.URL, k.agent.Endpoint) {
			return "", errElsewhere
		}
	}
	if key == "" {
		return "", errMissing
	}
	return key, nil
}

func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	return err == nil && x.Host != "" && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}
