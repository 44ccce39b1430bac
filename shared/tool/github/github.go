// Package github reads one repository of GitHub and opens pull requests in it, as a GitHub App that was installed
// there. Each client has a token for that repository alone.
package github

import (
	"cmp"
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
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/runtime/secret"
	"ringi/shared/tool/wire"
	"ringi/shared/words/language"
)

// API is the address of GitHub's API.
const API = "https://api.github.com"

// Client accesses one repository.
type Client struct {
	wire *wire.Client
	http wire.HTTP
	base string
	name string // owner/name
}

// Config says how GitHub is reached.
type Config struct {
	Base string // address of the API, without a slash at its end
	HTTP wire.HTTP
	Now  func() time.Time
}

// At returns the configuration for an API at an address; empty: GitHub's own.
func At(base string) Config {
	return Config{Base: cmp.Or(strings.TrimRight(base, "/"), API), HTTP: wire.NewHTTP(), Now: time.Now}
}

// Find makes a client for the repository of a name, which tenancy.Source has checked. It may only read.
func (c Config) Find(a App, name string) *Client {
	_, short, _ := strings.Cut(name, "/")
	return c.client(a, name, map[string]any{"repositories": []string{short}, "permissions": Reads()})
}

// Open makes a client for the repository with an id. GitHub refuses the token if the App is not installed there any
// more; another repository that took over the name has another id.
func (c Config) Open(a App, name string, id int64, p Permissions) *Client {
	return c.client(a, name, map[string]any{"repository_ids": []int64{id}, "permissions": p})
}

// client makes a client with a token of the App's installation, as it is ordered. A token that nobody has changes
// nothing, so an error says that the call failed.
func (c Config) client(a App, name string, order any) *Client {
	app := c.wire(func(context.Context) (string, error) { return a.jwt(c.Now()) })
	installed := c.wire(func(ctx context.Context) (string, error) {
		var out struct {
			Token string `json:"token"`
		}
		err := app.Write(ctx, http.MethodPost, "/app/installations/"+a.Installation+"/access_tokens", order, &out)
		if err == nil && out.Token == "" {
			err = explain.Fail(explain.ProblemBadAnswer, errors.New("no token"), explain.GitHub)
		}
		return out.Token, failed(err)
	})
	return &Client{wire: installed, http: c.HTTP, base: c.Base, name: name}
}

func (c Config) wire(t wire.Minted) *wire.Client {
	return &wire.Client{Provider: explain.GitHub, Base: c.Base, Tokens: t, HTTP: c.HTTP, Explain: explainFailure}
}

// failed returns the error of a call whose effect, if it had one, nobody can see.
func failed(err error) error {
	if e, ok := errors.AsType[*explain.CallError](err); ok {
		e.Outcome = explain.CallFailed
	}
	return err
}

// explainFailure reads GitHub's errors: {message, errors: [{resource, field, code, message}]}.
func explainFailure(status int, body []byte) wire.Refusal {
	var e struct {
		Message string            `json:"message"`
		Errors  []json.RawMessage `json:"errors"`
	}
	_ = json.Unmarshal(body, &e) // an unreadable body has no message
	said := []string{e.Message}
	for _, raw := range e.Errors {
		var one struct{ Resource, Field, Code, Message string }
		_ = json.Unmarshal(raw, &one)
		said = append(said, strings.Join(strings.Fields(one.Resource+" "+one.Field+" "+one.Code+" "+one.Message), " "))
	}
	r := wire.Refusal{Said: strings.Join(said, " ")}
	lower := strings.ToLower(e.Message)
	if status == http.StatusForbidden && (strings.Contains(lower, "rate limit") || strings.Contains(lower, "abuse")) {
		r.Problem = explain.ProblemRateLimited
	} else if status == http.StatusForbidden {
		r.Problem = explain.ProblemDenied
	}
	return r
}

// path returns the address of something in the repository.
func (c *Client) path(format string, args ...any) string {
	return "/repos/" + c.name + fmt.Sprintf(format, args...)
}

// Repository is what is known of a repository.
type Repository struct {
	ID int64 `json:"id"`
}

// Repository returns the repository of the client's name.
func (c *Client) Repository(ctx context.Context) (r Repository, err error) {
	return r, c.wire.Read(ctx, "/repos/"+c.name, &r)
}

// object is a Git object that a ref or a tag names.
type object struct {
	Type string `json:"type"`
	SHA  string `json:"sha"`
}

type ref struct {
	Object object `json:"object"`
}

// mostTags is how many tags may point to a tag, one after the other.
const mostTags = 3

// Resolve returns the commit that a ref names at present.
func (c *Client) Resolve(ctx context.Context, name string) (sha string, err error) {
	var at ref
	if err := c.wire.Read(ctx, c.path("/git/ref/%s", name), &at); err != nil {
		return "", err
	}
	for n := 0; at.Object.Type == "tag" && n < mostTags; n++ { // an annotated tag
		var next ref
		if err := c.wire.Read(ctx, c.path("/git/tags/%s", url.PathEscape(at.Object.SHA)), &next); err != nil {
			return "", err
		}
		at = next
	}
	if at.Object.Type != "commit" {
		return "", c.odd("the ref names a %.20q", at.Object.Type)
	}
	return c.hash(at.Object.SHA)
}

var hashed = language.Regexp{Text: `^[0-9a-f]{40}$`}

// hash checks a hash that GitHub names.
func (c *Client) hash(sha string) (string, error) {
	if !hashed.Get().MatchString(sha) {
		return "", c.odd("%.50q is no hash", sha)
	}
	return sha, nil
}

func (c *Client) odd(format string, args ...any) error {
	return explain.Fail(explain.ProblemBadAnswer, fmt.Errorf(format, args...), explain.GitHub)
}

// treeOf returns the tree of a commit.
func (c *Client) treeOf(ctx context.Context, commit string) (sha string, err error) {
	var out struct {
		Tree object `json:"tree"`
	}
	if err := c.wire.Read(ctx, c.path("/git/commits/%s", commit), &out); err != nil {
		return "", err
	}
	return c.hash(out.Tree.SHA)
}

// Entry is one entry of a tree.
type Entry struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	SHA  string `json:"sha"`
}

// tree returns the entries of a tree and all trees below it, without folders.
func (c *Client) tree(ctx context.Context, sha string) ([]Entry, error) {
	var out struct {
		Truncated bool    `json:"truncated"`
		Tree      []Entry `json:"tree"`
	}
	if err := c.wire.Read(ctx, c.path("/git/trees/%s?recursive=1", sha), &out); err != nil {
		return nil, err
	}
	if out.Truncated {
		return nil, fmt.Errorf("the tree has more entries than GitHub lists at once: %w", files.ErrRefused)
	}
	var list []Entry
	for _, e := range out.Tree {
		if e.Mode == files.ModeFolder {
			continue
		}
		if _, err := c.hash(e.SHA); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// blob returns the content of a file.
func (c *Client) blob(ctx context.Context, sha string) ([]byte, error) {
	var out struct {
		Content  string `json:"content"`
		Encoding string `json:"encoding"`
	}
	if err := c.wire.Read(ctx, c.path("/git/blobs/%s", sha), &out); err != nil {
		return nil, err
	}
	content := []byte(out.Content)
	if out.Encoding == "base64" {
		var err error
		if content, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(out.Content, "\n", "")); err != nil {
			return nil, c.odd("a blob is no base64")
		}
	}
	if files.BlobSHA(content) != sha {
		return nil, c.odd("a blob has another content than its hash says")
	}
	return content, nil
}

// Refuses reports whether an error is GitHub's answer that it doesn't give what was asked for, which another try
// doesn't change.
func Refuses(err error) bool {
	e, ok := errors.AsType[*explain.CallError](err)
	return ok && slices.Contains([]explain.Problem{explain.ProblemNotFound, explain.ProblemRejected,
		explain.ProblemForbidden, explain.ProblemDenied, explain.ProblemUnauthorized}, e.Problem)
}

// MaxArchive limits the bytes of an archive as it is sent, which is compressed. It is of the whole repository, however
// little of it is kept, and is never kept itself.
const MaxArchive = 512 << 20

// archiveHosts are the hosts that GitHub's API may redirect to for an archive. Other servers must serve it themselves.
var archiveHosts = map[string]string{"api.github.com": "codeload.github.com"}

// errElsewhere says that an archive is said to be on a host that may not have it.
var errElsewhere = errors.New("an archive is said to be on another host")

// Archive returns the files of a commit as a compressed archive, at most MaxArchive bytes of it. GitHub answers with an
// address on another host. That address contains a token of its own: it gets no token of ours, and appears in no error.
func (c *Client) Archive(ctx context.Context, commit string) (io.ReadCloser, error) {
	token, err := c.wire.Token(ctx, "")
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+c.path("/tarball/%s", commit), nil)
	if err != nil {
		return nil, explain.Fail(explain.ProblemInternal, err, explain.GitHub)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	follows := *c.http.Reads
	follows.CheckRedirect = func(to *http.Request, before []*http.Request) error {
		to.Header = http.Header{}
		if host := cmp.Or(archiveHosts[r.URL.Host], r.URL.Host); len(before) > 1 || to.URL.Scheme != r.URL.Scheme ||
			!strings.EqualFold(to.URL.Host, host) || to.URL.User != nil {
			return errElsewhere
		}
		return nil
	}
	res, err := follows.Do(r)
	switch {
	case errors.Is(err, errElsewhere):
		return nil, c.odd("%w", errElsewhere)
	case err != nil:
		e := wire.Broken(explain.GitHub, err)
		e.Outcome = explain.CallFailed
		return nil, e
	case res.StatusCode == http.StatusOK:
		return struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, MaxArchive), res.Body}, nil
	}
	res.Body.Close()
	if res.StatusCode == http.StatusFound {
		return nil, c.odd("an archive has no address")
	}
	return nil, wire.Refused(explain.GitHub, res.StatusCode, res.Header, "")
}

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
	a := App{ID: id, Installation: installation}
	var err error
	if a.key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
		parsed, _ := x509.ParsePKCS8PrivateKey(block.Bytes)
		a.key, _ = parsed.(*rsa.PrivateKey)
	}
	if a.key == nil { // the errors could quote the key
		return App{}, aggregate.Problem{Field: "private_key", Code: "must be an RSA key"}
	}
	return a, nil
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

func Reads() Permissions  { return Permissions{"contents": "read"} }
func Looks() Permissions  { return Permissions{"contents": "read", "pull_requests": "read"} }
func Pushes() Permissions { return Permissions{"contents": "write", "pull_requests": "write"} }
