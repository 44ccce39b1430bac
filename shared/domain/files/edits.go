package files

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/language"
)

// Edit replaces a part of a file: the text Old, which the file has exactly once.
type Edit struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Limits of what is proposed at once.
const (
	MaxFiles = 50 // also of all paths together
	MaxEdits = 100
)

// Writing is what is proposed to be made of files: some written whole, some edited, some deleted.
type Writing struct {
	Files  []File
	Edits  []Edit
	Delete []string
}

// Check returns problems, worded so that a model can fix them, that need no file to be seen: fields and limits, and a
// path that is changed in two ways.
func (w Writing) Check() (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(w.Files)+len(w.Edits)+len(w.Delete) == 0 {
		add("files, edits and delete are empty, one of them must have an entry")
	}
	if n := len(w.Files); n > MaxFiles {
		add("files has %d entries, the limit is %d", n, MaxFiles)
	}
	used := map[string]string{}
	for i, f := range w.Files[:min(len(w.Files), MaxFiles)] {
		if err := CheckWritable(f.Path); err != nil {
			add("files[%d].%v", i, err)
		}
		if used[f.Path] != "" {
			add("files[%d].path is in the list twice", i)
		}
		if !IsText([]byte(f.Content)) {
			add("files[%d].content is no text", i)
		}
		used[f.Path] = "files"
	}
	if n := len(w.Edits); n > MaxEdits {
		add("edits has %d entries, the limit is %d", n, MaxEdits)
	}
	for i, e := range w.Edits[:min(len(w.Edits), MaxEdits)] {
		e.check(fmt.Sprintf("edits[%d]", i), add)
	}
	for _, e := range w.Edits {
		if used[e.Path] == "files" {
			add("%q is in files and in edits, it must be in one of them", e.Path)
			continue
		}
		used[e.Path] = "edits"
	}
	for i, p := range w.Delete {
		if err := CheckWritable(p); err != nil {
			add("delete[%d].%v", i, err)
		}
		if as := used[p]; as != "" {
			add("delete[%d] %q is in %s, too", i, p, as)
		}
		used[p] = "delete"
	}
	if n := len(used); n > MaxFiles {
		add("files, edits and delete have %d paths, the limit is %d", n, MaxFiles)
	}
	return problems
}

func (e Edit) check(field string, add func(format string, args ...any)) {
	if err := CheckWritable(e.Path); err != nil {
		add("%s.%v", field, err)
	}
	if e.Old == "" {
		add("%s.old is empty: it must be text of the file", field)
	}
	for _, part := range [][2]string{{"old", e.Old}, {"new", e.New}} {
		if !IsText([]byte(part[1])) {
			add("%s.%s is no text", field, part[0])
		}
	}
}

// Changes returns what a proposal of files, edits and deletions changes in the tree, all of it against the tree as it
// is. It returns problems, worded so that a model can fix them, if something can't be done or couldn't be shown to
// people whole.
func (t *Tree) Changes(w Writing) (changes []Change, problems []string) {
	files := slices.Clone(w.Files)
	for i, f := range w.Files {
		switch e, there := t.entries[f.Path]; {
		case !there || e.folder || e.link != "":
		case !IsText(e.content):
			problems = append(problems, fmt.Sprintf("files: %q is no UTF-8 text, so it can't be replaced", f.Path))
		default:
			files[i].Content = encodedAs(string(e.content), f.Content)
		}
	}
	for i, e := range w.Edits {
		if slices.ContainsFunc(w.Edits[:i], func(other Edit) bool { return other.Path == e.Path }) {
			continue
		}
		f, found := t.edited(e.Path, w.Edits)
		files, problems = append(files, f), append(problems, found...)
	}
	for i, path := range w.Delete {
		if _, why := t.text(path); why != "" {
			problems = append(problems, fmt.Sprintf("delete[%d]: %q %s", i, path, why))
		}
	}
	if problems != nil {
		return nil, problems
	}
	next, err := t.Apply(files)
	if err != nil {
		return nil, []string{err.Error()}
	}
	next = next.without(w.Delete)
	changes = Difference(t, next)
	if err := CheckNames(maps.Keys(next.entries), changes); err != nil {
		return nil, []string{err.Error()}
	}
	if problems = stampable(changes); problems != nil {
		return nil, problems
	}
	return changes, nil
}

// encodedAs gives a text that takes a file's place the file's byte order mark and, where all lines of the file end with
// CRLF, these ends: a model sees neither.
func encodedAs(file, text string) string {
	if n := strings.Count(file, "\n"); n > 0 && strings.Count(file, "\r\n") == n {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	if strings.HasPrefix(file, mark) && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	return text
}

// stampable returns problems if nothing changes, or people couldn't be shown the changes whole.
func stampable(changes []Change) (problems []string) {
	if len(changes) == 0 {
		return []string{"nothing changes: the files are like that already"}
	}
	if problems = Unstampable(changes); problems != nil {
		return append(problems, "people must be able to read it whole: propose less at once")
	}
	return nil
}

// without returns a copy of the tree without these files. Folders stay.
func (t *Tree) without(paths []string) *Tree {
	next := &Tree{entries: maps.Clone(t.entries), bytes: t.bytes}
	for _, p := range paths {
		next.remove(p)
	}
	return next
}

// text returns the content of a text file, or why the path can't be edited.
func (t *Tree) text(p string) (text, why string) {
	e, there := t.entries[p]
	switch {
	case !there:
		return "", "is not there"
	case e.folder:
		return "", "is a folder"
	case e.link != "":
		return "", "is a link"
	case !IsText(e.content):
		return "", "is no UTF-8 text"
	}
	return string(e.content), ""
}

// mark is the byte order mark by which Excel knows that a file is UTF-8. Nothing moves or removes it.
const mark = "\ufeff"

// plain returns a text without a byte order mark, and with plain line ends.
func plain(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, mark), "\r\n", "\n")
}

// edited returns a file after its edits, made one after the other.
func (t *Tree) edited(path string, edits []Edit) (f File, problems []string) {
	was, why := t.text(path)
	if why != "" {
		return f, []string{fmt.Sprintf("edits: %q %s", path, why)}
	}
	text := plain(was)
	if ends := strings.Count(was, "\r\n"); strings.Contains(text, "\r") || ends > 0 && ends != strings.Count(was, "\n") {
		return f, []string{fmt.Sprintf("edits: %q has line ends of several kinds: write it whole in files", path)}
	}
	for i, e := range edits {
		if e.Path != path {
			continue
		}
		if text, why = e.made(text); why != "" {
			problems = append(problems, fmt.Sprintf("edits[%d] %s", i, why))
		}
	}
	return File{Path: path, Content: encodedAs(was, text)}, problems
}

// made returns a plain text after the edit, or why it can't be made.
func (e Edit) made(text string) (after, why string) {
	old, with := plain(e.Old), plain(e.New)
	switch n := occurrences(text, old); {
	case strings.Contains(with, "\r"):
		return text, ".new has a CR without LF: write the file whole in files"
	case old == "":
		return text, fmt.Sprintf(".old is only the byte order mark of %q: write the file whole in files", e.Path)
	case n == 0:
		return text, fmt.Sprintf(".old is not in %q", e.Path)
	case n > 1:
		return text, fmt.Sprintf(".old is in %q %d times, it must be there once: add what stands around it", e.Path, n)
	case old == with:
		return text, "changes nothing"
	}
	return strings.Replace(text, old, with, 1), ""
}

// occurrences counts how often part is in the text, also where it overlaps itself, but not beyond 1,000 times.
func occurrences(text, part string) (n int) {
	for at := strings.Index(text, part); part != "" && at >= 0 && n < 1000; n++ {
		text = text[at+1:]
		at = strings.Index(text, part)
	}
	return n
}

// CheckNames refuses changes of paths that a file system or a person would take for another of these, or for a folder
// that one of them is in.
func CheckNames(all iter.Seq[string], changes []Change) error {
	forms := map[string][]string{}
	for p := range all {
		for ; p != ""; p = parent(p) {
			form := language.Folded(p)
			if slices.Contains(forms[form], p) {
				break // and so are the folders above
			}
			forms[form] = append(forms[form], p)
		}
	}
	for _, c := range changes {
		for p := c.Path; c.Is != nil && p != ""; p = parent(p) {
			for _, other := range forms[language.Folded(p)] {
				if other != p {
					return refuse("path %q differs from %q only in case, width or how letters are composed", p, other)
				}
			}
		}
	}
	return nil
}

// Proposed returns changes in the form in which they are proposed, for whoever proposed them to read again.
func Proposed(changes []Change) (w Writing) {
	for _, c := range changes {
		if c.Is == nil {
			w.Delete = append(w.Delete, c.Path)
			continue
		}
		var edits []Edit
		for _, h := range c.Hunks {
			var was, is strings.Builder
			for _, line := range h.Lines {
				if line[0] != '+' {
					was.WriteString(line[1:])
				}
				if line[0] != '-' {
					is.WriteString(line[1:])
				}
			}
			edits = append(edits, Edit{c.Path, was.String(), is.String()})
		}
		switch {
		case len(edits) == 0:
			w.Files = append(w.Files, File{Path: c.Path})
		case edits[0].Old == "": // the file was new or empty
			w.Files = append(w.Files, File{c.Path, edits[0].New})
		default:
			w.Edits = append(w.Edits, edits...)
		}
	}
	return w
}
