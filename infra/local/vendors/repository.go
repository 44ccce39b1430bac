package vendors

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
	refs    map[string]string // heads/… and tags/…: a commit's or a tag's hash; unused if there is a clone
	pulls   []*pull
}

type pull struct {
	number            int
	title, body       string
	head, base, state string
	headSHA, baseSHA  string
	draft             bool
	at                time.Time
}

// File is a file of a new commit.
type File struct {
	Content string
	Mode    string // empty: 100644. A link's content is its target, a submodule's a commit's hash
}

func newRepository(owner, name string, id int64) *Repository {
	return &Repository{Owner: owner, Name: name, ID: id, objects: &objects{made: map[string]object{}, trees: map[string]object{}}, refs: map[string]string{}}
}

func (r *Repository) full() string { return r.Owner + "/" + r.Name }

// Commit adds a commit with exactly these files to a branch, and returns its hash.
func (r *Repository) Commit(branch, message string, files map[string]File, at time.Time) (sha string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	leaves := map[string]leaf{}
	for p, f := range files {
		switch f.Mode {
		case "":
			leaves[p] = leaf{"100644", r.objects.put("blob", []byte(f.Content))}
		case module:
			leaves[p] = leaf{module, f.Content}
		default:
			leaves[p] = leaf{f.Mode, r.objects.put("blob", []byte(f.Content))}
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
	body := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger Demo <demo@example.com> 0 +0000\n\n%s\n", commit, name, name)
	r.refs["tags/"+name] = r.objects.put("tag", []byte(body))
}

// Ref returns the hash of heads/… or tags/…, or "".
func (r *Repository) Ref(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at(name)
}

// at is Ref for those who hold the lock.
func (r *Repository) at(name string) string {
	if r.objects.clone != nil {
		return r.objects.clone.ref(name)
	}
	return r.refs[name]
}

// point makes a ref that is not there. What was made until then is kept in the clone, if there is one.
func (r *Repository) point(name, sha string) error {
	c := r.objects.clone
	if c == nil {
		r.refs[name] = sha
		return nil
	}
	if err := c.keep(r.objects.made); err != nil {
		return err
	}
	clear(r.objects.made)
	return c.point(name, sha)
}

// main returns the name of the default branch.
func (r *Repository) main() string {
	if r.objects.clone != nil {
		return r.objects.clone.Branch
	}
	return mainBranch
}

// Clone returns the clone that has the repository's objects; nil: they are in memory.
func (r *Repository) Clone() *Clone { return r.objects.clone }

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
