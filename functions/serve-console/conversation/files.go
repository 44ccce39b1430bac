package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

const (
	// filesOfPage is how many files a page lists.
	filesOfPage = 500
	// mostStraight is how many bytes are sent in an answer; the gateway takes few more. Larger files go by a link to the
	// bucket.
	mostStraight = 1 << 20
)

// filesPage lists the files of a conversation.
type filesPage struct {
	Back, Title string
	Lost, Gone  bool
	Files       int
	Bytes       int64
	Rows        []fileOf
	Next        string // address of the next files
}

type fileOf struct {
	Name, Path, Target string // Path: an address; Target: where a link leads
	Executable         bool
	Bytes              int64
}

// opened is the current version of a conversation's files that the viewer may see.
type opened struct {
	a        *conversation.Aggregate
	of       large.VersionsOf
	manifest files.Manifest
	file     files.Entry // that the address names; none in an address of all files
	gone     bool
	path     string // address of the list of files
}

// openFiles reads the list of a conversation's files, if the viewer may see the conversation.
func (c *Pages) openFiles(r *http.Request, v *web.Viewer) (o opened, err error) {
	a, err := c.Subject(r, v, c.page())
	if err != nil {
		return o, err
	}
	o.a = a.(*conversation.Aggregate)
	ref := o.a.Ref()
	o.of, o.path = large.VersionsOf{Tenant: ref.Tenant, ID: ref.ID}, "/console/sessions/"+ref.ID+"/files"
	if c.Files == nil {
		return o, fmt.Errorf("files: %w", aggregate.ErrNotFound)
	}
	o.manifest, err = c.Files.Manifest(r.Context(), o.of, o.a.Conversation.WorkspaceVersion)
	if o.gone = errors.Is(err, large.ErrGone); o.gone {
		err = nil
	}
	return o, err
}

func (c *Pages) showFiles(w http.ResponseWriter, r *http.Request, v *web.Viewer, o opened) error {
	s := o.a.Conversation
	p := filesPage{Back: "/console/sessions/" + s.ID, Title: cmp.Or(card.OneLine(s.Title), v.Untitled()), Gone: o.gone}
	p.rows(o, r.URL.Query().Get("after"))
	return c.Show(w, r, v, web.Document{Title: v.Texts("files").Say("title"), Here: "agents", Data: p}, "agents/files")
}

// rows fills in the files and links after a path.
func (p *filesPage) rows(o opened, after string) {
	for _, e := range o.manifest.Entries {
		if e.Kind == files.KindFile {
			p.Files++
			p.Bytes += e.Size
		}
		switch {
		case e.Kind == files.KindFolder || e.Path <= after || p.Next != "":
			continue
		case len(p.Rows) == filesOfPage:
			p.Next = web.At(o.path, map[string]string{"after": after})
			continue
		}
		row := fileOf{Name: legible.Spelled(e.Path), Target: legible.Spelled(e.Target), Bytes: e.Size,
			Executable: e.Mode == files.ModeExecutable}
		if e.Kind == files.KindFile {
			row.Path = web.At(o.path+"/raw", map[string]string{"path": e.Path})
		}
		p.Rows, after = append(p.Rows, row), e.Path
	}
}

// openFile returns the file that an address names. It must be one of the list.
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
func (c *Pages) content(ctx context.Context, o opened) (content []byte, err error) {
	take := func(_ files.Entry, is []byte) error {
		content = is
		return nil
	}
	err = c.Files.Each(ctx, o.of, o.a.Conversation.WorkspaceVersion, []files.Entry{o.file}, take)
	if errors.Is(err, large.ErrGone) {
		err = fmt.Errorf("%w: %w", web.ErrExpired, err)
	}
	return content, err
}

// showRaw sends a file byte by byte: a text for the browser to show, anything else to save.
func (c *Pages) showRaw(w http.ResponseWriter, r *http.Request, _ *web.Viewer, o opened) error {
	content, err := c.content(r.Context(), o)
	if err != nil {
		return err
	}
	name := path.Base(o.file.Path)
	if !files.IsText(content) || len(content) > mostStraight {
		return c.deliver(w, r, o, name, content)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", "inline")
	_, err = w.Write(content)
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

// source is where a conversation's files came from.
type source struct {
	Short, URL      string
	State           string // empty if the files are there
	Left, LeftCount string // what was left out of them
}

func sourceOf(words web.Texts, s conversation.Source, locale string) *source {
	out := &source{Short: legible.OneLine(s.Short()), URL: s.URL()}
	switch s.State {
	case conversation.SourceWanted:
		out.State = words.Say("source_wanted")
	case conversation.SourceFailed:
		out.State = conversation.SourceWords(locale, s.Error)
	}
	if n := len(s.Left) + s.More; n > 0 {
		out.Left, out.LeftCount = s.LeftWords(locale), words.Say("source_left", "n", n)
	}
	return out
}
