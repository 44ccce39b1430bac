package vendors_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
	client "ringi/shared/tool/github"
	"ringi/shared/tool/wire"
)

// repositoryIn makes a repository with one commit.
func repositoryIn(t *testing.T, branch string, folders ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{expect.Value(filepath.EvalSymlinks(t.TempDir()))(t)}, folders...)...)
	expect.NoError(t, os.MkdirAll(dir, 0o755))
	git(t, dir, "init", "-q", "-b", branch)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func TestOwnRepositoriesAreSourcesWithNamesOfTheirOwn(t *testing.T) {
	v, folder := vendors.New(), t.TempDir()
	for i, tt := range []struct{ folder, want string }{
		{"My_App", "my-app"}, {"my.app", "my-app-2"}, {"shop", "shop-2"}, {"在庫", "repository"},
		{strings.Repeat("long-name-", 5), "long-name-long-name-long-nam"},
	} {
		own := expect.Value(v.Serve(repositoryIn(t, "main", tt.folder), folder))(t)
		expect.Is(t, own.Source.Name, tt.want, tt.folder)
		expect.Is(t, own.Source.Repository, "local/"+tt.want)
		expect.That(t, len(own.Source.Faults()) == 0 && own.Source.RepositoryID == int(v.GitHub.ID("local/"+tt.want)) && len(v.Own) == i+1,
			"%+v, %+v", own.Source, own.Source.Faults())
	}
}

func TestRepositoriesThatCannotBeServed(t *testing.T) {
	v, folder := vendors.New(), t.TempDir()
	dir := repositoryIn(t, "main", "app")
	expect.Value(v.Serve(dir, folder))(t)
	refused := func(path, want string) {
		t.Helper()
		_, err := v.Serve(path, folder)
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%v, want %s", err, want)
	}
	refused(dir+"/../app", "is given twice")
	refused(repositoryIn(t, "作業", "b"), "is on the branch 作業")
	refused(filepath.Join(dir, "none"), "no such file or directory")
	for len(v.Own) < vendors.MaxOwn {
		v.Own = append(v.Own, v.Own[0])
	}
	refused(repositoryIn(t, "main", "one more"), "19 repositories are served at most")
}

func TestThePageOfAPullRequest(t *testing.T) {
	v := vendors.New()
	own := expect.Value(v.Serve(repositoryIn(t, "main", "it's mine"), t.TempDir()))(t)
	mine, demo := v.GitHub.Find("local", own.Source.Name), v.GitHub.Find(vendors.ShopOwner, vendors.ShopName)
	server := httptest.NewServer(v.Handler())
	defer server.Close()
	page := func(path string) (int, string) {
		res := expect.Value(http.Get(server.URL + vendors.GitHubPages + path))(t)
		defer res.Body.Close()
		return res.StatusCode, string(expect.Value(io.ReadAll(res.Body))(t))
	}
	files := map[string]vendors.File{"a.txt": {Content: "<b>\n"}}
	demo.Commit("ringi/S/A", "x", files, time.Now())
	opened(t, v, server.URL, demo)
	at := git(t, own.Dir, "commit-tree", "-m", "x", "-p", "main", git(t, own.Dir, "mktree"))
	git(t, own.Dir, "update-ref", "refs/heads/ringi/S/A", at)
	opened(t, v, server.URL, mine)
	status, text := page("local/it-s-mine/pull/1")
	want := "git -C &#39;" + strings.ReplaceAll(own.Path, "'", `&#39;\&#39;&#39;`) + "&#39; fetch "
	expect.That(t, status == 200 && strings.Contains(text, want) && strings.Contains(text, " ringi/S/A:ringi/S/A</pre>") && strings.Contains(text, "&lt;Title&gt; #1"), "%d %s", status, text)
	status, text = page("ringi-demo/shop/pull/1")
	expect.That(t, status == 200 && strings.Contains(text, "only in memory") && strings.Contains(text, "&#43;&lt;b&gt;"), "%d %s", status, text)
	status, text = page("local/it-s-mine/tree/ringi/S/A")
	expect.Is(t, status, http.StatusNotFound, "a tree without files: %s", text)
	status, text = page("ringi-demo/shop/tree/ringi/S/A")
	expect.That(t, status == 200 && strings.Contains(text, `<pre id="files">a.txt</pre>`) && strings.Contains(text, "only in memory"), "%d %s", status, text)
	status, text = page("ringi-demo/shop/tree/" + demo.Ref("heads/main") + "/shop")
	expect.That(t, status == 200 && strings.Contains(text, "<pre id=\"files\">shop/__init__.py\nshop/cart.py\nshop/price.py</pre>"), "%d %s", status, text)
	for _, none := range []string{"ringi-demo/shop/tree/none", "ringi-demo/shop/tree/" + demo.Ref("heads/main") + "/none", "local/none/tree/main", "local/it-s-mine/pull/2", "local/it-s-mine/pull/0", "local/it-s-mine/pull/x", "local/none/pull/1"} {
		status, _ = page(none)
		expect.Is(t, status, http.StatusNotFound, none)
	}
}

// The command that people copy takes a branch's name for a branch, whatever the name is.
func TestACommandToFetchTakesABranchForABranch(t *testing.T) {
	v := vendors.New()
	dir := repositoryIn(t, "main", "app")
	ran := filepath.Join(t.TempDir(), "ran")
	branch := "--upload-pack=touch${IFS}" + ran + ";false"
	git(t, dir, "update-ref", "refs/heads/"+branch, "HEAD")
	own := expect.Value(v.Serve(dir, t.TempDir()))(t)
	for _, what := range []string{branch, branch + ":" + branch} {
		said, err := exec.Command("sh", "-c", vendors.FetchCommand(own.Clone, what)).CombinedOutput()
		t.Logf("%v: %s", err, said)
	}
	_, err := os.Stat(ran)
	expect.That(t, os.IsNotExist(err), "the name was run: %v", err)
	git(t, dir, "switch", "-q", "--detach")
	said, err := exec.Command("sh", "-c", vendors.FetchCommand(own.Clone, "main:main")).CombinedOutput()
	expect.That(t, err == nil, "%v: %s", err, said)
}

// opened opens a pull request from the branch ringi/S/A.
func opened(t *testing.T, v *vendors.Vendors, url string, r *vendors.Repository) {
	t.Helper()
	app := expect.Value(client.NewApp(vendors.AppID, vendors.Installation, v.GitHub.Key()))(t)
	c := client.Config{Base: url + vendors.GitHubPath, HTTP: wire.NewHTTP(), Now: time.Now}
	expect.Value(c.Open(app, r.Owner+"/"+r.Name, r.ID, client.Pushes()).OpenPull(t.Context(), "<Title>", "why", "ringi/S/A", "main"))(t)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=S", "-c", "user.email=s@example.com"}, args...)...)
	out, err := c.CombinedOutput()
	expect.Must(t, err == nil, "git %v: %v: %s", args, err, out)
	return strings.TrimSpace(string(out))
}
