package provider

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/compatible"
	"ringi/shared/model/demo"
	"ringi/shared/model/openai"
	"ringi/shared/runtime/secret"
)

// Answers says which model answers for an agent. An agent of a vendor for which the deployment has no key follows the
// deployment's model: instead, its MODEL, or the settings'. An agent with a key of its own (auth_ref) or an endpoint
// never does, because its administrator chose who gets what people say. If the settings limit costs and the model's
// price is unknown, the agent can't answer, because the limit could not be enforced. An error is a *model.Error: the
// model secret could not be read.
func (c Config) Answers(ctx context.Context, d agent.Definition, instead string,
	s tenancy.Settings) (agent.Answering, error) {
	out := agent.Answering{ID: d.ID, Model: string(d.Provider) + ":" + d.Model}
	if isDemo(instead) {
		out.Model, out.Follows = aggregate.Demo, true
		return out, nil
	}
	var keys secret.ModelSecret
	if vendors(d) || d.AuthRef != "" {
		var err error
		switch keys, err = c.Secret.Get(ctx); {
		case errors.Is(err, secret.ErrMalformed):
			out.Lacks = agent.LacksSecret
			return out, nil
		case err != nil:
			return out, &model.Error{Provider: string(d.Provider), Model: d.Model, Kind: model.Overloaded, Retryable: true,
				Err: err}
		}
	}
	_, err := keyOf(d, keys)
	switch {
	case err == nil:
	case !vendors(d) || d.AuthRef != "" && d.AuthRef != string(d.Provider):
		out.Lacks, out.Detail = agent.LacksKey, d.AuthRef
	default:
		c.follow(&out, d, cmp.Or(instead, s.Model), keys)
	}
	name := out.Model
	if !vendors(d) { // as its usage rows and the settings' prices name it
		name = aggregate.ModelName{Provider: aggregate.Compatible, Endpoint: d.ID, Model: cmp.Or(d.Model, d.ID)}.String()
	}
	if out.Lacks == "" && s.SessionCostsLimited() && !tenancy.PriceKnown(name, s.OwnPrices()) {
		out.Lacks, out.Detail = agent.LacksPrice, name
	}
	return out, nil
}

// follow lets the deployment's model answer, if it can be called.
func (c Config) follow(out *agent.Answering, d agent.Definition, name string, keys secret.ModelSecret) {
	n, err := aggregate.ParseModelName(name)
	if err == nil && n.Provider != aggregate.Demo {
		_, err = c.named(n, keys, model.Request{})
	}
	switch {
	case err == nil:
		out.Model, out.Follows = n.String(), true
	case n.Provider == string(d.Provider):
		out.Lacks, out.Detail = agent.LacksKey, n.Provider
	default:
		out.Lacks, out.Detail = agent.LacksModel, name
	}
}

// vendors reports whether the agent's model is a vendor's, with the vendor's own key unless it names another.
func vendors(d agent.Definition) bool {
	return d.Provider == agent.OpenAI || d.Provider == agent.Anthropic
}

func isDemo(name string) bool {
	n, err := aggregate.ParseModelName(name)
	return err == nil && n.Provider == aggregate.Demo
}

// OpenAgent makes the wire of an agent, by Answers, without calling a model. Without a key, the wire's calls fail with
// Unauthorized. If the model's price is unknown where costs are limited, OpenAgent returns a *model.Error of kind
// Unpriced.
func (c Config) OpenAgent(ctx context.Context, d agent.Definition, instead string,
	s tenancy.Settings) (model.Wire, error) {
	by, err := c.Answers(ctx, d, instead, s)
	switch {
	case err != nil:
		return nil, err
	case by.Lacks == agent.LacksPrice:
		return nil, &model.Error{Provider: string(d.Provider), Model: by.Detail, Kind: model.Unpriced}
	case by.Follows && isDemo(by.Model):
		return demo.Agent{}, nil
	case by.Follows:
		w, err := c.Open(by.Model)
		if err != nil {
			return nil, err
		}
		return model.Priced(w, s.OwnPrices()), nil
	}
	keyed := keyed{config: c, provider: string(d.Provider), model: d.Model, secret: vendors(d) || d.AuthRef != ""}
	keyed.open = func(s secret.ModelSecret, _ model.Request) (model.Wire, error) { return c.ofAgent(d, s) }
	return model.Priced(keyed, s.OwnPrices()), nil
}

func (c Config) ofAgent(d agent.Definition, s secret.ModelSecret) (model.Wire, error) {
	key, err := keyOf(d, s)
	switch {
	case err != nil:
		return nil, err
	case d.Provider == agent.Anthropic:
		return anthropic.New(anthropic.Config{BaseURL: c.At[aggregate.Anthropic], Model: d.Model, Key: key, HTTP: c.Vendor}),
			nil
	case d.Provider == agent.OpenAI:
		return openai.New(openai.Config{BaseURL: c.At[aggregate.OpenAI], Model: d.Model, Key: key, HTTP: c.Vendor}), nil
	}
	name := cmp.Or(d.Model, d.ID) // a server with a single model ignores the name
	return compatible.New(compatible.Config{Endpoint: d.ID, BaseURL: strings.TrimRight(d.Endpoint, "/"), Model: name,
		Key: key, HTTP: c.Outbound}), nil
}

var errElsewhere = errors.New("the model secret has no key of that name for the agent's address")

// keyOf returns the key for an agent. A workspace's administrator writes the definition, but the keys belong to the
// deployment. So a key is sent only to its own vendor, or to the address that the secret has for it.
func keyOf(d agent.Definition, s secret.ModelSecret) (string, error) {
	own := map[agent.Provider]string{agent.OpenAI: s.OpenAI, agent.Anthropic: s.Anthropic}
	key, vendor := own[d.Provider]
	ref := d.AuthRef
	switch {
	case vendor && (ref == "" || ref == string(d.Provider)):
	case vendor:
		named, ok := s.Agents[ref]
		if key = named.Key; !ok || named.URL != string(d.Provider) {
			return "", errElsewhere
		}
	case ref == "":
		return "", nil
	default:
		named, ok := s.Agents[ref]
		if !ok {
			named, ok = s.Compatible[ref]
		}
		if key = named.Key; !ok || !sameOrigin(named.URL, d.Endpoint) {
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
