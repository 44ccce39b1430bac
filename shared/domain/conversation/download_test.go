package conversation

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

func odd(t *testing.T) *Tree {
	return treeOf(t, map[string]string{
		"main.py": "print(1)\n", "run.sh": "!true\n", "日本/表 1.csv": "あ\n", "out": "→main.py",
		".git/config": "x", "a/.GIT/hooks/x": "!y",
		".gitignore": "x\n", "a:b.txt": "1", "a_b.txt": "2", "Makefile": "3", "makefile": "4", "con.txt": "5",
		"dir. /x": "6", "lpt1": "7",
		"COM12": "8", "x": "9", "X/y": "10", "q?\"<>|*": "11", "tail.": "12",
	})
}

func TestADownloadHasNamesThatAreSafe(t *testing.T) {
	d := DownloadOf(odd(t).Manifest(), "shop-3f2c")
	expect.Same(t, []string{".git/config", "a/.GIT/hooks/x", "out"}, d.Left)
	expect.Same(t, map[string]string{
		"main.py": "main.py", "run.sh": "run.sh", "日本/表 1.csv": "日本/表 1.csv", ".gitignore": ".gitignore",
		"a:b.txt": "a_b.txt", "a_b.txt": "a_b~2.txt",
		"Makefile": "Makefile", "makefile": "makefile~2", "con.txt": "_con.txt", "dir. /x": "dir__/x",
		"lpt1": "_lpt1", "COM12": "COM12",
		"x": "x~2", "X/y": "X/y", "q?\"<>|*": "q______", "tail.": "tail_",
	}, d.Names)
	renamed := []string{"a:b.txt", "a_b.txt", "con.txt", "dir. /x", "lpt1", "makefile", "q?\"<>|*", "tail.", "x"}
	expect.Same(t, renamed, d.Renamed)
	none := DownloadOf(Manifest{}, "x")
	expect.That(t, len(none.Names) == 0 && none.Left == nil, "%v", none)
}

func TestADownloadIsAnArchiveOfOneFolder(t *testing.T) {
	files, at := odd(t), time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC)
	d := DownloadOf(files.Manifest(), "shop")
	want := map[string]string{}
	for p, name := range d.Names {
		content, _ := files.Content(p)
		want["shop/"+name] = fmt.Sprintf("%s %v", content, strings.HasSuffix(p, ".sh"))
	}
	for name, open := range map[string]func(io.Writer, time.Time) Packer{"zip": d.Zip, "tar.gz": d.TarGz} {
		var out bytes.Buffer
		k := open(&out, at)
		for _, p := range slices.Sorted(maps.Keys(d.Names)) {
			content, _ := files.Content(p)
			expect.NoError(t, k.Add(p, content, strings.HasSuffix(p, ".sh")))
		}
		if err := k.Add("out", nil, false); err == nil {
			t.Errorf("%s takes what is left out", name)
		}
		expect.NoError(t, k.Close())
		got := map[string]string{}
		if name == "zip" {
			for _, f := range expect.Value(zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len())))(t).File {
				r := expect.Value(f.Open())(t)
				got[f.Name] = fmt.Sprintf("%s %v", expect.Value(io.ReadAll(r))(t), f.Mode()&0o100 != 0)
				expect.That(t, f.Mode().IsRegular() && !f.NonUTF8 && f.Modified.Equal(at), "%+v", f.FileHeader)
			}
		} else {
			in := tar.NewReader(expect.Value(gzip.NewReader(&out))(t))
			for h, err := in.Next(); !errors.Is(err, io.EOF); h, err = in.Next() {
				expect.NoError(t, err)
				got[h.Name] = fmt.Sprintf("%s %v", expect.Value(io.ReadAll(in))(t), h.Mode&0o100 != 0)
				expect.That(t, h.Typeflag == tar.TypeReg, "%+v", h)
			}
		}
		expect.Same(t, want, got)
	}
}
