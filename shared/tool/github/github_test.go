package github_test

import (
	"compress/gzip"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/github"
	"ringi/shared/tool/wire"
)

var at = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)

// world is a GitHub with one repository of one commit.
type world struct {
	*vendors.GitHubServer
	repo  *vendors.Repository
	first string
	url   string
	fault func(route string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{GitHubServer: expect.Value(vendors.NewGitHub(t.TempDir()))(t)}
	w.repo = w.Add("acme", "shop")
	w.first = w.repo.Commit("main", "first", map[string]vendors.File{
		"main.py": {Content: "print(1)\n"}, "old.py": {Content: "x\n"}, "run.sh": {Content: "true\n", Mode: "100755"},
		"untouched.bin": {Content: "\x00\x01"},
	}, at)
	w.Fault = func(route string, rw http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		if w.fault == nil {
			do(rw, r)
			return
		}
		w.fault(route, rw, r, do)
	}
	s := httptest.NewServer(http.StripPrefix("/github", w.Handler()))
	t.Cleanup(s.Close)
	w.url = s.URL + "/github"
	return w
}

func (w *world) config() github.Config {
	return github.Config{Base: w.url, HTTP: wire.NewHTTP(), Now: func() time.Time { return w.Now() }}
}

func (w *world) app(t *testing.T) github.App {
	t.Helper()
	return expect.Value(github.NewApp(vendors.AppID, vendors.Installation, w.Key()))(t)
}

func (w *world) open(t *testing.T, p github.Permissions) *github.Client {
	t.Helper()
	return w.config().Open(w.app(t), "acme/shop", w.repo.ID, p)
}

func problem(err error) explain.Problem {
	if e, ok := errors.AsType[*explain.CallError](err); ok {
		return e.Problem
	}
	return ""
}

func TestACommitIsFound(t *testing.T) {
	w := newWorld(t)
	w.repo.Tag("v1", w.first)
	ctx := t.Context()
	found := expect.Value(w.config().Find(w.app(t), "acme/shop").Repository(ctx))(t)
	expect.Same(t, github.Repository{ID: w.repo.ID, FullName: "acme/shop", DefaultBranch: "main"}, found)
	c := w.open(t, github.Reads())
	for _, ref := range []string{"heads/main", "tags/v1"} {
		expect.Is(t, expect.Value(c.Resolve(ctx, ref))(t), w.first, ref)
	}
	_, err := c.Resolve(ctx, "heads/none")
	expect.Is(t, problem(err), explain.ProblemNotFound)
}

// The archive's address is on the host that the API may name, and gets no token of ours.
func TestAnArchiveIsReadWhereItIs(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, github.Reads())
	packed := expect.Value(c.Archive(t.Context(), w.first))(t)
	defer packed.Close()
	z := expect.Value(gzip.NewReader(packed))(t)
	expect.Has(t, string(expect.Value(io.ReadAll(z))(t)), "print(1)")

	for _, to := range []string{"http://169.254.169.254/", "https://evil.example/x", "", "http://name:word@" +
		strings.TrimPrefix(w.url, "http://")} {
		w.fault = func(route string, rw http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
			if !strings.HasPrefix(route, "GET/tarball") {
				do(rw, r)
				return
			}
			rw.Header().Set("Location", to)
			rw.WriteHeader(http.StatusFound)
		}
		_, err := c.Archive(t.Context(), w.first)
		expect.Is(t, problem(err), explain.ProblemBadAnswer, "%s: %v", to, err)
	}
}

// A token is good for one repository and what it is made for.
func TestTokensAreNarrow(t *testing.T) {
	w := newWorld(t)
	other := w.Add("acme", "other")
	other.Commit("main", "first", nil, at)
	ctx := t.Context()
	_, err := w.open(t, github.Reads()).Carry(ctx, w.order(t), w.begun(), nil)
	expect.Is(t, problem(err), explain.ProblemDenied, "a write with a token for reading")
	_, err = w.config().Open(w.app(t), "acme/other", w.repo.ID, github.Reads()).Repository(ctx)
	expect.Is(t, problem(err), explain.ProblemNotFound, "another repository")
	_, err = w.config().Open(w.app(t), "acme/shop", 99, github.Reads()).Repository(ctx)
	expect.Is(t, problem(err), explain.ProblemRejected, "an id that isn't installed")
	stranger := expect.Value(rsa.GenerateKey(rand.Reader, 2048))(t)
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(stranger)})
	app := expect.Value(github.NewApp(vendors.AppID, vendors.Installation, string(key)))(t)
	_, err = w.config().Find(app, "acme/shop").Repository(ctx)
	expect.Is(t, problem(err), explain.ProblemUnauthorized, "another key")
}

func TestATokenThatEndedIsMadeAnew(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, github.Reads())
	expect.Value(c.Repository(t.Context()))(t)
	w.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	expect.Value(c.Repository(t.Context()))(t)
}

func TestAnAppsKeyIsChecked(t *testing.T) {
	w := newWorld(t)
	for field, test := range map[string][3]string{
		"app_id": {"x", "1", w.Key()}, "installation_id": {"1", "", w.Key()}, "private_key": {"1", "1", "no key"},
	} {
		_, err := github.NewApp(test[0], test[1], test[2])
		expect.Must(t, err != nil, "%s is taken", field)
		expect.Has(t, err.Error(), field)
	}
	_, err := github.NewApp("1", "1", strings.Repeat("x", github.MaxKey+1))
	expect.Has(t, err.Error(), "8192")
}
