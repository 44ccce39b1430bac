package files

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// ChangeKind says what became of a path between two versions.
type ChangeKind string

// Kinds of changes, in the order in which they are shown: what a list of files hides comes first.
const (
	ChangedKind ChangeKind = "kind" // a file, folder or link became another of these
	ChangedLink ChangeKind = "link" // a link is new, gone, or leads elsewhere
	ChangedMode ChangeKind = "mode" // a file became executable, or is so no more
	AddedFile   ChangeKind = "added"
	ChangedFile ChangeKind = "changed"
	DeletedFile ChangeKind = "deleted"

	AddedFolder   ChangeKind = "added_folder" // without anything in it
	DeletedFolder ChangeKind = "deleted_folder"
)

var kindsShown = []ChangeKind{
	ChangedKind, ChangedLink, ChangedMode, AddedFile, ChangedFile, DeletedFile, AddedFolder, DeletedFolder,
}

// Kind says what one side of a change is.
type Kind string

const (
	KindFile   Kind = "file"
	KindFolder Kind = "folder"
	KindLink   Kind = "link"
)

// Limits of a difference that people can approve. A longer one can't be read to its end.
const (
	MaxChanges      = 50        // paths
	MaxChangedBytes = 128 << 10 // of all lines that are shown, equal ones around them included
	MaxChangedLines = 3000
	MaxChangedLine  = 2000 // characters of a line
)

// Limits within which lines are compared at all, in bytes.
const (
	mostCompared    = 1 << 20 // of each of two files
	mostComparedAll = 8 << 20 // of all files together
)

// Unshown says why a change's lines are not part of a difference.
type Unshown string

const (
	UnshownBinary Unshown = "binary" // no UTF-8 text
	UnshownLarge  Unshown = "large"
)

// Side is one side of a change.
type Side struct {
	Mode   string `json:"mode"`
	SHA256 string `json:"sha256,omitempty"` // of a file's content, or of a link's target
	Target string `json:"target,omitempty"` // of a link
}

// Change is what became of one path. Its hunks say every byte of a changed text.
type Change struct {
	Path    string  `json:"path"`
	Was     *Side   `json:"was,omitempty"` // nil: there was nothing
	Is      *Side   `json:"is,omitempty"`  // nil: there is nothing any more
	Hunks   []Hunk  `json:"hunks,omitempty"`
	Unshown Unshown `json:"unshown,omitempty"`
	// Added and Removed count the lines of hunks that were left out.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}

// Kinds says all that became of the path, in the order of kindsShown.
func (c Change) Kinds() (kinds []ChangeKind) {
	was, is := c.Was.Kind(), c.Is.Kind()
	switch {
	case was != "" && is != "" && was != is:
		return []ChangeKind{ChangedKind}
	case was == KindLink || is == KindLink:
		return []ChangeKind{ChangedLink}
	case is == KindFolder:
		return []ChangeKind{AddedFolder}
	case was == KindFolder:
		return []ChangeKind{DeletedFolder}
	}
	if is == KindFile && (c.Was == nil && c.Is.Mode == ModeExecutable || c.Was != nil && c.Was.Mode != c.Is.Mode) {
		kinds = append(kinds, ChangedMode)
	}
	switch {
	case c.Was == nil:
		kinds = append(kinds, AddedFile)
	case c.Is == nil:
		kinds = append(kinds, DeletedFile)
	case c.Was.SHA256 != c.Is.SHA256:
		kinds = append(kinds, ChangedFile)
	}
	return kinds
}

// Kind says what one side of a change is; nothing has no kind.
func (s *Side) Kind() Kind {
	if s == nil {
		return ""
	}
	switch s.Mode {
	case ModeFolder:
		return KindFolder
	case ModeLink:
		return KindLink
	}
	return KindFile
}

// Count returns how many lines a change adds and removes.
func (c Change) Count() (added, removed int) {
	added, removed = c.Added, c.Removed
	for _, h := range c.Hunks {
		more, fewer := h.Count()
		added, removed = added+more, removed+fewer
	}
	return added, removed
}

// Difference returns what became of every path between two versions, sorted as people read it. Folders that hold
// something are left out: what they hold says that they are there.
func Difference(was, is *Tree) []Change {
	paths := maps.Clone(was.entries)
	if paths == nil {
		paths = map[string]entry{}
	}
	maps.Copy(paths, is.entries)
	full := [2]map[string]bool{was.full(), is.full()}
	compared, ranked := 0, make([][]Change, len(kindsShown))
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		a, there := was.entries[p]
		b, stays := is.entries[p]
		switch {
		case there && stays && a.mode() == b.mode() && a.link == b.link && bytes.Equal(a.content, b.content):
			continue
		case there != stays && (there && a.folder && full[0][p] || stays && b.folder && full[1][p]):
			continue
		}
		c := Change{Path: p}
		if there {
			c.Was = a.side()
		}
		if stays {
			c.Is = b.side()
		}
		compared += c.compare(a.content, b.content, mostComparedAll-compared)
		rank := slices.Index(kindsShown, c.Kinds()[0])
		ranked[rank] = append(ranked[rank], c)
	}
	return slices.Concat(ranked...)
}

// compare fills in the hunks, or why there are none, and returns how many bytes were compared: at most most.
func (c *Change) compare(was, is []byte, most int) int {
	switch {
	case c.Was != nil && c.Is != nil && c.Was.SHA256 == c.Is.SHA256:
		return 0
	case !IsText(was) || !IsText(is):
		c.Unshown = UnshownBinary
		return 0
	case len(was) > mostCompared || len(is) > mostCompared || len(was)+len(is) > most:
		c.Unshown = UnshownLarge
		return 0
	}
	c.Hunks = hunksOf(string(was), string(is))
	return len(was) + len(is)
}

func (e entry) side() *Side {
	s := &Side{Mode: e.mode(), Target: e.link}
	switch {
	case e.folder:
	case e.link != "":
		s.SHA256 = Sum([]byte(e.link))
	default:
		s.SHA256 = Sum(e.content)
	}
	return s
}

// full returns the folders that hold something.
func (t *Tree) full() map[string]bool {
	out := map[string]bool{}
	for p := range t.entries {
		out[parent(p)] = true
	}
	return out
}

// Bounded leaves out the hunks of changes beyond what people can read of a difference, but not their numbers of lines.
func Bounded(changes []Change) []Change {
	out := slices.Clone(changes)
	var shown []Change
	for i, c := range out {
		if c.Hunks == nil {
			continue
		}
		if Unstampable(append(shown, c)) == nil {
			shown = append(shown, c)
			continue
		}
		added, removed := c.Count()
		out[i].Hunks, out[i].Unshown, out[i].Added, out[i].Removed = nil, UnshownLarge, added, removed
	}
	return out
}

// Unstampable says why people can't approve these changes, worded so that a model can propose others; empty: they can.
func Unstampable(changes []Change) (problems []string) {
	if n := len(changes); n > MaxChanges {
		problems = append(problems, fmt.Sprintf("changes has %d paths, the limit is %d", n, MaxChanges))
	}
	bytes, lines := 0, 0
	for _, c := range changes {
		switch c.Unshown {
		case UnshownBinary:
			problems = append(problems, fmt.Sprintf("%q is no UTF-8 text, so nobody could read its change", c.Path))
		case UnshownLarge:
			problems = append(problems, fmt.Sprintf("%q is too large for its lines to be compared, the limit is %d bytes",
				c.Path, mostCompared))
		}
		b, l, widest := c.Drawn()
		bytes, lines = bytes+b, lines+l
		if widest > MaxChangedLine {
			problems = append(problems, fmt.Sprintf(
				"%q has a changed line of %d characters, or one beside it, the limit is %d", c.Path, widest, MaxChangedLine))
		}
	}
	if bytes > MaxChangedBytes {
		problems = append(problems, fmt.Sprintf("changes has %d bytes, the limit is %d", bytes, MaxChangedBytes))
	}
	if lines > MaxChangedLines {
		problems = append(problems, fmt.Sprintf("changes has %d lines, the limit is %d", lines, MaxChangedLines))
	}
	return problems
}

// Drawn returns the bytes and lines of a change as people read it, and the characters of its widest line.
func (c Change) Drawn() (bytes, lines, widest int) {
	for _, h := range c.Hunks {
		for _, line := range h.Lines {
			bytes, lines = bytes+len(line)-1, lines+1
			widest = max(widest, utf8.RuneCountInString(strings.TrimSuffix(line[1:], "\n")))
		}
	}
	return bytes, lines, widest
}

// CheckChanges checks that changes can be drawn and made: known modes, paths inside, whole lines.
func CheckChanges(changes []Change) (problems []string) {
	seen := map[string]bool{}
	for i, c := range changes {
		field := fmt.Sprintf("changes[%d]", i)
		if err := CheckPath(c.Path); err != nil || seen[c.Path] {
			problems = append(problems, field+".path is no path, or there twice")
		}
		seen[c.Path] = true
		for _, s := range []*Side{c.Was, c.Is} {
			if s != nil && (s.Mode != ModeFile && s.Mode != ModeExecutable || s.Target != "") {
				problems = append(problems, field+" is no file")
			}
		}
		if c.Was == nil && c.Is == nil || c.Was != nil && c.Is != nil && *c.Was == *c.Is || c.Unshown != "" ||
			c.Added != 0 || c.Removed != 0 {
			problems = append(problems, field+" doesn't say what changes")
		}
		for _, h := range c.Hunks {
			for _, line := range h.Lines {
				text := strings.TrimSuffix(line, "\n")
				if len(line) < 2 || !strings.Contains(" +-", line[:1]) || strings.Contains(text, "\n") {
					problems = append(problems, field+" has a line that is none")
				}
			}
		}
	}
	return problems
}

// Heading is the line above a hunk, which says where the hunk is in both files.
func (h Hunk) Heading() string {
	added, removed := h.Count()
	return fmt.Sprintf("@@ -%s +%s @@", rangeOf(h.From, len(h.Lines)-added), rangeOf(h.To, len(h.Lines)-removed))
}

// rangeOf writes where a hunk is in a file. A hunk without lines of the file names the line before it.
func rangeOf(from, lines int) string {
	if lines == 0 {
		from--
	}
	return fmt.Sprintf("%d,%d", from, lines)
}
