package provider

import (
	"cmp"
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

// OpenAgent makes the wire of an agent without calling anything. If instead, the deployment's MODEL, is the demo, every
// agent is the demo. If the settings limit the cost of conversations and the model's price is unknown, OpenAgent
// returns a *model.Error of kind Unpriced, because the limit could not be enforced.
func (c Config) OpenAgent(d agent.Definition, instead string, s tenancy.Settings) (model.Wire, error) {
	if n, err := modelname.Parse(instead); err == nil && n.Provider == modelname.Demo {
		return turn.Demo{}, nil
	}
	if s.SessionCostsLimited() && !price.Known(string(d.Provider)+":"+d.Model) {
		return nil, &model.Error{Provider: string(d.Provider), Model: d.Model, Kind: model.Unpriced}
	}
	keyed := keyed{config: c, provider: string(d.Provider), model: d.Model, secret: d.Provider == agent.OpenAI ||
		d.Provider == agent.Anthropic || d.AuthRef != ""}
	keyed.open = func(s secret.ModelSecret, _ model.Request) (model.Wire, error) { return c.ofAgent(d, s) }
	return keyed, nil
}

func (c Config) ofAgent(d agent.Definition, s secret.ModelSecret) (model.Wire, error) {
	key, err := keyOf(d, s)
	switch {
	case err != nil:
		return nil, err
	case d.Provider == agent.Anthropic:
		return anthropic.New(anthropic.Config{BaseURL: c.At[modelname.Anthropic], Model: d.Model, Key: key, HTTP: c.Vendor}),
			nil
	case d.Provider == agent.OpenAI:
		return openai.New(openai.Config{BaseURL: c.At[modelname.OpenAI], Model: d.Model, Key: key, HTTP: c.Vendor}), nil
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
