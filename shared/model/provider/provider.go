// Package provider opens the client for a model's name: Claude through Anthropic's own API or Amazon Bedrock's
// InvokeModel, which takes the same messages, and all others through Chat Completions. It links the vendors' SDKs, so
// few functions import it.
//
// It also calls Claude Managed Agents. A session's agent goes through approved steps by requesting tool calls, which
// Ringi makes itself, so that no credential of a tool reaches the agent. A caller starts a session, polls it, answers
// and interrupts it; nothing here waits or loops.
package provider

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
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
		Secret: &secret.Models{Reader: secret.ReaderAt(cfg), ID: env.ModelSecretID},
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
	return keyed{c, n.Vendor(), n.Model, func(s secret.ModelSecret) (model.Wire, error) { return c.named(n, s) }}, nil
}

// keyed is a model whose key is looked up at each call.
type keyed struct {
	config          Config
	provider, model string
	open            func(s secret.ModelSecret) (model.Wire, error)
}

// Say calls the model with the current key. If the key is missing or refused, the next call reads the secret again, so
// a new key works without a wait.
func (k keyed) Say(ctx context.Context, r model.Request) (model.Response, error) {
	nothing := model.Response{Usage: model.Usage{Provider: k.provider, Model: k.model}}
	s, err := k.config.Secret.Get(ctx)
	if err != nil {
		e := &model.Error{Provider: k.provider, Model: k.model, Kind: model.Overloaded, Retryable: true, Err: err}
		if errors.Is(err, secret.ErrMalformed) {
			e.Kind, e.Retryable = model.Unauthorized, false
		}
		return nothing, e
	}
	w, err := k.open(s)
	if err != nil {
		k.config.Secret.Forget()
		return nothing, &model.Error{Provider: k.provider, Model: k.model, Kind: model.Unauthorized, Err: err}
	}
	answer, err := w.Say(ctx, r)
	if e, is := errors.AsType[*model.Error](err); is && (e.Kind == model.Unauthorized || e.Kind == model.Misplaced) {
		k.config.Secret.Forget()
	}
	return answer, err
}

// named makes the wire for a name with the secret's key. It returns errMissing if there is no key.
func (c Config) named(n aggregate.ModelName, s secret.ModelSecret) (model.Wire, error) {
	if !teamconfig.HasKey(s, n) {
		return nil, errMissing
	}
	at := s.Compatible[n.Endpoint]
	key := map[string]string{aggregate.Anthropic: s.Anthropic, aggregate.OpenAI: s.OpenAI, aggregate.Bedrock: s.Bedrock,
		aggregate.Compatible: at.Key}[n.Provider]
	return c.wire(n, cmp.Or(at.URL, teamconfig.EndpointAddress(n.Endpoint)), key), nil
}

// wire makes the wire of a model. url is the address of a compatible endpoint.
func (c Config) wire(n aggregate.ModelName, url, key string) model.Wire {
	switch at := c.At[n.Provider]; n.Provider {
	case aggregate.Anthropic:
		return NewAnthropic(AnthropicConfig{BaseURL: at, Model: n.Model, Key: key, HTTP: c.Vendor})
	case aggregate.Bedrock:
		return NewAnthropic(AnthropicConfig{BaseURL: at, Model: n.Model, Key: key, HTTP: c.Vendor, Bedrock: &c.AWS})
	case aggregate.OpenAI:
		return NewCompletions(CompletionsConfig{Provider: n.Provider, BaseURL: at, Model: n.Model, Key: key,
			HTTP: c.Vendor})
	}
	return NewCompletions(CompletionsConfig{Endpoint: n.Endpoint, BaseURL: strings.TrimRight(url, "/"), Model: n.Model,
		Key: key, HTTP: c.Outbound})
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

// bounded passes requests' bodies, which the SDK writes, to model.Sent. It cuts answers off at outbound.MaxBody bytes.
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
		res.Body = http.MaxBytesReader(nil, res.Body, outbound.MaxBody)
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

// Follows returns the deployment's model where it answers for an agent: of a vendor for which the deployment has no
// key. It is instead, the deployment's MODEL, or the settings'. An agent with a key of its own (auth_ref) or an
// endpoint never follows, because its administrator chose who gets what people say. An error is a *model.Error: the
// model secret could not be read.
func (c Config) Follows(ctx context.Context, d tenancy.Agent, instead string, s tenancy.Settings) (string, error) {
	if isDemo(instead) {
		return aggregate.Demo, nil
	}
	if !vendors(d) {
		return "", nil
	}
	keys, err := c.Secret.Get(ctx)
	switch {
	case errors.Is(err, secret.ErrMalformed):
		return "", nil
	case err != nil:
		return "", &model.Error{Provider: string(d.Provider), Model: d.Model, Kind: model.Overloaded, Retryable: true,
			Err: err}
	}
	if _, err := keyOf(d, keys); err == nil || d.AuthRef != "" && d.AuthRef != string(d.Provider) {
		return "", nil
	}
	n, err := aggregate.ParseModelName(cmp.Or(instead, s.Model))
	if err == nil && n.Provider != aggregate.Demo {
		_, err = c.named(n, keys)
	}
	if err != nil { // it can't be called
		return "", nil
	}
	return n.String(), nil
}

// vendors reports whether the agent's model is a vendor's, with the vendor's own key unless it names another.
func vendors(d tenancy.Agent) bool {
	return d.Provider == tenancy.OpenAI || d.Provider == tenancy.Anthropic
}

func isDemo(name string) bool {
	n, err := aggregate.ParseModelName(name)
	return err == nil && n.Provider == aggregate.Demo
}

// OpenAgent makes the wire of an agent, or of the model that it follows, without calling a model. Without a key, the
// wire's calls fail with Unauthorized. If the settings limit costs and the model's price is unknown, it returns a
// *model.Error of kind Unpriced, because the limit could not be enforced.
func (c Config) OpenAgent(ctx context.Context, d tenancy.Agent, instead string,
	s tenancy.Settings) (model.Wire, error) {
	follows, err := c.Follows(ctx, d, instead, s)
	if err != nil {
		return nil, err
	}
	if isDemo(follows) {
		return demo.Agent{}, nil
	}
	n := aggregate.ModelName{Provider: string(d.Provider), Model: d.Model}
	if !vendors(d) { // a server with a single model ignores its name
		n = aggregate.ModelName{Provider: aggregate.Compatible, Endpoint: d.ID, Model: cmp.Or(d.Model, d.ID)}
	}
	name := cmp.Or(follows, n.String()) // as its usage rows and the settings' prices name it
	if s.CostsLimited() && !tenancy.PriceKnown(name, s.Prices) {
		return nil, &model.Error{Provider: string(d.Provider), Model: name, Kind: model.Unpriced}
	}
	var w model.Wire = keyed{c, string(d.Provider), d.Model, func(s secret.ModelSecret) (model.Wire, error) {
		key, err := keyOf(d, s)
		if err != nil {
			return nil, err
		}
		return c.wire(n, d.Endpoint, key), nil
	}}
	if follows != "" {
		w, err = c.Open(follows)
	}
	return model.Priced(w, s.Prices), err
}

var errElsewhere = errors.New("the model secret has no key of that name for the agent's address")

// keyOf returns the key for an agent. A workspace's administrator writes the definition, but the keys belong to the
// deployment. So a key is sent only to its own vendor, or to the address that the secret has for it.
func keyOf(d tenancy.Agent, s secret.ModelSecret) (string, error) {
	own := map[tenancy.AgentProvider]string{tenancy.OpenAI: s.OpenAI, tenancy.Anthropic: s.Anthropic}
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
