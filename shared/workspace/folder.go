package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Unpack writes the tree into an empty folder. Links come last, so that no file is written through one.
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

// Pack reads a folder in which nothing runs any more. What a workspace can't hold is left out and named in left: links
// that lead out of it, devices, sockets, pipes, names that nobody could read.
//
// It returns an error wrapping ErrRefused if the folder holds more than a workspace may.
func Pack(root *os.Root) (t *Tree, left []string, err error) {
	t = &Tree{}
	skip := func(p, why string) { left = append(left, fmt.Sprintf("%q: %s", p, why)) }
	// A folder is read before what is in it; a stack instead of recursion, for a chain of folders as deep as a disk allows.
	for folders := []string{"."}; len(folders) > 0; {
		dir := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		names, err := namesIn(root, dir)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			p := path.Join(dir, name)
			if err := CheckPath(p); err != nil {
				skip(p, "its path is too long, too deep or can't be read")
				continue
			}
			folder, why, err := t.pack(root, p)
			switch {
			case err != nil:
				return nil, nil, err
			case why != "":
				skip(p, why)
			case folder:
				folders = append(folders, p)
			}
		}
	}
	var out []string // all are found before one is taken away: a link may lead out by way of another
	for p, e := range t.entries {
		if e.link != "" && t.checkLink(p, e.link) != nil {
			out = append(out, p)
		}
	}
	for _, p := range out {
		skip(p, "a link that leads out of the workspace")
		delete(t.entries, p)
	}
	slices.Sort(left)
	return t, left, nil
}

// namesIn lists a folder, whatever its owner did to its mode.
func namesIn(root *os.Root, dir string) ([]string, error) {
	f, err := root.Open(dir)
	if errors.Is(err, fs.ErrPermission) && root.Chmod(dir, 0o755) == nil {
		f, err = root.Open(dir)
	}
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

// pack adds one entry of a folder, or says why it stays out.
func (t *Tree) pack(root *os.Root, p string) (folder bool, why string, err error) {
	info, err := root.Lstat(p)
	if err != nil {
		return false, "", fmt.Errorf("workspace: look at %q: %w", p, err)
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		return true, "", t.add(p, entry{folder: true})
	case fs.ModeSymlink:
		link, err := root.Readlink(p)
		if err != nil {
			return false, "", fmt.Errorf("workspace: read link %q: %w", p, err)
		}
		return false, "", t.add(p, entry{link: strings.ToValidUTF8(link, "\x00")})
	case 0:
		e, err := t.packFile(root, p, info)
		if err != nil {
			return false, "", err
		}
		return false, "", t.add(p, e)
	default:
		return false, "no file, folder or link", nil
	}
}

func (t *Tree) packFile(root *os.Root, p string, info fs.FileInfo) (entry, error) {
	if info.Size() > MaxBytes-t.bytes { // also a file that is mostly hole
		return entry{}, refuse("more than %d bytes", MaxBytes)
	}
	f, err := root.Open(p)
	if errors.Is(err, fs.ErrPermission) && root.Chmod(p, 0o644) == nil {
		f, err = root.Open(p)
	}
	if err != nil {
		return entry{}, fmt.Errorf("workspace: open %q: %w", p, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, info.Size()))
	if err != nil {
		return entry{}, fmt.Errorf("workspace: read %q: %w", p, err)
	}
	return entry{content: content, executable: info.Mode()&0o100 != 0}, nil
}
