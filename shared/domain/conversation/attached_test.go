package conversation

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

func nothingLaid() *Laid { return &Laid{Tree: &Tree{}} }

func TestAttachmentsGetNamesOfTheirOwn(t *testing.T) {
	l := nothingLaid()
	for _, tt := range []struct{ name, want string }{
		{"売上.csv", "売上.csv"}, {"売上.csv", "売上 (2).csv"}, {"A.TXT", "A.TXT"}, {"ａ.txt", "ａ (2).txt"},
		{"../../etc/passwd", ".._.._etc_passwd"}, {`c:\x.doc`, "c__x.doc"}, {"", "file"}, {"..", "file (2)"},
		{"a\u202egpj.exe", "a_gpj.exe"}, {" b.csv ", "b.csv"}, {"\xff.csv", "_.csv"},
		{strings.Repeat("長", 100) + ".xlsx", strings.Repeat("長", 65) + ".xlsx"},
		{"x." + strings.Repeat("y", 90), "x." + strings.Repeat("y", 90)},
	} {
		x, why := l.Add(Attached{FileID: "F" + tt.name}, tt.name, []byte("x"))
		expect.Must(t, why == "", "%q: %s", tt.name, why)
		expect.Is(t, x.Path, tt.want, "%q", tt.name)
		expect.NoError(t, CheckPath(AttachedFolder+"/"+x.Path+".txt"))
	}
}

func TestAttachmentsAreBounded(t *testing.T) {
	big := make([]byte, isolated.MaxFile)
	l := nothingLaid()
	_, why := l.Add(Attached{}, "a", append(big, 0))
	expect.That(t, why == "it has 8388609 bytes, the limit is 8388608" && CauseOf(why) == TooLarge, "%s", why)
	for i := range 4 {
		_, why = l.Add(Attached{}, "a", big)
		expect.Is(t, why, "", "file %d", i)
	}
	_, why = l.Add(Attached{}, "a", []byte("x"))
	expect.That(t, strings.Contains(why, "33554432 bytes together") && CauseOf(why) == Full, "%s", why)
	l.Read(&l.List[0], isolated.FileText{Text: "x", Form: isolated.Sheets})
	expect.That(t, l.List[0].Text == "" && CauseOf(l.List[0].Why) == Full, "%+v", l.List[0])
	l = nothingLaid()
	for i := range MaxAttached {
		_, why = l.Add(Attached{}, fmt.Sprint(i), nil)
		expect.Is(t, why, "", "file %d", i)
	}
	_, why = l.Add(Attached{}, "more", nil)
	expect.That(t, strings.Contains(why, "20 attachments") && CauseOf(why) == Full, "%s", why)
}

func TestATextStandsBesideItsFile(t *testing.T) {
	l := nothingLaid()
	_, _ = l.Add(Attached{FileID: "F1"}, "book.xlsx.txt", []byte("somebody's"))
	x, _ := l.Add(Attached{FileID: "F2"}, "book.xlsx", []byte("PK\x00"))
	l.Read(x, isolated.FileText{Text: "a\tb\n", Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasMacros}})
	expect.Is(t, l.Of("F2").Text, "book (2).xlsx.txt", "its text")
	expect.Is(t, l.Of("F1").Text, "book.xlsx.txt", "a text is its own")
	y, _ := l.Add(Attached{FileID: "F3"}, "x.pdf", []byte("%PDF\x00"))
	l.Read(y, isolated.FileText{Why: isolated.PDF})
	expect.That(t, l.Of("F3").Text == "" && CauseOf(l.Of("F3").Why) == Cause(isolated.PDF) && l.Of("F4") == nil,
		"%+v", l.Of("F3"))
	seen := expect.Value((&Tree{}).Apply([]File{{"src/a.txt", "1"}, {".ringi/own", "2"},
		{".ringi/in/old", "3"}}))(t).Beside(l.Tree)
	expect.Same(t, []string{".ringi/in/book (2).xlsx.txt", ".ringi/in/book.xlsx", ".ringi/in/book.xlsx.txt",
		".ringi/in/x.pdf",
		".ringi/own", "src/a.txt"}, seen.Paths())
}

func TestNobodyProposesToChangeAttachments(t *testing.T) {
	for _, p := range []string{".ringi/in", ".ringi/in/a.csv", ".ringi"} {
		for _, payload := range []string{`{"files":[{"path":%q,"content":"x"}]}`, `{"delete":[%q]}`,
			`{"edits":[{"path":%q,"old":"x","new":"y"}]}`} {
			_, problems := ReadPayload(agent.CodeGenerate, fmt.Appendf(nil, payload, p))
			expect.That(t, len(problems) == 1 && strings.Contains(problems[0], "where attachments lie"), "%s: %q", p, problems)
		}
	}
	_, problems := ReadPayload(agent.CodeGenerate,
		[]byte(`{"files":[{"path":".ringi/inside","content":"x"},{"path":"attachments/a","content":"x"}]}`))
	expect.That(t, problems == nil, "%q", problems)
}

// A source may have a folder .ringi; the attachments' place in it is left out and named.
func TestASourceHasNothingInTheAttachmentsPlace(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"top/.ringi/in/a", "top/.ringi/rules", "top/attachments/b"} {
		expect.NoError(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644}))
	}
	expect.NoError(t, w.Close())
	got := expect.Value(Import(t.Context(), &b, ""))(t)
	expect.Same(t, []string{".ringi/rules", "attachments/b"}, got.Tree.Paths())
	expect.Same(t, []LeftOut{{".ringi/in/a", LeftPath}}, got.Left)
}

func TestWhatACommandLeavesHasNoAttachments(t *testing.T) {
	folder := t.TempDir()
	root := expect.Value(os.OpenRoot(folder))(t)
	expect.NoError(t, root.MkdirAll(".ringi", 0o755))
	expect.NoError(t, root.Symlink("/attachments", ".ringi/in"))
	expect.NoError(t, root.WriteFile("kept", nil, 0o644))
	tree, left, err := Pack(root, func(os.FileInfo) bool { return true })
	expect.That(t, err == nil && len(left) == 0 && len(tree.entries) == 1, "%v %v %v", tree, left, err)
	expect.NoError(t, root.Remove(".ringi/in"))
	expect.NoError(t, root.MkdirAll(".ringi/in", 0o755))
	expect.NoError(t, root.WriteFile(".ringi/own", nil, 0o644))
	tree, left, err = Pack(root, func(os.FileInfo) bool { return true })
	expect.That(t, err == nil && len(left) == 1 && strings.Contains(left[0], "place of attachments"), "%v %v", left, err)
	expect.Same(t, []string{".ringi/own", "kept"}, tree.Paths())
}
