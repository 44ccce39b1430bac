package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringi/shared/task"
)

// Integrations finds a tenant's connection to a provider; task.ErrNotFound when there is none.
type Integrations interface {
	Integration(ctx context.Context, tenant, provider string) (task.Integration, error)
}

// Vault finds the tokens that tools call with.
type Vault struct {
	Integrations Integrations
	Envelope     Envelope
}

// Credential is what is sealed.
type Credential struct {
	AccessToken string `json:"access_token"`
}

// String keeps the credential out of logs and errors.
func (Credential) String() string { return "(hidden)" }

// GoString is String.
func (c Credential) GoString() string { return c.String() }

// SealCredential makes the text that an integration's row keeps.
func (e Envelope) SealCredential(ctx context.Context, tenant, provider string, c Credential) (string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("seal a credential of %s: %w", provider, err)
	}
	return e.Seal(ctx, tenant, provider, b)
}

// Token opens the tenant's token for a provider. It returns task.ErrNotFound when
// the tenant has not connected the provider, or no longer is.
func (v Vault) Token(ctx context.Context, tenant, provider string) (string, error) {
	i, err := v.Integrations.Integration(ctx, tenant, provider)
	if err != nil {
		return "", fmt.Errorf("find the integration %s: %w", provider, err)
	}
	if i.Status != task.Connected {
		return "", fmt.Errorf("integration %s is %s: %w", provider, i.Status, task.ErrNotFound)
	}
	b, err := v.Envelope.Open(ctx, tenant, provider, i.Credentials)
	if err != nil {
		return "", err
	}
	var c Credential
	if json.Unmarshal(b, &c) != nil || c.AccessToken == "" { // the error would quote the credential
		return "", errors.New("open a credential of " + provider + ": it holds no access_token")
	}
	return c.AccessToken, nil
}
