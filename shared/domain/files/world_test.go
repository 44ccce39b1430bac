package files_test

import (
	"archive/tar"
	"bytes"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

// written is an entry of an archive with its content.
type written struct {
	header tar.Header
	text   string
}

func file(name, text string) written {
	return written{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644}, text}
}

func program(name, text string) written {
	return written{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755}, text}
}

func link(name, target string) written {
	return written{tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777}, ""}
}

func folder(name string) written {
	return written{tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o755}, ""}
}

// treeOf returns a tree with these entries.
func treeOf(t expect.T, all ...written) *files.Tree {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, x := range all {
		x.header.Size = int64(len(x.text))
		expect.NoError(t, w.WriteHeader(&x.header))
		_, err := w.Write([]byte(x.text))
		expect.NoError(t, err)
	}
	expect.NoError(t, w.Close())
	tree, err := files.Read(&out)
	expect.NoError(t, err)
	return tree
}
