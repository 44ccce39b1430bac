package conversation

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

const (
	// mostStraight is how many bytes are sent in an answer; the gateway takes few more. Larger files, and archives, go by
	// a link to the bucket.
	mostStraight = 1 << 20
	// linesOfFile and bytesOfFile bound what a page shows of a file.
	linesOfFile = 2000
	bytesOfFile = 512 << 10
)

// filePage shows one file of a version.
type filePage struct {
	Back, Path, SHA256 string
	Bytes              int64
	Executable         bool
	Binary, Large      bool // why the text is not shown
	Lines              []logLine
	Count              int
	Differs            bool   // the shown text is not as it is
	AsItIs, Download   string // addresses
	Earlier, Later     string // addresses of the other lines
	Gone               bool
}

// openFile returns the version that an address names, and the file. It must be one of the version's list.
func (c *Pages) openFile(r *http.Request, v *web.Viewer) (o opened, err error) {
	if o, err = c.openFiles(r, v); err != nil {
		return o, err
	}
	name := r.URL.Query().Get("path")
	i := slices.IndexFunc(o.manifest.Entries, func(e files.Entry) bool {
		return e.Path == name && e.Kind == files.KindFile
	})
	if i < 0 {
		return o, fmt.Errorf("a file: %w", aggregate.ErrNotFound)
	}
	o.file = o.manifest.Entries[i]
	return o, nil
}

// content reads the file.
func (c *Pages) content(ctx context.Context, o opened) ([]byte, error) {
	all, err := c.contents(ctx, o, o.version, []files.Entry{o.file})
	return all[o.file.Path], err
}

// contents reads files of a version by their paths.
func (c *Pages) contents(ctx context.Context, o opened, version string, list []files.Entry) (map[string][]byte, error) {
	all := map[string][]byte{}
	err := c.Files.Each(ctx, o.of, version, list, func(e files.Entry, content []byte) error {
		all[e.Path] = content
		return nil
	})
	if errors.Is(err, large.ErrGone) {
		err = fmt.Errorf("%w: %w", web.ErrExpired, err)
	}
	return all, err
}

func (c *Pages) showFile(w http.ResponseWriter, r *http.Request, v *web.Viewer, o opened) error {
	e := o.file
	of := url.Values{"path": {e.Path}}
	folder := url.Values{}
	if dir := path.Dir(e.Path); dir != "." {
		folder.Set("folder", dir)
	}
	p := filePage{Back: o.address("", folder), Path: legible.Spelled(e.Path), SHA256: e.SHA256, Bytes: e.Size,
		Executable: e.Mode == files.ModeExecutable, Large: e.Size > mostStraight,
		Download: o.address("/raw", url.Values{"path": {e.Path}, "download": {"1"}})}
	if !p.Large {
		content, err := c.content(r.Context(), o)
		if err != nil {
			return err
		}
		if p.Binary = !files.IsText(content); !p.Binary {
			p.AsItIs = o.address("/raw", of)
			from, _ := strconv.Atoi(r.URL.Query().Get("from"))
			p.lines(string(content), max(1, from), func(from int) string {
				return o.address("/file", url.Values{"path": {e.Path}, "from": {strconv.Itoa(from)}})
			})
		}
	}
	title := legible.OneLine(path.Base(e.Path))
	return c.Show(w, r, v, web.Document{Title: title, Here: "agents", Data: p}, "agents/file")
}

// lines fills in the text from a line on.
func (p *filePage) lines(text string, from int, address func(from int) string) {
	shown := 0
	for line := range strings.Lines(text) {
		p.Count++
		if p.Count < from {
			continue
		}
		if len(p.Lines) == linesOfFile || len(p.Lines) > 0 && shown+len(line) > bytesOfFile {
			if p.Later == "" {
				p.Later = address(p.Count)
			}
			continue
		}
		if p.Later != "" {
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		text, cr := strings.CutSuffix(line, "\r")
		code := legible.Code(text)
		if cr {
			code += "⟨U+000D⟩"
		}
		shown, p.Differs = shown+len(line), p.Differs || code != line
		p.Lines = append(p.Lines, logLine{Number: p.Count, Text: code})
	}
	if from > 1 {
		p.Earlier = address(max(1, from-linesOfFile))
	}
}

// showRaw sends a file byte by byte.
func (c *Pages) showRaw(w http.ResponseWriter, r *http.Request, _ *web.Viewer, o opened) error {
	content, err := c.content(r.Context(), o)
	if err != nil {
		return err
	}
	name := path.Base(o.file.Path)
	if r.URL.Query().Get("download") != "" || !files.IsText(content) || len(content) > mostStraight {
		return c.deliver(w, r, o, name, content)
	}
	return inline(w, "", content)
}

// inline sends a text for the browser to show; disposition may go on with its name.
func inline(w http.ResponseWriter, disposition string, text []byte) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", "inline"+disposition)
	_, err := w.Write(text)
	return err
}

// deliver sends a file for the browser to save. A large one it puts into the bucket, and leads to it: whoever has that
// link can fetch the file for a minute, so it is made after all checks.
func (c *Pages) deliver(w http.ResponseWriter, r *http.Request, o opened, name string, content []byte) error {
	if len(content) <= mostStraight {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", large.Attachment(name))
		_, err := w.Write(content)
		return err
	}
	link, err := c.Files.Link(r.Context(), o.of, name, content)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, link, http.StatusSeeOther)
	return nil
}

// named is the name of downloads: of the repository, or the conversation, and the version.
func (o opened) named() string {
	name := "ringi-" + o.a.Conversation.ID[:8]
	if s := o.a.Conversation.Source; s != nil {
		name = path.Base(s.Repository)
	}
	return files.SafeName(name + "-" + cmp.Or(o.version, "empty")[:min(7, len(cmp.Or(o.version, "empty")))])
}

// sendArchive sends all files of a version as an archive.
func (c *Pages) sendArchive(w http.ResponseWriter, r *http.Request, _ *web.Viewer, o opened) error {
	d := files.DownloadOf(o.manifest, o.named())
	if len(d.Names) == 0 {
		return fmt.Errorf("an archive of no file: %w", aggregate.ErrNotFound)
	}
	as := r.URL.Query().Get("as")
	if packers[as] == nil {
		return fmt.Errorf("an archive of an unknown form: %w", aggregate.ErrNotFound)
	}
	var out bytes.Buffer
	packed := packers[as](&out, c.Now())
	list := slices.DeleteFunc(slices.Clone(o.manifest.Entries), func(e files.Entry) bool {
		return d.Names[e.Path] == ""
	})
	err := c.Files.Each(r.Context(), o.of, o.version, list, func(e files.Entry, content []byte) error {
		return packed.pack(d, e.Path, content, e.Mode == files.ModeExecutable)
	})
	if err = errors.Join(err, packed.end()); errors.Is(err, large.ErrGone) {
		return fmt.Errorf("%w: %w", web.ErrExpired, err)
	}
	if err != nil {
		return err
	}
	return c.deliver(w, r, o, d.Folder+"."+as, out.Bytes())
}

// sendPatch sends what changed since the beginning, as "git apply" takes it.
func (c *Pages) sendPatch(w http.ResponseWriter, r *http.Request, v *web.Viewer, o opened) error {
	p, err := c.patch(r.Context(), o)
	if err == nil && len(p.Files) == 0 || errors.Is(err, large.ErrGone) {
		return fmt.Errorf("a patch: %w", aggregate.ErrNotFound)
	}
	if err != nil {
		return err
	}
	var contents [2]map[string][]byte
	var needed [2][]files.Entry
	for _, f := range p.Files {
		for i, e := range []*files.Entry{f.Was, f.Is} {
			if e != nil {
				needed[i] = append(needed[i], *e)
			}
		}
	}
	for i, version := range []string{o.first(), o.version} {
		if contents[i], err = c.contents(r.Context(), o, version, needed[i]); err != nil {
			return err
		}
	}
	words, prefix := v.Texts("files"), ""
	about := []string{words.Say("patch_of", "version", o.version)}
	if s := o.a.Conversation.Source; s != nil {
		prefix, about = s.Path, append(about, words.Say("patch_base", "base", s.String()))
	}
	for _, x := range p.Left {
		about = append(about, words.Say("patch_left", "path", x.Path, "why", words.In("unpatched", x.Why),
			"sha256", cmp.Or(x.SHA256, "—")))
	}
	return c.deliver(w, r, o, o.named()+".patch", p.Write(prefix, about, contents[0], contents[1]))
}

// packer adds files to a download, by names that files.Download.Names has.
type packer struct {
	add func(name string, mode fs.FileMode, content []byte) error
	end func() error
}

// packers are the forms of archives, by the end of their names. Files in them have the time.
var packers = map[string]func(out io.Writer, at time.Time) packer{
	"zip": func(out io.Writer, at time.Time) packer {
		z := zip.NewWriter(out)
		return packer{func(name string, mode fs.FileMode, content []byte) error {
			h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
			h.SetMode(mode)
			w, err := z.CreateHeader(h)
			if err == nil {
				_, err = w.Write(content)
			}
			return err
		}, z.Close}
	},
	"tar.gz": func(out io.Writer, at time.Time) packer {
		z := gzip.NewWriter(out)
		t := tar.NewWriter(z)
		return packer{func(name string, mode fs.FileMode, content []byte) error {
			h := &tar.Header{Name: name, Mode: int64(mode), ModTime: at, Typeflag: tar.TypeReg, Size: int64(len(content))}
			err := t.WriteHeader(h)
			if err == nil {
				_, err = t.Write(content)
			}
			return err
		}, func() error { return errors.Join(t.Close(), z.Close()) }}
	},
}

// pack adds a file to a download, under the name that it has there.
func (p packer) pack(d files.Download, path string, content []byte, executable bool) error {
	name, ok := d.Names[path]
	if !ok {
		return fmt.Errorf("pack %q: it is not in the list", path)
	}
	mode := map[bool]fs.FileMode{true: 0o755, false: 0o644}[executable]
	return p.add(d.Folder+"/"+name, mode, content)
}
