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
	names, err := t.placed(place)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(t.entries)) {
		if e := t.entries[p]; !e.folder && names(p) {
			list = append(list, Found{Path: p, Mode: e.mode(), Link: e.link, content: e.content})
		}
	}
	return list, nil
}

// placed returns which paths a place names.
func (t *Tree) placed(place string) (names func(p string) bool, err error) {
	place = strings.TrimLeft(strings.TrimPrefix(place, "./"), "/")
	if place == "." || place == "" {
		return func(string) bool { return true }, nil
	}
	if strings.ContainsAny(place, `*?[\\`) {
		pattern := strings.Split(place, "/")
		for _, p := range pattern {
			if _, err := path.Match(p, ""); err != nil {
				return nil, err
			}
		}
		if len(pattern) == 1 {
			pattern = []string{"**", pattern[0]}
		}
		return func(p string) bool { return matches(pattern, strings.Split(p, "/")) }, nil
	}
	folder := strings.TrimSuffix(place, "/")
	if t.entries[folder].folder {
		return func(p string) bool { return strings.HasPrefix(p, folder+"/") }, nil
	}
	if _, there := t.entries[place]; there {
		return func(p string) bool { return p == place }, nil
	}
	return func(p string) bool { return strings.HasPrefix(p, place) }, nil
}

// matches reports whether the names of a path match those of a pattern. at[i] says that the names so far match the
// first i of the pattern, so that many ** don't take longer than one.
func matches(pattern, names []string) bool {
	at := make([]bool, len(pattern)+1)
	skip := func() { // ** also stands for no folder
		for i, p := range pattern {
			at[i+1] = at[i+1] || at[i] && p == "**"
		}
	}
	at[0] = true
	skip()
	for _, name := range names {
		for i := len(pattern); i > 0; i-- {
			if pattern[i-1] == "**" {
				continue // it takes one more name
			}
			ok, err := path.Match(pattern[i-1], name)
			at[i] = at[i-1] && ok && err == nil
		}
		at[0] = false
		skip()
	}
	return at[len(pattern)]
}
