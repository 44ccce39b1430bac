package vendors

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const mainBranch = "main"

// Repository is a repository that git keeps, with its pull requests. Git makes its folder when something first needs
// it.
type Repository struct {
	Owner, Name string
	ID          int64

	mu    sync.Mutex
	dir   string
	begin func() error // makes the folder, once
	pulls []Pull       // none is ever closed
}

// File is a file of a new commit.
type File struct {
	Content string
	Mode    string // empty: 100644. A link's content is its target, a submodule's a commit's hash
}

func (r *Repository) full() string { return r.Owner + "/" + r.Name }

// run calls git in the repository's folder with this input, and returns what it prints. Settings of this machine don't
// count.
func (r *Repository) run(in string, args ...string) (string, error) {
	c := exec.Command("git", append([]string{"-c", "core.quotePath=false", "-c", "core.fsync=none"}, args...)...)
	c.Env = append(os.Environ(), "GIT_DIR="+r.dir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	c.Stdin = strings.NewReader(in)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %.300s", args[0], err, said.Bytes())
	}
	return string(out), nil
}

// git is run, and makes the folder before.
func (r *Repository) git(in string, args ...string) (string, error) {
	if err := r.begin(); err != nil {
		return "", err
	}
	return r.run(in, args...)
}

// must is git where it can only fail with this machine.
func (r *Repository) must(in string, args ...string) string {
	out, err := r.git(in, args...)
	if err != nil {
		panic(err)
	}
	return out
}

// imported is the input of git fast-import for a commit with exactly these files.
func imported(branch, before, message string, files map[string]File, at time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter Demo <demo@example.com> %d +0000\ndata %d\n%s\n", branch, at.Unix(),
		len(message), message)
	if before != "" {
		fmt.Fprintf(&b, "from %s\ndeleteall\n", before)
	}
	for p, f := range files {
		if f.Mode == "160000" {
			fmt.Fprintf(&b, "M 160000 %s %s\n", f.Content, p)
			continue
		}
		fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", cmp.Or(f.Mode, "100644"), p, len(f.Content), f.Content)
	}
	return b.String()
}

// Commit adds a commit with exactly these files to a branch, and returns its hash.
func (r *Repository) Commit(branch, message string, files map[string]File, at time.Time) (sha string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.must(imported(branch, r.Ref("heads/"+branch), message, files, at), "fast-import", "--quiet")
	return r.Ref("heads/" + branch)
}

// Tag makes an annotated tag.
func (r *Repository) Tag(name, commit string) {
	r.must(fmt.Sprintf("tag %s\nfrom %s\ntagger Demo <demo@example.com> 0 +0000\ndata %d\n%s\n", name, commit, len(name),
		name), "fast-import", "--quiet")
}

// Ref returns the hash of heads/… or tags/…, or "".
func (r *Repository) Ref(name string) string {
	sha, _ := r.git("", "rev-parse", "--verify", "--quiet", "refs/"+name)
	return strings.TrimSpace(sha)
}

var hash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// kind returns what an object is: blob, tree, commit or tag, or "" if there is none of this hash.
func (r *Repository) kind(sha string) string {
	if !hash.MatchString(sha) {
		return ""
	}
	kind, _ := r.git("", "cat-file", "-t", sha)
	return strings.TrimSpace(kind)
}

// entry is a line of git ls-tree.
type entry struct{ mode, kind, sha, size, path string }

// entries lists a tree or a commit's tree, in Git's order; with all folders' contents if deep.
func (r *Repository) entries(sha string, deep bool) (list []entry) {
	args := []string{"ls-tree", "-z", "-l", sha}
	if deep {
		args = []string{"ls-tree", "-z", "-l", "-r", "-t", sha}
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(r.must("", args...), "\x00"), "\x00") {
		about, path, _ := strings.Cut(line, "\t")
		if x := strings.Fields(about); len(x) == 4 {
			list = append(list, entry{x[0], x[1], x[2], x[3], path})
		}
	}
	return list
}

// Files returns the files of a commit: their modes and contents by path.
func (r *Repository) Files(commit string) map[string]string {
	out := map[string]string{}
	for _, x := range r.entries(commit, true) {
		if x.kind == "blob" {
			out[x.path] = x.mode + " " + r.must("", "cat-file", "blob", x.sha)
		}
	}
	return out
}

// Paths lists the paths of a commit's files, or of those below a folder, in order.
func (r *Repository) Paths(commit, folder string) (paths []string) {
	if r.kind(commit) != "commit" {
		return nil
	}
	for _, x := range r.entries(commit, true) {
		if x.kind != "tree" && (folder == "" || strings.HasPrefix(x.path, folder+"/")) {
			paths = append(paths, x.path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Dir is the folder in which git has the repository.
func (r *Repository) Dir() string {
	r.must("", "rev-parse", "--git-dir")
	return r.dir
}

// Diff returns what differs between two commits.
func (r *Repository) Diff(from, to string) (string, error) {
	return r.git("", "diff", "--no-color", "--no-ext-diff", "--no-textconv", from, to)
}

// commit is what a commit's object says.
type commit struct {
	tree      string
	parents   []string
	author    string // name <address> seconds zone
	committer string
	message   string
}

func (r *Repository) commit(sha string) (c commit) {
	head, message, _ := strings.Cut(r.must("", "cat-file", "commit", sha), "\n\n")
	c.message = message
	for line := range strings.SplitSeq(head, "\n") {
		switch name, value, _ := strings.Cut(line, " "); name {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			c.author = value
		case "committer":
			c.committer = value
		}
	}
	return c
}

func (r *Repository) putCommit(c commit) (sha string) {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", c.author, c.committer, c.message)
	return strings.TrimSpace(r.must(b.String(), "hash-object", "-t", "commit", "-w", "--stdin"))
}

// change is an element of the body of POST git/trees.
type change struct {
	Path    string  `json:"path"`
	Mode    string  `json:"mode"`
	Type    string  `json:"type"`
	SHA     *string `json:"sha"` // null: the file goes
	Content *string `json:"content"`
}

// changed makes a tree of base with these changes, or says in GitHub's words why there is none.
func (r *Repository) changed(base string, changes []change) (sha, why string) {
	const missing = "GitRPC::BadObjectState"
	before := "--empty"
	if base != "" {
		before = base
	}
	if _, err := r.git("", "read-tree", before); err != nil {
		return "", missing
	}
	var lines strings.Builder
	for _, x := range changes {
		switch {
		case x.Content != nil:
			blob := strings.TrimSpace(r.must(*x.Content, "hash-object", "-w", "--stdin"))
			fmt.Fprintf(&lines, "%s %s\t%s\x00", x.Mode, blob, x.Path)
		case x.SHA != nil:
			fmt.Fprintf(&lines, "%s %s\t%s\x00", x.Mode, *x.SHA, x.Path)
		default:
			if out, err := r.git("", "ls-files", "-z", "--", ":(literal)"+x.Path); err != nil || out != x.Path+"\x00" {
				return "", missing
			}
			fmt.Fprintf(&lines, "0 %040d\t%s\x00", 0, x.Path)
		}
	}
	if _, err := r.git(lines.String(), "update-index", "-z", "--replace", "--index-info"); err != nil {
		return "", "tree.path contains a malformed path component"
	}
	tree, err := r.git("", "write-tree")
	if err != nil {
		return "", missing
	}
	return strings.TrimSpace(tree), ""
}

// opened returns the beginning of a repository below the server's folder, with files in its first commit.
func (s *GitHubServer) opened(r *Repository, files map[string]File) func() error {
	return sync.OnceValue(func() (err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.dir == "" {
			if s.dir, err = os.MkdirTemp("", "ringi-github-"); err != nil {
				return err
			}
		}
		r.dir = filepath.Join(s.dir, fmt.Sprint(r.ID))
		_, err = r.run("", "init", "--quiet", "--bare", "--template=", "--initial-branch="+mainBranch, r.dir)
		if err != nil || files == nil {
			return err
		}
		_, err = r.run(imported(mainBranch, "", "Sell things", files, s.Now()), "fast-import", "--quiet")
		return err
	})
}

// Close removes the repositories' folder.
func (s *GitHubServer) Close() { _ = os.RemoveAll(s.dir) } // what is left lies in the folder for such
