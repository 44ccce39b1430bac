// Package slackapi calls Slack. It wraps slack-go with deadlines, one set of
// errors that says what is known about a call's outcome, and the metadata by which
// a card's message is found again.
package slackapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// Client calls the Web API with a bot's token.
type Client struct {
	api  *slack.Client
	keys Keys // nil when the token never changes

	mu    sync.Mutex
	self  *slack.AuthTestResponse // who the token belongs to, once known
	token string                  // the one that self belongs to
}

// New returns a client of the Web API at address, which must end with a slash.
// Each call ends after timeout.
func New(token, address string, timeout time.Duration) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !strings.HasSuffix(address, "/") {
		return nil, fmt.Errorf("slack api address must be a URL that ends with /, like https://slack.com/api/")
	}
	if token == "" {
		return nil, errors.New("the Slack secret has no bot_token")
	}
	client, err := httpClient(timeout)
	if err != nil {
		return nil, err
	}
	return &Client{api: slack.New(token, slack.OptionAPIURL(address), slack.OptionHTTPClient(client))}, nil
}

func httpClient(timeout time.Duration) (*http.Client, error) {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default transport was replaced")
	}
	return &http.Client{
		Timeout:   timeout,
		Transport: transport.Clone(),
		// The token is in the body: it must not be sent where a redirect leads.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// whoami is the bot that the token belongs to; asked once for each token.
func (c *Client) whoami(ctx context.Context) (*slack.AuthTestResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	token := ""
	if c.keys != nil {
		if now, _, err := c.keys.Bot(ctx); err == nil {
			token = now
		}
	}
	if c.self == nil || c.token != token {
		self, err := c.api.AuthTestContext(ctx)
		if err := outcome("auth.test", err); err != nil {
			return nil, err
		}
		c.self, c.token = self, token
	}
	return c.self, nil
}
