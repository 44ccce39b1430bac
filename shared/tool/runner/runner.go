// Package runner calls tools: it checks the arguments and finds the tenant's credentials. If a call fails, it reports
// whether the call can have had an effect. It sends direct messages and writes to spreadsheets itself: a repeated call
// finds the message already sent, or writes the same cells.
package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi"
	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
	"ringi/shared/tool/wire"
)

// Credentials returns the token for a tenant's calls of a provider, and a new one if the provider refused it. It
// returns aggregate.ErrNotFound if the tenant has not connected the provider.
type Credentials interface {
	Token(ctx context.Context, tenant, provider string) (string, error)
	Renew(ctx context.Context, tenant, provider, refused string) (string, error)
	// Refused ends the connection because a token that was just renewed was refused.
	Refused(ctx context.Context, tenant, provider, token string) error
	ServerToken(ctx context.Context, tenant string, s tenancy.MCPServer) (string, error)
}

// Config has the vendors' addresses, empty for their own, and the sources of credentials.
type Config struct {
	FreeeURL    string // up to and including /hr
	SheetsURL   string // without /v4
	Credentials Credentials
	// Slack returns the token of a tenant's bot, empty for none, and the Web API's address with a slash at its end.
	Slack func(ctx context.Context, tenant string) (token, address string, err error)
	// SlackRefused is called when Slack refused the token. It reports whether there is a new one. It may be nil.
	SlackRefused func(ctx context.Context) bool
	Outbound     *http.Client // for calls to MCP servers
	// Company returns the id of the freee company that a tenant chose, empty for none.
	Company func(ctx context.Context, tenant string) (string, error)
	Now     func() time.Time
	Log     *slog.Logger
}

// Runner calls the tools of a catalog.
type Runner struct {
	config  Config
	catalog *tool.Catalog
	http    wire.HTTP
	tools   map[string]function
}

// function makes a call and returns its result.
type function func(ctx context.Context, c tool.Call) (any, error)

// New makes a runner. It returns an error if the catalog has a tool that the runner can't call.
func New(catalog *tool.Catalog, config Config) (*Runner, error) {
	r := &Runner{config: config, catalog: catalog, http: wire.NewHTTP()}
	r.tools = r.calls()
	for _, s := range catalog.Planned().Modelled().All() { // a pull request is more than one call
		if r.tools[s.Name] == nil {
			return nil, fmt.Errorf("package runner has no call of the tool %s: name its function in calls", s.Name)
		}
	}
	return r, nil
}

// slackWithin bounds the calls that ask Slack which workspace the deployment's token belongs to.
const slackWithin = 6 * time.Second

// Vault has the credentials of all tenants.
type Vault interface {
	Credentials
	// SlackToken returns the token of a tenant's bot: ours if own says that the tenant is the deployment's workspace.
	SlackToken(ctx context.Context, tenant, ours string,
		own func(ctx context.Context, tenant string) (bool, error)) (string, error)
	Company(ctx context.Context, tenant string) (string, error)
}

// Open makes a runner of the builtin tools, which it reads as Slack's secret is read, that calls them with the
// credentials of tenants. allow are endpoints outside of the public internet, as those of models may be.
func Open(ctx context.Context, vendors boot.Vendors, allow string, credentials Vault,
	slack *secret.Slack) (*Runner, *tool.Catalog, error) {
	read := sync.OnceValues(tool.Builtin)
	go read()
	slack.Preload(ctx)
	catalog, err := read()
	if err != nil {
		return nil, nil, err
	}
	ours := slackapi.HomeWorkspace{Slack: slackapi.With(slack, slackWithin)}
	r, err := New(catalog, Config{
		FreeeURL: vendors.FreeeAPIURL, SheetsURL: vendors.SheetsAPIURL,
		Credentials: credentials,
		Slack: func(ctx context.Context, tenant string) (string, string, error) {
			bot, address, err := slack.Bot(ctx)
			if err != nil && !errors.Is(err, secret.ErrMissing) { // a tenant may have its own bot
				return "", "", err
			}
			token, err := credentials.SlackToken(ctx, tenant, bot, ours.Own)
			return token, address, err
		},
		SlackRefused: slack.Refused,
		Company:      credentials.Company,
		Outbound:     outbound.Allowing(allow).Client(),
		Now:          time.Now, Log: slog.Default(),
	})
	return r, catalog, err
}

// Run makes one call, within ctx and the tool's own timeout. Its errors are *explain.CallError with a sentence in the
// call's language. Errors of read tools always have the outcome Failed.
func (r *Runner) Run(ctx context.Context, c tool.Call) (json.RawMessage, error) {
	effect, do, err := r.find(c)
	if err != nil {
		return nil, r.say(c, badArguments(c.Tool, err))
	}
	result, err := do(ctx, c)
	if err != nil {
		e, is := errors.AsType[*explain.CallError](err)
		if !is { // it does not tell whether the call had an effect
			e = &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemInternal, Args: []any{c.Tool}, Err: err}
		}
		if effect == aggregate.Read {
			e.Outcome = explain.CallFailed
		}
		r.config.Log.WarnContext(ctx, "tool call failed", "tool", c.Tool, "outcome", e.Outcome, "problem", e.Problem, "err",
			e.Err)
		return nil, r.say(c, e)
	}
	text, err := aggregate.Written(result)
	if err != nil {
		return nil, r.say(c, &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemInternal,
			Args: []any{c.Tool}, Err: err})
	}
	if spec, known := r.catalog.Lookup(c.Tool); known && effect == aggregate.Read && len(text) > spec.MaxBytes {
		return nil, r.say(c, explain.Fail(explain.ProblemTooLarge, nil, c.Tool,
			fmt.Sprintf("%d bytes", spec.MaxBytes)))
	}
	return text, nil
}

// find returns the function that makes a call. It checks the arguments of Ringi's own tools. Those of a server's tool
// have been checked before, against the schema that was allowed.
func (r *Runner) find(c tool.Call) (aggregate.Access, function, error) {
	if c.Pin != nil {
		return c.Pin.Access, func(ctx context.Context, c tool.Call) (any, error) {
			return mcp.Client{HTTP: r.config.Outbound}.CallAllowed(ctx, r.config.Credentials, c.Tenant, c.Tool, *c.Pin,
				c.Arguments.JSON())
		}, nil
	}
	spec, known := r.catalog.Lookup(c.Tool)
	if !known {
		return "", nil, errors.New("unknown tool")
	}
	if _, err := r.catalog.Check(c.Tool, c.Arguments); err != nil {
		return "", nil, err
	}
	return spec.Access, func(ctx context.Context, c tool.Call) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, spec.Timeout)
		defer cancel()
		return r.tools[c.Tool](ctx, c)
	}, nil
}

// say adds to an error a sentence in the call's language.
func (r *Runner) say(c tool.Call, e *explain.CallError) *explain.CallError {
	return e.Say(c.Locale, r.config.Now())
}

func badArguments(name string, err error) *explain.CallError {
	return explain.Fail(explain.ProblemBadArguments, errors.New("arguments do not fit the schema"), name,
		err.Error())
}

// tokens are the credentials of one tool call.
type tokens struct {
	runner   *Runner
	call     tool.Call
	provider explain.Provider
}

// Token returns the token. If there is none, it returns an *explain.CallError, and the call must not be made.
func (t tokens) Token(ctx context.Context) (string, error) {
	return t.known(t.runner.config.Credentials.Token(ctx, t.call.Tenant, string(t.provider)))
}

func (t tokens) Renew(ctx context.Context, refused string) (string, error) {
	return t.known(t.runner.config.Credentials.Renew(ctx, t.call.Tenant, string(t.provider), refused))
}

// Refused ends the connection, so that people are asked to connect again and its token is not renewed again.
func (t tokens) Refused(ctx context.Context, token string) {
	err := t.runner.config.Credentials.Refused(ctx, t.call.Tenant, string(t.provider), token)
	if err != nil {
		t.runner.config.Log.WarnContext(ctx, "the connection is not ended", "provider", t.provider, "err", err)
	}
}

func (t tokens) known(token string, err error) (string, error) {
	if err == nil && token == "" {
		err = aggregate.ErrNotFound
	}
	if err != nil {
		return "", noTokenError(t.provider, err)
	}
	return token, nil
}

// noTokenError is the error of a call without a token. It says why there is none and what people can do.
func noTokenError(p explain.Provider, err error) *explain.CallError {
	e := explain.NoToken(p, err)
	if errors.Is(err, slackapi.ErrNoWorkspace) && e.Problem == explain.ProblemLocked {
		e.Problem = explain.ProblemUnreachable
	}
	return e
}
