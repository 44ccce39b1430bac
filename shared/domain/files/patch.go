package files

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// Limits of a patch, in bytes. What exceeds them is named in it instead.
const (
	MaxPatched  = 1 << 20  // of a file, on each side
	mostPatched = 16 << 20 // of all files
)

// PatchedFile is a file that a patch changes. One side is nil if there is no file.
type PatchedFile struct {
	Path    string
	Was, Is *Entry
}

// Unpatched is a changed path that a patch can't change, and why.
type Unpatched struct {
	Path   string
	Why    UnpatchedReason
	SHA256 string // of the later file's content, or of a link's target; empty: there is none
}

// UnpatchedReason says why a patch leaves out a change.
type UnpatchedReason string

const (
	UnpatchedLink   UnpatchedReason = "link"
	UnpatchedGit    UnpatchedReason = "git"    // it is Git's own
	UnpatchedSize   UnpatchedReason = "size"   // a limit is exceeded
	UnpatchedSource UnpatchedReason = "source" // the source's commit has a file there that these files began without
)

// Patch is what a patch changes between two versions of the files.
type Patch struct {
	Files []PatchedFile // by path
	Left  []Unpatched   // by path
}

// PatchOf returns what a patch from one version to another changes: files alone, as in a push. commit lists what the
// first version's commit has; it is empty for files that come from no commit.
func PatchOf(was, is Manifest, commit []Committed) Patch {
	has := map[string]bool{}
	for _, e := range commit {
		has[e.Path] = true
	}
	before, after := was.byPath(), is.byPath()
	all := maps.Clone(before)
	maps.Copy(all, after)
	var p Patch
	var bytes int64
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, b := before[name], after[name]
		if a.same(b) {
			continue
		}
		size := a.size() + b.size()
		if why := unpatched(name, a, b, has[name], size, mostPatched-bytes); why != "" {
			p.leave(name, why, b)
			continue
		}
		bytes += size
		p.Files = append(p.Files, PatchedFile{name, a, b})
	}
	return p
}

// unpatched says why a patch can't change a path; empty: it can.
func unpatched(name string, a, b *Entry, committed bool, size, left int64) UnpatchedReason {
	switch {
	case DotGit(name):
		return UnpatchedGit
	case a.link() || b.link():
		return UnpatchedLink
	case a == nil && committed:
		return UnpatchedSource
	case a.size() > MaxPatched || b.size() > MaxPatched || size > left:
		return UnpatchedSize
	}
	return ""
}

func (p *Patch) leave(name string, why UnpatchedReason, is *Entry) {
	out := Unpatched{Path: name, Why: why}
	if is != nil {
		out.SHA256 = is.SHA256
	}
	p.Left = append(p.Left, out)
}

// byPath returns the files and links; folders come with what they hold.
func (m Manifest) byPath() map[string]*Entry {
	out := map[string]*Entry{}
	for i, e := range m.Entries {
		if e.Kind != KindFolder {
			out[e.Path] = &m.Entries[i]
		}
	}
	return out
}

func (e *Entry) same(other *Entry) bool {
	return e != nil && other != nil && e.Mode == other.Mode && e.SHA256 == other.SHA256
}

func (e *Entry) link() bool { return e != nil && e.Kind == KindLink }

func (e *Entry) size() int64 {
	if e == nil {
		return 0
	}
	return e.Size
}

// Paths returns the paths whose content Write needs of the earlier and of the later version.
func (p Patch) Paths() (was, is []string) {
	for _, f := range p.Files {
		if f.Was != nil {
			was = append(was, f.Path)
		}
		if f.Is != nil {
			is = append(is, f.Path)
		}
	}
	return was, is
}

// Write returns the patch as "git apply" takes it: names below prefix (empty: none), and about, line by line, before
// the first change. was and is hold the contents of the two versions' files, by path.
func (p Patch) Write(prefix string, about []string, was, is map[string][]byte) []byte {
	var out bytes.Buffer
	for _, line := range about {
		out.WriteString("# " + legible.OneLine(line) + "\n")
	}
	for _, f := range p.Files {
		name := f.Path
		if prefix != "" {
			name = prefix + "/" + f.Path
		}
		f.write(&out, name, was[f.Path], is[f.Path])
	}
	return out.Bytes()
}

const noBlob = "0000000000000000000000000000000000000000"

// write writes the change of one file in Git's extended form.
func (f PatchedFile) write(out *bytes.Buffer, name string, was, is []byte) {
	from, to, hashes := quoted("a/"+name), quoted("b/"+name), [2]string{noBlob, noBlob}
	fmt.Fprintf(out, "diff --git %s %s\n", from, to)
	switch {
	case f.Was == nil:
		fmt.Fprintf(out, "new file mode %s\n", f.Is.Mode)
		from = "/dev/null"
	case f.Is == nil:
		fmt.Fprintf(out, "deleted file mode %s\n", f.Was.Mode)
		to = "/dev/null"
	case f.Was.Mode != f.Is.Mode:
		fmt.Fprintf(out, "old mode %s\nnew mode %s\n", f.Was.Mode, f.Is.Mode)
	}
	if f.Was != nil {
		hashes[0] = BlobSHA(was)
	}
	if f.Is != nil {
		hashes[1] = BlobSHA(is)
	}
	if hashes[0] == hashes[1] {
		return
	}
	fmt.Fprintf(out, "index %s..%s", hashes[0], hashes[1])
	if f.Was != nil && f.Is != nil && f.Was.Mode == f.Is.Mode {
		out.WriteString(" " + f.Is.Mode)
	}
	out.WriteString("\n")
	switch {
	case bytes.IndexByte(was, 0) >= 0 || bytes.IndexByte(is, 0) >= 0:
		out.WriteString("GIT binary patch\n")
		literal(out, is)
		literal(out, was)
	case len(was)+len(is) > 0:
		fmt.Fprintf(out, "--- %s\n+++ %s\n", ended(from), ended(to))
		for _, h := range hunksOf(string(was), string(is)) {
			h.write(out)
		}
	}
}

// write writes a hunk byte by byte.
func (h Hunk) write(out *bytes.Buffer) {
	out.WriteString(h.Heading() + "\n")
	for _, line := range h.Lines {
		out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// Heading is the line above a hunk, which says where the hunk is in both files.
func (h Hunk) Heading() string {
	added, removed := h.Count()
	return fmt.Sprintf("@@ -%s +%s @@", rangeOf(h.From, len(h.Lines)-added), rangeOf(h.To, len(h.Lines)-removed))
}

// rangeOf writes where a hunk is in a file. A hunk without lines of the file names the line before it.
func rangeOf(from, lines int) string {
	if lines == 0 {
		from--
	}
	return fmt.Sprintf("%d,%d", from, lines)
}

// Unified returns a change as a unified difference, byte by byte.
func (c Change) Unified() []byte {
	var out bytes.Buffer
	from, to := quoted("a/"+c.Path), quoted("b/"+c.Path)
	if c.Was == nil {
		from = "/dev/null"
	}
	if c.Is == nil {
		to = "/dev/null"
	}
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", ended(from), ended(to))
	for _, h := range c.Hunks {
		h.write(&out)
	}
	return out.Bytes()
}

// quoted returns a name as Git writes it in a patch.
func quoted(name string) string {
	if !strings.ContainsAny(name, "\"\\\t\n") {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\n", `\n`).Replace(name) + `"`
}

// ended returns a name so that Git finds its end, though it has blanks.
func ended(name string) string {
	if strings.Contains(name, " ") && name[0] != '"' {
		return name + "\t"
	}
	return name
}

// base85 is the alphabet of Git's binary patches.
const base85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// mostOfLine is how many bytes a line of a binary patch holds.
const mostOfLine = 52

// literal writes a whole content as part of a binary patch.
func literal(out *bytes.Buffer, content []byte) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(content)
	if err = cmp.Or(err, z.Close()); err != nil {
		panic(err) // a buffer takes all that is written
	}
	fmt.Fprintf(out, "literal %d\n", len(content))
	for line := range slices.Chunk(packed.Bytes(), mostOfLine) {
		if n := len(line); n <= 26 {
			out.WriteByte('A' + byte(n) - 1)
		} else {
			out.WriteByte('a' + byte(n) - 27)
		}
		for four := range slices.Chunk(line, 4) {
			var v uint32
			for i := range 4 {
				v <<= 8
				if i < len(four) {
					v |= uint32(four[i])
				}
			}
			var text [5]byte
			for i := 4; i >= 0; i-- {
				text[i] = base85[v%85]
				v /= 85
			}
			out.Write(text[:])
		}
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
}
