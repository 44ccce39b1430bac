// Package provider opens the client for a model's name. It links the vendors' SDKs, so few functions import it.
package provider

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/bedrock"
	"ringi/shared/model/compatible"
	"ringi/shared/model/demo"
	"ringi/shared/model/openai"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

// Config has the settings about models from a function's environment.
type Config struct {
	AWS      aws.Config
	Secret   *secret.Models
	At       map[string]string // addresses by provider; without one Bedrock uses the region's
	Vendor   *http.Client      // for calls to the addresses in At
	Outbound *http.Client      // for calls to compatible endpoints
}

// New reads the configuration from a function's environment without calling anything.
func New(cfg aws.Config, env boot.Models) Config {
	return Config{
		AWS:    cfg,
		Secret: &secret.Models{Reader: secretsmanager.NewFromConfig(cfg), ID: env.ModelSecretID},
		At: map[string]string{
			aggregate.Anthropic: env.AnthropicURL, aggregate.OpenAI: env.OpenAIURL, aggregate.Bedrock: env.BedrockURL,
		},
		Vendor: VendorClient(), Outbound: outbound.Allowing(env.OutboundAllow).Client(),
	}
}

// Open makes a client for a model's name, as in the settings and the MODEL parameter. An unknown form of name is a
// *model.Error of kind UnknownModel. Keys are read at the first call, which fails with Unauthorized if the key is
// missing.
func (c Config) Open(name string) (model.Wire, error) {
	n, err := aggregate.ParseModelName(name)
	switch {
	case err != nil:
		return nil, &model.Error{Provider: "none", Model: name, Kind: model.UnknownModel, Err: err}
	case n.Provider == aggregate.Demo:
		return demo.Layers{}, nil
	}
	return keyed{c, n.Vendor(), n.Model, true, func(s secret.ModelSecret, r model.Request) (model.Wire, error) {
		return c.named(n, s, r)
	}}, nil
}

// keyed is a model whose key is looked up at each call.
type keyed struct {
	config          Config
	provider, model string
	secret          bool // whether the model secret is needed
	open            func(s secret.ModelSecret, r model.Request) (model.Wire, error)
}

// Say calls the model with the current key. If the key is missing or refused, the next call reads the secret again, so
// a new key works without a wait.
func (k keyed) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	nothing := model.Response{Usage: model.Usage{Provider: k.provider, Model: k.model}}
	var s secret.ModelSecret
	if k.secret {
		var err error
		if s, err = k.config.Secret.Get(ctx); err != nil {
			e := &model.Error{Provider: k.provider, Model: k.model, Kind: model.Overloaded, Retryable: true, Err: err}
			if errors.Is(err, secret.ErrMalformed) {
				e.Kind, e.Retryable = model.Unauthorized, false
			}
			return nothing, e
		}
	}
	w, err := k.open(s, r)
	if err != nil {
		k.config.Secret.Forget()
		return nothing, &model.Error{Provider: k.provider, Model: k.model, Kind: model.Unauthorized, Err: err}
	}
	answer, err := w.Say(ctx, r, onText)
	var e *model.Error
	if errors.As(err, &e) && (e.Kind == model.Unauthorized || e.Kind == model.Misplaced) {
		k.config.Secret.Forget()
	}
	return answer, err
}

// named makes the wire for a name with the secret's key. It returns errMissing if there is no key.
func (c Config) named(n aggregate.ModelName, s secret.ModelSecret, r model.Request) (model.Wire, error) {
	if !teamconfig.HasKey(s, n) {
		return nil, errMissing
	}
	switch n.Provider {
	case aggregate.Anthropic:
		return anthropic.New(anthropic.Config{BaseURL: c.At[aggregate.Anthropic], Model: n.Model, Key: s.Anthropic,
			HTTP: c.Vendor}), nil
	case aggregate.OpenAI:
		switch {
		case r.Sampling.Seed != nil || len(r.Sampling.StopSequences) > 0: // Responses support neither, Chat Completions both
			return compatible.New(compatible.Config{Provider: aggregate.OpenAI, BaseURL: c.At[aggregate.OpenAI], Model: n.Model,
				Key: s.OpenAI, HTTP: c.Vendor}), nil
		default:
			return openai.New(openai.Config{BaseURL: c.At[aggregate.OpenAI], Model: n.Model, Key: s.OpenAI, HTTP: c.Vendor}), nil
		}
	case aggregate.Bedrock:
		return bedrock.New(bedrock.Config{AWS: c.AWS, BaseURL: c.At[aggregate.Bedrock], Model: n.Model, Key: s.Bedrock,
			HTTP: c.Vendor}), nil
	case aggregate.Compatible:
		at := s.Compatible[n.Endpoint]
		at.URL = cmp.Or(at.URL, teamconfig.EndpointAddress(n.Endpoint))
		return compatible.New(compatible.Config{
			Endpoint: n.Endpoint, BaseURL: strings.TrimRight(at.URL, "/"), Model: n.Model, Key: at.Key, HTTP: c.Outbound,
		}), nil
	}
	return nil, errMissing
}

var errMissing = errors.New("the model secret has no entry for it")

// VendorClient makes the client for the vendors' addresses. It follows no redirect, because headers contain keys. The
// time of its calls is limited by the caller's context.
func VendorClient() *http.Client {
	return &http.Client{
		Transport:     bounded{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded passes requests' bodies, which the SDKs write, to model.Sent. It cuts answers off at outbound.MaxBody bytes,
// streams at MaxStream.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
		model.Sent(r.Context(), body)
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	res, err := b.next.RoundTrip(r)
	if err == nil {
		most := int64(outbound.MaxBody)
		if media := res.Header.Get("Content-Type"); strings.Contains(media, "event") { // SSE, and Amazon's
			most = outbound.MaxStream
		}
		res.Body = http.MaxBytesReader(nil, res.Body, most)
	}
	return res, err
}

// Wires opens the models of contests by the names in their files.
type Wires struct {
	Config
	Instead string // replaces every model; empty: none
	// Prices are the workspace's own prices of models.
	Prices []tenancy.ModelPrice
	// Unlimited says that contests have no budget. Otherwise a model without a known price is not opened, because the
	// budget could not be enforced.
	Unlimited bool
}

// Open makes the wire of a model without calling anything. It returns a *model.Error of kind UnknownModel for an
// unknown form of name, and of kind Unpriced for a model whose cost can't be limited.
func (w Wires) Open(name string) (model.Wire, error) {
	name = cmp.Or(w.Instead, name)
	switch n, err := aggregate.ParseModelName(name); {
	case err == nil && n.Provider == aggregate.Demo:
		return demo.Teams{}, nil
	case err == nil && !w.Unlimited && !tenancy.PriceKnown(n.String(), w.Prices):
		return nil, &model.Error{Provider: n.Provider, Model: n.Model, Kind: model.Unpriced}
	}
	wire, err := w.Config.Open(name)
	if err != nil {
		return nil, err
	}
	return model.Priced(wire, w.Prices), nil
}
