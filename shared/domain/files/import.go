package files

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Limits of what Import reads of a source, which may have more than files can. What is not below the source's path is
// passed over and counts for none but the last.
const (
	MaxLooked   = 20_000    // entries
	MaxUnpacked = 256 << 20 // bytes of all of them
	MaxImported = 8 << 20   // bytes of one file
	MaxPassed   = 2 << 30   // bytes of the archive
	mostLeftOut = 50        // entries whose names are returned
)

// Imported is what Import read.
type Imported struct {
	Tree *Tree
	Left []string // the paths of entries that files can't have: the first ones
	More int      // how many others were left out
}

func (m *Imported) leave(p string) {
	if len(m.Left) >= mostLeftOut {
		m.More++
		return
	}
	m.Left = append(m.Left, p)
}

// Import reads an archive of somebody else's files, as a host of repositories packs them: everything stands below one
// folder, whose name is dropped. Of it Import takes what is below path (empty: everything). Unlike Read it leaves
// out and names what files can't hold, so that one odd entry doesn't make a repository useless. It never touches a
// disk. It returns an error wrapping ErrRefused if the archive can't be read or is too large to look at.
func Import(ctx context.Context, archive io.Reader, path string) (*Imported, error) {
	limited := &io.LimitedReader{R: archive, N: MaxPassed + 1}
	m, in := &Imported{Tree: &Tree{}}, tar.NewReader(limited)
	looked, size := 0, int64(0)
	for {
		h, err := in.Next()
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("import files: %w", ctx.Err())
		case limited.N <= 0:
			return nil, refuse("the source's archive has more than %d bytes", MaxPassed)
		case errors.Is(err, io.EOF):
			for _, p := range m.Tree.dropLinks() {
				m.leave(p)
			}
			slices.Sort(m.Left)
			return m, nil
		case err != nil:
			return nil, refuse("the source can't be read: %v", err)
		}
		p, inside := below(h.Name, path)
		if h.Typeflag == tar.TypeXGlobalHeader || !inside {
			continue
		}
		looked, size = looked+1, size+h.Size
		switch {
		case looked > MaxLooked:
			return nil, refuse("the source has more than %d entries", MaxLooked)
		case size > MaxUnpacked:
			return nil, refuse("the source has more than %d bytes", MaxUnpacked)
		}
		if err := m.take(p, h, in); err != nil {
			return nil, err
		}
	}
}

// below returns the path of an archive's entry without the archive's folder and without path; ok is false for what is
// not below path.
func below(name, path string) (p string, ok bool) {
	_, p, ok = strings.Cut(strings.TrimSuffix(name, "/"), "/")
	if ok && path != "" {
		p, ok = strings.CutPrefix(p, path+"/")
	}
	return p, ok
}

// take adds an entry, or leaves it out if files can't hold it.
func (m *Imported) take(p string, h *tar.Header, in io.Reader) error {
	e, fits := entry{}, CheckPath(p) == nil && !DotGit(p) && !reserved(p, h.Typeflag == tar.TypeDir)
	switch {
	case !fits:
	case h.Typeflag == tar.TypeDir:
		e.folder = true
	case h.Typeflag == tar.TypeSymlink:
		e.link, fits = h.Linkname, checkTarget(p, h.Linkname) == nil
	case h.Typeflag == tar.TypeReg && h.Size <= MaxImported:
		content, err := io.ReadAll(io.LimitReader(in, h.Size))
		if err != nil || int64(len(content)) != h.Size {
			return refuse("the source is cut off in %q", p)
		}
		e.content, e.executable, fits = content, h.Mode&0o100 != 0, !bytes.HasPrefix(content, lfsPointer)
	default:
		fits = false
	}
	before := m.Tree.bytes
	if !fits || m.Tree.add(p, e) != nil {
		m.Tree.bytes = before
		m.leave(p)
	}
	return nil
}

// lfsPointer begins a file whose content Git LFS keeps elsewhere.
var lfsPointer = []byte("version https://git-lfs.github.com/spec/v1\n")

// DotGit reports whether a path has a name that Git, on any file system, takes for its own folder: .git in any case,
// with dots and blanks or a stream of NTFS after it, or its short name git~1.
func DotGit(p string) bool {
	for name := range strings.SplitSeq(strings.ToLower(p), "/") {
		for _, own := range []string{".git", "git~1"} {
			rest, ok := strings.CutPrefix(name, own)
			rest = strings.TrimLeft(rest, ". ")
			if ok && (rest == "" || rest[0] == ':') {
				return true
			}
		}
	}
	return false
}

// Committed is an entry of a commit's tree.
type Committed struct{ Path, Mode string }

// BlobSHA returns the hash by which Git names a file's content.
func BlobSHA(content []byte) string {
	h := sha1.New() // Git's names of objects
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
