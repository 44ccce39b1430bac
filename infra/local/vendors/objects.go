package vendors

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
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
	maps.DeleteFunc(out, func(name string, _ any) bool { return !slices.Contains(s.api.Defs[schema].Required, name) })
	return out
}

func (s *GitHubServer) ref(c *call) {
	name := c.r.PathValue("ref")
	sha := c.repo.Ref(name)
	if sha == "" {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	c.answer(http.StatusOK, s.refOf(c, name, sha))
}

func (s *GitHubServer) refOf(c *call, name, sha string) map[string]any {
	kind := c.repo.kind(sha)
	return map[string]any{
		"ref": "refs/" + name, "node_id": "REF_" + sha, "url": s.address(c, "/git/refs/%s", name),
		"object": map[string]any{"type": kind, "sha": sha, "url": s.address(c, "/git/%ss/%s", kind, sha)},
	}
}

// has answers with Not Found unless the call's object is there.
func (c *call) has(kind string) (sha string, ok bool) {
	sha = c.r.PathValue("sha")
	is := c.repo.kind(sha)
	if is == "commit" && kind == "tree" { // a commit's hash names its tree, too
		return c.repo.commit(sha).tree, true
	}
	if is != kind {
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
	lines := strings.Split(c.repo.must("", "cat-file", "tag", sha), "\n")
	of, name := strings.TrimPrefix(lines[0], "object "), strings.TrimPrefix(lines[2], "tag ")
	c.answer(http.StatusOK, s.api.Example("git-tag", map[string]any{"tag": name, "sha": sha, "message": name,
		"object": map[string]any{"sha": of, "type": "commit", "url": s.address(c, "/git/commits/%s", of)}}))
}

func (s *GitHubServer) commit(c *call) {
	if sha, ok := c.has("commit"); ok {
		c.answer(http.StatusOK, s.commitOf(c, sha))
	}
}

func (s *GitHubServer) commitOf(c *call, sha string) map[string]any {
	x := c.repo.commit(sha)
	parents := []any{}
	for _, p := range x.parents {
		parents = append(parents, map[string]any{"sha": p, "url": s.address(c, "/git/commits/%s", p),
			"html_url": "https://github.com/" + c.repo.full() + "/commit/" + p})
	}
	return s.api.Example("git-commit", map[string]any{
		"sha": sha, "author": person(x.author), "committer": person(x.committer), "message": x.message, "parents": parents,
		"tree": map[string]any{"sha": x.tree, "url": s.address(c, "/git/trees/%s", x.tree)},
	})
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
	for _, x := range c.repo.entries(sha, recursive) {
		one := map[string]any{"path": x.path, "mode": x.mode, "type": x.kind, "sha": x.sha}
		if x.kind == "blob" {
			one["size"], _ = strconv.Atoi(x.size)
		}
		if x.kind != "commit" {
			one["url"] = s.address(c, "/git/%ss/%s", x.kind, x.sha)
		}
		list = append(list, one)
	}
	return map[string]any{"sha": sha, "url": s.address(c, "/git/trees/%s", sha), "tree": list[:min(len(list), mostListed)],
		"truncated": len(list) > mostListed}
}

func (s *GitHubServer) blob(c *call) {
	sha, ok := c.has("blob")
	if !ok {
		return
	}
	content := c.repo.must("", "cat-file", "blob", sha)
	c.answer(http.StatusOK, map[string]any{"content": base64.StdEncoding.EncodeToString([]byte(content)),
		"encoding": "base64", "url": s.address(c, "/git/blobs/%s", sha), "sha": sha, "size": len(content),
		"node_id": "B_" + sha})
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
	sha, ok := c.has("commit")
	if !ok {
		return
	}
	top := c.repo.Owner + "-" + c.repo.Name + "-" + sha[:7] + "/"
	body, err := c.repo.git("", "archive", "--format=tar.gz", "--prefix="+top, sha)
	if err != nil {
		c.fail(http.StatusInternalServerError, err.Error())
		return
	}
	c.w.Header().Set("Content-Type", "application/x-gzip")
	_, _ = io.WriteString(c.w, body) // a failure means that the client has disconnected
}

func (s *GitHubServer) makeTree(c *call) {
	var in struct {
		BaseTree string   `json:"base_tree"`
		Tree     []change `json:"tree"`
	}
	if !c.read(&in) {
		return
	}
	for _, x := range in.Tree {
		if strings.HasPrefix(x.Path, ".github/workflows/") { // the App has no permission for workflows
			c.fail(http.StatusForbidden, "Resource not accessible by integration")
			return
		}
	}
	sha, why := c.repo.changed(in.BaseTree, in.Tree)
	if why != "" {
		c.fail(http.StatusUnprocessableEntity, why)
		return
	}
	c.answer(http.StatusCreated, s.treeOf(c, sha, false))
}

// signature is an author or committer in a call.
type signature struct{ Name, Email, Date string }

func (x signature) text(now time.Time) string {
	at := now
	if set, err := time.Parse(time.RFC3339, x.Date); err == nil {
		at = set
	}
	return fmt.Sprintf("%s <%s> %d +0000", cmp.Or(x.Name, "ringi[bot]"),
		cmp.Or(x.Email, "ringi@users.noreply.github.com"), at.Unix())
}

func (s *GitHubServer) makeCommit(c *call) {
	var in struct {
		Message   string     `json:"message"`
		Tree      string     `json:"tree"`
		Parents   []string   `json:"parents"`
		Author    signature  `json:"author"`
		Committer *signature `json:"committer"`
	}
	if !c.read(&in) {
		return
	}
	if c.repo.kind(in.Tree) != "tree" {
		c.fail(http.StatusUnprocessableEntity, "Tree SHA does not exist")
		return
	}
	for _, p := range in.Parents {
		if c.repo.kind(p) != "commit" {
			c.fail(http.StatusUnprocessableEntity, "Parent SHA does not exist or is not a commit object")
			return
		}
	}
	by := in.Author
	if in.Committer != nil {
		by = *in.Committer
	}
	sha := c.repo.putCommit(commit{tree: in.Tree, parents: in.Parents, message: in.Message,
		author: in.Author.text(s.Now()), committer: by.text(s.Now())})
	c.answer(http.StatusCreated, s.commitOf(c, sha))
}

func (s *GitHubServer) makeRef(c *call) {
	var in struct{ Ref, SHA string }
	if !c.read(&in) {
		return
	}
	name, ok := strings.CutPrefix(in.Ref, "refs/")
	switch {
	case !ok || !strings.Contains(name, "/"):
		c.fail(http.StatusUnprocessableEntity, "Reference name must start with 'refs/'.")
	case c.repo.Ref(name) != "":
		c.fail(http.StatusUnprocessableEntity, "Reference already exists")
	case c.repo.kind(in.SHA) != "commit":
		c.fail(http.StatusUnprocessableEntity, "Object does not exist")
	default:
		c.repo.must("", "update-ref", in.Ref, in.SHA)
		c.answer(http.StatusCreated, s.refOf(c, name, in.SHA))
	}
}

func (s *GitHubServer) openPull(c *call) {
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if !c.read(&in) {
		return
	}
	head, base := c.repo.Ref("heads/"+in.Head), c.repo.Ref("heads/"+in.Base)
	switch {
	case head == "":
		c.invalid("head", "invalid", "")
	case base == "":
		c.invalid("base", "invalid", "")
	case in.Title == "":
		c.invalid("title", "missing_field", "")
	case head == base:
		c.invalid("", "custom", "No commits between "+in.Base+" and "+in.Head)
	case slices.ContainsFunc(c.repo.pulls, func(p Pull) bool { return p.Head == in.Head && p.Base == in.Base }):
		c.invalid("", "custom", "A pull request already exists for "+c.repo.Owner+":"+in.Head+".")
	default:
		p := Pull{len(c.repo.pulls) + 1, in.Title, in.Body, in.Head, in.Base, head, base, in.Draft, s.Now()}
		c.repo.pulls = append(c.repo.pulls, p)
		c.answer(http.StatusCreated, s.pullOf(c, p, "pull-request"))
	}
}

func (s *GitHubServer) pulls(c *call) {
	q, list := c.r.URL.Query(), []any{}
	for _, p := range c.repo.pulls {
		head, state := q.Get("head"), cmp.Or(q.Get("state"), "open")
		if (head == "" || head == c.repo.Owner+":"+p.Head) && (state == "all" || state == "open") {
			list = append(list, s.pullOf(c, p, "pull-request-simple"))
		}
	}
	c.answer(http.StatusOK, list)
}

// pullOf returns a pull request, all that isn't told of it as published.
func (s *GitHubServer) pullOf(c *call, p Pull, schema string) map[string]any {
	at := p.At.UTC().Format(time.RFC3339)
	out := s.api.Example(schema, map[string]any{
		"number": p.Number, "title": p.Title, "body": p.Body, "state": "open", "draft": p.Draft, "created_at": at,
		"updated_at": at, "closed_at": nil, "merged_at": nil, "maintainer_can_modify": false, "merged": false,
		"html_url": fmt.Sprintf("https://github.com/%s/pull/%d", c.repo.full(), p.Number),
		"url":      s.address(c, "/pulls/%d", p.Number), "author_association": "NONE", "auto_merge": nil,
	})
	maps.DeleteFunc(out, func(name string, _ any) bool {
		_, published := s.api.Defs[schema].Properties[name]
		return !published
	})
	for side, at := range map[string][2]string{"head": {p.Head, p.HeadSHA}, "base": {p.Base, p.BaseSHA}} {
		one, _ := out[side].(map[string]any)
		one["ref"], one["sha"], one["label"] = at[0], at[1], c.repo.Owner+":"+at[0]
		one["repo"] = s.about(c, "repository")
	}
	return out
}

// Pull is a pull request that was opened.
type Pull struct {
	Number           int
	Title, Body      string
	Head, Base       string // branches
	HeadSHA, BaseSHA string
	Draft            bool
	At               time.Time
}

// Pulls returns the pull requests of a repository, oldest first.
func (r *Repository) Pulls() []Pull {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pulls)
}
