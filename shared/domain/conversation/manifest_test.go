package conversation_test

import (
	"archive/tar"
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/conversation"
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
func treeOf(t expect.T, all ...written) *conversation.Tree {
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
	tree, err := conversation.ReadFiles(&out)
	expect.NoError(t, err)
	return tree
}

func TestAManifestSaysWhatAVersionHolds(t *testing.T) {
	got := treeOf(t, file("src/a.txt", "one\ntwo"), program("run", "#!/bin/sh\n"), link("to", "src/a.txt"),
		folder("empty"), file("blob", "\x00\n"), file("nothing", "")).Manifest().Entries
	want := []conversation.Entry{
		{Path: "blob", Kind: "file", Mode: "100644", Size: 2, SHA256: conversation.Version([]byte("\x00\n"))},
		{Path: "empty", Kind: "folder", Mode: "040000"},
		{Path: "nothing", Kind: "file", Mode: "100644", SHA256: conversation.Version(nil)},
		{Path: "run", Kind: "file", Mode: "100755", Size: 10, Lines: 1, SHA256: conversation.Version([]byte("#!/bin/sh\n"))},
		{Path: "src", Kind: "folder", Mode: "040000"},
		{Path: "src/a.txt", Kind: "file", Mode: "100644", Size: 7, Lines: 2, SHA256: conversation.Version([]byte("one\ntwo"))},
		{Path: "to", Kind: "link", Mode: "120000", SHA256: conversation.Version([]byte("src/a.txt")), Target: "src/a.txt"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := (&conversation.Tree{}).Manifest().Entries; got == nil || len(got) != 0 {
		t.Errorf("the empty version lists %v", got)
	}
}
