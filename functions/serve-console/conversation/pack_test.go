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

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

func TestADownloadIsAnArchiveOfOneFolder(t *testing.T) {
	at, contents := time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC), map[string]string{
		"main.py": "print(1)\n", "run.sh": "true\n", "日本/表 1.csv": "あ\n", "a:b.txt": "1", "empty": "",
	}
	m := conversation.Manifest{Entries: []conversation.Entry{{Path: "out", Kind: conversation.KindLink}}}
	for _, p := range slices.Sorted(maps.Keys(contents)) {
		m.Entries = append(m.Entries, conversation.Entry{Path: p, Kind: conversation.KindFile})
	}
	d := conversation.DownloadOf(m, "shop")
	want := map[string]string{}
	for p, name := range d.Names {
		want["shop/"+name] = fmt.Sprintf("%s %v", contents[p], strings.HasSuffix(p, ".sh"))
	}
	for name, open := range packers {
		var out bytes.Buffer
		k := open(d, &out, at)
		for _, p := range slices.Sorted(maps.Keys(d.Names)) {
			expect.NoError(t, k.Add(p, []byte(contents[p]), strings.HasSuffix(p, ".sh")))
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
