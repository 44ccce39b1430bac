package files_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

// packed returns an archive of entries below one folder.
func packed(t *testing.T, entries ...tar.Header) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range entries {
		content := h.PAXRecords["content"]
		h.PAXRecords = nil
		if h.Typeflag == tar.TypeXGlobalHeader {
			h.PAXRecords = map[string]string{"comment": strings.Repeat("1", 40)}
		} else {
			h.Name = "acme-shop-1234567/" + h.Name
		}
		h.Size = int64(len(content))
		expect.NoError(t, w.WriteHeader(&h))
		expect.Value(w.Write([]byte(content)))(t)
	}
	expect.NoError(t, w.Close())
	return bytes.NewReader(out.Bytes())
}

func plain(name, content string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, PAXRecords: map[string]string{"content": content}}
}

func leading(name, to string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}
}

func TestWhatASourceCantHoldIsLeftOutAndNamed(t *testing.T) {
	m := expect.Value(files.Import(t.Context(), packed(t,
		tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header"},
		tar.Header{Name: "", Typeflag: tar.TypeDir}, plain("main.py", "print(1)"), plain("a/b.txt", "b"),
		leading("in", "a/b.txt"), leading("out", "../x"), leading("root", "/etc"), leading("through", "out2/x"),
		leading("out2", "a/../.."),
		tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}, tar.Header{Name: "hard", Typeflag: tar.TypeLink,
			Linkname: "main.py"},
		plain(".git/config", "x"), plain("a/.GIT. /hooks/x", "x"), plain("GIT~1/config", "x"),
		plain(".git::$INDEX_ALLOCATION/config", "x"),
		plain(".gitignore", "*.pyc"), plain("../evil", "x"), plain("a/../../evil", "x"), plain("zero\u200bwidth", "x"),
		plain("big.bin", strings.Repeat("x", files.MaxImported+1)),
		plain("model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"),
	), ""))(t)
	expect.Same(t, []string{".gitignore", "a/b.txt", "main.py"}, m.Tree.Paths())
	expect.Same(t, slices.Sorted(slices.Values([]string{"out", "root", "out2", "through", "pipe", "hard", ".git/config",
		"a/.GIT. /hooks/x", "GIT~1/config", ".git::$INDEX_ALLOCATION/config", "../evil", "a/../../evil",
		"zero\u200bwidth", "big.bin", "model.bin"})), m.Left)
	archive := expect.Value(m.Tree.Archive())(t)
	again := expect.Value(files.Read(bytes.NewReader(archive)))(t)
	expect.Same(t, m.Tree.Paths(), again.Paths())
}

// Of two entries with one path the first is taken.
func TestAPathThatIsTakenIsNoMatterOfSize(t *testing.T) {
	m := expect.Value(files.Import(t.Context(), packed(t, plain("a", "1"), plain("a", "2"), plain("a/b", "3")), ""))(t)
	expect.Same(t, []string{"a", "a/b"}, m.Left)
}

func TestAPathOfASourceIsAllThatIsTaken(t *testing.T) {
	m := expect.Value(files.Import(t.Context(), packed(t,
		plain("services/pay/main.py", "1"), plain("services/payment/main.py", "2"), plain("services/pay/lib/x.py", "3"),
		leading("services/pay/up", "../other"), plain("README.md", "4"),
	), "services/pay"))(t)
	expect.Same(t, []string{"lib/x.py", "main.py"}, m.Tree.Paths())
	expect.Same(t, []string{"up"}, m.Left)
}

// What stands beside a source's path counts neither by number nor by size.
func TestASourcesLimitsCountWhatItsPathLeaves(t *testing.T) {
	out, in := io.Pipe()
	go func() {
		w := tar.NewWriter(in)
		err := w.WriteHeader(&tar.Header{Name: "top/other/large", Typeflag: tar.TypeReg, Size: files.MaxUnpacked + 1})
		if err == nil {
			_, err = io.CopyN(w, zeros{}, files.MaxUnpacked+1)
		}
		for i := 0; err == nil && i <= files.MaxLooked; i++ {
			err = w.WriteHeader(&tar.Header{Name: fmt.Sprintf("top/other/%d", i), Typeflag: tar.TypeReg})
		}
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: "top/pay/x.py", Typeflag: tar.TypeReg})
		}
		in.CloseWithError(cmp.Or(err, w.Close(), io.EOF))
	}()
	m := expect.Value(files.Import(t.Context(), out, "pay"))(t)
	expect.Same(t, []string{"x.py"}, m.Tree.Paths())
}

type zeros struct{}

func (zeros) Read(to []byte) (int, error) {
	clear(to)
	return len(to), nil
}

func TestASourceIsBounded(t *testing.T) {
	many := make([]tar.Header, files.MaxLooked+1)
	for i := range many {
		many[i] = plain(fmt.Sprintf("%d", i), "")
	}
	_, err := files.Import(t.Context(), packed(t, many...), "")
	expect.Fails(t, err, files.ErrRefused, "more entries than are looked at")
	m := expect.Value(files.Import(t.Context(), packed(t, many[:files.MaxEntries+300]...), ""))(t)
	expect.Is(t, len(m.Tree.Paths()), files.MaxEntries)
	expect.Is(t, len(m.Left)+m.More, 300, "left out")
	whole := packed(t, plain("x", strings.Repeat("x", 5000)))
	cut := make([]byte, 3000)
	expect.Value(whole.Read(cut))(t)
	_, err = files.Import(t.Context(), bytes.NewReader(cut), "")
	expect.Fails(t, err, files.ErrRefused, "an archive that is cut off")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	expect.Fails(t, expect.Err(files.Import(over, packed(t, many...), "")), context.Canceled, "its time is over")
}

// What git packs is read as git has it.
func TestWhatGitPacksIsImported(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a.txt": "1\r\n", "b/run.sh": "true\n", ".gitignore": "x\n",
		"日本.txt": "語"} {
		path := filepath.Join(dir, name)
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.NoError(t, os.WriteFile(path, []byte(content), 0o755))
	}
	expect.NoError(t, os.Symlink("b/run.sh", filepath.Join(dir, "run")))
	var archive bytes.Buffer
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x"},
		{"archive", "--format=tar", "--prefix=top/", "HEAD"},
	} {
		c := exec.Command("git", append([]string{"-C", dir}, args...)...)
		c.Stdout = &archive
		expect.NoError(t, c.Run())
	}
	m := expect.Value(files.Import(t.Context(), &archive, ""))(t)
	expect.Same(t, []string{".gitignore", "a.txt", "b/run.sh", "日本.txt"}, m.Tree.Paths())
	content, _ := m.Tree.Content("a.txt")
	expect.That(t, string(content) == "1\r\n" && len(m.Left) == 0, "%q, %v", content, m.Left)
}

func TestAFileBecomesWhatWasApprovedOrNothing(t *testing.T) {
	was := treeOf(t, file("a", "1\n2\n"), file("gone", "x\n"), program("run", "x\n"))
	is := treeOf(t, file("a", "1\ntwo"), file("run", "x\n"), file("new", "n\r\n"))
	content := map[string]string{"a": "1\n2\n", "gone": "x\n", "run": "x\n"}
	after := map[string]string{"a": "1\ntwo", "run": "x\n", "new": "n\r\n"}
	for _, x := range files.Difference(was, is) {
		got, err := x.After([]byte(content[x.Path]))
		expect.That(t, err == nil && string(got) == after[x.Path], "%s: %q %v", x.Path, got, err)
		expect.That(t, expect.Err(x.After([]byte("another\n"))) != nil, "%s is made of another content", x.Path)
		if x.Is != nil {
			forged := *x.Is
			forged.SHA256 = strings.Repeat("0", 64)
			x.Is = &forged
			expect.That(t, expect.Err(x.After([]byte(content[x.Path]))) != nil, "%s becomes what nobody approved", x.Path)
		}
	}
}

// A source may have a folder .ringi; the attachments' place in it is left out and named.
func TestASourceHasNothingInTheAttachmentsPlace(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"top/.ringi/in/a", "top/.ringi/rules", "top/attachments/b"} {
		expect.NoError(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644}))
	}
	expect.NoError(t, w.Close())
	got := expect.Value(files.Import(t.Context(), &b, ""))(t)
	expect.Same(t, []string{".ringi/rules", "attachments/b"}, got.Tree.Paths())
	expect.Same(t, []string{".ringi/in/a"}, got.Left)
}
