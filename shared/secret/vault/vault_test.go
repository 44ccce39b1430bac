package vault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

func testEnvelope(t *testing.T, w *world) {
	e := w.Envelope
	himitsu := vault.Credential{AccessToken: "himitsu"}
	sealed := expect.Value(e.SealCredential(t.Context(), "T1", "freee", himitsu))(t)
	expect.That(t, !strings.Contains(sealed, "himitsu") && strings.HasPrefix(sealed, "v1."), "sealed: %s", sealed)
	again, err := e.SealCredential(t.Context(), "T1", "freee", himitsu)
	expect.That(t, err == nil && again != sealed, "the same text twice, %v", err)

	t.Run("opens for its own tenant and provider only", func(t *testing.T) {
		for owner, text := range map[[2]string]string{{"T2", "freee"}: sealed, {"T1", "google"}: sealed, {"", ""}: sealed} {
			b, err := e.Open(t.Context(), owner[0], owner[1], text)
			expect.That(t, errors.Is(err, vault.ErrSealed), "%v: %s, %v", owner, b, err)
		}
		b, err := e.Open(t.Context(), "T1", "freee", sealed)
		expect.That(t, err == nil && string(b) == `{"access_token":"himitsu"}`, "%s, %v", b, err)
	})

	t.Run("refuses what is damaged", func(t *testing.T) {
		parts := strings.Split(sealed, ".")
		other := strings.Split(again, ".")
		for name, text := range map[string]string{
			"empty": "", "in clear": `{"access_token":"himitsu"}`, "one part": "v1", "another version": "v2." + parts[1] +
				"." + parts[2],
			"not base64": "v1.!." + parts[2], "no key": "v1.." + parts[2], "no text": "v1." + parts[1] + ".",
			"another's key": "v1." + other[1] + "." + parts[2], "a character changed": sealed[:len(sealed)-4] +
				flip(sealed[len(sealed)-4:]),
			"cut": sealed[:len(sealed)-8],
		} {
			b, err := e.Open(t.Context(), "T1", "freee", text)
			expect.That(t, errors.Is(err, vault.ErrSealed) && !strings.Contains(fmt.Sprint(err), "himitsu"), "%s: %s, %v", name,
				b, err)
		}
	})

	t.Run("a row copied to another tenant does not open", func(t *testing.T) {
		row := tenancy.Integration{TenantID: "TCOPY", Provider: "freee", Status: tenancy.Connected, Credentials: sealed}
		expect.Value(w.rows.SaveIntegration(t.Context(), row, aggregate.System(), w.now()))(t)
		token, err := w.Token(t.Context(), "TCOPY", "freee")
		expect.That(t, errors.Is(err, vault.ErrSealed), "%q, %v", token, err)
	})
}

// testServerSecret: a server's secret is only valid for one address.
func testServerSecret(t *testing.T, w *world) {
	here, there := tenancy.MCPServer{Name: "rooms", URL: "https://a.example.com/mcp"}, tenancy.MCPServer{Name: "rooms",
		URL: "https://b.example.com/mcp"}
	err := w.Connect(t.Context(), "T1", here.Provider(), vault.Credential{AccessToken: "himitsu"}, "{}",
		aggregate.System())
	expect.That(t, errors.As(err, new(aggregate.Problem)), "without an address: %v", err)
	expect.NoError(t, w.Connect(t.Context(), "T1", here.Provider(),
		vault.Credential{AccessToken: "himitsu", Address: here.URL}, "{}", aggregate.System()))
	expect.Is(t, expect.Value(w.ServerToken(t.Context(), "T1", here))(t), "himitsu", "here")
	elsewhere := func(token string, err error) {
		t.Helper()
		var ended tenancy.ErrNotConnected
		expect.That(t, token == "" && errors.As(err, &ended) && ended.Reason == tenancy.CredentialElsewhere,
			"%q, %v", token, err)
	}
	elsewhere(w.ServerToken(t.Context(), "T1", there))
	elsewhere(w.Token(t.Context(), "T1", here.Provider()))
	// A credential from before credentials had addresses is valid for no address.
	row, err := w.rows.Integration(t.Context(), "T1", here.Provider())
	expect.NoError(t, err)
	if row.Credentials, err = w.Envelope.SealCredential(t.Context(), "T1", here.Provider(),
		vault.Credential{AccessToken: "himitsu"}); err != nil {
		t.Fatal(err)
	}
	expect.Value(w.rows.SaveIntegration(t.Context(), row, aggregate.System(), w.now()))(t)
	elsewhere(w.ServerToken(t.Context(), "T1", here))
}

// testPrinting: printing a credential shows nothing.
func testPrinting(t *testing.T, _ *world) {
	c := vault.Credential{AccessToken: "himitsu", RefreshToken: "himitsu",
		Client: vault.OAuthClient{ID: "id", Secret: "himitsu"}}
	for _, v := range []any{c, &c, c.Client, vault.Token{Access: "himitsu", Refresh: "himitsu"}} {
		b, err := json.Marshal(v)
		s := fmt.Sprintf("%v %+v %#v %s", v, v, v, v)
		expect.That(t, !strings.Contains(s, "himitsu"), "%T: %s", v, s)
		expect.That(t, err == nil && !strings.Contains(string(b), "himitsu"), "%T as JSON: %s, %v", v, b, err)
	}
}

// flip replaces every character by another one of base64url.
func flip(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 'A' {
			return 'B'
		}
		return 'A'
	}, s)
}

func testConnecting(t *testing.T, w *world) {
	for _, missing := range []string{"freee", "google", "slack", "mcp:rooms"} {
		token, err := w.Token(t.Context(), "TNEW", missing)
		expect.That(t, errors.Is(err, aggregate.ErrNotFound), "%s: %q, %v", missing, token, err)
	}
	admin, rooms := aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}, tenancy.MCPServer{Name: "rooms",
		URL: "https://rooms.example.com/mcp"}
	for _, token := range []string{"first", "second"} {
		expect.NoError(t, w.Connect(t.Context(), "TNEW", "mcp:rooms",
			vault.Credential{AccessToken: token, Address: rooms.URL}, "{}", admin))
		got, err := w.ServerToken(t.Context(), "TNEW", rooms)
		expect.That(t, got == token && err == nil, "%q, %v", got, err)
	}
	expect.NoError(t, w.Disconnect(t.Context(), "TNEW", "mcp:rooms", admin))
	ended := tenancy.ErrNotConnected{}
	_, err := w.ServerToken(t.Context(), "TNEW", rooms)
	expect.That(t, errors.As(err, &ended) && ended.Status == tenancy.Disconnected && ended.Reason == tenancy.ByPerson,
		"%v", err)
	expect.Fails(t, w.Disconnect(t.Context(), "TNEW", "freee", admin), aggregate.ErrNotFound,
		"disconnected what never was")
}

func testSlack(t *testing.T, w *world) {
	own := func(_ context.Context, tenant string) (bool, error) { return tenant == "TSLACK", nil }
	token := func(want string, why tenancy.IntegrationReason) {
		t.Helper()
		got, err := w.SlackToken(t.Context(), "TSLACK", "xoxb-deployment", own)
		ended := tenancy.ErrNotConnected{}
		expect.That(t, got == want && (why != "") == errors.As(err, &ended) && ended.Reason == why,
			"%q, %v; want %q %s", got, err, want, why)
	}
	token("xoxb-deployment", "")
	for _, why := range []tenancy.IntegrationReason{tenancy.TokensRevoked, tenancy.AppUninstalled} {
		expect.Value(w.rows.EndIntegrations(t.Context(), "TSLACK", why, w.now(), w.now()))(t)
		token("", why)
		w.later(1)
		expect.NoError(t, w.Allow(t.Context(), "TSLACK", "slack", aggregate.System()))
		token("xoxb-deployment", "")
	}
	notConnected := tenancy.ErrNotConnected{}
	got, err := w.SlackToken(t.Context(), "TELSE", "xoxb-deployment", own)
	expect.That(t, got == "" && errors.As(err, &notConnected), "another workspace is given %q, %v", got, err)
	if err := w.Allow(t.Context(), "TELSE", "slack", aggregate.System()); err != nil { // without a token of its own
		t.Fatal(err)
	}
	got, err = w.SlackToken(t.Context(), "TELSE", "xoxb-deployment", own)
	expect.That(t, got == "" && errors.As(err, &notConnected), "one that connected without a token is given %q, %v",
		got, err)
	silent := errors.New("timeout")
	got, err = w.SlackToken(t.Context(), "TNOBODY", "xoxb-deployment",
		func(context.Context, string) (bool, error) { return false, silent })
	expect.That(t, got == "" && errors.Is(err, silent), "while nobody knows whose it is, %q, %v", got, err)
	expect.NoError(t, w.Connect(t.Context(), "TSLACK", "slack", vault.Credential{AccessToken: "xoxb-own"}, "{}",
		aggregate.System()))
	token("xoxb-own", "")
}

// TestVault runs against one server that emulates the table, KMS and the vendors' token endpoints.
func TestVault(t *testing.T) {
	server := storetest.Start(t)
	key := expect.Value(kms.NewFromConfig(server.Config).CreateKey(t.Context(), &kms.CreateKeyInput{}))(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"envelope", testEnvelope},
		{"a server's secret is for one address", testServerSecret},
		{"printing shows nothing", testPrinting},
		{"connecting", testConnecting},
		{"slack", testSlack},
		{"a good token is used as it is, and an expired one renewed", testGoodAndExpired},
		{"32 need another token at once", testAtOnce},
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
			t.Parallel()
			rows, _ := server.Store(t)
			part.run(t, newWorld(t, rows, vault.EnvelopeAt(server.Config, *key.KeyMetadata.KeyId)))
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
	s := expect.Server(t, w.vendors.Handler())
	w.Vault = vault.New(rows, e, vault.FreeeOAuth(s.URL+"/freee/token"), vault.GoogleOAuth(s.URL+"/google/token"))
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

// sdk calls KMS with the SDK's client.
type sdk struct{ *kms.Client }

func (s sdk) GenerateDataKey(ctx context.Context, key string, about map[string]string) (plain, wrapped []byte,
	err error) {
	out, err := s.Client.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{KeyId: &key, EncryptionContext: about,
		KeySpec: types.DataKeySpecAes256})
	if err != nil {
		return nil, nil, err
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

func (s sdk) Decrypt(ctx context.Context, key string, wrapped []byte, about map[string]string) ([]byte, error) {
	out, err := s.Client.Decrypt(ctx, &kms.DecryptInput{KeyId: &key, CiphertextBlob: wrapped, EncryptionContext: about})
	if err != nil {
		return nil, err
	}
	return out.Plaintext, nil
}

// envelopes seal with the same key: ours, and one that calls KMS with the SDK's client.
func envelopes(cfg aws.Config, key string) map[string]vault.Envelope {
	return map[string]vault.Envelope{
		"ours": vault.EnvelopeAt(cfg, key), "the SDK's": {KMS: sdk{kms.NewFromConfig(cfg)}, KeyID: key},
	}
}

// refusing is a KMS that answers all calls alike. It has the last one.
type refusing struct {
	status int
	header http.Header
	text   string

	headers map[string]string
	body    any
}

func (k *refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, signed, _ := strings.Cut(r.Header.Get("Authorization"), "/")
	_, scope, _ := strings.Cut(signed, "/") // the day may change
	scope, _, _ = strings.Cut(scope, ",")
	k.headers = map[string]string{"method": r.Method, "path": r.URL.RequestURI(), "scope": scope,
		"kind": r.Header.Get("Content-Type"), "target": r.Header.Get("X-Amz-Target")}
	text, _ := io.ReadAll(r.Body)
	k.body = nil
	_ = json.Unmarshal(text, &k.body)
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.status)
	_, _ = io.WriteString(w, k.text)
}

// callingKMS is the configuration of clients that call KMS once.
func callingKMS(t *testing.T, k http.Handler) aws.Config {
	server := expect.Server(t, k)
	return aws.Config{Region: "ap-northeast-1", BaseEndpoint: &server.URL,
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
}

// said is what a caller sees of a refused call.
type said struct {
	code, message  string
	class          explain.Class
	locked, sealed bool
}

func TestARefusedCallIsAskedAndReportedAsByTheSDK(t *testing.T) {
	const text = "v1.eA.eHh4eHh4eHh4eHh4eHh4" // its parts mean nothing
	for name, tt := range map[string]struct {
		kms  refusing
		want said // of a text that is opened
	}{
		"no right": {refusing{status: 400, text: `{"__type":"AccessDeniedException","Message":"not authorized"}`},
			said{"AccessDeniedException", "not authorized", explain.Internal, true, false}},
		"a namespace": {refusing{status: 400, text: `{"__type":"com.amazonaws.kms#DisabledException","message":"off"}`},
			said{"DisabledException", "off", explain.Internal, true, false}},
		"a code in the header": {refusing{status: 400, text: `{"message":"gone"}`,
			header: http.Header{"X-Amzn-Errortype": {"NotFoundException:http://x/"}}},
			said{"NotFoundException", "gone", explain.Internal, true, false}},
		"a throttle": {refusing{status: 400, text: `{"__type":"ThrottlingException","message":"slower"}`},
			said{"ThrottlingException", "slower", explain.Unavailable, true, false}},
		"a fault": {refusing{status: 500, text: `{"__type":"KMSInternalException","message":"oops"}`},
			said{"KMSInternalException", "oops", explain.Unavailable, true, false}},
		"another's text": {refusing{status: 400, text: `{"__type":"InvalidCiphertextException"}`},
			said{class: explain.Internal, sealed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			type call struct {
				headers map[string]string
				body    any
			}
			asked := map[string][2]call{}
			for whose, e := range envelopes(callingKMS(t, &tt.kms), "key-id") {
				_, err := e.Open(t.Context(), "T1", "freee", text)
				opening := call{tt.kms.headers, tt.kms.body}
				got := said{class: explain.ClassOf(err), locked: errors.Is(err, vault.ErrLocked),
					sealed: errors.Is(err, vault.ErrSealed)}
				var api smithy.APIError
				if errors.As(err, &api) {
					got.code, got.message = api.ErrorCode(), api.ErrorMessage()
				}
				expect.That(t, got == tt.want, "%s: %+v, want %+v: %v", whose, got, tt.want, err)
				expect.Fails(t, expect.Err(e.Seal(t.Context(), "T1", "freee", []byte("himitsu"))), vault.ErrLocked, whose)
				asked[whose] = [2]call{opening, {tt.kms.headers, tt.kms.body}}
			}
			for i, ours := range asked["ours"] {
				expect.Same(t, asked["the SDK's"][i].headers, ours.headers)
				expect.Same(t, asked["the SDK's"][i].body, ours.body)
			}
		})
	}
}

// careless is a KMS that notes the context and opens whatever it is.
type careless struct{ about map[string]string }

func (k *careless) GenerateDataKey(_ context.Context, _ string, about map[string]string) (plain, wrapped []byte,
	err error) {
	k.about = about
	return make([]byte, 32), []byte("wrapped"), nil
}

func (k *careless) Decrypt(_ context.Context, _ string, _ []byte, about map[string]string) ([]byte, error) {
	k.about = about
	return make([]byte, 32), nil
}

// A credential is bound to its tenant and provider twice, and each binding is whole without the other.
func TestACredentialIsBoundToItsOwnerTwice(t *testing.T) {
	k := &careless{}
	e := vault.Envelope{KMS: k, KeyID: "key-id"}
	sealed := expect.Value(e.Seal(t.Context(), "T1", "freee", []byte("himitsu")))(t)
	expect.Same(t, map[string]string{"tenant_id": "T1", "provider": "freee"}, k.about)
	for owner, opens := range map[[2]string]bool{{"T1", "freee"}: true, {"T2", "freee"}: false, {"T1", "google"}: false} {
		_, err := e.Open(t.Context(), owner[0], owner[1], sealed)
		expect.That(t, (err == nil) == opens && (opens || errors.Is(err, vault.ErrSealed)), "by the text: %v: %v", owner, err)
		expect.Same(t, map[string]string{"tenant_id": owner[0], "provider": owner[1]}, k.about)
	}
}

func TestAnAnswerOfKMSThatCantBeReadLocks(t *testing.T) {
	e := vault.EnvelopeAt(callingKMS(t, &refusing{status: 200, text: "<html>"}), "key-id")
	_, err := e.Seal(t.Context(), "T1", "freee", []byte("himitsu"))
	expect.Fails(t, err, vault.ErrLocked)
	expect.Is(t, explain.ClassOf(err), explain.Unavailable)
}
