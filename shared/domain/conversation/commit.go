package conversation

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// modeModule is the mode of a commit's submodules, as Git writes it.
const modeModule = "160000"

// Committed is an entry of a commit's tree.
type Committed struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	SHA  string `json:"sha"`  // Git's hash of its content
	Size int64  `json:"size"` // bytes
}

// Commit is the manifest of a source: what the commit has below the source's path, by paths without it. A pull request
// is made against it, because an archive may lack files of the commit, or have others in their place.
type Commit struct {
	Repository   string      `json:"repository"`
	RepositoryID int         `json:"repository_id"`
	SHA          string      `json:"commit"`
	Tree         string      `json:"tree"`
	Path         string      `json:"path,omitempty"`
	Entries      []Committed `json:"entries"`
}

// BlobSHA returns the hash by which Git names a file's content.
func BlobSHA(content []byte) string {
	h := sha1.New() // Git's names of objects
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// Compare holds the files against the commit whose archive they are from. It returns the files with another content
// than the commit's, for Replace or Drop: an archive's files may have been rewritten (export-subst, line ends). Other
// entries that differ are left out. Submodules and files that the archive lacks are named as left out.
func (m *Imported) Compare(commit []Committed) (differ []Committed) {
	in := map[string]Committed{}
	for _, e := range commit {
		in[e.Path] = e
	}
	for _, p := range m.Tree.order() {
		if _, known := in[p]; !known && !m.Tree.entries[p].folder {
			m.Drop(p)
		}
	}
	for _, e := range commit {
		is, there := m.Tree.entries[e.Path]
		switch {
		case e.Mode == modeModule:
			m.leave(e.Path, LeftModule)
		case m.gone[e.Path]:
		case !there || is.folder:
			m.leave(e.Path, LeftMissing)
		case (e.Mode == ModeLink) != (is.link != ""), e.Mode == ModeLink && BlobSHA([]byte(is.link)) != e.SHA:
			m.Drop(e.Path)
		case e.Mode == ModeLink:
		case e.Mode != ModeFile && e.Mode != ModeExecutable:
			m.Drop(e.Path)
		case BlobSHA(is.content) != e.SHA:
			differ = append(differ, e)
		default:
			is.executable = e.Mode == ModeExecutable
			m.Tree.entries[e.Path] = is
		}
	}
	m.sort()
	return differ
}

// Replace puts the commit's own content in the place of a file's.
func (m *Imported) Replace(e Committed, content []byte) {
	if strings.HasPrefix(string(content[:min(len(content), 100)]), lfsPointer) {
		m.remove(e.Path, LeftLFS)
		return
	}
	m.Tree.remove(e.Path)
	m.add(e.Path, entry{content: content, executable: e.Mode == ModeExecutable})
	m.sort()
}

// Drop leaves an entry out because the archive has another content than the commit.
func (m *Imported) Drop(p string) { m.remove(p, LeftChanged) }

func (m *Imported) remove(p string, why LeftOutReason) {
	m.Tree.remove(p)
	m.leave(p, why)
	m.sort()
}

// remove removes a file or a link.
func (t *Tree) remove(p string) {
	t.bytes -= int64(len(t.entries[p].content))
	delete(t.entries, p)
}

func (m *Imported) sort() {
	slices.SortFunc(m.Left, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
}
