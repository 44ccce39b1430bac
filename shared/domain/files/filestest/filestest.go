// Package filestest makes trees of files for tests.
package filestest

import (
	"archive/tar"
	"bytes"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

// Entry is an entry of an archive with its content.
type Entry struct {
	Header tar.Header
	Text   string
}

func File(name, text string) Entry {
	return Entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644}, text}
}

func Program(name, text string) Entry {
	return Entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755}, text}
}

func Link(name, target string) Entry {
	return Entry{tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777}, ""}
}

func Folder(name string) Entry {
	return Entry{tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o755}, ""}
}

// Tree returns a tree with these entries.
func Tree(t expect.T, all ...Entry) *files.Tree {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, x := range all {
		x.Header.Size = int64(len(x.Text))
		expect.NoError(t, w.WriteHeader(&x.Header))
		_, err := w.Write([]byte(x.Text))
		expect.NoError(t, err)
	}
	expect.NoError(t, w.Close())
	tree, err := files.Read(&out)
	expect.NoError(t, err)
	return tree
}
