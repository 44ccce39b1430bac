package runner

import (
	"context"
	"errors"
	"sync"

	"ringi/shared/home"
	"ringi/shared/task"
	"ringi/shared/tool"
)

// tokens are the credentials of one call of a tool, found once for all its requests.
type tokens struct {
	runner   *Runner
	call     tool.Call
	provider tool.Provider

	mu     sync.Mutex
	token  string
	failed error // to renew it: asked for once, also when many requests need it
}

func (r *Runner) tokens(c tool.Call, p tool.Provider) *tokens {
	return &tokens{runner: r, call: c, provider: p}
}

// Token returns an error of this project's, and then nothing may be called.
func (t *tokens) Token(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" || t.failed != nil {
		return t.token, t.failed
	}
	token, err := t.runner.config.Credentials.Token(ctx, t.call.Tenant, string(t.provider))
	return t.keep(token, err)
}

// Renew asks for another token unless another request of this call has one already.
func (t *tokens) Renew(ctx context.Context, refused string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != refused || t.failed != nil {
		return t.token, t.failed
	}
	token, err := t.runner.config.Credentials.Renew(ctx, t.call.Tenant, string(t.provider), refused)
	return t.keep(token, err)
}

// Refused ends the connection, so that people are asked to connect again and nothing more
// is renewed in vain.
func (t *tokens) Refused(ctx context.Context, token string) {
	err := t.runner.config.Credentials.Refused(ctx, t.call.Tenant, string(t.provider), token)
	if err != nil {
		t.runner.config.Log.WarnContext(ctx, "the connection is not ended", "provider", t.provider, "err", err)
	}
}

func (t *tokens) keep(token string, err error) (string, error) {
	if err == nil && token == "" {
		err = task.ErrNotFound
	}
	if err != nil {
		t.failed = hindered(t.provider, err)
		return "", t.failed
	}
	t.token = token
	return token, nil
}

// hindered says why there is no token, and whom to ask.
func hindered(p tool.Provider, err error) *tool.Error {
	var known *tool.Error
	if errors.As(err, &known) {
		return known
	}
	e := &tool.Error{Outcome: tool.Failed, Problem: tool.ProblemLocked, Args: []any{p}, Err: err}
	ended := task.ErrNotConnected{}
	switch {
	case errors.As(err, &ended):
		e.Problem = ending(ended.Reason)
	case errors.Is(err, task.ErrNotFound):
		e.Problem = tool.ProblemNotConnected
	case errors.Is(err, home.ErrSilent):
		e.Problem = tool.ProblemUnreachable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		e.Problem = tool.ProblemTimeout
	}
	return e
}

// ending is the problem that tells people why a provider is not connected any more.
func ending(why task.IntegrationReason) tool.Problem {
	switch why {
	case task.CredentialRefused:
		return tool.ProblemUnauthorized
	case task.CredentialLost:
		return tool.ProblemTokenLost
	case task.AppUninstalled:
		return tool.ProblemUninstalled
	case task.TokensRevoked:
		return tool.ProblemRevoked
	case task.CredentialElsewhere:
		return tool.ProblemElsewhere
	}
	return tool.ProblemNotConnected
}
