// Package slackapi calls Slack. It wraps slack-go with deadlines, one set of
// errors that says what is known about a call's outcome, and the metadata by which
// a card's message is found again.
package slackapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// Client calls the Web API with a bot's token.
type Client struct {
	api  *slack.Client
	keys Keys

	mu    sync.Mutex
	self  *slack.AuthTestResponse // who the token belongs to, once known
	token string                  // the one that self belongs to
}

func httpClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:   timeout,
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// The token is in the body: it must not be sent where a redirect leads.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// whoami is the bot that the token belongs to; asked once for each token.
func (c *Client) whoami(ctx context.Context) (*slack.AuthTestResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	token, _, _ := c.keys.Bot(ctx) // without a token the call below is refused
	if c.self == nil || c.token != token {
		self, err := c.api.AuthTestContext(ctx)
		if err := outcome("auth.test", err); err != nil {
			return nil, err
		}
		c.self, c.token = self, token
	}
	return c.self, nil
}
