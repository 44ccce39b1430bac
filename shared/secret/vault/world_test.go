package vault_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// TestVault runs against one server that emulates the table, KMS and the vendors' token endpoints.
func TestVault(t *testing.T) {
	server := storetest.Start(t)
	client := kms.NewFromConfig(server.Config)
	key := expect.Value(client.CreateKey(t.Context(), &kms.CreateKeyInput{}))(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"envelope", testEnvelope},
		{"a server's secret is for one address", testServerSecret},
		{"printing shows nothing", testPrinting},
		{"connecting", testConnecting},
		{"slack", testSlack},
		{"a good token is used as it is", testGood},
		{"an expired token is renewed", testExpired},
		{"32 need another token at once", testAtOnce},
		{"a refused token is renewed once", testRenew},
		{"a revoked token", testRevoked},
		{"what becomes of a token whose exchange failed", testFailures},
		{"whoever refreshes dies", testCrash},
		{"what cannot be sealed is not asked for", testLocked},
		{"what cannot be saved is not used", testUnsaved},
		{"an answer of the table is lost", testLostAnswer},
		{"somebody connects meanwhile", testReconnected},
		{"who waits does not wait longer than it may", testImpatient},
	} {
		t.Run(part.name, func(t *testing.T) {
			rows, _ := server.Store(t)
			part.run(t, newWorld(t, rows, vault.Envelope{KMS: client, KeyID: *key.KeyMetadata.KeyId}))
		})
	}
}

// world is a vault that calls emulated token endpoints.
type world struct {
	vault.Vault
	rows    *store.TaskStore
	vendors *vendors.Vendors
	ahead   atomic.Int64 // offset to the real clock
}

func newWorld(t *testing.T, rows *store.TaskStore, e vault.Envelope) *world {
	t.Helper()
	w := &world{rows: rows, vendors: vendors.New()}
	s := httptest.NewServer(w.vendors.Handler())
	t.Cleanup(s.Close)
	w.Vault = vault.New(rows, e, vault.FreeeOAuth("", s.URL+"/freee/token"), vault.GoogleOAuth("", s.URL+"/google/token"))
	w.Vault.Now = w.now
	return w
}

func (w *world) now() time.Time        { return time.Now().Add(time.Duration(w.ahead.Load())) }
func (w *world) later(d time.Duration) { w.ahead.Add(int64(d)) }

const tenant = "T1"

// connect saves a new consent's tokens for the tenant and returns them.
func (w *world) connect(t *testing.T, provider string) vault.Token {
	t.Helper()
	return w.connectFor(t, provider, time.Hour)
}

// connectFor is connect with an access token of the given lifetime.
func (w *world) connectFor(t *testing.T, provider string, lifetime time.Duration) vault.Token {
	t.Helper()
	got := w.vendors.Grant(provider)
	got.ExpiresAt = w.now().Add(lifetime)
	expect.NoError(t, w.Connect(t.Context(), tenant, provider, vault.CredentialOf(got, w.vendors.Client(provider)), "{}",
		aggregate.System()))
	return got
}

func (w *world) row(t *testing.T, provider string) tenancy.Integration {
	t.Helper()
	return expect.Value(w.rows.Integration(t.Context(), tenant, provider))(t)
}

// token fails the test if there is no token.
func (w *world) token(t *testing.T, provider string) string {
	t.Helper()
	return expect.Value(w.Token(t.Context(), tenant, provider))(t)
}

// ended checks that a person must connect the provider again, that the row has the reason and no credential, and that
// the audit log has one entry.
func (w *world) ended(t *testing.T, provider string, err error, why tenancy.IntegrationReason) {
	t.Helper()
	ended := tenancy.ErrNotConnected{}
	expect.That(t, errors.As(err, &ended) && ended.Reason == why && errors.Is(err, aggregate.ErrNotFound),
		"%v, want that it ended as %s", err, why)
	row := w.row(t, provider)
	expect.That(t, row.Status == tenancy.Broken && row.StatusReason == why && row.Credentials == "" &&
		row.Refreshing == nil, "%+v", row)
	log, err := w.rows.Audit(t.Context(), tenant, store.AuditFilter{Action: tenancy.AuditIntegrationFailed}, "", 10)
	expect.That(t, err == nil && len(log.Items) == 1 &&
		string(log.Items[0].Details) == `{"provider":"`+provider+`","reason":"`+string(why)+`"}`,
		"recorded %+v, %v", log.Items, err)
}

// posts checks how many token requests the vendor received.
func (w *world) posts(t *testing.T, provider string, want int) {
	t.Helper()
	expect.Is(t, w.vendors.Calls(provider+"_token"), want, "%s was asked for tokens (times)", provider)
}

// failingRows are rows whose writes fail before or after they are made.
type failingRows struct {
	*store.TaskStore
	before, after func() error
}

func (r *failingRows) RenewIntegration(
	ctx context.Context, x tenancy.Integration, now time.Time,
) (tenancy.Integration, error) {
	if r.before != nil {
		if err := r.before(); err != nil {
			return x, err
		}
	}
	out, err := r.Store.RenewIntegration(ctx, x, now)
	if r.after != nil && err == nil {
		err = r.after()
	}
	return out, err
}
