package vendors

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostListed is how many entries of a tree are listed at once.
const mostListed = 100_000

// address is where the API says that a thing of the repository is.
func (s *GitHubServer) address(c *call, format string, args ...any) string {
	return "https://api.github.com/repos/" + c.repo.full() + fmt.Sprintf(format, args...)
}

func (s *GitHubServer) repository(c *call) { c.answer(http.StatusOK, s.about(c, "full-repository")) }

// about returns the repository, all else as published.
func (s *GitHubServer) about(c *call, schema string) map[string]any {
	out := s.api.Example(schema, map[string]any{
		"id": c.repo.ID, "name": c.repo.Name, "full_name": c.repo.full(), "default_branch": mainBranch, "archived": false,
		"private": true, "visibility": "private",
	})
	maps.DeleteFunc(out, func(name string, _ any) bool { return !slices.Contains(s.api.Schemas[schema].Required, name) })
	return out
}

func (s *GitHubServer) ref(c *call) {
	name := c.r.PathValue("ref")
	sha := c.repo.refs[name]
	if sha == "" {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	c.answer(http.StatusOK, s.refOf(c, name, sha))
}

func (s *GitHubServer) refOf(c *call, name, sha string) map[string]any {
	kind := c.repo.objects.kind(sha)
	return map[string]any{
		"ref": "refs/" + name, "node_id": "REF_" + sha, "url": s.address(c, "/git/refs/%s", name),
		"object": map[string]any{"type": kind, "sha": sha, "url": s.address(c, "/git/%ss/%s", kind, sha)},
	}
}

// has answers with Not Found unless the call's object is there.
func (c *call) has(kind string) (sha string, ok bool) {
	sha = c.r.PathValue("sha")
	if kind == "tree" { // a commit's hash names its tree, too
		if of, isCommit := c.repo.objects.commit(sha); isCommit {
			sha = of.tree
		}
	}
	if c.repo.objects.kind(sha) != kind {
		c.fail(http.StatusNotFound, "Not Found")
		return "", false
	}
	return sha, true
}

func (s *GitHubServer) tag(c *call) {
	sha, ok := c.has("tag")
	if !ok {
		return
	}
	lines := strings.Split(string(c.repo.objects.body(sha)), "\n")
	of, name := strings.TrimPrefix(lines[0], "object "), strings.TrimPrefix(lines[2], "tag ")
	c.answer(http.StatusOK, map[string]any{
		"node_id": "TA_" + sha, "tag": name, "sha": sha, "url": s.address(c, "/git/tags/%s", sha), "message": name,
		"tagger":       map[string]any{"date": "1970-01-01T00:00:00Z", "email": "demo@example.com", "name": "Demo"},
		"object":       map[string]any{"sha": of, "type": "commit", "url": s.address(c, "/git/commits/%s", of)},
		"verification": unsigned(),
	})
}

func unsigned() map[string]any {
	return map[string]any{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
}

func (s *GitHubServer) commit(c *call) {
	if sha, ok := c.has("commit"); ok {
		c.answer(http.StatusOK, s.commitOf(c, sha))
	}
}

func (s *GitHubServer) commitOf(c *call, sha string) map[string]any {
	x, _ := c.repo.objects.commit(sha)
	parents := []any{}
	for _, p := range x.parents {
		parents = append(parents, map[string]any{"sha": p, "url": s.address(c, "/git/commits/%s", p),
			"html_url": "https://github.com/" + c.repo.full() + "/commit/" + p})
	}
	return map[string]any{
		"sha": sha, "node_id": "C_" + sha, "url": s.address(c, "/git/commits/%s", sha),
		"html_url": "https://github.com/" + c.repo.full() + "/commit/" + sha, "author": person(x.author),
		"committer": person(x.committer), "message": x.message, "parents": parents, "verification": unsigned(),
		"tree": map[string]any{"sha": x.tree, "url": s.address(c, "/git/trees/%s", x.tree)},
	}
}

// person reads an author as Git writes it.
func person(text string) map[string]any {
	name, rest, _ := strings.Cut(text, " <")
	email, rest, _ := strings.Cut(rest, "> ")
	seconds, _, _ := strings.Cut(rest, " ")
	at, _ := strconv.ParseInt(seconds, 10, 64)
	return map[string]any{"name": name, "email": email, "date": time.Unix(at, 0).UTC().Format(time.RFC3339)}
}

func (s *GitHubServer) tree(c *call) {
	if sha, ok := c.has("tree"); ok {
		c.answer(http.StatusOK, s.treeOf(c, sha, c.r.URL.Query().Get("recursive") != ""))
	}
}

func (s *GitHubServer) treeOf(c *call, sha string, recursive bool) map[string]any {
	list := []any{}
	add := func(p string, l leaf) {
		kind := map[string]string{folder: "tree", module: "commit"}[l.mode]
		one := map[string]any{"path": p, "mode": fmt.Sprintf("%06s", l.mode), "type": kind, "sha": l.sha}
		if kind == "" {
			one["type"], one["size"] = "blob", len(c.repo.objects.body(l.sha))
		}
		if kind != "commit" {
			one["url"] = s.address(c, "/git/%ss/%s", one["type"], l.sha)
		}
		list = append(list, one)
	}
	if recursive {
		c.repo.objects.walk(sha, "", add)
	} else {
		names, in := c.repo.objects.entries(sha)
		for _, name := range names {
			add(name, in[name])
		}
	}
	return map[string]any{"sha": sha, "url": s.address(c, "/git/trees/%s", sha), "tree": list[:min(len(list), mostListed)],
		"truncated": len(list) > mostListed}
}

func (s *GitHubServer) blob(c *call) {
	sha, ok := c.has("blob")
	if !ok {
		return
	}
	content := c.repo.objects.body(sha)
	c.answer(http.StatusOK, map[string]any{"content": base64.StdEncoding.EncodeToString(content), "encoding": "base64",
		"url": s.address(c, "/git/blobs/%s", sha), "sha": sha, "size": len(content), "node_id": "B_" + sha})
}

// tarball answers with an address that needs no header: it has a token of its own. Unlike GitHub's it is relative,
// since functions may reach the stand-in by another address than its own.
func (s *GitHubServer) tarball(c *call) {
	sha, ok := c.has("commit")
	if !ok {
		return
	}
	at, _, _ := strings.Cut(c.r.RequestURI, "/repos/") // the path at which the API is mounted
	token, _ := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	c.w.Header().Set("Location", at+"/codeload/"+c.repo.full()+"/"+sha+"?token="+token)
	c.w.WriteHeader(http.StatusFound)
}

func (s *GitHubServer) download(c *call) {
	s.mu.Lock()
	g, known := s.tokens[c.r.URL.Query().Get("token")]
	s.mu.Unlock()
	if c.r.Header.Get("Authorization") != "" || !known || !slices.Contains(g.repositories, c.repo.ID) {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	body, err := c.repo.archive(c.r.PathValue("sha"))
	if err != nil {
		c.fail(http.StatusInternalServerError, err.Error())
		return
	}
	c.w.Header().Set("Content-Type", "application/x-gzip")
	_, _ = c.w.Write(body) // a failure means that the client has disconnected
}

// GitHubPages is where GitHub's pages are, which people read: those of pull requests, branches and commits.
const GitHubPages = "/github.com/"

//go:embed github.html
var githubText string

// mostDiff is how much of a difference a page shows, in bytes.
const mostDiff = 1 << 20

// pullPage shows a pull request.
func (v *Vendors) pullPage(w http.ResponseWriter, r *http.Request) {
	repo := v.GitHub.Find(r.PathValue("owner"), r.PathValue("name"))
	n, err := strconv.Atoi(r.PathValue("number"))
	if repo == nil || err != nil {
		http.NotFound(w, r)
		return
	}
	all := repo.Pulls()
	if n < 1 || n > len(all) {
		http.NotFound(w, r)
		return
	}
	p := all[n-1]
	diff, err := repo.Diff(p.BaseSHA, p.HeadSHA)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writePage(w, map[string]any{"Repository": repo.full(), "Pull": p, "Diff": string(diff[:min(len(diff), mostDiff)]),
		"Cut": len(diff) > mostDiff})
}

// treePage lists the files of a branch, or of a commit with or without a folder.
func (v *Vendors) treePage(w http.ResponseWriter, r *http.Request) {
	repo, what := v.GitHub.Find(r.PathValue("owner"), r.PathValue("name")), r.PathValue("tree")
	if repo == nil {
		http.NotFound(w, r)
		return
	}
	commit, folder := repo.Ref("heads/"+what), ""
	if commit == "" {
		commit, folder, _ = strings.Cut(what, "/")
	}
	paths := repo.Paths(commit, folder)
	if len(paths) == 0 {
		http.NotFound(w, r)
		return
	}
	writePage(w, map[string]any{"Repository": repo.full(), "Tree": what, "Commit": commit,
		"Paths": strings.Join(paths, "\n")})
}

func writePage(w http.ResponseWriter, show map[string]any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = githubPages.Execute(w, show) // a failure means that the client has disconnected
}

var githubPages = template.Must(template.New("github").Parse(githubText))
