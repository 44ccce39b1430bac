package github

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/runtime/secret"
	"ringi/shared/tool/wire"
)

// App is a GitHub App that an organization installed: the credential of the provider github.
type App struct {
	secret.Hidden
	ID           string
	Installation string
	key          *rsa.PrivateKey
}

// MaxKey limits the bytes of an App's key. GitHub's keys have 2,048 bits.
const MaxKey = 8 << 10

// NewApp reads an App's key, as GitHub's page of the App downloads it. It returns an aggregate.Problem, which never
// quotes the key.
func NewApp(id, installation, key string) (App, error) {
	for _, number := range []struct{ field, value string }{{"app_id", id}, {"installation_id", installation}} {
		if number.value == "" || len(number.value) > 20 || strings.Trim(number.value, "0123456789") != "" {
			return App{}, aggregate.Problem{Field: number.field, Code: "must be a number of at most 20 digits"}
		}
	}
	if len(key) > MaxKey {
		return App{}, aggregate.Problem{Field: "private_key", Code: fmt.Sprintf("must have at most %d bytes", MaxKey)}
	}
	block, _ := pem.Decode([]byte(key))
	if block == nil {
		return App{}, aggregate.Problem{Field: "private_key", Code: "must be a PEM file, as GitHub downloads it"}
	}
	if pkcs1, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return App{ID: id, Installation: installation, key: pkcs1}, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	pkcs8, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok { // the error could quote the key
		return App{}, aggregate.Problem{Field: "private_key", Code: "must be an RSA key"}
	}
	return App{ID: id, Installation: installation, key: pkcs8}, nil
}

// jwt is the token by which the App itself is known. GitHub allows ten minutes and clocks that differ by one.
func (a App) jwt(now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{
		"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(8 * time.Minute).Unix(), "iss": a.ID,
	})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, a.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", errors.New("the App's key can't sign")
	}
	return text + "." + encode(signature), nil
}

// Permissions of a token for one repository. No token may change workflows, settings or other repositories.
type Permissions map[string]string

func Reads() Permissions { return Permissions{"contents": "read"} }
func Looks() Permissions { return Permissions{"contents": "read", "pull_requests": "read"} }
func Pushes() Permissions {
	return Permissions{"contents": "write", "pull_requests": "write"}
}

// minted are the tokens of one installation for one repository.
type minted struct {
	app   *wire.Client
	path  string
	order any
}

// asApp are the App's own tokens, with which only installation tokens are made.
type asApp struct {
	App
	now func() time.Time
}

func (a asApp) Token(context.Context) (string, error) { return a.jwt(a.now()) }

// Renew returns a token for a clock that went on. One that is refused twice stays refused.
func (a asApp) Renew(context.Context, string) (string, error) { return a.jwt(a.now()) }

func (asApp) Refused(context.Context, string) {}

func (m minted) Token(ctx context.Context) (string, error) {
	var out struct {
		Token string `json:"token"`
	}
	if err := m.app.Write(ctx, http.MethodPost, m.path, m.order, &out); err != nil {
		if e, ok := errors.AsType[*explain.CallError](err); ok { // a token that nobody has changes nothing
			e.Outcome = explain.CallFailed
		}
		return "", err
	}
	if out.Token == "" {
		return "", explain.Fail(explain.ProblemBadAnswer, errors.New("no token"), explain.GitHub)
	}
	return out.Token, nil
}

func (m minted) Renew(ctx context.Context, _ string) (string, error) { return m.Token(ctx) }
func (m minted) Refused(context.Context, string)                     {}
