package files_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

// header describes a file of 4 bytes, a folder (its name ends with a slash) or a link.
func header(name, link string) *tar.Header {
	switch {
	case link != "":
		return &tar.Header{Name: name, Linkname: link, Typeflag: tar.TypeSymlink, Mode: 0o777}
	case strings.HasSuffix(name, "/"):
		return &tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o755}
	}
	return &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: 4}
}

func archive(t *testing.T, headers ...*tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		expect.NoError(t, w.WriteHeader(h))
		if h.Typeflag == tar.TypeReg {
			w.Write(bytes.Repeat([]byte("x"), int(h.Size)))
		}
	}
	expect.NoError(t, w.Close())
	return out.Bytes()
}

func TestAnArchiveOfAStrangerHoldsNothingButTheWorkspace(t *testing.T) {
	many := make([]*tar.Header, files.MaxEntries+1)
	for i := range many {
		many[i] = header(fmt.Sprintf("f%d", i), "")
	}
	// chain returns links that each lead through the next one. Each target has this many names.
	chain := func(links, names int) (list []*tar.Header) {
		for i := range links {
			list = append(list, header(fmt.Sprintf("l%d", i), fmt.Sprintf("l%d%s", i+1, strings.Repeat("/x", names-1))))
		}
		return list
	}
	tests := []struct {
		name    string
		headers []*tar.Header
		allowed bool
	}{
		{"files and folders", []*tar.Header{header("a/", ""), header("a/b", ""), header("c", "")}, true},
		{"a folder that is only implied", []*tar.Header{header("a/b/c", "")}, true},
		{"a link beside", []*tar.Header{header("bin/x", "../lib/x"), header("lib/x", "")}, true},
		{"a link to nothing inside", []*tar.Header{header("x", "gone")}, true},
		{"a path upwards", []*tar.Header{header("../x", "")}, false},
		{"a path up from below", []*tar.Header{header("a/../../x", "")}, false},
		{"an absolute path", []*tar.Header{header("/etc/passwd", "")}, false},
		{"a path that is not its shortest form", []*tar.Header{header("a//b", "")}, false},
		{"a path with a dot", []*tar.Header{header("./b", "")}, false},
		{"a path that can't be read", []*tar.Header{header("a\u202eb", "")}, false},
		{"a file twice", []*tar.Header{header("a", ""), header("a", "")}, false},
		{"a file below a file", []*tar.Header{header("a", ""), header("a/b", "")}, false},
		{"a file through a link", []*tar.Header{header("a", "b"), header("a/c", "")}, false},
		{"a link upwards", []*tar.Header{header("a", "..")}, false},
		{"a link up from below", []*tar.Header{header("a/b", "../../x")}, false},
		{"an absolute link", []*tar.Header{header("a", "/etc")}, false},
		{"a circle", []*tar.Header{header("a", "b"), header("b", "a")}, false},
		// As text, "p/q/up/../x" is inside, but up points to the root.
		{"a link that leads out by another", []*tar.Header{header("p/q/up", "../.."), header("out", "p/q/up/../x")}, false},
		{"a link up from a folder with a dot", []*tar.Header{header("a./b", "../../x")}, false},
		{"a link in a folder with a dot", []*tar.Header{header("a./b", "../x")}, true},
		{"a link with as many names as may be", chain(1, files.MaxDepth), true},
		{"a link with one more", chain(1, files.MaxDepth+1), false},
		{"a link to as deep as may be", []*tar.Header{header("d/l", strings.Repeat("d/", files.MaxDepth-2)+"x")}, true},
		{"a link to one deeper", []*tar.Header{header("d/l", strings.Repeat("d/", files.MaxDepth-1)+"x")}, false},
		{"a link to a path that is too long", []*tar.Header{header("l", strings.Repeat("d", 250)+"/m"),
			header(strings.Repeat("d", 250)+"/m", strings.Repeat("d", 250)+"/"+strings.Repeat("d", 250))}, false},
		{"as many links in a row as may be", chain(41, 1), true},
		{"one more", chain(42, 1), false},
		{"as many names in a row of links as may be", chain(32, 8), false}, // too deep
		{"too many names in a row of links", chain(20, 30), false},
		{"a device", []*tar.Header{{Name: "d", Typeflag: tar.TypeChar}}, false},
		{"a pipe", []*tar.Header{{Name: "d", Typeflag: tar.TypeFifo}}, false},
		{"a hard link", []*tar.Header{header("a", ""), {Name: "d", Linkname: "a", Typeflag: tar.TypeLink}}, false},
		{"too many entries", many, false},
		{"too deep", []*tar.Header{header(strings.Repeat("d/", files.MaxDepth)+"f", "")}, false},
		{"as deep as may be", []*tar.Header{header(strings.Repeat("d/", files.MaxDepth-1)+"f", "")}, true},
		{"too long", []*tar.Header{header(strings.Repeat("d", 200)+"/"+strings.Repeat("d", 200)+"/"+strings.Repeat("d", 200),
			"")}, false},
		{"too many bytes", []*tar.Header{{Name: "a", Typeflag: tar.TypeReg, Size: files.MaxBytes}, header("b", "")}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := files.Read(bytes.NewReader(archive(t, tt.headers...)))
			expect.That(t, (err == nil) == tt.allowed && (err == nil || errors.Is(err, files.ErrRefused)), "got %v", err)
		})
	}
}

// A header may claim any size. The claim is checked before the content is read.
func TestAClaimOfManyBytesIsRefusedUnread(t *testing.T) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	expect.NoError(t, w.WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 1 << 40}))
	_, err := files.Read(&out)
	expect.That(t, errors.Is(err, files.ErrRefused) && strings.Contains(err.Error(), "33554432 bytes"), "got %v", err)
}

func TestTheSameFilesMakeTheSameVersion(t *testing.T) {
	one := expect.Value(files.Read(bytes.NewReader(archive(t, header("b", ""), header("a/", ""),
		header("a/c", ""), header("l", "b")))))(t)
	other := expect.Value(files.Read(bytes.NewReader(archive(t, header("l", "b"), header("a/c", ""), header("b", "")))))(t)
	first, second := expect.Value(one.Archive())(t), expect.Value(other.Archive())(t)
	expect.Is(t, files.Sum(first), files.Sum(second), "an archive's order changes its version")
	again := expect.Value(files.Read(bytes.NewReader(first)))(t)
	third := expect.Value(again.Archive())(t)
	expect.That(t, files.Sum(third) == files.Sum(first), "reading a version and writing it makes another one")
	// Versions are stored, so another encoding of the same files would be a different version.
	got, want := files.Sum(first), "dd731cd91fff4595eed736b867b90c97b1bd08793bcd826d56660f863a43295d"
	expect.That(t, got == want, "version %s, stored ones have %s", got, want)
}

func TestGeneratedFilesStayInTheWorkspace(t *testing.T) {
	base := expect.Value(files.Read(bytes.NewReader(archive(t, header("src/main.py", ""), header("link", "src")))))(t)
	tests := []struct {
		name  string
		files []files.File
		want  []string // the paths afterwards; nil: refused
	}{
		{"a new file in a new folder", []files.File{{Path: "a/b.py", Content: "1"}},
			[]string{"a/b.py", "src/main.py"}},
		{"a file over another", []files.File{{Path: "src/main.py", Content: "2"}}, []string{"src/main.py"}},
		{"upwards", []files.File{{Path: "../x"}}, nil},
		{"absolute", []files.File{{Path: "/x"}}, nil},
		{"through a link", []files.File{{Path: "link/main.py"}}, nil},
		{"over a link", []files.File{{Path: "link"}}, nil},
		{"over a folder", []files.File{{Path: "src"}}, nil},
		{"below a file", []files.File{{Path: "src/main.py/x"}}, nil},
		{"one path twice", []files.File{{Path: "x", Content: "shown"}, {Path: "x", Content: "written"}}, nil},
		{"a name that nobody sees whole", []files.File{{Path: "x\u200b.py"}}, nil},
		{"a backslash", []files.File{{Path: `..\x`}}, nil},
		{"too many bytes", []files.File{{Path: "x", Content: strings.Repeat("x", files.MaxBytes)}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			next, err := base.Apply(tt.files)
			if tt.want == nil {
				expect.Must(t, errors.Is(err, files.ErrRefused), "got %v", err)
			} else {
				expect.NoError(t, err)
				expect.Same(t, tt.want, next.Paths())
				got, ok := next.Content(tt.files[0].Path)
				expect.That(t, ok && string(got) == tt.files[0].Content, "it holds %q", got)
			}
			got, _ := base.Content("src/main.py")
			expect.That(t, string(got) == "xxxx" && len(base.Paths()) == 1, "the version that it came from changed")
		})
	}
}

func open(t *testing.T) (string, *os.Root) {
	t.Helper()
	dir := t.TempDir()
	root := expect.Value(os.OpenRoot(dir))(t)
	t.Cleanup(func() { root.Close() })
	return dir, root
}

// all says that the folder owns every entry.
func all(fs.FileInfo) bool { return true }

func TestAFolderComesBackAsItWas(t *testing.T) {
	dir, root := open(t)
	tree := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "a/b.txt", Content: "one"},
		{Path: "run.sh", Content: "two"}}))(t)
	expect.NoError(t, tree.Unpack(root))
	expect.NoError(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	expect.NoError(t, os.Symlink("a/b.txt", filepath.Join(dir, "l")))
	expect.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	packed, left, err := files.Pack(root, all)
	expect.NoError(t, err)
	expect.That(t, len(left) == 0, "left out: %v", left)
	_, second := open(t)
	first := expect.Value(packed.Archive())(t)
	expect.NoError(t, expect.Value(files.Read(bytes.NewReader(first)))(t).Unpack(second))
	again, _, err := files.Pack(second, all)
	expect.NoError(t, err)
	expect.That(t, bytes.Equal(first, expect.Value(again.Archive())(t)), "unpacked and packed it is another version")
}

func TestWhatLeadsOutOfAFolderIsLeftThere(t *testing.T) {
	dir, root := open(t)
	secret := filepath.Join(t.TempDir(), "secret")
	expect.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	expect.NoError(t, os.Symlink(secret, filepath.Join(dir, "absolute")))
	expect.NoError(t, os.Symlink("../../secret", filepath.Join(dir, "upwards")))
	expect.NoError(t, os.MkdirAll(filepath.Join(dir, "p", "q"), 0o755))
	expect.NoError(t, os.Symlink("../..", filepath.Join(dir, "p", "q", "up")))
	expect.NoError(t, os.Symlink("p/q/up/../x", filepath.Join(dir, "out")))
	expect.NoError(t, os.Symlink(strings.Repeat("./", files.MaxDepth)+"closed", filepath.Join(dir, "far")))
	expect.NoError(t, exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run())
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "bad\nname"), nil, 0o644))
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "closed"), []byte("kept"), 0o000))
	packed, left, err := files.Pack(root, all)
	expect.NoError(t, err)
	if len(left) != 6 || !slices.ContainsFunc(left, func(s string) bool { return strings.Contains(s, `"out"`) }) {
		t.Errorf("left out are %q", left)
	}
	expect.Same(t, []string{"closed"}, packed.Paths())
	a := expect.Value(packed.Archive())(t)
	expect.That(t, !bytes.Contains(a, []byte("secret")), "the archive holds what is outside of the folder")
	_, err = files.Read(bytes.NewReader(a))
	expect.That(t, err == nil, "%v", err)
}

// Pack must not change the mode of a file that has another name outside of the folder.
func TestTheModeOfWhatIsNotTheFoldersStays(t *testing.T) {
	dir, root := open(t)
	elsewhere := filepath.Join(t.TempDir(), "vault")
	expect.NoError(t, os.WriteFile(elsewhere, []byte("x"), 0o200))
	expect.NoError(t, os.Link(elsewhere, filepath.Join(dir, "linked")))
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "own"), []byte("kept"), 0o200))
	packed, left, err := files.Pack(root, func(i fs.FileInfo) bool { return i.Name() != "linked" })
	expect.NoError(t, err)
	i := expect.Value(os.Stat(elsewhere))(t)
	expect.That(t, i.Mode().Perm() == 0o200, "its mode is %s now", i.Mode())
	content, _ := packed.Content("own")
	expect.That(t, string(content) == "kept", "what the folder's owner closed is %q", content)
	_, kept := packed.Content("linked")
	expect.That(t, kept != (len(left) == 1), "kept: %t, left out: %q", kept, left) // root can read the file, others can't
}

func TestAFolderWithTooMuchInItIsNotPacked(t *testing.T) {
	for name, fill := range map[string]func(t *testing.T, dir string){
		"a file that is mostly hole": func(t *testing.T, dir string) {
			expect.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
			expect.NoError(t, os.Truncate(filepath.Join(dir, "f"), 1<<40))
		},
		"too many files": func(t *testing.T, dir string) {
			for i := range files.MaxEntries + 1 {
				expect.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o644))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, root := open(t)
			fill(t, dir)
			_, _, err := files.Pack(root, all)
			expect.Fails(t, err, files.ErrRefused)
		})
	}
}

func FuzzRead(f *testing.F) {
	seed := func(headers ...*tar.Header) {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, h := range headers {
			if w.WriteHeader(h) == nil && h.Typeflag == tar.TypeReg {
				w.Write(make([]byte, h.Size))
			}
		}
		w.Close()
		f.Add(out.Bytes())
	}
	seed(header("a/b", ""), header("l", "a"))
	seed(header("../x", ""))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := files.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		a := expect.Value(tree.Archive())(t)
		again := expect.Value(files.Read(bytes.NewReader(a)))(t)
		expect.That(t, bytes.Equal(a, expect.Value(again.Archive())(t)), "read again it is another version")
		_, root := open(t)
		expect.NoError(t, again.Unpack(root))
	})
}

func TestAPlaceNamesFiles(t *testing.T) {
	var all []files.File
	for _, p := range []string{"a.go", "src/a.go", "src/b/c_test.go", "src2/x", "src/b/data.csv", "名簿/四月.csv"} {
		all = append(all, files.File{Path: p, Content: "x"})
	}
	tree := expect.Value((&files.Tree{}).Apply(all))(t)
	for place, want := range map[string]string{
		"":    "a.go src/a.go src/b/c_test.go src/b/data.csv src2/x 名簿/四月.csv",
		".":   "a.go src/a.go src/b/c_test.go src/b/data.csv src2/x 名簿/四月.csv",
		"src": "src/a.go src/b/c_test.go src/b/data.csv", "./src/": "src/a.go src/b/c_test.go src/b/data.csv",
		"/src/b": "src/b/c_test.go src/b/data.csv",
		"sr":     "src/a.go src/b/c_test.go src/b/data.csv src2/x", "a.go": "a.go", "none": "", "a.go/": "",
		"*.go": "a.go src/a.go src/b/c_test.go", "src/*.go": "src/a.go", "src/**": "src/a.go src/b/c_test.go src/b/data.csv",
		"**/*.csv": "src/b/data.csv 名簿/四月.csv", "src/**/a.go": "src/a.go", "名簿/*": "名簿/四月.csv",
		"src/**/*.csv": "src/b/data.csv", "**/b/**/*": "src/b/c_test.go src/b/data.csv", "../*": "",
		"src/**/b/*.csv": "src/b/data.csv", "s*/**/b/**": "src/b/c_test.go src/b/data.csv", "src/**/src/*": "",
	} {
		var got []string
		for _, f := range expect.Value(tree.Find(place))(t) {
			got = append(got, f.Path)
		}
		expect.Is(t, strings.Join(got, " "), want, "%q names", place)
	}
	expect.Fails(t, expect.Err(tree.Find("[a")), path.ErrBadPattern, "a glob that can't be read")
}

func TestAGlobOfManyFoldersIsFast(t *testing.T) {
	var all []files.File
	for i := range 1000 {
		all = append(all, files.File{Path: strings.Repeat("a/", 20) + fmt.Sprint(i)})
	}
	tree := expect.Value((&files.Tree{}).Apply(all))(t)
	began := time.Now()
	found := expect.Value(tree.Find(strings.Repeat("**/a*/", 30) + "b"))(t)
	took := time.Since(began)
	expect.That(t, len(found) == 0 && took < 5*time.Second, "%d in %s", len(found), took)
}

func TestWhatIsATextAndItsLines(t *testing.T) {
	for content, want := range map[string]struct {
		text  bool
		lines int
	}{"": {true, 0}, "a": {true, 1}, "a\n": {true, 1}, "a\r\nb": {true, 2}, "\n\n": {true, 2}, "a\x00b": {false, 0},
		"\x93\xfa\x96\x7b": {false, 0}} {
		tree := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "f", Content: content}}))(t)
		f := expect.Value(tree.Find("f"))(t)[0]
		text, ok := f.Text()
		expect.That(t, ok == want.text && files.LinesOf(text) == want.lines && f.Size() == len(content),
			"%q: %v, %d lines", content, ok, files.LinesOf(text))
	}
}

func TestWhatACommandLeavesHasNoAttachments(t *testing.T) {
	folder := t.TempDir()
	root := expect.Value(os.OpenRoot(folder))(t)
	expect.NoError(t, root.MkdirAll(".ringi", 0o755))
	expect.NoError(t, root.Symlink("/attachments", ".ringi/in"))
	expect.NoError(t, root.WriteFile("kept", nil, 0o644))
	tree, left, err := files.Pack(root, func(os.FileInfo) bool { return true })
	expect.That(t, err == nil && len(left) == 0 && len(tree.Paths()) == 1, "%v %v %v", tree, left, err)
	expect.NoError(t, root.Remove(".ringi/in"))
	expect.NoError(t, root.MkdirAll(".ringi/in", 0o755))
	expect.NoError(t, root.WriteFile(".ringi/own", nil, 0o644))
	tree, left, err = files.Pack(root, func(os.FileInfo) bool { return true })
	expect.That(t, err == nil && len(left) == 1 && strings.Contains(left[0], "place of attachments"), "%v %v", left, err)
	expect.Same(t, []string{".ringi/own", "kept"}, tree.Paths())
}
