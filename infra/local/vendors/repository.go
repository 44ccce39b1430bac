package vendors

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const mainBranch = "main"

// Repository is a repository with its refs and pull requests.
type Repository struct {
	Owner, Name string
	ID          int64

	mu      sync.Mutex
	objects *objects
	refs    map[string]string // heads/… and tags/…: a commit's or a tag's hash
	pulls   []Pull            // none is ever closed
}

// File is a file of a new commit.
type File struct {
	Content string
	Mode    string // empty: 100644. A link's content is its target, a submodule's a commit's hash
}

func newRepository(owner, name string, id int64) *Repository {
	return &Repository{Owner: owner, Name: name, ID: id, objects: &objects{map[string]object{}}, refs: map[string]string{}}
}

func (r *Repository) full() string { return r.Owner + "/" + r.Name }

// Commit adds a commit with exactly these files to a branch, and returns its hash.
func (r *Repository) Commit(branch, message string, files map[string]File, at time.Time) (sha string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	leaves := map[string]leaf{}
	for p, f := range files {
		if leaves[p] = (leaf{f.Mode, f.Content}); f.Mode != module {
			leaves[p] = leaf{cmp.Or(f.Mode, "100644"), r.objects.put("blob", []byte(f.Content))}
		}
	}
	by := fmt.Sprintf("Demo <demo@example.com> %d +0000", at.Unix())
	c := commit{tree: r.objects.putTree(leaves), author: by, committer: by, message: message}
	if before, ok := r.refs["heads/"+branch]; ok {
		c.parents = []string{before}
	}
	sha = r.objects.putCommit(c)
	r.refs["heads/"+branch] = sha
	return sha
}

// Tag makes an annotated tag.
func (r *Repository) Tag(name, commit string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger Demo <demo@example.com> 0 +0000\n\n%s\n", commit, name,
		name)
	r.refs["tags/"+name] = r.objects.put("tag", []byte(body))
}

// Ref returns the hash of heads/… or tags/…, or "".
func (r *Repository) Ref(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refs[name]
}

// Files returns the files of a commit: their contents by path.
func (r *Repository) Files(commit string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _ := r.objects.commit(commit)
	out := map[string]string{}
	for p, l := range r.objects.leaves(c.tree) {
		out[p] = l.mode + " " + string(r.objects.body(l.sha))
	}
	return out
}

// Paths lists the paths of a commit's files, or of those below a folder, in order.
func (r *Repository) Paths(commit, folder string) (paths []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _ := r.objects.commit(commit)
	for p := range r.objects.leaves(c.tree) {
		if folder == "" || strings.HasPrefix(p, folder+"/") {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// Export writes the repository into an empty folder, for git to read.
func (r *Repository) Export(dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objects.export(dir, r.refs)
}

// Diff returns what differs between two commits, as git diff says.
func (r *Repository) Diff(from, to string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "ringi-repository-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := r.Export(dir); err != nil {
		return nil, err
	}
	c := exec.Command("git", "-c", "core.quotePath=false", "-C", dir, "diff", "--no-color", "--no-ext-diff",
		"--no-textconv", from, to)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	return c.Output()
}

// errMalformed, errMissing: why a tree is refused.
var (
	errMalformed = errors.New("tree.path contains a malformed path component")
	errMissing   = errors.New("tree.sha is not there")
)

// change is an element of the body of POST git/trees.
type change struct {
	Path    string  `json:"path"`
	Mode    string  `json:"mode"`
	Type    string  `json:"type"`
	SHA     *string `json:"sha"`
	Content *string `json:"content"`
}

// changed makes base with these changes.
func (r *Repository) changed(base string, changes []change) (sha string, err error) {
	leaves := map[string]leaf{}
	if base != "" {
		if r.objects.kind(base) != "tree" {
			return "", errMissing
		}
		leaves = r.objects.leaves(base)
	}
	for _, x := range changes {
		for name := range strings.SplitSeq(x.Path, "/") {
			if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") {
				return "", errMalformed
			}
		}
		switch {
		case x.Content != nil && x.SHA != nil:
			return "", errors.New("tree.sha and tree.content must not be both there")
		case x.Content != nil:
			put(leaves, x.Path, leaf{x.Mode, r.objects.put("blob", []byte(*x.Content))})
		case x.SHA == nil:
			if _, ok := leaves[x.Path]; !ok {
				return "", errMissing
			}
			delete(leaves, x.Path)
		case r.objects.kind(*x.SHA) == "":
			return "", errMissing
		default:
			put(leaves, x.Path, leaf{x.Mode, *x.SHA})
		}
	}
	return r.objects.putTree(leaves), nil
}

// put writes a leaf, in place of what was a folder there or a file above it.
func put(leaves map[string]leaf, p string, l leaf) {
	maps.DeleteFunc(leaves, func(other string, _ leaf) bool {
		return strings.HasPrefix(other, p+"/") || strings.HasPrefix(p, other+"/")
	})
	leaves[p] = l
}

func (s *GitHubServer) makeTree(c *call) {
	var in struct {
		BaseTree string   `json:"base_tree"`
		Tree     []change `json:"tree"`
	}
	if !c.read(&in) {
		return
	}
	sha, err := c.repo.changed(in.BaseTree, in.Tree)
	for _, x := range in.Tree {
		if strings.HasPrefix(x.Path, ".github/workflows/") { // the App has no permission for workflows
			c.fail(http.StatusForbidden, "Resource not accessible by integration")
			return
		}
	}
	switch {
	case errors.Is(err, errMissing):
		c.fail(http.StatusUnprocessableEntity, "GitRPC::BadObjectState")
	case err != nil:
		c.fail(http.StatusUnprocessableEntity, err.Error())
	default:
		c.answer(http.StatusCreated, s.treeOf(c, sha, false))
	}
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
	if c.repo.objects.kind(in.Tree) != "tree" {
		c.fail(http.StatusUnprocessableEntity, "Tree SHA does not exist")
		return
	}
	for _, p := range in.Parents {
		if _, ok := c.repo.objects.commit(p); !ok {
			c.fail(http.StatusUnprocessableEntity, "Parent SHA does not exist or is not a commit object")
			return
		}
	}
	by := in.Author
	if in.Committer != nil {
		by = *in.Committer
	}
	sha := c.repo.objects.putCommit(commit{tree: in.Tree, parents: in.Parents, message: in.Message,
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
	case c.repo.refs[name] != "":
		c.fail(http.StatusUnprocessableEntity, "Reference already exists")
	case c.repo.objects.kind(in.SHA) != "commit":
		c.fail(http.StatusUnprocessableEntity, "Object does not exist")
	default:
		c.repo.refs[name] = in.SHA
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
	head, base := c.repo.refs["heads/"+in.Head], c.repo.refs["heads/"+in.Base]
	switch {
	case head == "":
		c.invalid("head", "invalid", "")
		return
	case base == "":
		c.invalid("base", "invalid", "")
		return
	case in.Title == "":
		c.invalid("title", "missing_field", "")
		return
	case head == base:
		c.invalid("", "custom", "No commits between "+in.Base+" and "+in.Head)
		return
	}
	for _, p := range c.repo.pulls {
		if p.Head == in.Head && p.Base == in.Base {
			c.invalid("", "custom", "A pull request already exists for "+c.repo.Owner+":"+in.Head+".")
			return
		}
	}
	p := Pull{len(c.repo.pulls) + 1, in.Title, in.Body, in.Head, in.Base, head, base, in.Draft, s.Now()}
	c.repo.pulls = append(c.repo.pulls, p)
	c.answer(http.StatusCreated, s.pullOf(c, p, "pull-request"))
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

func (s *GitHubServer) pull(c *call) {
	n, _ := strconv.Atoi(c.r.PathValue("number"))
	if n < 1 || n > len(c.repo.pulls) {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	c.answer(http.StatusOK, s.pullOf(c, c.repo.pulls[n-1], "pull-request"))
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
		_, published := s.api.Schemas[schema].Properties[name]
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
