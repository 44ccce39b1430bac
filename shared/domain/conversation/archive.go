package conversation

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// ReadFiles reads an untrusted archive. It returns an error wrapping ErrRefused if the archive exceeds a Tree's
// limits or contains anything but files, folders and links inside of it.
func ReadFiles(r io.Reader) (*Tree, error) {
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
		h := &tar.Header{Name: p, Mode: 0o644, ModTime: time.Unix(0, 0).UTC(), Format: tar.FormatPAX, Typeflag: tar.TypeReg, Size: int64(len(e.content))}
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

// Version returns the id of an archive: its SHA-256 in hex.
func Version(archive []byte) string {
	sum := sha256.Sum256(archive)
	return hex.EncodeToString(sum[:])
}
