package vendors

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/agent"
)

// Clone is a bare clone of a repository on this machine. The stand-in serves the clone and writes only to the clone.
type Clone struct {
	Path    string // the repository's folder
	Dir     string // the clone's
	Branch  string // that is checked out in the repository
	Commit  string // the branch's
	Changed int    // files of the repository that differ from the commit, or are not in it
}

// NewClone clones a repository, or brings what was cloned before up to date. folder is where clones are. The errors say
// what is wrong with the path.
func NewClone(path, folder string) (*Clone, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("the repository %s needs git, which is not installed", path)
	}
	c, err := look(path)
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(c.Path))
	c.Dir = filepath.Join(folder, fmt.Sprintf("%s-%x.git", strings.TrimSuffix(filepath.Base(c.Path), ".git"), sum[:4]))
	if err = os.MkdirAll(c.Dir, 0o755); err == nil {
		_, err = c.git(nil, "init", "-q", "--bare")
	}
	if err == nil {
		_, err = run(nil, nil, "-C", c.Dir, "fetch", "-q", "--no-tags", "--update-shallow", "--no-recurse-submodules", c.Path,
			"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
	}
	if err == nil {
		_, err = c.git(nil, "symbolic-ref", "HEAD", "refs/heads/"+c.Branch)
	}
	if err != nil {
		return nil, fmt.Errorf("clone %s to %s (which may be deleted): %w", c.Path, c.Dir, err)
	}
	if c.Commit = c.ref("heads/" + c.Branch); c.Commit == "" {
		return nil, fmt.Errorf("clone %s to %s (which may be deleted): git gave no branch %s", c.Path, c.Dir, c.Branch)
	}
	return c, nil
}

// look reads a repository without changing anything there.
func look(path string) (*Clone, error) {
	at, err := filepath.Abs(path)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return nil, fmt.Errorf("the repository %s: %w", path, err)
	}
	if is, err := os.Stat(at); err != nil || !is.IsDir() {
		return nil, fmt.Errorf("the repository %s is no folder", path)
	}
	text, err := run(nil, nil, "-C", at, "rev-parse", "--is-bare-repository", "--show-object-format", "--absolute-git-dir")
	said := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil || len(said) != 3 {
		return nil, fmt.Errorf("%s is no git repository (git init makes one): %w", path, err)
	}
	top := said[2]
	if said[0] != "true" {
		text, err = run(nil, nil, "-C", at, "rev-parse", "--show-toplevel")
		if top = strings.TrimSpace(string(text)); err != nil {
			return nil, fmt.Errorf("%s is inside of a repository's .git: name the folder of its files", path)
		}
	}
	if real, err := filepath.EvalSymlinks(top); err != nil || real != at {
		return nil, fmt.Errorf("%s is no git repository, but a folder of the repository %s: name that", path, top)
	}
	if said[1] != "sha1" {
		return nil, fmt.Errorf("the repository %s names its objects by %s; GitHub takes sha1 only", path, said[1])
	}
	c := &Clone{Path: at}
	if text, err = run(nil, nil, "-C", at, "symbolic-ref", "--short", "HEAD"); err != nil {
		return nil, fmt.Errorf("the repository %s has no branch checked out: git switch to one", path)
	}
	c.Branch = strings.TrimSpace(string(text))
	if text, err = run(nil, nil, "-C", at, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil {
		return nil, fmt.Errorf("the repository %s is empty: commit something on %s first", path, c.Branch)
	}
	c.Commit = strings.TrimSpace(string(text))
	if said[0] != "true" {
		if c.Changed, err = changed(at); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// changed counts the files that git status lists. It runs no program that the repository's own configuration names: a
// filter there is left out, and submodules, which have configurations of their own, are looked at from outside.
func changed(at string) (int, error) {
	text, err := run(nil, nil, "-C", at, "config", "-z", "--show-scope", "--name-only", "--list")
	if err != nil {
		return 0, err
	}
	n, _ := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT"))
	var env []string
	said := strings.Split(string(text), "\x00")
	for i := 0; i+1 < len(said); i += 2 {
		scope, name := said[i], said[i+1]
		dot := strings.LastIndexByte(name, '.')
		if (scope == "local" || scope == "worktree") && strings.HasPrefix(name, "filter.") && dot > len("filter") {
			for _, of := range []string{"clean", "process", "required"} { // an empty text is false, too
				env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, name[:dot+1]+of), fmt.Sprintf("GIT_CONFIG_VALUE_%d=", n))
				n++
			}
		}
	}
	env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
	text, err = run(nil, env, "-c", "core.fsmonitor=false", "-C", at, "status", "--porcelain", "-z", "--no-renames",
		"--ignore-submodules=dirty")
	return bytes.Count(text, []byte{0}), err
}

// run runs git with env besides the variables of this program. Those that name another repository, as in a hook, are
// left out. Nothing of the repository is written, as by a status that refreshes the index, and nothing that it lacks is
// fetched.
func run(in io.Reader, env []string, args ...string) ([]byte, error) {
	c := exec.Command("git", append([]string{"-c", "tar.umask=0002", "-c", "gc.auto=0"}, args...)...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(elsewhere, name) {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	c.Env = append(c.Env, env...)
	var said bytes.Buffer
	c.Stdin, c.Stderr = in, &said
	out, err := c.Output()
	if err != nil {
		return out, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return out, nil
}

var elsewhere = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX"}

// git runs git in the clone. What the person has configured, such as a filter or line ends, changes nothing there.
func (c *Clone) git(in io.Reader, args ...string) ([]byte, error) {
	nobodys := []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=0",
		"GIT_CONFIG_PARAMETERS=", "GIT_ATTR_NOSYSTEM=1", "GIT_DEFAULT_HASH=sha1"}
	here := []string{"-c", "safe.directory=*", "-c", "core.attributesFile=", "-C", c.Dir}
	return run(in, nobodys, append(here, args...)...)
}

// read returns those of the objects that the clone has.
func (c *Clone) read(hashes ...string) (objects map[string]object, err error) {
	out, err := c.git(strings.NewReader(strings.Join(hashes, "\n")+"\n"), "cat-file", "--batch")
	objects = map[string]object{}
	for len(out) > 0 && err == nil {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		said := strings.Fields(string(line))
		if len(said) != 3 { // <hash> missing
			out = rest
			continue
		}
		n, odd := strconv.Atoi(said[2])
		if odd != nil || n >= len(rest) {
			return nil, fmt.Errorf("git cat-file says %q", line)
		}
		objects[said[0]] = object{said[1], rest[:n:n]}
		out = rest[n+1:]
	}
	return objects, err
}

// trees returns a tree and all trees below it.
func (c *Clone) trees(sha string) (map[string]object, error) {
	out, err := c.git(nil, "ls-tree", "-r", "-d", "-t", "-z", sha)
	if err != nil {
		return nil, err
	}
	hashes := []string{sha}
	for line := range strings.SplitSeq(string(out), "\x00") {
		head, _, _ := strings.Cut(line, "\t")
		if said := strings.Fields(head); len(said) == 3 && said[1] == "tree" {
			hashes = append(hashes, said[2])
		}
	}
	return c.read(hashes...)
}

// sizes returns the sizes of those of the objects that the clone has.
func (c *Clone) sizes(hashes []string) (map[string]int, error) {
	out, err := c.git(strings.NewReader(strings.Join(hashes, "\n")+"\n"), "cat-file",
		"--batch-check=%(objectname) %(objectsize)")
	sizes := map[string]int{}
	for line := range strings.Lines(string(out)) {
		sha, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		if size, missing := strconv.Atoi(n); missing == nil {
			sizes[sha] = size
		}
	}
	return sizes, err
}

// keep writes objects that the clone doesn't have.
func (c *Clone) keep(made map[string]object) error {
	there, err := c.sizes(slices.Collect(maps.Keys(made)))
	for sha, x := range made {
		if _, is := there[sha]; is || err != nil {
			continue
		}
		_, failed := c.git(bytes.NewReader(x.body), "hash-object", "-w", "-t", x.kind, "--stdin", "--literally")
		err = errors.Join(err, failed)
	}
	return err
}

// ref returns the hash of heads/… or tags/…, or "".
func (c *Clone) ref(name string) string {
	out, err := c.git(nil, "show-ref", "--verify", "--hash", "refs/"+name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// point makes a ref that is not there.
func (c *Clone) point(name, sha string) error {
	_, err := c.git(nil, "update-ref", "refs/"+name, sha, "")
	return err
}

// isHash reports whether a text is a hash, which git doesn't read as anything else.
func isHash(sha string) bool {
	raw, err := hex.DecodeString(sha)
	return err == nil && len(raw) == sha1.Size
}

// Diff returns what differs between two commits, as git diff says.
func (r *Repository) Diff(from, to string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.objects.clone
	if c == nil {
		dir, err := os.MkdirTemp("", "ringi-repository-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if err := r.objects.export(dir, r.refs); err != nil {
			return nil, err
		}
		c = &Clone{Dir: dir}
	}
	return c.git(nil, "-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv", from, to)
}

// Names returns the repositories, as owner/name.
func (s *GitHubServer) Names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.repos {
		names = append(names, r.full())
	}
	return names
}

// OwnOwner is the owner of the repositories that a person serves.
const OwnOwner = "local"

// MaxOwn is how many they may be, beside the demo's.
const MaxOwn = agent.MaxSources - 1

// Own is a repository on this machine that a person has the stack serve.
type Own struct {
	*Clone
	Source agent.Source
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Serve clones a repository into a folder and serves the clone as local/<the name of its folder>. It returns an error
// that says what is wrong with the path.
func (v *Vendors) Serve(path, folder string) (Own, error) {
	if len(v.Own) >= MaxOwn {
		return Own{}, fmt.Errorf("%d repositories are served at most", MaxOwn)
	}
	c, err := NewClone(path, folder)
	if err != nil {
		return Own{}, err
	}
	if slices.ContainsFunc(v.Own, func(o Own) bool { return o.Path == c.Path }) {
		return Own{}, fmt.Errorf("the repository %s is given twice", path)
	}
	name := v.freeName(strings.TrimSuffix(filepath.Base(c.Path), ".git"))
	o := Own{c, everybodys(name, OwnOwner+"/"+name, "heads/"+c.Branch)}
	if faults := o.Source.Problems(); len(faults) > 0 {
		return Own{}, fmt.Errorf("the repository %s is on the branch %s, and a source's branch is of A-Z a-z 0-9 . _ / "+
			"+ - alone", path, c.Branch)
	}
	o.Source.RepositoryID = int(v.GitHub.AddClone(OwnOwner, name, c).ID)
	v.Own = append(v.Own, o)
	return o, nil
}

// freeName makes a source's name that no other has of a folder's.
func (v *Vendors) freeName(folder string) string {
	base := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(folder), "-"), "-")
	base = strings.Trim(base[:min(len(base), 28)], "-")
	if base == "" {
		base = "repository"
	}
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		if name != ShopName && !slices.ContainsFunc(v.Own, func(o Own) bool { return o.Source.Name == name }) {
			return name
		}
	}
}

// Shop is the source of the demo repository.
func (v *Vendors) Shop() agent.Source {
	s := everybodys(ShopName, ShopOwner+"/"+ShopName, ShopRef)
	s.RepositoryID = int(v.GitHub.ID(s.Repository))
	return s
}

// everybodys is a source for all people and for the agents that work on files.
func everybodys(name, repository, ref string) agent.Source {
	return agent.Source{Name: name, Repository: repository, Ref: ref, People: []string{agent.Everybody},
		Agents: []string{agent.Codex, "claude"}, CI: agent.CISkip}
}
