package files

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Read reads an untrusted archive. It returns an error wrapping ErrRefused if the archive exceeds a Tree's
// limits or contains anything but files, folders and links inside of it.
func Read(r io.Reader) (*Tree, error) {
	limited := &io.LimitedReader{R: r, N: MaxArchive + 1}
	t, in := &Tree{}, tar.NewReader(limited)
	for {
		h, err := in.Next()
		switch {
		case limited.N <= 0:
			return nil, refuse("the archive has more than %d bytes", MaxArchive)
		case errors.Is(err, io.EOF):
			return t, t.checkLinks()
		case err != nil:
			return nil, refuse("the archive can't be read: %v", err)
		}
		if err := t.read(h, in); err != nil {
			return nil, err
		}
	}
}

func (t *Tree) read(h *tar.Header, in io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return t.add(strings.TrimSuffix(h.Name, "/"), entry{folder: true})
	case tar.TypeSymlink:
		if err := checkTarget(h.Name, h.Linkname); err != nil {
			return err
		}
		return t.add(h.Name, entry{link: h.Linkname})
	case tar.TypeReg:
		// The header's size may be wrong, so the limit is checked before anything is read.
		if h.Size < 0 || h.Size > MaxBytes-t.bytes {
			return refuse("more than %d bytes", MaxBytes)
		}
		content, err := io.ReadAll(io.LimitReader(in, h.Size))
		if err != nil || int64(len(content)) != h.Size {
			return refuse("the file %q is cut off", h.Name)
		}
		return t.add(h.Name, entry{content: content, executable: h.Mode&0o100 != 0})
	default:
		return refuse("%q is no file, folder or link", h.Name)
	}
}

// Archive returns the tree as a tar file: sorted and without times and owners, so that the same files give the same
// bytes.
func (t *Tree) Archive() ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, p := range t.order() {
		e := t.entries[p]
		h := &tar.Header{Name: p, Mode: 0o644, ModTime: time.Unix(0, 0).UTC(), Format: tar.FormatPAX, Typeflag: tar.TypeReg,
			Size: int64(len(e.content))}
		switch {
		case e.folder:
			h.Name, h.Mode, h.Typeflag = p+"/", 0o755, tar.TypeDir
		case e.link != "":
			h.Mode, h.Typeflag, h.Linkname = 0o777, tar.TypeSymlink, e.link
		case e.executable:
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("workspace: archive %q: %w", p, err)
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, fmt.Errorf("workspace: archive %q: %w", p, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("workspace: archive: %w", err)
	}
	return out.Bytes(), nil
}

// Unpack writes the tree into an empty folder. Links are written last, so that no file is written through a link.
func (t *Tree) Unpack(root *os.Root) error {
	for _, p := range t.order() {
		if err := t.unpack(root, p); err != nil {
			return fmt.Errorf("workspace: unpack %q: %w", p, err)
		}
	}
	return nil
}

func (t *Tree) unpack(root *os.Root, p string) error {
	e := t.entries[p]
	switch {
	case e.folder:
		return root.Mkdir(p, 0o755)
	case e.link != "":
		return root.Symlink(e.link, p)
	}
	mode := fs.FileMode(0o644)
	if e.executable {
		mode = 0o755
	}
	f, err := root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(e.content)
	return errors.Join(err, f.Close())
}

type packer struct {
	root  *os.Root
	owned func(fs.FileInfo) bool
	tree  *Tree
	left  []string
}

// Pack reads a folder in which no process runs any more. It leaves out entries that a Tree can't hold and lists
// them in left: links that lead out of it, devices, sockets, pipes, unreadable names and files that can't be opened. To
// read an entry it may change the entry's mode, but only if owned says that the entry belongs to this folder alone.
//
// It returns an error wrapping ErrRefused if the folder exceeds a Tree's limits.
func Pack(root *os.Root, owned func(fs.FileInfo) bool) (t *Tree, left []string, err error) {
	k := &packer{root: root, owned: owned, tree: &Tree{}}
	// A folder is read before its entries. A stack replaces recursion, because folders may be nested very deeply.
	for folders := []string{"."}; len(folders) > 0; {
		dir := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		names, err := k.names(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			p := path.Join(dir, name)
			if err := CheckPath(p); err != nil {
				k.skip(p, "its path is too long, too deep or can't be read")
				continue
			}
			if k.leaves(p) {
				continue
			}
			folder, err := k.add(p)
			if err != nil {
				return nil, nil, err
			}
			if folder {
				folders = append(folders, p)
			}
		}
	}
	for _, p := range k.tree.dropLinks() {
		k.skip(p, leadsOut)
	}
	slices.Sort(k.left)
	return k.tree.Own(), k.left, nil
}

// leaves reports whether a path is not the files' own. The link that leads to the attachments isn't named.
func (k *packer) leaves(p string) bool {
	info, err := k.root.Lstat(p)
	if err != nil || !reserved(p, info.IsDir()) {
		return false
	}
	if p != AttachedFolder || info.Mode().Type() != fs.ModeSymlink {
		k.skip(p, "the place of attachments")
	}
	return true
}

const leadsOut = "a link that leads out of the workspace, or too far in it"

func (k *packer) skip(p, why string) { k.left = append(k.left, fmt.Sprintf("%q: %s", p, why)) }

// open opens a file or a folder, and adds missing permissions first if the folder owns it.
func (k *packer) open(p string, needed fs.FileMode) (*os.File, fs.FileInfo, error) {
	info, err := k.root.Lstat(p)
	if err != nil {
		return nil, nil, err
	}
	if mode := info.Mode().Perm(); mode&needed != needed && k.owned(info) {
		if err := k.root.Chmod(p, mode|needed); err != nil {
			return nil, nil, err
		}
	}
	f, err := k.root.Open(p)
	return f, info, err
}

func (k *packer) names(dir string) ([]string, error) {
	f, _, err := k.open(dir, 0o500)
	if err != nil {
		return nil, fmt.Errorf("workspace: open %q: %w", dir, err)
	}
	defer f.Close()
	names, err := f.Readdirnames(MaxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("workspace: list %q: %w", dir, err)
	}
	if len(names) > MaxEntries {
		return nil, refuse("more than %d files and folders", MaxEntries)
	}
	slices.Sort(names)
	return names, nil
}

// add adds one entry of a folder to the tree, or lists it in left.
func (k *packer) add(p string) (folder bool, err error) {
	info, err := k.root.Lstat(p)
	if err != nil {
		return false, fmt.Errorf("workspace: look at %q: %w", p, err)
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		return true, k.tree.add(p, entry{folder: true})
	case fs.ModeSymlink:
		link, err := k.root.Readlink(p)
		if err != nil {
			return false, fmt.Errorf("workspace: read link %q: %w", p, err)
		}
		if checkTarget(p, link) != nil {
			k.skip(p, leadsOut)
			return false, nil
		}
		return false, k.tree.add(p, entry{link: link})
	case 0:
		return false, k.addFile(p)
	default:
		k.skip(p, "no file, folder or link")
		return false, nil
	}
}

func (k *packer) addFile(p string) error {
	f, info, err := k.open(p, 0o400)
	if errors.Is(err, fs.ErrPermission) {
		k.skip(p, "it can't be read")
		return nil
	}
	if err != nil {
		return fmt.Errorf("workspace: open %q: %w", p, err)
	}
	defer f.Close()
	if info.Size() > MaxBytes-k.tree.bytes { // a sparse file counts with its full size
		return refuse("more than %d bytes", MaxBytes)
	}
	content, err := io.ReadAll(io.LimitReader(f, info.Size()))
	if err != nil {
		return fmt.Errorf("workspace: read %q: %w", p, err)
	}
	return k.tree.add(p, entry{content: content, executable: info.Mode()&0o100 != 0})
}

// Modes of entries, as git writes them.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeLink       = "120000"
	ModeFolder     = "040000"
)

func (e entry) mode() string {
	switch {
	case e.folder:
		return ModeFolder
	case e.link != "":
		return ModeLink
	case e.executable:
		return ModeExecutable
	}
	return ModeFile
}

// Sum returns the SHA-256 of bytes in hex. That of an archive is its version's id.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// IsText reports whether people can be shown a file's content: UTF-8 without NUL.
func IsText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }
