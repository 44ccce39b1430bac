package vendors_test

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
	client "ringi/shared/tool/github"
	"ringi/shared/tool/wire"
)

// newCloneWorld is newWorld with a clone of the repository in place of the one in memory.
func newCloneWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	own := t.TempDir()
	expect.NoError(t, w.repo.Export(own))
	w.repo = w.AddClone("acme", "shop", expect.Value(vendors.NewClone(own, t.TempDir()))(t))
	return w
}

// everything is all that stands in a folder, with the contents of files.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	expect.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all[p] = string(expect.Value(os.ReadFile(p))(t))
		}
		return err
	}))
	return all
}

// own makes a repository as a person has it, with a folder of files and a commit.
func own(t *testing.T) string {
	t.Helper()
	dir := expect.Value(filepath.EvalSymlinks(t.TempDir()))(t)
	dir = filepath.Join(dir, "My App")
	expect.NoError(t, os.MkdirAll(filepath.Join(dir, "src"), 0o755))
	runGit(t, dir, "init", "-q", "-b", "trunk")
	runGit(t, dir, "config", "user.name", "Sato")
	runGit(t, dir, "config", "user.email", "sato@example.com")
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "src", "a.txt"), []byte("one\n"), 0o644))
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-q", "-m", "first")
	return dir
}

// A pull request comes into the clone. The person's repository stays as it is until the person fetches the branch.
func TestAPullRequestComesIntoTheCloneAlone(t *testing.T) {
	w, mine := newWorld(t), own(t)
	expect.NoError(t, os.WriteFile(filepath.Join(mine, "new.txt"), []byte("not committed"), 0o644))
	before := everything(t, mine)
	c := expect.Value(vendors.NewClone(mine, t.TempDir()))(t)
	expect.That(t, c.Path == mine && c.Branch == "trunk" && c.Changed == 1, "%+v", c)
	repo := w.AddClone("local", "my-app", c)
	api := client.Config{Base: w.url, HTTP: wire.NewHTTP(), Now: time.Now}.Open(w.app(t), "local/my-app", repo.ID,
		client.Pushes())
	expect.Is(t, expect.Value(api.Repository(t.Context()))(t).DefaultBranch, "trunk")
	base, two := expect.Value(api.TreeOf(t.Context(), c.Commit))(t), "two\n"
	tree := expect.Value(api.MakeTree(t.Context(), base, []client.Change{{Path: "src/a.txt", Mode: "100644",
		Content: &two}}))(t)
	commit := expect.Value(api.MakeCommit(t.Context(), client.Commit{Message: "Say two", Tree: tree, Parent: c.Commit,
		At:   at,
		Name: "Ringi", Email: "ringi@example.com"}))(t)
	expect.NoError(t, api.MakeBranch(t.Context(), "ringi/S1/A1", commit))
	expect.That(t, api.MakeBranch(t.Context(), "ringi/S1/A1", c.Commit) != nil, "a branch is made twice")
	pull := expect.Value(api.OpenPull(t.Context(), "Say two", "why", "ringi/S1/A1", "trunk"))(t)
	expect.Is(t, pull.Number, 1, "the pull request")
	expect.Same(t, before, everything(t, mine))
	expect.Is(t, runGit(t, c.Dir, "show", "ringi/S1/A1:src/a.txt"), "two\n")
	runGit(t, c.Dir, "fsck", "--strict", "--no-dangling")
	diff := string(expect.Value(repo.Diff(repo.Pulls()[0].BaseSHA, repo.Pulls()[0].HeadSHA))(t))
	expect.That(t, strings.Contains(diff, "-one\n+two\n"), "%s", diff)
	runGit(t, mine, "fetch", "-q", c.Dir, "ringi/S1/A1:ringi/S1/A1")
	expect.Is(t, runGit(t, mine, "show", "ringi/S1/A1:src/a.txt"), "two\n")
}

// At the next start the clone has what was committed since, and still the branches of pull requests.
func TestACloneIsBroughtUpToDate(t *testing.T) {
	mine, folder := own(t), t.TempDir()
	first := expect.Value(vendors.NewClone(mine, folder))(t)
	runGit(t, first.Dir, "branch", "ringi/S1/A1", "trunk")
	runGit(t, mine, "commit", "-q", "--amend", "-m", "again")
	second := expect.Value(vendors.NewClone(mine, folder))(t)
	expect.That(t, second.Dir == first.Dir && second.Commit != first.Commit, "%+v, then %+v", first, second)
	expect.Is(t, strings.TrimSpace(runGit(t, second.Dir, "rev-parse", "trunk")), second.Commit)
	expect.Is(t, strings.TrimSpace(runGit(t, second.Dir, "rev-parse", "ringi/S1/A1")), first.Commit)
}

// What a repository is configured to run isn't run by looking at it.
func TestALookRunsNothingOfTheRepository(t *testing.T) {
	mine := own(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	expect.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho x >> '"+ran+"'\ncat\n"), 0o755))
	runGit(t, mine, "config", "core.fsmonitor", program)
	runGit(t, mine, "config", "filter.x.clean", program)
	runGit(t, mine, "config", "filter.y.process", program)
	runGit(t, mine, "config", "core.alternateRefsCommand", program)
	runGit(t, mine, "config", "uploadpack.packObjectsHook", program)
	expect.NoError(t, os.WriteFile(filepath.Join(mine, ".git", "info", "attributes"), []byte("*.txt filter=x\n"), 0o644))
	expect.NoError(t, os.WriteFile(filepath.Join(mine, "src", "a.txt"), []byte("two\n"), 0o644)) // of the same size
	c := expect.Value(vendors.NewClone(mine, t.TempDir()))(t)
	expect.Is(t, c.Changed, 1, "changed files")
	_, err := os.Stat(ran)
	expect.That(t, os.IsNotExist(err), "a program of the repository was run: %v", err)
}

// Of a repository that was cloned in part nothing is fetched, from wherever and by whatever program it says.
func TestALookFetchesNothing(t *testing.T) {
	mine := own(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	expect.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho x >> '"+ran+"'\n"), 0o755))
	runGit(t, mine, "remote", "add", "origin", mine)
	runGit(t, mine, "config", "remote.origin.uploadpack", program)
	runGit(t, mine, "config", "remote.origin.promisor", "true")
	runGit(t, mine, "config", "core.repositoryFormatVersion", "1")
	runGit(t, mine, "config", "extensions.partialClone", "origin")
	commit := strings.TrimSpace(runGit(t, mine, "rev-parse", "HEAD"))
	expect.NoError(t, os.Remove(filepath.Join(mine, ".git", "objects", commit[:2], commit[2:])))
	_, err := vendors.NewClone(mine, t.TempDir())
	expect.That(t, err != nil, "a commit that is not there is served")
	_, err = os.Stat(ran)
	expect.That(t, os.IsNotExist(err), "the program was run: %v", err)
}

// What is served is what was committed, however the person's git is configured.
func TestAPersonsConfigurationChangesNothingThatIsServed(t *testing.T) {
	mine, program := own(t), filepath.Join(t.TempDir(), "program")
	expect.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho smudged\n"), 0o755))
	expect.NoError(t, os.WriteFile(filepath.Join(mine, ".gitattributes"), []byte("src/a.txt filter=x\n"), 0o644))
	runGit(t, mine, "add", ".")
	runGit(t, mine, "commit", "-q", "-m", "second")
	config := filepath.Join(t.TempDir(), "config")
	expect.NoError(t, os.WriteFile(config, []byte("[core]\n\tautocrlf = true\n[filter \"x\"]\n\tsmudge = "+program+
		"\n[diff]\n\tnoprefix = true\n[init]\n\tdefaultObjectFormat = sha256\n"), 0o644))
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_DEFAULT_HASH", "sha256")
	w := newWorld(t)
	c := expect.Value(vendors.NewClone(mine, t.TempDir()))(t)
	repo := w.AddClone("local", "my-app", c)
	api := client.Config{Base: w.url, HTTP: wire.NewHTTP(), Now: time.Now}.
		Open(w.app(t), "local/my-app", repo.ID, client.Reads())
	archive := expect.Value(api.Archive(t.Context(), c.Commit))(t)
	defer archive.Close()
	z := expect.Value(gzip.NewReader(archive))(t)
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		files[path.Base(h.Name)] = string(expect.Value(io.ReadAll(r))(t))
	}
	expect.Is(t, files["a.txt"], "one\n")
	diff := string(expect.Value(repo.Diff(c.Commit+"~1", c.Commit))(t))
	expect.That(t, strings.Contains(diff, "+++ b/.gitattributes"), "%s", diff)
}

// A repository may have been cloned without its history, or be a second folder of files of one.
func TestRepositoriesOfOtherKindsAreCloned(t *testing.T) {
	mine := own(t)
	runGit(t, mine, "commit", "-q", "--allow-empty", "-m", "second")
	shallow, second, bare := filepath.Join(t.TempDir(), "shallow"), filepath.Join(t.TempDir(),
		"second"), filepath.Join(t.TempDir(), "bare.git")
	runGit(t, mine, "clone", "-q", "--depth=1", "file://"+mine, shallow)
	runGit(t, mine, "worktree", "add", "-q", "-b", "side", second)
	runGit(t, mine, "clone", "-q", "--bare", mine, bare)
	for path, branch := range map[string]string{shallow: "trunk", second: "side", bare: "trunk"} {
		folder := t.TempDir()
		for range 2 {
			c := expect.Value(vendors.NewClone(path, folder))(t)
			w := newWorld(t)
			repo := w.AddClone("local", "app", c)
			expect.Is(t, c.Branch, branch, path)
			expect.Is(t, repo.Ref("heads/"+branch), c.Commit, path)
			expect.Same(t, []string{"src/a.txt"}, repo.Paths(c.Commit, ""))
		}
	}
}

func TestPathsThatAreNoRepository(t *testing.T) {
	mine, folder, empty, plain := own(t), t.TempDir(), t.TempDir(), t.TempDir()
	runGit(t, empty, "init", "-q", "-b", "main")
	file := filepath.Join(plain, "file")
	expect.NoError(t, os.WriteFile(file, nil, 0o644))
	detached := own(t)
	runGit(t, detached, "checkout", "-q", "--detach")
	for path, want := range map[string]string{
		filepath.Join(mine, "none"): "no such file or directory",
		file:                        "is no folder",
		plain:                       "is no git repository (git init makes one)",
		filepath.Join(mine, "src"):  "but a folder of the repository " + mine + ": name that",
		filepath.Join(mine, ".git"): "name the folder of its files",
		empty:                       "is empty: commit something on main first",
		detached:                    "has no branch checked out",
	} {
		_, err := vendors.NewClone(path, folder)
		expect.That(t, err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), path),
			"%s: %v, want %s", path, err, want)
	}
	expect.Is(t, len(everything(t, folder)), 0, "files of clones")
	t.Setenv("PATH", plain)
	_, err := vendors.NewClone(mine, folder)
	expect.That(t, err != nil && strings.Contains(err.Error(), "needs git"), "%v", err)
}

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
		expect.That(t, len(own.Source.Problems()) == 0 && own.Source.RepositoryID == int(v.GitHub.ID("local/"+tt.want)) &&
			len(v.Own) == i+1,
			"%+v, %+v", own.Source, own.Source.Problems())
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
	expect.That(t, status == 200 && strings.Contains(text, want) &&
		strings.Contains(text, " ringi/S/A:ringi/S/A</pre>") &&
		strings.Contains(text, "&lt;Title&gt; #1"), "%d %s", status, text)
	status, text = page("ringi-demo/shop/pull/1")
	expect.That(t, status == 200 && strings.Contains(text, "only in memory") && strings.Contains(text, "&#43;&lt;b&gt;"),
		"%d %s", status, text)
	status, text = page("local/it-s-mine/tree/ringi/S/A")
	expect.Is(t, status, http.StatusNotFound, "a tree without files: %s", text)
	status, text = page("ringi-demo/shop/tree/ringi/S/A")
	expect.That(t, status == 200 && strings.Contains(text, `<pre id="files">a.txt</pre>`) &&
		strings.Contains(text, "only in memory"), "%d %s", status, text)
	status, text = page("ringi-demo/shop/tree/" + demo.Ref("heads/main") + "/shop")
	expect.That(t, status == 200 && strings.Contains(text,
		"<pre id=\"files\">shop/__init__.py\nshop/cart.py\nshop/price.py</pre>"), "%d %s", status, text)
	for _, none := range []string{"ringi-demo/shop/tree/none", "ringi-demo/shop/tree/" + demo.Ref("heads/main") + "/none",
		"local/none/tree/main", "local/it-s-mine/pull/2", "local/it-s-mine/pull/0", "local/it-s-mine/pull/x",
		"local/none/pull/1"} {
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
	expect.Value(c.Open(app, r.Owner+"/"+r.Name, r.ID, client.Pushes()).OpenPull(t.Context(), "<Title>", "why",
		"ringi/S/A", "main"))(t)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=S", "-c", "user.email=s@example.com"},
		args...)...)
	out, err := c.CombinedOutput()
	expect.Must(t, err == nil, "git %v: %v: %s", args, err, out)
	return strings.TrimSpace(string(out))
}
