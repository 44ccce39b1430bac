package vendors

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// object is one of Git's objects.
type object struct {
	kind string // blob, tree, commit or tag
	body []byte
}

// objects are a repository's objects by their hashes, as Git makes them.
type objects struct{ made map[string]object }

func (o *objects) get(sha string) (object, bool) {
	x, ok := o.made[sha]
	return x, ok
}

func (o *objects) kind(sha string) string { return o.made[sha].kind }

func (o *objects) body(sha string) []byte { return o.made[sha].body }

func (o *objects) put(kind string, body []byte) (sha string) {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(body))
	h.Write(body)
	sha = hex.EncodeToString(h.Sum(nil))
	o.made[sha] = object{kind, bytes.Clone(body)}
	return sha
}

// leaf is an entry of a flattened tree: anything but a folder.
type leaf struct{ mode, sha string }

const (
	folder = "40000" // as Git writes it; the API writes 040000
	module = "160000"
)

// putTree makes the trees of a list of leaves by path.
func (o *objects) putTree(leaves map[string]leaf) (sha string) {
	here, below := map[string]leaf{}, map[string]map[string]leaf{}
	for p, l := range leaves {
		dir, rest, nested := strings.Cut(p, "/")
		if !nested {
			here[p] = l
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]leaf{}
		}
		below[dir][rest] = l
	}
	for dir, inside := range below {
		here[dir] = leaf{folder, o.putTree(inside)}
	}
	var body bytes.Buffer
	for _, name := range slices.SortedFunc(maps.Keys(here), func(a, b string) int {
		return cmp.Compare(sortName(a, here[a]), sortName(b, here[b]))
	}) {
		raw, _ := hex.DecodeString(here[name].sha) // made by put, or checked when it came
		fmt.Fprintf(&body, "%s %s\x00%s", here[name].mode, name, raw)
	}
	return o.put("tree", body.Bytes())
}

// sortName is what Git compares: a folder's name ends in a slash.
func sortName(name string, l leaf) string {
	if l.mode == folder {
		return name + "/"
	}
	return name
}

// entries returns what a tree contains itself, in its order.
func (o *objects) entries(sha string) (names []string, in map[string]leaf) {
	in = map[string]leaf{}
	for body := o.body(sha); len(body) > 0; {
		head, rest, _ := bytes.Cut(body, []byte{0})
		mode, name, _ := strings.Cut(string(head), " ")
		names = append(names, name)
		in[name] = leaf{mode, hex.EncodeToString(rest[:sha1.Size])}
		body = rest[sha1.Size:]
	}
	return names, in
}

// leaves returns everything below a tree but the folders themselves.
func (o *objects) leaves(sha string) map[string]leaf {
	out := map[string]leaf{}
	o.walk(sha, "", func(p string, l leaf) {
		if l.mode != folder {
			out[p] = l
		}
	})
	return out
}

// walk visits everything below a tree, a folder before its content.
func (o *objects) walk(sha, above string, visit func(p string, l leaf)) {
	names, in := o.entries(sha)
	for _, name := range names {
		visit(above+name, in[name])
		if in[name].mode == folder {
			o.walk(in[name].sha, above+name+"/", visit)
		}
	}
}

// commit is what a commit's object says.
type commit struct {
	tree      string
	parents   []string
	author    string // name <address> seconds zone
	committer string
	message   string
}

func (o *objects) putCommit(c commit) (sha string) {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", c.author, c.committer, c.message)
	return o.put("commit", []byte(b.String()))
}

func (o *objects) commit(sha string) (c commit, ok bool) {
	x, ok := o.get(sha)
	if !ok || x.kind != "commit" {
		return c, false
	}
	head, message, _ := strings.Cut(string(x.body), "\n\n")
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
	return c, true
}

// export writes the objects and refs as a bare repository that git can read.
func (o *objects) export(dir string, refs map[string]string) error {
	err := os.MkdirAll(filepath.Join(dir, "refs", "heads"), 0o755)
	for sha, x := range o.made {
		var out bytes.Buffer
		z := zlib.NewWriter(&out)
		_, failed := fmt.Fprintf(z, "%s %d\x00%s", x.kind, len(x.body), x.body)
		err = errors.Join(err, failed, z.Close(), write(filepath.Join(dir, "objects", sha[:2], sha[2:]), out.Bytes()))
	}
	for name, sha := range refs {
		err = errors.Join(err, write(filepath.Join(dir, "refs", filepath.FromSlash(name)), []byte(sha+"\n")))
	}
	return errors.Join(err, write(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/"+mainBranch+"\n")),
		write(filepath.Join(dir, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")))
}

func write(path string, content []byte) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644))
}

// archive returns a commit's files as GitHub packs them, by git archive: below one folder, without what .gitattributes
// marks export-ignore, and with $Format:%H$ filled in where it says export-subst.
func (r *Repository) archive(sha string) ([]byte, error) {
	c, _ := r.objects.commit(sha)
	top := r.Owner + "-" + r.Name + "-" + sha[:7] + "/"
	attributes := r.attributes(c.tree)
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	at := time.Unix(1_700_000_000, 0)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header",
		PAXRecords: map[string]string{"comment": sha}})
	err = errors.Join(err, w.WriteHeader(&tar.Header{Name: top, Typeflag: tar.TypeDir, Mode: 0o775, ModTime: at}))
	var skipped []string // folders
	r.objects.walk(c.tree, "", func(p string, l leaf) {
		below := func(folder string) bool { return strings.HasPrefix(p, folder) }
		if attributes(p, "export-ignore") || slices.ContainsFunc(skipped, below) {
			skipped = append(skipped, p+"/")
			return
		}
		h := &tar.Header{Name: top + p, Mode: 0o664, ModTime: at, Typeflag: tar.TypeReg}
		content := r.objects.body(l.sha)
		switch l.mode {
		case folder, module:
			h.Name, h.Typeflag, h.Mode, content = h.Name+"/", tar.TypeDir, 0o775, nil
		case "120000":
			h.Typeflag, h.Linkname, h.Mode, content = tar.TypeSymlink, string(content), 0o777, nil
		case "100755":
			h.Mode = 0o775
		}
		if attributes(p, "export-subst") {
			content = bytes.ReplaceAll(content, []byte("$Format:%H$"), []byte(sha))
		}
		h.Size = int64(len(content))
		err = errors.Join(err, w.WriteHeader(h))
		_, failed := w.Write(content)
		err = errors.Join(err, failed)
	})
	err = errors.Join(err, w.Close(), z.Close())
	return out.Bytes(), err
}

// attributes reads the root's .gitattributes: lines of a pattern and names, without negation.
func (r *Repository) attributes(tree string) func(p, name string) bool {
	_, in := r.objects.entries(tree)
	lines := strings.Split(string(r.objects.body(in[".gitattributes"].sha)), "\n")
	return func(p, name string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			fields := append(strings.Fields(line), "")
			pattern := strings.Trim(fields[0], "/")
			whole, _ := path.Match(pattern, p)
			last, _ := path.Match(pattern, path.Base(p))
			return (whole || last && !strings.Contains(pattern, "/")) && slices.Contains(fields[1:], name)
		})
	}
}
