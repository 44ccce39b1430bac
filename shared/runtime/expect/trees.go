package expect

import (
	"archive/tar"
	"bytes"

	"ringi/shared/domain/files"
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
func Tree(t T, all ...Entry) *files.Tree {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, x := range all {
		x.Header.Size = int64(len(x.Text))
		NoError(t, w.WriteHeader(&x.Header))
		_, err := w.Write([]byte(x.Text))
		NoError(t, err)
	}
	NoError(t, w.Close())
	tree, err := files.Read(&out)
	NoError(t, err)
	return tree
}
