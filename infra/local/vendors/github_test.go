package vendors_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
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
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	client "ringi/shared/tool/github"
	"ringi/shared/tool/wire"
)

// at is when the tests' commits are made.
var at = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)

// someFiles have names that Git sorts in its own way, modes, a link, a submodule and attributes.
func someFiles() map[string]vendors.File {
	return map[string]vendors.File{
		"README.md": {Content: "# shop\n"}, "run.sh": {Content: "#!/bin/sh\n", Mode: "100755"},
		"a-b": {Content: "1"}, "a/x.py": {Content: "x = 1\r\n"}, "a.b": {Content: "2"}, "a/b/c/d": {Content: ""},
		"latest": {Content: "a/x.py", Mode: "120000"}, "vendored": {Content: strings.Repeat("1", 40), Mode: "160000"},
		"hidden/secret.txt": {Content: "s"}, "version.txt": {Content: "at $Format:%H$\n"}, "日本.txt": {Content: "語"},
		".gitattributes": {Content: "hidden export-ignore\nversion.txt export-subst\n"},
	}
}

type world struct {
	*vendors.GitHubServer
	repo    *vendors.Repository
	first   string // its commit
	url     string
	token   string
	calls   []string // addresses of all calls
	headers []http.Header
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{GitHubServer: expect.Value(vendors.NewGitHub())(t)}
	w.repo = w.Add("acme", "shop")
	w.first = w.repo.Commit("main", "first", someFiles(), at)
	w.repo.Tag("v1", w.first)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.calls, w.headers = append(w.calls, r.Method+" "+r.URL.String()), append(w.headers, r.Header.Clone())
		w.Handler().ServeHTTP(rw, r)
	}))
	t.Cleanup(s.Close)
	w.url = s.URL
	return w
}

func (w *world) app(t *testing.T) client.App {
	t.Helper()
	return expect.Value(client.NewApp(vendors.AppID, vendors.Installation, w.Key()))(t)
}

func (w *world) client(t *testing.T, p client.Permissions) *client.Client {
	t.Helper()
	c := client.Config{Base: w.url, HTTP: wire.NewHTTP(), Now: time.Now}
	return c.Open(w.app(t), "acme/shop", w.repo.ID, p)
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "core.quotePath=false", "-c", "safe.directory=*"}, args...)...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	expect.Must(t, err == nil, "git %v: %v\n%s", args, err, &said)
	return string(out)
}

// Git itself reads what the stand-in made, and finds nothing wrong with it.
func TestGitReadsTheObjects(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	expect.NoError(t, w.repo.Export(dir))
	runGit(t, dir, "fsck", "--strict", "--no-dangling")
	expect.Is(t, strings.TrimSpace(runGit(t, dir, "rev-parse", "v1^{commit}")), w.first, "the tag leads to the commit")
	var want []string
	for p, f := range someFiles() {
		want = append(want, p)
		if f.Mode != "160000" {
			expect.Is(t, runGit(t, dir, "cat-file", "blob", "main:"+p), f.Content, p)
		}
	}
	listed := strings.Split(strings.Trim(runGit(t, dir, "ls-tree", "-r", "-z", "--name-only", "main"), "\x00"), "\x00")
	slices.Sort(want)
	slices.Sort(listed)
	expect.Same(t, want, listed)
}

// entriesOf lists an archive's entries below its top folder, with kind, executable bit and content.
func entriesOf(t *testing.T, archive io.Reader) (list []string) {
	t.Helper()
	in := tar.NewReader(archive)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(list)
			return list
		}
		expect.NoError(t, err)
		if h.Typeflag == tar.TypeXGlobalHeader {
			list = append(list, "header "+h.PAXRecords["comment"])
			continue
		}
		_, name, _ := strings.Cut(h.Name, "/")
		content := expect.Value(io.ReadAll(in))(t)
		list = append(list, fmt.Sprintf("%c %t %s -> %s: %s", h.Typeflag, h.Mode&0o100 != 0, name, h.Linkname, content))
	}
}

func TestTheArchiveIsAsGitPacksIt(t *testing.T) {
	w, cloned := newWorld(t), newCloneWorld(t)
	dir := t.TempDir()
	expect.NoError(t, w.repo.Export(dir))
	want := entriesOf(t, strings.NewReader(runGit(t, dir, "archive", "--format=tar", "--prefix=acme-shop/", "main")))
	for _, w := range []*world{w, cloned} {
		packed := expect.Value(w.client(t, client.Reads()).Archive(t.Context(), w.first))(t)
		defer packed.Close()
		z := expect.Value(gzip.NewReader(packed))(t)
		expect.Same(t, want, entriesOf(t, z))
	}
}

// signed returns a token of the App itself, valid for a time.
func (w *world) signed(t *testing.T, app string, valid time.Duration) string {
	t.Helper()
	block, _ := pem.Decode([]byte(w.Key()))
	key := expect.Value(x509.ParsePKCS1PrivateKey(block.Bytes))(t)
	now := time.Now()
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(
		fmt.Appendf(nil, `{"iat":%d,"exp":%d,"iss":%q}`, now.Unix(), now.Add(valid).Unix(), app))
	sum := sha256.Sum256([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(expect.Value(rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:]))(t))
}

// ask makes a call with a token for reading and writing.
func (w *world) ask(t *testing.T, method, path, body string) (int, any) {
	t.Helper()
	r := expect.Value(http.NewRequest(method, w.url+path, strings.NewReader(body)))(t)
	r.Header.Set("Authorization", "Bearer "+w.token)
	res := expect.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	var out any
	expect.NoError(t, json.NewDecoder(res.Body).Decode(&out))
	return res.StatusCode, out
}

func TestAnswersHaveThePublishedForm(t *testing.T) {
	for name, w := range map[string]*world{"in memory": newWorld(t), "of a clone": newCloneWorld(t)} {
		t.Run(name, func(t *testing.T) { publishedForms(t, w) })
	}
}

func publishedForms(t *testing.T, w *world) {
	api := expect.Value(vendors.Published("github"))(t)
	w.token = w.signed(t, vendors.AppID, time.Minute)
	_, minted := w.ask(t, "POST", "/app/installations/"+vendors.Installation+"/access_tokens",
		`{"repositories":["shop"],"permissions":{"contents":"write","pull_requests":"write"}}`)
	expect.Same(t, []string(nil), api.Differences("installation-token", minted))
	w.token, _ = minted.(map[string]any)["token"].(string)
	const repo = "/repos/acme/shop"
	sha := func(method, path, body, schema string, status int) string {
		t.Helper()
		code, got := w.ask(t, method, path, body)
		expect.Is(t, code, status, "%s %s: %v", method, path, got)
		if list, ok := got.([]any); ok {
			expect.Must(t, len(list) == 1, "%v", list)
			got = list[0]
		}
		expect.Same(t, []string(nil), api.Differences(schema, got))
		text, _ := got.(map[string]any)["sha"].(string)
		return text
	}
	sha("GET", repo, "", "full-repository", 200)
	sha("GET", repo+"/git/ref/heads/main", "", "git-ref", 200)
	sha("GET", repo+"/git/ref/heads/none", "", "basic-error", 404)
	sha("GET", repo+"/git/tags/"+w.repo.Ref("tags/v1"), "", "git-tag", 200)
	sha("GET", repo+"/git/commits/"+w.first, "", "git-commit", 200)
	base := sha("GET", repo+"/git/trees/"+w.first+"?recursive=1", "", "git-tree", 200)
	sha("GET", repo+"/git/blobs/"+files.BlobSHA([]byte("1")), "", "blob", 200)
	tree := sha("POST", repo+"/git/trees", `{"base_tree":"`+base+`","tree":[{"path":"a-b","mode":"100644","type":"blob","content":"3"}]}`, "git-tree", 201)
	commit := sha("POST", repo+"/git/commits", `{"message":"m","tree":"`+tree+`","parents":["`+w.first+`"]}`, "git-commit", 201)
	sha("POST", repo+"/git/refs", `{"ref":"refs/heads/new","sha":"`+commit+`"}`, "git-ref", 201)
	sha("POST", repo+"/git/refs", `{"ref":"refs/heads/new","sha":"`+commit+`"}`, "basic-error", 422)
	sha("POST", repo+"/pulls", `{"title":"t","head":"new","base":"main","draft":true}`, "pull-request", 201)
	sha("POST", repo+"/pulls", `{"title":"t","head":"new","base":"main"}`, "validation-error", 422)
	sha("GET", repo+"/pulls?head=acme:new", "", "pull-request-simple", 200)
	sha("GET", repo+"/pulls/1", "", "pull-request", 200)
}
