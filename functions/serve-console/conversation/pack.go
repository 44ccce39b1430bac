package conversation

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	"ringi/shared/domain/conversation"
)

// packer writes a download.
type packer interface {
	// Add writes a file that conversation.Download.Names has.
	Add(path string, content []byte, executable bool) error
	Close() error
}

// packers are the forms of archives, by the end of their names. Files in them have the time.
var packers = map[string]func(d conversation.Download, out io.Writer, at time.Time) packer{
	"zip": func(d conversation.Download, out io.Writer, at time.Time) packer {
		return zipper{d, zip.NewWriter(out), at}
	},
	"tar.gz": func(d conversation.Download, out io.Writer, at time.Time) packer {
		z := gzip.NewWriter(out)
		return tarrer{d, tar.NewWriter(z), z, at}
	},
}

func named(d conversation.Download, p string) (string, error) {
	name, ok := d.Names[p]
	if !ok {
		return "", fmt.Errorf("pack %q: it is not in the list", p)
	}
	return d.Folder + "/" + name, nil
}

type zipper struct {
	conversation.Download
	*zip.Writer
	at time.Time
}

func (z zipper) Add(p string, content []byte, executable bool) error {
	name, err := named(z.Download, p)
	if err != nil {
		return err
	}
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.at}
	h.SetMode(0o644)
	if executable {
		h.SetMode(0o755)
	}
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

type tarrer struct {
	conversation.Download
	*tar.Writer
	gzip *gzip.Writer
	at   time.Time
}

func (t tarrer) Add(p string, content []byte, executable bool) error {
	name, err := named(t.Download, p)
	if err != nil {
		return err
	}
	h := &tar.Header{Name: name, Mode: 0o644, ModTime: t.at, Typeflag: tar.TypeReg, Size: int64(len(content))}
	if executable {
		h.Mode = 0o755
	}
	if err = t.WriteHeader(h); err == nil {
		_, err = t.Write(content)
	}
	return err
}

func (t tarrer) Close() error {
	if err := t.Writer.Close(); err != nil {
		return err
	}
	return t.gzip.Close()
}
