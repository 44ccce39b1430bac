package integrations

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// saveApp connects GitHub with the pasted key of a GitHub App.
func (c *Pages) saveApp(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	typed := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	err := c.Connect.Vault.ConnectApp(r.Context(), v.Tenant, typed("app_id"), typed("installation_id"),
		typed("private_key")+"\n", v.Actor())
	var wrong aggregate.ErrField
	if errors.As(err, &wrong) {
		return c.connectFailed(w, r, v, connectFault{wrong.Field, http.StatusBadRequest, tenancy.GitHubProvider})
	}
	if err != nil {
		return err
	}
	return c.Done(w, r, "/console/integrations#"+tenancy.GitHubProvider, "connected")
}

// appOf returns the numbers of the GitHub App that a row connects.
func appOf(row tenancy.Integration) (id, installation string) {
	var about struct {
		ID           string `json:"app_id"`
		Installation string `json:"installation_id"`
	}
	_ = json.Unmarshal([]byte(row.Metadata), &about) // without numbers the fields stay empty
	return about.ID, about.Installation
}
