package runner

import (
	"context"
	"errors"
	"sync"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/slack/slackapi"
	"ringi/shared/tool"
)

// tokens are the credentials of one tool call, read once for all its requests.
type tokens struct {
	runner   *Runner
	call     tool.Call
	provider explain.Provider

	mu     sync.Mutex
	token  string
	failed error // why there is no token; no further request asks for one
}

func (r *Runner) tokens(c tool.Call, p explain.Provider) *tokens {
	return &tokens{runner: r, call: c, provider: p}
}

// Token returns the token. If there is none, it returns a *failedcall.Error, and the call must not be made.
func (t *tokens) Token(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" || t.failed != nil {
		return t.token, t.failed
	}
	token, err := t.runner.config.Credentials.Token(ctx, t.call.Tenant, string(t.provider))
	return t.keep(token, err)
}

// Renew asks for a new token, unless another request of this call has got one already.
func (t *tokens) Renew(ctx context.Context, refused string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != refused || t.failed != nil {
		return t.token, t.failed
	}
	token, err := t.runner.config.Credentials.Renew(ctx, t.call.Tenant, string(t.provider), refused)
	return t.keep(token, err)
}

// Refused ends the connection, so that people are asked to connect again and its token is not renewed again.
func (t *tokens) Refused(ctx context.Context, token string) {
	err := t.runner.config.Credentials.Refused(ctx, t.call.Tenant, string(t.provider), token)
	if err != nil {
		t.runner.config.Log.WarnContext(ctx, "the connection is not ended", "provider", t.provider, "err", err)
	}
}

func (t *tokens) keep(token string, err error) (string, error) {
	if err == nil && token == "" {
		err = aggregate.ErrNotFound
	}
	if err != nil {
		t.failed = noTokenError(t.provider, err)
		return "", t.failed
	}
	t.token = token
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
