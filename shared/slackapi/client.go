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
	api *slack.Client

	mu   sync.Mutex
	self *slack.AuthTestResponse // who the token belongs to, once known
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
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default transport was replaced")
	}
	return &Client{api: slack.New(token, slack.OptionAPIURL(address), slack.OptionHTTPClient(&http.Client{
		Timeout:   timeout,
		Transport: transport.Clone(),
		// The token is in the body: it must not follow a redirect to wherever.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}))}, nil
}

// whoami is the bot that the token belongs to; asked once.
func (c *Client) whoami(ctx context.Context) (*slack.AuthTestResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.self == nil {
		self, err := c.api.AuthTestContext(ctx)
		if err := outcome("auth.test", err); err != nil {
			return nil, err
		}
		c.self = self
	}
	return c.self, nil
}
