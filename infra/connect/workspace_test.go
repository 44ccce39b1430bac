package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// workspace has its own table; an administrator runs the command in it.
type workspace struct {
	*storetest.Server
	rows          *store.TaskStore
	table, tenant string
	flags         []string       // of each run; a run may override them
	keys          vault.Envelope // none in a workspace that only makes decisions
}

func newWorkspace(t *testing.T, team string) *workspace {
	t.Helper()
	w := &workspace{Server: storetest.Start(t), tenant: aggregate.TenantID(team)}
	w.rows, w.table = w.Store(t)
	w.flags = []string{"-table", w.table, "-team", team, "-by", "U0ADMIN"}
	return w
}

// sealing returns a workspace whose deployment has a key for credentials.
func sealing(t *testing.T, team string) *workspace {
	t.Helper()
	w := newWorkspace(t, team)
	w.keys.KMS = kms.NewFromConfig(w.Config)
	made := expect.Value(kms.NewFromConfig(w.Config).CreateKey(t.Context(), &kms.CreateKeyInput{}))(t)
	w.keys.KeyID = *made.KeyMetadata.Arn
	w.flags = append(w.flags, "-key", w.keys.KeyID)
	return w
}

// deciding returns a workspace that has made a request; its commands need no key.
func deciding(t *testing.T) *workspace {
	t.Helper()
	w := newWorkspace(t, "T0RINGI")
	expect.Value(w.rows.Bootstrap(t.Context(), tenancy.Tenant{ID: w.tenant, Name: "T0RINGI", Slug: "default", TeamID: "T0RINGI", Admins: []string{}}, time.Now()))(t)
	return w
}

// given runs the command with this standard input.
func (w *workspace) given(t *testing.T, in string, args ...string) (string, error) {
	var out bytes.Buffer
	err := run(t.Context(), w.Config, append(append([]string{}, w.flags...), args...), strings.NewReader(in), &out)
	return out.String(), err
}

func (w *workspace) command(t *testing.T, args ...string) (string, error) {
	return w.given(t, "", args...)
}

func (w *workspace) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := w.command(t, args...)
	expect.Must(t, err == nil, "%v: %v", args, err)
	return out
}

func (w *workspace) refused(t *testing.T, want string, args ...string) {
	t.Helper()
	_, err := w.command(t, args...)
	expect.That(t, err != nil && strings.Contains(err.Error(), want), "%v: %v, want one that says %q", args, err, want)
}
