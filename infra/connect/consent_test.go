package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/vendors"
	"ringi/shared/aggregate"
	"ringi/shared/secret/oauth"
	"ringi/shared/secret/vault"
	"ringi/shared/tasks"
)

// output is the command's output; the test reads it while the command runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var link = regexp.MustCompile(`http\S+`)

// testConsent connects as a person does: it opens the address that the command
// shows, and the browser comes back.
func testConsent(t *testing.T, rows *tasks.Store, cfg aws.Config, table, key string) {
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	for _, provider := range []string{"freee", "google"} {
		prefix, c := strings.ToUpper(provider), v.Client(provider)
		t.Setenv(prefix+"_CLIENT_ID", c.ID)
		t.Setenv(prefix+"_CLIENT_SECRET", c.Secret)
	}
	begin := func(t *testing.T, provider, tokens string) (*output, <-chan error) {
		t.Helper()
		out, ended := &output{}, make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		t.Cleanup(cancel)
		go func() {
			ended <- run(ctx, cfg, []string{
				"-table", table, "-key", key, "-team", "T0CONSENT", "-by", "U0ADMIN", "-listen", "127.0.0.1:0",
				"-auth-url", s.URL + "/" + provider + "/authorize", "-token-url", s.URL + "/" + provider + tokens, provider,
			}, strings.NewReader(""), out)
		}()
		for link.FindString(out.String()) == "" {
			select {
			case err := <-ended:
				t.Fatalf("it ended before it asked: %v", err)
			case <-time.After(5 * time.Millisecond):
			}
		}
		return out, ended
	}
	visit := func(t *testing.T, address string) (int, string) {
		t.Helper()
		res, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	tenant := aggregate.TenantID("T0CONSENT")
	keys := vault.Envelope{KMS: kms.NewFromConfig(cfg), KeyID: key}
	for _, provider := range []string{"freee", "google"} {
		t.Run(provider, func(t *testing.T) {
			out, ended := begin(t, provider, "/token")
			address := link.FindString(out.String())
			shown, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			back := shown.Query().Get("redirect_uri")
			if status, _ := visit(t, back+"?code=x&state=forged"); status != 400 {
				t.Errorf("a forged return is answered %d", status)
			}
			if status, page := visit(t, address); status != 200 || !strings.Contains(page, "Connected") {
				t.Errorf("%d %s", status, page)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			vault := vault.New(rows, keys, oauth.Freee("", s.URL+"/freee/token"), oauth.Google("", s.URL+"/google/token"))
			first, err := vault.Token(t.Context(), tenant, provider)
			if err != nil {
				t.Fatal(err)
			}
			if second, err := vault.Renew(t.Context(), tenant, provider, first); err != nil || second == first {
				t.Errorf("it cannot be renewed: %v", err)
			}
			row, err := rows.Integration(t.Context(), tenant, provider)
			if want := map[string]aggregate.JSON{"freee": `{"company_id":"1884310"}`, "google": "{}"}[provider]; err != nil || row.Metadata != want {
				t.Errorf("%s, %v", row.Metadata, err)
			}
			for _, secret := range v.Secrets() {
				if strings.Contains(out.String(), secret) {
					t.Errorf("it shows a secret: %s", out)
				}
			}
		})
	}
	t.Run("denied", func(t *testing.T) {
		out, ended := begin(t, "freee", "/token")
		shown, err := url.Parse(link.FindString(out.String()))
		if err != nil {
			t.Fatal(err)
		}
		q := shown.Query()
		if status, _ := visit(t, q.Get("redirect_uri")+"?error=access_denied&state="+q.Get("state")); status != 400 {
			t.Errorf("answered %d", status)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "access_denied") {
			t.Errorf("%v", err)
		}
	})
	t.Run("the vendor's tokens are away", func(t *testing.T) {
		out, ended := begin(t, "freee", "/nowhere")
		if status, _ := visit(t, link.FindString(out.String())); status != 400 {
			t.Errorf("answered %d", status)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "connect freee") {
			t.Errorf("%v", err)
		}
	})
	t.Run("no app", func(t *testing.T) {
		t.Setenv("FREEE_CLIENT_SECRET", "")
		err := run(t.Context(), cfg, []string{"-table", table, "-key", key, "-team", "T0CONSENT", "-by", "U0ADMIN", "freee"}, strings.NewReader(""), io.Discard)
		if err == nil || !strings.Contains(err.Error(), "FREEE_CLIENT_SECRET") || !strings.Contains(err.Error(), "-token") {
			t.Errorf("%v", err)
		}
	})
}
