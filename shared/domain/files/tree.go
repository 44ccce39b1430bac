// Package files knows what files are, and nothing of conversations: a version's tree and its archive, another's
// archive that is read within bounds, the difference of two trees, and what is proposed to be written.
//
// A Tree never has a path or a link that leads out of it, whoever wrote the archive that it is read from. The same
// files are the same archive, byte by byte, so an archive's SHA-256 is its version's id. A difference depends on the
// two trees alone, so what people stamp is what is made: Tree.Make takes changes only where each path is what the
// change says it was, and becomes what the change says it is.
//
// Whatever exceeds a limit is refused by name, or left out and named. Nothing here reads a clock or a network; only
// Unpack and Pack touch a disk, within an os.Root.
package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/language"
)

// Limits of a conversation's files. Lambda's memory must hold the files and their archive at the same time.
const (
	MaxEntries = 5000     // files, folders and links together
	MaxBytes   = 32 << 20 // of all files together
	MaxDepth   = 32       // names in a path
	MaxPath    = 512      // bytes of a path
	MaxArchive = 64 << 20 // bytes of an archive: files, headers and padding
	maxHops    = 40       // links that may be followed to one target, as in Linux
	maxNames   = 256      // names in all of these links together, so that checking MaxEntries links stays fast
)

// ErrRefused is wrapped by every error about files that a Tree can't hold: a path or a link that leads out of it, or an
// exceeded limit.
var ErrRefused = errors.New("refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("workspace: %s: %w", fmt.Sprintf(format, args...), ErrRefused)
}

// File is a file that an action writes.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// entry is a file, a folder or a symbolic link.
type entry struct {
	content    []byte
	executable bool
	folder     bool
	link       string // the link's target; empty for files and folders
}

// Tree holds the files of one version. The zero value has no files. A Tree never contains a path or a link
// that leads out of it.
type Tree struct {
	entries map[string]entry
	bytes   int64
}

// CheckPath refuses a path that is not clearly inside of a Tree. It does not normalize: a path that could be
// written in a shorter way is refused, so that people approve exactly the path that is written.
func CheckPath(p string) error {
	switch {
	case p == "":
		return refuse("path is empty")
	case len(p) > MaxPath:
		return refuse("path has %d bytes, the limit is %d", len(p), MaxPath)
	case !utf8.ValidString(p):
		return refuse("path %q is no UTF-8", p)
	case strings.ContainsFunc(p, Illegible):
		return refuse("path %q has a character that can't be seen", p)
	case strings.Contains(p, `\`):
		return refuse("path %q has a backslash", p)
	case strings.HasPrefix(p, "/"):
		return refuse("path %q is absolute", p)
	}
	names := strings.Split(p, "/")
	if len(names) > MaxDepth {
		return refuse("path has %d names, the limit is %d", len(names), MaxDepth)
	}
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			return refuse("path %q leaves the workspace or is not in its shortest form", p)
		}
		if len(name) > 255 {
			return refuse("path %q has a name of %d bytes, the limit is 255", p, len(name))
		}
	}
	return nil
}

// Illegible reports whether people can't see the character or would take it for a space.
func Illegible(r rune) bool {
	return r != ' ' && (language.Ignorable(r) || language.Blank(r))
}

// Apply returns a copy of the tree with these files written. It refuses to write through a link, or to replace a folder
// or a link. An existing file keeps its mode.
func (t *Tree) Apply(files []File) (*Tree, error) {
	next := &Tree{entries: maps.Clone(t.entries), bytes: t.bytes}
	written := map[string]bool{}
	for _, f := range files {
		if written[f.Path] {
			return nil, refuse("files has %q twice", f.Path)
		}
		written[f.Path] = true
		e := entry{content: []byte(f.Content)}
		if old, ok := next.entries[f.Path]; ok {
			if old.folder || old.link != "" {
				return nil, refuse("%q is a folder or a link, no file", f.Path)
			}
			e.executable = old.executable
			next.remove(f.Path)
		}
		if err := next.add(f.Path, e); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// remove removes a file or a link.
func (t *Tree) remove(p string) {
	t.bytes -= int64(len(t.entries[p].content))
	delete(t.entries, p)
}

// add adds a new entry and the folders above it.
func (t *Tree) add(p string, e entry) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	if t.entries == nil {
		t.entries = map[string]entry{}
	}
	if old, ok := t.entries[p]; ok {
		if old.folder && e.folder {
			return nil
		}
		return refuse("%q is there twice", p)
	}
	if dir := path.Dir(p); dir != "." {
		switch above, ok := t.entries[dir]; {
		case !ok:
			if err := t.add(dir, entry{folder: true}); err != nil {
				return err
			}
		case !above.folder:
			return refuse("%q is no folder, so nothing can be in it", dir)
		}
	}
	if len(t.entries) >= MaxEntries {
		return refuse("more than %d files and folders", MaxEntries)
	}
	if t.bytes += int64(len(e.content)); t.bytes > MaxBytes {
		return refuse("more than %d bytes", MaxBytes)
	}
	t.entries[p] = e
	return nil
}

// checkLinks refuses links that lead out of the Tree, directly or through other links.
func (t *Tree) checkLinks() error {
	for p, e := range t.entries {
		if e.link == "" {
			continue
		}
		if err := t.checkLink(p, e.link); err != nil {
			return err
		}
	}
	return nil
}

// dropLinks removes the links that lead out of the Tree, and returns their paths. All are found before any is removed,
// because a link may lead out through another.
func (t *Tree) dropLinks() (out []string) {
	for p, e := range t.entries {
		if e.link != "" && t.checkLink(p, e.link) != nil {
			out = append(out, p)
		}
	}
	for _, p := range out {
		delete(t.entries, p)
	}
	slices.Sort(out)
	return out
}

// checkTarget refuses a link whose target alone shows that it can't be inside of the Tree.
func checkTarget(p, link string) error {
	switch {
	case link == "":
		return refuse("the link %q has no target", p)
	case strings.HasPrefix(link, "/"):
		return refuse("the link %q leads out of the workspace", p)
	case len(link) > MaxPath || namesOf(link) > MaxDepth || !utf8.ValidString(link) ||
		strings.ContainsFunc(link, Illegible):
		return refuse("the link %q has a target that is too long or can't be read", p)
	}
	return nil
}

func namesOf(p string) int { return strings.Count(p, "/") + 1 }

// checkLink follows a link name by name, as the kernel does, because a target that looks inside may lead out through
// another link. A link also fails the check if it goes through a link that would be refused.
func (t *Tree) checkLink(p, link string) error {
	at, ahead := parent(p), []string{link} // a stack: the last link is followed first
	for hops, names := 0, namesOf(link); len(ahead) > 0; {
		last := len(ahead) - 1
		name, rest, more := strings.Cut(ahead[last], "/")
		if ahead[last] = rest; !more {
			ahead = ahead[:last]
		}
		switch name {
		case "", ".":
			continue
		case "..":
			if at == "" {
				return refuse("the link %q leads out of the workspace", p)
			}
			at = parent(at)
			continue
		}
		next := strings.TrimPrefix(at+"/"+name, "/")
		e := t.entries[next]
		if e.link == "" {
			if at = next; len(at) > MaxPath || namesOf(at) > MaxDepth {
				return refuse("the link %q leads to a path that is too long or too deep", p)
			}
			continue
		}
		hops++
		if names += namesOf(e.link); hops > maxHops || names > maxNames {
			return refuse("the link %q leads in a circle, or over too many other links", p)
		}
		ahead = append(ahead, e.link)
	}
	return nil
}

// parent returns the folder that contains a path, or "" for the Tree itself.
func parent(p string) string { return p[:max(strings.LastIndex(p, "/"), 0)] }

// Paths returns the sorted paths of all files, without folders and links.
func (t *Tree) Paths() []string {
	var list []string
	for p, e := range t.entries {
		if !e.folder && e.link == "" {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// Content returns a file's content; ok is false if there is no such file.
func (t *Tree) Content(p string) (content []byte, ok bool) {
	e, ok := t.entries[p]
	if !ok || e.folder || e.link != "" {
		return nil, false
	}
	return e.content, true
}

// Bytes returns how many bytes all files have together.
func (t *Tree) Bytes() int64 { return t.bytes }

// order returns all paths: folders before their contents, and links last, so that nothing is unpacked through a link.
func (t *Tree) order() []string {
	link := func(p string) int { return min(len(t.entries[p].link), 1) }
	return slices.SortedFunc(maps.Keys(t.entries), func(a, b string) int {
		return cmp.Or(cmp.Compare(link(a), link(b)), cmp.Compare(a, b))
	})
}

// AttachedFolder is where attachments lie beside the conversation's files. No version of the files has this path.
const AttachedFolder = ".ringi/in"

// reserved reports whether files may not have this path: the attachments' place, or something else than a folder in its
// way.
func reserved(p string, folder bool) bool {
	return p == AttachedFolder || strings.HasPrefix(p, AttachedFolder+"/") || p == path.Dir(AttachedFolder) && !folder
}

// CheckWritable is CheckPath for a path that a proposal changes.
func CheckWritable(p string) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	if reserved(p, false) {
		return refuse("path %q is where attachments lie, which nobody can change: write to another folder", p)
	}
	return nil
}

// Own returns the tree without what stands in the attachments' place, and without the folder that was made
// for it.
func (t *Tree) Own() *Tree {
	next, within := &Tree{entries: map[string]entry{}, bytes: t.bytes}, false
	above := path.Dir(AttachedFolder)
	for p, e := range t.entries {
		if reserved(p, e.folder) {
			next.bytes -= int64(len(e.content))
			continue
		}
		next.entries[p] = e
		within = within || strings.HasPrefix(p, above+"/")
	}
	if !within {
		delete(next.entries, above)
	}
	return next
}

// With returns the tree with attachments in their place, for reading. It can't be stored.
func (t *Tree) With(attached *Tree) *Tree {
	if attached == nil || len(attached.entries) == 0 {
		return t
	}
	next := t.Own()
	next.entries = maps.Clone(next.entries)
	for _, p := range []string{path.Dir(AttachedFolder), AttachedFolder} {
		next.entries[p] = entry{folder: true}
	}
	for p, e := range attached.entries {
		next.entries[AttachedFolder+"/"+p] = e
	}
	return next
}

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
