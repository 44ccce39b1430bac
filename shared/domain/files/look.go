package files

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
)

// Found is a file or a link of a Tree, as lists show it.
type Found struct {
	Path    string
	Mode    string
	Link    string // the target of a link, which has no content
	content []byte
}

// Size returns the number of the file's bytes.
func (f Found) Size() int { return len(f.content) }

// Text returns the file's content, or false if it is a link or no text in UTF-8.
func (f Found) Text() (text []byte, ok bool) {
	if f.Link != "" || !IsText(f.content) {
		return nil, false
	}
	return f.content, true
}

// LinesOf returns the number of lines in a text. The last one need not end with a line end.
func LinesOf(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Find returns the files and links that a place names, sorted by path. A place is a file, a folder, the beginning of a
// path, or a glob, of names in any folder if it has no slash; ** stands for any folders, once. The empty place names
// all. Find returns path.ErrBadPattern for a glob that can't be read.
func (t *Tree) Find(place string) (list []Found, err error) {
	place = strings.TrimLeft(strings.TrimPrefix(place, "./"), "/")
	names := func(p string) bool { return strings.HasPrefix(p, place) }
	folder := strings.TrimSuffix(place, "/")
	switch _, there := t.entries[place]; {
	case strings.ContainsAny(place, `*?[\`):
		begin, glob, deep := strings.Cut(place, "**")
		if !deep {
			begin, glob = "", place
		}
		glob = strings.TrimLeft(glob, "/")
		if _, err := path.Match(glob, ""); err != nil {
			return nil, err
		}
		names = func(p string) bool { return strings.HasPrefix(p, begin) && (glob == "" || fits(glob, p)) }
	case place == ".":
		names = func(string) bool { return true }
	case t.entries[folder].folder:
		names = func(p string) bool { return strings.HasPrefix(p, folder+"/") }
	case there:
		names = func(p string) bool { return p == place }
	}
	for _, p := range slices.Sorted(maps.Keys(t.entries)) {
		if e := t.entries[p]; !e.folder && names(p) {
			list = append(list, Found{Path: p, Mode: e.mode(), Link: e.link, content: e.content})
		}
	}
	return list, nil
}

// fits reports whether a path, or its last name if the glob has no slash, is as the glob says.
func fits(glob, p string) bool {
	if !strings.Contains(glob, "/") {
		p = path.Base(p)
	}
	ok, err := path.Match(glob, p)
	return ok && err == nil
}
