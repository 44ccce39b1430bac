package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool/github"
)

// sealedApp is the JSON of a GitHub App; it is encrypted before it is stored.
type sealedApp struct {
	ID           string `json:"app_id"`
	Installation string `json:"installation_id"`
	Key          string `json:"private_key"`
}

// ConnectApp seals a GitHub App's private key (PEM) and saves it as the tenant's connection to GitHub, replacing an
// earlier one, with integration.connected in the audit log. The App's numbers are in the row's metadata, the key
// nowhere but sealed. It returns aggregate.ErrField for values that are no App's, and aggregate.ErrConflict when
// somebody saved in between.
func (v Vault) ConnectApp(ctx context.Context, tenant, id, installation, key string, by aggregate.Actor) error {
	if _, err := github.NewApp(id, installation, key); err != nil {
		return err
	}
	row, err := v.Row(ctx, tenant, tenancy.GitHubProvider)
	if err != nil {
		return fmt.Errorf("connect %s: %w", row.Provider, err)
	}
	text, err := json.Marshal(sealedApp{id, installation, key})
	if err != nil {
		return fmt.Errorf("connect %s: %w", row.Provider, err)
	}
	sealed, err := v.Envelope.Seal(ctx, tenant, row.Provider, text)
	if err == nil {
		about := aggregate.JSON(fmt.Sprintf(`{"app_id":%q,"installation_id":%q}`, id, installation))
		_, err = v.Rows.SaveIntegration(ctx, row.Fresh(sealed, about), by, v.Now())
	}
	if err != nil {
		return fmt.Errorf("connect %s: %w", row.Provider, err)
	}
	return nil
}

// App returns the tenant's GitHub App. It returns aggregate.ErrNotFound when the tenant never connected GitHub, and
// tenancy.ErrNotConnected when the connection has ended.
func (v Vault) App(ctx context.Context, tenant string) (github.App, error) {
	row, err := v.Rows.Integration(ctx, tenant, tenancy.GitHubProvider)
	if err != nil {
		return github.App{}, fmt.Errorf("find the integration %s: %w", tenancy.GitHubProvider, err)
	}
	if row.Status != tenancy.Connected {
		return github.App{}, unusable(row)
	}
	b, err := v.Envelope.Open(ctx, row.TenantID, row.Provider, row.Credentials)
	if err != nil {
		return github.App{}, err
	}
	var s sealedApp
	if json.Unmarshal(b, &s) != nil { // the error would quote the key
		return github.App{}, errors.New("open the App at GitHub: it is not one")
	}
	return github.NewApp(s.ID, s.Installation, s.Key)
}
