// Package slackapi calls Slack. It wraps slack-go with deadlines, with errors that say what is known about a call's
// outcome, and with metadata by which a card's message is found again.
package slackapi

import (
	"context"
	"net/http"
	"ringi/shared/runtime/clock"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// Client calls the Web API with a bot's token.
type Client struct {
	api   *slack.Client
	keys  Keys
	files *http.Client
	moved *moved
	apps  clock.Answers[string, bool] // whether a tenant's user is an app's

	mu   sync.Mutex
	self map[string]*slack.AuthTestResponse // the bot of each token, once known
}

// mostSelves bounds the tokens whose bots are cached.
const mostSelves = 100

type forTenant struct{}

// For selects the tenant whose bot makes the calls under a context. Without it the deployment's own bot does.
func For(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, forTenant{}, tenant)
}

// Tenant returns the tenant whose bot makes the calls; it is empty for the deployment's own.
func Tenant(ctx context.Context) string {
	tenant, _ := ctx.Value(forTenant{}).(string)
	return tenant
}

func httpClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:   timeout,
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// The body contains the token, so a redirect must not be followed.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// whoami returns the bot that the token belongs to. Slack is asked once for each token, or more often by concurrent
// calls.
func (c *Client) whoami(ctx context.Context) (*slack.AuthTestResponse, error) {
	token, _, _ := c.keys.Bot(ctx) // without a token the call below is refused
	c.mu.Lock()
	self := c.self[token]
	c.mu.Unlock()
	if self != nil {
		return self, nil
	}
	self, err := c.api.AuthTestContext(ctx)
	if err := outcome("auth.test", err); err != nil {
		return nil, err
	}
	token, _, _ = c.keys.Bot(ctx) // the token may have changed during the call
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.self == nil || len(c.self) >= mostSelves {
		c.self = map[string]*slack.AuthTestResponse{}
	}
	c.self[token] = self
	return self, nil
}
