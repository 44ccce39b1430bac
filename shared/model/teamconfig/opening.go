package teamconfig

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/secret"
)

// Models says with what the models of contests are called.
type Models struct {
	// Keys is the model secret.
	Keys interface {
		Get(ctx context.Context) (secret.ModelSecret, error)
	}
	Instead string // replaces every model; empty: none
}

// Check returns a finding for each place that names a model which can't be called: of leaders, members, evaluator and
// judge. Contests have a budget, so a model needs a known price, from the table or from the contest's own.
// Bedrock's models need no key; whether the account may call them, only a call says. Check returns
// errorclass.ErrUnavailable if the model secret can't be read now.
func (m Models) Check(ctx context.Context, c Contest) ([]Finding, error) {
	places := c.Named
	if m.Instead != "" {
		places = []Named{{File: "MODEL", Model: m.Instead, Set: true}}
	}
	called, fresh := c.Models(), false
	var found []Finding
	for _, p := range places {
		n, err := aggregate.ParseModelName(p.Model)
		switch {
		case m.Instead == "" && !slices.Contains(called, p.Model):
			continue
		case err != nil:
			found = append(found, p.Refused("isn't a model name"))
			continue
		case n.Provider == aggregate.Demo:
			continue
		}
		why, err := m.keyless(ctx, n)
		if keys, kept := m.Keys.(interface{ Forget() }); why != "" && kept && !fresh { // somebody may have added the key
			fresh = true
			keys.Forget()
			why, err = m.keyless(ctx, n)
		}
		if err != nil {
			return nil, err
		}
		if why != "" {
			found = append(found, p.Refused("can't be called: "+why))
		}
		if !tenancy.PriceKnown(n.String(), c.Prices) {
			found = append(found, p.Refused("has no known price, which a contest's budget needs: "+
				"enter its price in the settings or choose another model"))
		}
	}
	return found, nil
}

// keyless says what the model secret lacks for a model, or "".
func (m Models) keyless(ctx context.Context, n aggregate.ModelName) (string, error) {
	if n.Provider == aggregate.Bedrock {
		return "", nil
	}
	s, err := m.Keys.Get(ctx)
	switch {
	case errors.Is(err, secret.ErrMalformed):
		return "the model secret can't be read", nil
	case err != nil:
		return "", fmt.Errorf("open the models: %w: %w", explain.ErrUnavailable, err)
	case HasKey(s, n):
		return "", nil
	case n.Endpoint != "" && EndpointAddress(n.Endpoint) == "":
		return "the model secret has no address for " + n.Vendor(), nil
	}
	return "the model secret has no key for " + n.Vendor(), nil
}

// addresses are those of vendors with a compatible endpoint, unless the model secret has others.
var addresses = map[string]string{
	aggregate.Gemini: "https://generativelanguage.googleapis.com/v1beta/openai",
	aggregate.Grok:   "https://api.x.ai/v1",
}

// Address returns the known address of a compatible endpoint, or "".
func EndpointAddress(endpoint string) string { return addresses[endpoint] }

// Has reports whether the model secret has what calls of a model need.
func HasKey(s secret.ModelSecret, n aggregate.ModelName) bool {
	switch n.Provider {
	case aggregate.Anthropic:
		return s.Anthropic != ""
	case aggregate.OpenAI:
		return s.OpenAI != ""
	case aggregate.Compatible:
		at := s.Compatible[n.Endpoint]
		if n.Endpoint == aggregate.Gemini || at.URL == "" { // Google answers nobody without a key
			return at.Key != "" && EndpointAddress(n.Endpoint) != ""
		}
		return true
	}
	return true
}
