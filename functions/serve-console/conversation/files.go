package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

// filesPage lists the files of one version.
type filesPage struct {
	Back, Path     string
	Title, Version string // the version's beginning
	Current        bool
	Lost, Gone     bool
	Files          int
	Bytes          int64
	Source         *source
	Rows           []fileOf
	Next           string // address of the next files
}

type fileOf struct {
	Name, Path, Target string // Path: an address; Target: where a link leads
	Executable         bool
	Bytes              int64
}

// opened is a version of a conversation's files that the viewer may see.
type opened struct {
	a        *conversation.Aggregate
	of       large.VersionsOf
	actions  []*conversation.Action
	version  string
	manifest files.Manifest
	file     files.Entry // that the address names; none in an address of all files
	gone     bool
	path     string // address of the list of files
}

// openFiles reads the list of the files that an address names, if the viewer may see the conversation and the version
// is one of its own. Without a version it is the current one.
func (c *Pages) openFiles(r *http.Request, v *web.Viewer) (o opened, err error) {
	a, err := c.Subject(r, v, c.page())
	if err != nil {
		return o, err
	}
	o.a = a.(*conversation.Aggregate)
	ref := o.a.Ref()
	o.of, o.path = large.VersionsOf{Tenant: ref.Tenant, ID: ref.ID}, "/console/sessions/"+ref.ID+"/files"
	if o.actions, err = c.archived(r.Context(), o.a); err != nil {
		return o, err
	}
	q := r.URL.Query()
	if o.version = o.a.Conversation.WorkspaceVersion; q.Has("version") {
		o.version = q.Get("version")
	}
	if !o.knows(o.version) || c.Files == nil {
		return o, fmt.Errorf("a version of the files: %w", aggregate.ErrNotFound)
	}
	o.manifest, err = c.Files.Manifest(r.Context(), o.of, o.version)
	if o.gone = errors.Is(err, large.ErrGone); o.gone {
		err = nil
	}
	return o, err
}

// knows reports whether the conversation names the version.
func (o opened) knows(version string) bool {
	s := o.a.Conversation
	if version == s.WorkspaceVersion || s.Source != nil && version == s.Source.Version {
		return true
	}
	return slices.ContainsFunc(o.actions, func(x *conversation.Action) bool {
		return version == x.Version || version == x.BaseVersion
	})
}

// address returns an address below the list of files, for this version.
func (o opened) address(below string, q url.Values) string {
	if o.version != o.a.Conversation.WorkspaceVersion {
		q.Set("version", o.version)
	}
	return (&url.URL{Path: o.path + below, RawQuery: q.Encode()}).String()
}

func (c *Pages) showFiles(w http.ResponseWriter, r *http.Request, v *web.Viewer, o opened) error {
	words, s := v.Texts("files"), o.a.Conversation
	p := filesPage{Back: "/console/sessions/" + s.ID, Path: o.path, Title: cmp.Or(card.OneLine(s.Title), v.Untitled()),
		Version: o.version[:min(len(o.version), 12)], Current: o.version == s.WorkspaceVersion, Gone: o.gone,
		Lost: o.a.FilesLost() && o.version == s.WorkspaceVersion}
	if s.Source != nil {
		p.Source = sourceOf(v.Texts("conversation"), *s.Source, v.Locale)
	}
	p.rows(o, r.URL.Query().Get("after"))
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "agents", Data: p}, "agents/files")
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
			p.Next = o.address("", url.Values{"after": {after}})
			continue
		}
		row := fileOf{Name: legible.Spelled(e.Path), Target: legible.Spelled(e.Target), Bytes: e.Size,
			Executable: e.Mode == files.ModeExecutable}
		if e.Kind == files.KindFile {
			row.Path = o.address("/raw", url.Values{"path": {e.Path}})
		}
		p.Rows, after = append(p.Rows, row), e.Path
	}
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
func (c *Pages) content(ctx context.Context, o opened) (content []byte, err error) {
	err = c.Files.Each(ctx, o.of, o.version, []files.Entry{o.file}, func(_ files.Entry, is []byte) error {
		content = is
		return nil
	})
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
		out.Left, out.LeftCount = s.LeftWords(locale, len(s.Left)), words.Say("source_left", "n", n)
	}
	return out
}
