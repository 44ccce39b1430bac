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
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

// Limits of a page of files.
const (
	rowsOfFolder = 500
	mostSince    = 200 // paths that changed since the beginning
	mostLeftOut  = 50  // paths that an archive leaves out, or renames
)

// treePage lists a folder of one version of a conversation's files.
type treePage struct {
	Back, Path       string
	Title, Version   string // the version's beginning
	Current          bool
	Lost, Gone       bool
	Files            int
	Bytes            int64
	Source           *source
	Crumbs           []web.Link
	Rows             []treeRow
	Next             string // address of the folder's next rows
	Zip, TarGz       string
	Left, Renamed    string // what the archive leaves out, and renames
	LeftN, RenamedN  int
	Patch            string // address; empty: there is nothing to patch
	NoPatch          bool   // the first files are gone
	Since            []sinceRow
	SinceN, UnpatchN int
	Steps            []stepRow
}

type treeRow struct {
	Name, Path, Target string // Target: where a link leads
	Folder, Executable bool
	Files, Lines       int
	Bytes              int64
}

// sinceRow is a path that changed since the beginning; No says why the patch doesn't have it.
type sinceRow struct{ Path, What, No, SHA256 string }

// stepRow is an action that changed files.
type stepRow struct {
	Number              int
	Type, What          string
	Difference, Version string // addresses
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

func (o opened) first() string {
	if s := o.a.Conversation.Source; s != nil {
		return s.Version
	}
	return ""
}

func (c *Pages) showFiles(w http.ResponseWriter, r *http.Request, v *web.Viewer, o opened) error {
	folder := r.URL.Query().Get("folder")
	if folder != "" && !slices.ContainsFunc(o.manifest.Entries, func(e files.Entry) bool {
		return e.Path == folder && e.Kind == files.KindFolder
	}) {
		return fmt.Errorf("a folder of the files: %w", aggregate.ErrNotFound)
	}
	words, s := v.Texts("files"), o.a.Conversation
	p := treePage{Back: "/console/sessions/" + s.ID, Path: o.path, Title: cmp.Or(card.OneLine(s.Title), v.Untitled()),
		Version: o.version[:min(len(o.version), 12)], Current: o.version == s.WorkspaceVersion, Gone: o.gone,
		Lost: o.a.FilesLost() && o.version == s.WorkspaceVersion}
	if s.Source != nil {
		p.Source = sourceOf(v.Texts("conversation"), *s.Source, v.Locale)
	}
	p.rows(o, folder, r.URL.Query().Get("after"))
	p.downloads(o)
	if err := c.since(r.Context(), o, &p, words, v.Locale); err != nil {
		return err
	}
	p.steps(o, words, v.Locale)
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "agents", Data: p}, "agents/files")
}

// rows fills in the entries of a folder, folders first.
func (p *treePage) rows(o opened, folder, after string) {
	below, names := "", map[string]int{}
	if folder != "" {
		below = folder + "/"
		p.Crumbs = append(p.Crumbs, web.Link{Path: o.address("", url.Values{})})
		for i, c := range below {
			if c == '/' {
				dir := below[:i]
				p.Crumbs = append(p.Crumbs, web.Link{Text: legible.OneLine(path.Base(dir)),
					Path: o.address("", url.Values{"folder": {dir}})})
			}
		}
	}
	var folders, list []treeRow
	for _, e := range o.manifest.Entries {
		if e.Kind == files.KindFile {
			p.Files++
			p.Bytes += e.Size
		}
		rest, inside := strings.CutPrefix(e.Path, below)
		name, deeper, in := strings.Cut(rest, "/")
		switch {
		case !inside:
		case in || e.Kind == files.KindFolder:
			at, known := names[name]
			if !known {
				at, names[name] = len(folders), len(folders)
				dir := url.Values{"folder": {below + name}}
				folders = append(folders, treeRow{Name: name, Path: o.address("", dir), Folder: true})
			}
			if deeper != "" && e.Kind == files.KindFile {
				folders[at].Files++
				folders[at].Bytes += e.Size
			}
		default:
			row := treeRow{Name: name, Executable: e.Mode == files.ModeExecutable, Lines: e.Lines, Bytes: e.Size}
			if row.Target = legible.Spelled(e.Target); e.Kind == files.KindFile {
				row.Path = o.address("/file", url.Values{"path": {e.Path}})
			}
			list = append(list, row)
		}
	}
	all := append(folders, list...)
	from := 0
	if after != "" {
		from = slices.IndexFunc(all, func(x treeRow) bool { return x.Name == after }) + 1
	}
	to := min(len(all), from+rowsOfFolder)
	if to < len(all) {
		q := url.Values{"after": {all[to-1].Name}}
		if folder != "" {
			q.Set("folder", folder)
		}
		p.Next = o.address("", q)
	}
	p.Rows = all[from:to]
	for i := range p.Rows {
		p.Rows[i].Name = legible.Spelled(p.Rows[i].Name)
	}
}

// downloads fills in the addresses of the archives, and what is not in them as it is here.
func (p *treePage) downloads(o opened) {
	d := files.DownloadOf(o.manifest, "")
	if len(d.Names) > 0 {
		p.Zip = o.address("/archive", url.Values{"as": {"zip"}})
		p.TarGz = o.address("/archive", url.Values{"as": {"tar.gz"}})
	}
	p.LeftN, p.RenamedN = len(d.Left), len(d.Renamed)
	p.Left = listed(d.Left, func(p string) string { return p })
	p.Renamed = listed(d.Renamed, func(p string) string { return p + " → " + d.Names[p] })
}

// listed writes the first paths of a list, one a line.
func listed(paths []string, write func(string) string) string {
	lines := web.Each(paths[:min(len(paths), mostLeftOut)], write)
	if len(paths) > mostLeftOut {
		lines = append(lines, "…")
	}
	return strings.Join(lines, "\n")
}

// patch returns what became of the first files in this version. It returns ErrGone if the first files are gone.
func (c *Pages) patch(ctx context.Context, o opened) (files.Patch, error) {
	var commit conversation.Commit
	was, err := c.Files.Manifest(ctx, o.of, o.first())
	if err == nil && o.first() != "" {
		if commit, err = c.Files.Commit(ctx, o.of, o.first()); errors.Is(err, large.ErrGone) {
			err = nil
		}
	}
	return files.PatchOf(was, o.manifest, commit.Entries), err
}

// since fills in what changed since the beginning.
func (c *Pages) since(ctx context.Context, o opened, p *treePage, words web.Texts, locale string) error {
	if o.gone {
		return nil
	}
	patch, err := c.patch(ctx, o)
	if p.NoPatch = errors.Is(err, large.ErrGone); p.NoPatch {
		return nil
	}
	if err != nil {
		return err
	}
	p.SinceN, p.UnpatchN = len(patch.Files), len(patch.Left)
	if len(patch.Files) > 0 {
		p.Patch = o.address("/patch", url.Values{})
	}
	for _, x := range patch.Left[:min(len(patch.Left), mostLeftOut)] {
		p.Since = append(p.Since, sinceRow{Path: legible.Spelled(x.Path), No: words.In("unpatched", x.Why), SHA256: x.SHA256})
	}
	for _, f := range patch.Files[:min(len(patch.Files), mostSince)] {
		change := files.Change{Path: f.Path, Was: f.Was.Side(), Is: f.Is.Side()}
		p.Since = append(p.Since, sinceRow{Path: legible.Spelled(f.Path), What: card.Became(change, locale)})
	}
	return nil
}

// steps lists the actions that changed files, newest first.
func (p *treePage) steps(o opened, words web.Texts, locale string) {
	for _, x := range slices.Backward(o.actions) {
		if x.Changed == nil || x.Changed.Files == 0 {
			continue
		}
		row := stepRow{Number: x.Number, Type: card.ActionCalled(x, locale),
			What:       words.Say("step", "n", x.Changed.Files, "added", x.Changed.Added, "removed", x.Changed.Removed),
			Difference: fmt.Sprintf("%s?log=%d#action-%d", p.Back, x.Number, x.Number)}
		if x.Version != "" && x.Version != o.version {
			row.Version = o.path + "?" + url.Values{"version": {x.Version}}.Encode()
		}
		if x.NotTaken {
			row.What += " " + words.Say("not_taken")
		}
		p.Steps = append(p.Steps, row)
	}
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
