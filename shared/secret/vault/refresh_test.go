package vault_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
)

var both = []string{"freee", "google"}

func testGoodAndExpired(t *testing.T, w *world) {
	for _, p := range both {
		is := w.connect(t, p)
		expect.Is(t, w.token(t, p), is.Access, "%s: another token", p)
		w.posts(t, p, 0)
		for _, lifetime := range []time.Duration{-time.Hour, 2 * time.Minute} { // the second could expire during a call
			before := w.vendors.Calls(p + "_token")
			first := w.connectFor(t, p, lifetime)
			second := w.token(t, p)
			expect.That(t, second != first.Access && w.token(t, p) == second, "%s: the same token, or another each time", p)
			w.posts(t, p, before+1)
			row := w.row(t, p)
			expect.That(t, row.Status == tenancy.Connected && row.Refreshing == nil &&
				!strings.Contains(row.Credentials, second), "%+v", row)
			w.vendors.Expire(p)
			third, err := w.Renew(t.Context(), tenant, p, second) // with the second refresh token
			expect.That(t, err == nil && third != second, "%s: %v", p, err)
			w.posts(t, p, before+2)
		}
	}
}

func testAtOnce(t *testing.T, w *world) {
	for _, p := range both {
		first := w.connectFor(t, p, time.Minute)
		tokens := make([]string, 32)
		expect.AtOnce(len(tokens), func(i int) {
			var err error
			if i%2 == 0 {
				tokens[i], err = w.Token(t.Context(), tenant, p)
			} else {
				tokens[i], err = w.Renew(t.Context(), tenant, p, first.Access)
			}
			expect.That(t, err == nil, "%v", err)
		})
		// Another call reports the first token as refused later.
		late := expect.Value(w.Renew(t.Context(), tenant, p, first.Access))(t)
		for _, token := range append(tokens, late) {
			expect.Must(t, token != first.Access && token == late, "%s: two tokens", p)
		}
		w.posts(t, p, 1)
	}
}

func testRevoked(t *testing.T, w *world) {
	first := w.connect(t, "freee")
	w.vendors.Revoke("freee")
	w.ended(t, "freee", expect.Err(w.Renew(t.Context(), tenant, "freee", first.Access)), tenancy.CredentialRefused)
	w.ended(t, "freee", expect.Err(w.Token(t.Context(), tenant, "freee")), tenancy.CredentialRefused)
	w.posts(t, "freee", 1)

	expect.NoError(t, w.Connect(t.Context(), "T2", "google", vault.Credential{AccessToken: "by hand"}, "{}",
		aggregate.System()))
	expect.Is(t, expect.Value(w.Token(t.Context(), "T2", "google"))(t), "by hand")
	ended, _ := errors.AsType[tenancy.ErrNotConnected](expect.Err(w.Renew(t.Context(), "T2", "google", "by hand")))
	expect.Is(t, ended.Reason, tenancy.CredentialRefused, "there is nothing to renew it with")
	w.posts(t, "google", 0)
}

// testFailures: an answer determines the token's state. Without an answer a one-time token counts as lost. No exchange
// is repeated.
func testFailures(t *testing.T, base *world) {
	fails := func(status int) func(*vendors.Vendors, string) {
		return func(v *vendors.Vendors, endpoint string) { v.Fail(endpoint, status, true) }
	}
	drops, halves := (*vendors.Vendors).Drop, (*vendors.Vendors).CutAnswer
	for _, test := range []struct {
		name     string
		provider string
		fault    func(v *vendors.Vendors, endpoint string)
		problem  explain.Problem           // temporary failure
		ended    tenancy.IntegrationReason // permanent failure
	}{
		{"429", "freee", fails(429), explain.ProblemRateLimited, ""},
		{"403, which may be a throttle", "freee", fails(403), explain.ProblemForbidden, ""},
		{"500", "freee", fails(500), explain.ProblemDown, ""},
		{"503", "google", fails(503), explain.ProblemDown, ""},
		{"401", "freee", fails(401), "", tenancy.CredentialRefused},
		{"400", "google", fails(400), "", tenancy.CredentialRefused},
		{"the answer lost", "freee", drops, "", tenancy.CredentialLost},
		{"half an answer", "freee", halves, "", tenancy.CredentialLost},
		{"the answer lost, of a token that stays", "google", drops, explain.ProblemLost, ""},
		{"half an answer, of a token that stays", "google", halves, explain.ProblemBadAnswer, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, p := newWorld(t, base.rows, base.Envelope), test.provider
			team := aggregate.NewID()
			first := w.vendors.Grant(p)
			expect.NoError(t, w.Connect(t.Context(), team, p, vault.CredentialOf(first, w.vendors.Client(p)), "{}",
				aggregate.System()))
			test.fault(w.vendors, p+"_token")
			_, err := w.Renew(t.Context(), team, p, first.Access)
			w.posts(t, p, 1)
			w.vendors.Fail(p+"_token", 0, false)
			later, again := w.Renew(t.Context(), team, p, first.Access)
			var said *explain.CallError
			var ended tenancy.ErrNotConnected
			if test.ended != "" {
				expect.That(t, errors.As(err, &ended) && ended.Reason == test.ended && errors.As(again, &ended),
					"%v, then %v", err, again)
				w.posts(t, p, 1)
				return
			}
			expect.That(t, errors.As(err, &said) && said.Problem == test.problem && !errors.As(err, &ended),
				"%v, want %s", err, test.problem)
			expect.That(t, again == nil && later != first.Access, "afterwards: %v", again)
			w.posts(t, p, 2)
		})
	}
}

// testCrash: a claim remains when its holder crashes. A one-time token counts as used; any other is used again.
func testCrash(t *testing.T, w *world) {
	for _, p := range both {
		w.connectFor(t, p, time.Minute)
		row := w.row(t, p)
		row.Refreshing = &tenancy.Refreshing{By: "dead", Until: w.now().Add(-time.Second)}
		expect.Value(w.rows.RenewIntegration(t.Context(), row, w.now()))(t)
	}
	w.ended(t, "freee", expect.Err(w.Token(t.Context(), tenant, "freee")), tenancy.CredentialLost)
	w.posts(t, "freee", 0)
	w.token(t, "google")
	w.posts(t, "google", 1)
	w.connect(t, "freee") // a person does, and all is well
	w.token(t, "freee")
}

// noKeys is a KMS that refuses to give keys.
type noKeys struct{}

func (noKeys) GenerateDataKey(context.Context, string, map[string]string) (plain, wrapped []byte, err error) {
	return nil, nil, &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized"}
}

func (noKeys) Decrypt(context.Context, string, []byte, map[string]string) ([]byte, error) {
	return nil, &smithy.GenericAPIError{Code: "DisabledException", Message: "disabled"}
}

func testLocked(t *testing.T, w *world) {
	first := w.connect(t, "freee")
	v := w.Vault
	v.Envelope.KMS = sealing{old: w.Envelope.KMS}
	expect.Fails(t, expect.Err(v.Renew(t.Context(), tenant, "freee", first.Access)), vault.ErrLocked, "no new key")
	v.Envelope.KMS = noKeys{}
	_, err := v.Token(t.Context(), tenant, "freee")
	expect.That(t, errors.Is(err, vault.ErrLocked) && !errors.Is(err, vault.ErrSealed), "no key: %v", err)
	w.posts(t, "freee", 0)
	row := w.row(t, "freee")
	expect.That(t, row.Refreshing == nil && row.Status == tenancy.Connected, "%+v", row)
}

// sealing gives no new keys but decrypts old ones.
type sealing struct {
	noKeys
	old vault.KMS
}

func (s sealing) Decrypt(ctx context.Context, key string, wrapped []byte, about map[string]string) ([]byte, error) {
	return s.old.Decrypt(ctx, key, wrapped, about)
}

func testUnsaved(t *testing.T, w *world) {
	first := w.connect(t, "freee")
	rows, writes := &failingRows{TaskStore: w.rows}, 0
	rows.before = func() error {
		if writes++; writes > 1 { // the claim is written, the vendor's answer is not
			return errors.New("the table is away")
		}
		return nil
	}
	v := w.Vault
	v.Rows = rows
	token, err := v.Renew(t.Context(), tenant, "freee", first.Access)
	expect.That(t, err != nil && writes >= 5, "%q was given before it was kept, tried %d times", token, writes-1)
	w.posts(t, "freee", 1)
	w.later(2 * time.Minute)
	w.ended(t, "freee", expect.Err(w.Renew(t.Context(), tenant, "freee", first.Access)), tenancy.CredentialLost)
	w.posts(t, "freee", 1)
}

func testLostAnswer(t *testing.T, w *world) {
	for n := 1; n <= 2; n++ { // 1: the claim; 2: the vendor's answer
		first := w.connect(t, "freee")
		rows, writes := &failingRows{TaskStore: w.rows}, 0
		rows.after = func() error {
			if writes++; writes == n {
				return errors.New("the answer is lost")
			}
			return nil
		}
		v := w.Vault
		v.Rows = rows
		token, err := v.Renew(t.Context(), tenant, "freee", first.Access)
		expect.That(t, err == nil && token == w.token(t, "freee"), "write %d: %v", n, err)
		w.posts(t, "freee", n)
	}
}

// testReconnected: a person's new connection wins over a concurrent refresh.
func testReconnected(t *testing.T, w *world) {
	first := w.connect(t, "freee")
	rows, second := &failingRows{TaskStore: w.rows}, vault.Token{}
	rows.after = func() error {
		rows.after = nil
		second = w.connect(t, "freee")
		return nil
	}
	v := w.Vault
	v.Rows = rows
	expect.Is(t, expect.Value(v.Renew(t.Context(), tenant, "freee", first.Access))(t), second.Access)
	row := w.row(t, "freee")
	expect.That(t, row.Status == tenancy.Connected && row.Refreshing == nil, "%+v", row)
}

func testImpatient(t *testing.T, w *world) {
	first := w.connect(t, "freee")
	before := w.vendors.Calls("freee_token")
	w.vendors.Hang("freee_token", time.Minute)
	caller, goes := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		_, err := w.Renew(caller, tenant, "freee", first.Access)
		expect.That(t, err == nil, "who refreshes: %v", err)
	})
	for w.vendors.Calls("freee_token") == before || w.row(t, "freee").Refreshing == nil {
		expect.Must(t, t.Context().Err() == nil, "nobody refreshes")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	expect.Fails(t, expect.Err(w.Renew(ctx, tenant, "freee", first.Access)), context.DeadlineExceeded, "who waits")
	goes() // the exchange finishes
	w.vendors.Hang("freee_token", 0)
	all.Wait()
	row := w.row(t, "freee")
	expect.That(t, row.Refreshing == nil && row.Status == tenancy.Connected, "%+v", row)
	w.posts(t, "freee", 1)
}
