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
// path, or a glob, in which ** stands for any folders; a glob without a slash is one of names in any folder. The empty
// place names all. Find returns path.ErrBadPattern for a glob that can't be read.
func (t *Tree) Find(place string) (list []Found, err error) {
	place = strings.TrimLeft(strings.TrimPrefix(place, "./"), "/")
	names := func(p string) bool { return strings.HasPrefix(p, place) }
	folder := strings.TrimSuffix(place, "/")
	switch _, there := t.entries[place]; {
	case strings.ContainsAny(place, `*?[\`):
		if _, err := path.Match(place, ""); err != nil {
			return nil, err
		}
		glob := strings.Split(place, "/")
		if len(glob) == 1 {
			glob = []string{"**", place}
		}
		names = func(p string) bool { return fits(glob, strings.Split(p, "/")) }
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

// fits reports whether a path's names are as a glob says. Where they aren't, the last ** takes one more of them.
func fits(glob, names []string) bool {
	deep, from := -1, 0 // place of the last **, and of the first name that it doesn't take
	g, n := 0, 0
	for n < len(names) || g < len(glob) {
		switch {
		case g < len(glob) && glob[g] == "**":
			deep, from = g, n
			g++
		case g < len(glob) && n < len(names) && matches(glob[g], names[n]):
			g, n = g+1, n+1
		case deep >= 0 && from < len(names):
			from++
			g, n = deep+1, from
		default:
			return false
		}
	}
	return true
}

func matches(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}
