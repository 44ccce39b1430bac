package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi"
)

const (
	// keptFor is how long a tenant's token is used before its row is read again.
	keptFor = time.Minute
	// readEvery is the least time between two reads of a token that Slack refuses.
	readEvery = 5 * time.Second
)

// BotKeys give each call to Slack the token of its tenant's bot (slackapi.For): that of the Slack secret while Slack
// says that it belongs to the tenant, else the one that an installation sealed in the tenant's row. A call without a
// tenant gets the secret's.
type BotKeys struct {
	// Deployment reads the Slack secret.
	Deployment slackapi.Keys
	// Sealed returns the token in a tenant's row, or tenancy.ErrNotConnected when the row has none.
	Sealed func(ctx context.Context, tenant string) (string, error)
	// Own reports whether the secret's token belongs to a tenant.
	Own func(ctx context.Context, tenant string) (bool, error)
	Now func() time.Time

	kept clock.Answers[string, sealedToken] // by tenant
}

// sealedToken is a token that was read from a tenant's row.
type sealedToken struct {
	token string
	read  time.Time
}

// OpenBot makes a client that calls Slack as the bot of the context's workspace.
func OpenBot(cfg aws.Config, slack *secret.Slack, key boot.Credentials, rows Rows,
	timeout time.Duration) *slackapi.Client {
	_, c := NewBot(cfg, slack, key, rows, timeout)
	return c
}

// NewBot is OpenBot, but also returns the keys.
func NewBot(cfg aws.Config, slack *secret.Slack, key boot.Credentials, rows Rows,
	timeout time.Duration) (*BotKeys, *slackapi.Client) {
	sealed := New(rows, EnvelopeAt(cfg, key.CredentialsKeyID))
	k := &BotKeys{Deployment: slack, Sealed: sealed.Bot, Now: time.Now}
	c := slackapi.With(k, timeout)
	k.Own = slackapi.HomeWorkspace{Slack: c}.Own
	return k, c
}

// Token returns the token of a tenant's bot.
func (k *BotKeys) Token(ctx context.Context, tenant string) (string, error) {
	token, _, err := k.Bot(slackapi.For(ctx, tenant))
	return token, err
}

// Bot returns the token for the context's tenant, and Slack's address.
func (k *BotKeys) Bot(ctx context.Context) (token, address string, err error) {
	token, address, err = k.Deployment.Bot(ctx)
	tenant := slackapi.Tenant(ctx)
	if tenant == "" || err != nil && !errors.Is(err, secret.ErrMissing) {
		return token, address, err
	}
	own, unknown := false, err
	if err == nil {
		own, unknown = k.Own(ctx, tenant)
	}
	if own {
		return token, address, nil
	}
	is, err := k.of(ctx, tenant)
	if err != nil && unknown != nil { // the secret's token may belong to the tenant, so report that error
		err = unknown
	}
	if err != nil {
		return "", "", fmt.Errorf("the token of the workspace's bot: %w", err)
	}
	return is.token, address, nil
}

// of returns a tenant's own token, cached for a minute.
func (k *BotKeys) of(ctx context.Context, tenant string) (sealedToken, error) {
	return k.kept.Ask(tenant, k.Now(), keptFor, func() (sealedToken, error) {
		token, err := k.Sealed(ctx, tenant)
		return sealedToken{token, k.Now()}, err
	})
}

// Refused reads a refused token again, and reports whether there is a new one.
func (k *BotKeys) Refused(ctx context.Context) bool {
	tenant := slackapi.Tenant(ctx)
	was, ours := k.kept.Known(tenant, k.Now())
	if !ours {
		return k.Deployment.Refused(ctx)
	}
	if k.Now().Before(was.read.Add(readEvery)) {
		return false
	}
	k.kept.Forget(tenant)
	is, err := k.of(ctx, tenant)
	if err != nil {
		slog.WarnContext(ctx, "Slack refuses a workspace's token, and there is no other", "tenant_id", tenant, "err", err)
		return false
	}
	return is.token != was.token
}
