package files

import (
	"maps"
	"slices"
	"strings"
)

// Maker is an action that changed a path after the conversation's first files.
type Maker struct {
	Action int  `json:"action"`         // its number; 0: earlier actions, which are not named
	Seen   bool `json:"seen,omitempty"` // a person saw the changed text before it was made
}

// mostMakers is how many actions are named for one path, the newest.
const mostMakers = 10

// Made says of a version of the files which actions changed which paths since the first files. It stands beside the
// version.
type Made struct {
	Paths map[string][]Maker `json:"paths"`
	// Unknown says that nobody knows which actions made the changes before those in Paths.
	Unknown bool `json:"unknown,omitempty"`
}

// After returns what holds after an action has made these changes.
func (m Made) After(by Maker, changes []Change) Made {
	out := Made{Paths: maps.Clone(m.Paths), Unknown: m.Unknown}
	if out.Paths == nil {
		out.Paths = map[string][]Maker{}
	}
	for _, c := range changes {
		all := append(slices.Clone(out.Paths[c.Path]), by)
		if more := len(all) - mostMakers; more > 0 {
			all = append([]Maker{{}}, all[more:]...)
		}
		out.Paths[c.Path] = all
	}
	return out
}

// Below returns the same of a folder's files, by the paths of what has that folder.
func (m Made) Below(folder string) Made {
	if folder == "" {
		return m
	}
	out := Made{Paths: map[string][]Maker{}, Unknown: m.Unknown}
	for p, by := range m.Paths {
		out.Paths[folder+"/"+p] = by
	}
	return out
}

// MakersOf returns the actions that changed a path, the oldest first.
func (m Made) MakersOf(path string) []Maker {
	all := m.Paths[path]
	if m.Unknown && (len(all) == 0 || all[0].Action != 0) {
		all = append([]Maker{{}}, all...)
	}
	return all
}

// MadeBefore adds to changes which actions changed their paths before.
func MadeBefore(changes []Change, before Made) {
	for i := range changes {
		changes[i].By = before.MakersOf(changes[i].Path)
	}
}

// Make returns the tree after these changes. It refuses a change whose path is not what it was, or doesn't become what
// the change says: what people approved is what is made, and on those files.
func (t *Tree) Make(changes []Change) (*Tree, error) {
	var files []File
	var gone []string
	for _, c := range changes {
		e, there := t.entries[c.Path]
		if there != (c.Was != nil) || there && *e.side() != *c.Was {
			return nil, refuse("%q is not what it was", c.Path)
		}
		after, err := c.After(e.content)
		if err != nil {
			return nil, err
		}
		if c.Is == nil {
			gone = append(gone, c.Path)
			continue
		}
		files = append(files, File{Path: c.Path, Content: string(after)})
	}
	next, err := t.Apply(files)
	if err != nil {
		return nil, err
	}
	next = next.without(gone)
	for _, c := range changes {
		e, there := next.entries[c.Path]
		if there != (c.Is != nil) || there && *e.side() != *c.Is {
			return nil, refuse("%q doesn't become what is approved", c.Path)
		}
	}
	return next, nil
}

// apply returns a text after its hunks. ok is false if the text doesn't have the lines that the hunks say.
func apply(text string, hunks []Hunk) (after string, ok bool) {
	var out strings.Builder
	at := 1 // number of the next line
	next := func() (line string) {
		line = text
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			line = text[:end+1]
		}
		text, at = text[len(line):], at+1
		return line
	}
	for _, h := range hunks {
		for at < h.From && text != "" {
			out.WriteString(next())
		}
		if at != h.From {
			return "", false
		}
		for _, line := range h.Lines {
			if len(line) < 2 {
				return "", false
			}
			switch sign, line := line[0], line[1:]; {
			case sign == '+':
				out.WriteString(line)
			case sign != ' ' && sign != '-' || next() != line:
				return "", false
			case sign == ' ':
				out.WriteString(line)
			}
		}
	}
	return out.String() + text, true
}

// After returns the content that a file has after the change. It refuses a content that isn't the one that people saw
// changing, or that doesn't become what they saw.
func (c Change) After(was []byte) (is []byte, err error) {
	if c.Was != nil && Sum(was) != c.Was.SHA256 || c.Was == nil && len(was) > 0 {
		return nil, refuse("%q is not what it was", c.Path)
	}
	text, ok := apply(string(was), c.Hunks)
	switch {
	case !ok:
		return nil, refuse("%q doesn't have the lines that change", c.Path)
	case c.Is == nil && text != "":
		return nil, refuse("%q has lines that stay, so it can't be deleted", c.Path)
	case c.Is != nil && Sum([]byte(text)) != c.Is.SHA256:
		return nil, refuse("%q doesn't become what is approved", c.Path)
	}
	return []byte(text), nil
}
