package conversation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/legible"
)

// Edit replaces a part of a file: the only place of the text Old, or the lines From to To.
type Edit struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	From int    `json:"from"` // from 1
	To   int    `json:"to"`   // inclusive
	New  string `json:"new"`
}

// lines reports whether the edit names lines and not a text.
func (e Edit) lines() bool { return e.From != 0 || e.To != 0 }

// MaxEdits limits the edits of a payload.
const MaxEdits = 100

// checkEdits checks what needs no file: fields and limits, and that a path is changed in one way only.
func (p Payload) checkEdits() (problems []string) {
	if n := len(p.Edits); n > MaxEdits {
		problems = append(problems, fmt.Sprintf("edits has %d entries, the limit is %d", n, MaxEdits))
	}
	for i, e := range p.Edits[:min(len(p.Edits), MaxEdits)] {
		field := fmt.Sprintf("edits[%d]", i)
		if err := checkWritable(e.Path); err != nil {
			problems = append(problems, fmt.Sprintf("%s.%v", field, err))
		}
		switch {
		case e.lines() && e.Old != "":
			problems = append(problems, field+" has old and from–to, it must have one of them")
		case e.lines() && (e.From < 1 || e.To < e.From):
			problems = append(problems, fmt.Sprintf("%s has the lines %d to %d, they must be 1 or more and in order",
				field, e.From, e.To))
		case !e.lines() && e.Old == "":
			problems = append(problems, field+".old is empty: it must be text of the file, or from and to must be given")
		}
		for name, text := range map[string]string{"old": e.Old, "new": e.New} {
			if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
				problems = append(problems, fmt.Sprintf("%s.%s is no text", field, name))
			}
		}
	}
	return append(problems, p.checkPaths()...)
}

// checkPaths checks the paths of deletions, and that files, edits and delete have different paths, not too many.
func (p Payload) checkPaths() (problems []string) {
	used := map[string]string{}
	for _, f := range p.Files {
		used[f.Path] = "files"
	}
	for _, e := range p.Edits {
		if used[e.Path] == "files" {
			problems = append(problems, fmt.Sprintf("%q is in files and in edits, it must be in one of them", e.Path))
			continue
		}
		used[e.Path] = "edits"
	}
	for i, path := range p.Delete {
		if err := checkWritable(path); err != nil {
			problems = append(problems, fmt.Sprintf("delete[%d].%v", i, err))
		}
		if as := used[path]; as != "" {
			problems = append(problems, fmt.Sprintf("delete[%d] %q is in %s, too", i, path, as))
		}
		used[path] = "delete"
	}
	if n := len(used); n > MaxFiles {
		problems = append(problems, fmt.Sprintf("files, edits and delete have %d paths, the limit is %d", n, MaxFiles))
	}
	return problems
}

// Changes returns what a proposal of files, edits and deletions changes in the tree, all of it against the tree as it
// is. It returns problems, worded so that a model can fix them, if something can't be done or couldn't be shown to
// people whole.
func (t *Tree) Changes(p Payload) (changes []FileChange, problems []string) {
	files := slices.Clone(p.Files)
	for _, f := range p.Files {
		if e, there := t.entries[f.Path]; there && e.kind() == KindFile && !isText(e.content) {
			problems = append(problems, fmt.Sprintf("files: %q is no UTF-8 text, so it can't be replaced", f.Path))
		}
	}
	for _, path := range editedPaths(p.Edits) {
		f, found := t.edited(path, p.Edits)
		files, problems = append(files, f), append(problems, found...)
	}
	for i, path := range p.Delete {
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
	next = next.without(p.Delete)
	changes = Difference(t, next)
	if err := next.checkNames(changes); err != nil {
		return nil, []string{err.Error()}
	}
	if problems = stampable(changes); problems != nil {
		return nil, problems
	}
	return changes, nil
}

// stampable returns problems if nothing changes, or people couldn't be shown the changes whole.
func stampable(changes []FileChange) (problems []string) {
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
		next.bytes -= int64(len(next.entries[p].content))
		delete(next.entries, p)
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
	case !isText(e.content):
		return "", "is no UTF-8 text"
	}
	return string(e.content), ""
}

func editedPaths(edits []Edit) (paths []string) {
	for _, e := range edits {
		if !slices.Contains(paths, e.Path) {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// place is the part of a text that an edit replaces, in bytes.
type place struct {
	index    int // of the edit
	from, to int
	with     string
}

// mark is the byte order mark by which Excel knows that a file is UTF-8. It is no part of the first line: no edit moves
// or removes it, only writing the file whole does.
const mark = "\ufeff"

// edited returns a file after its edits.
func (t *Tree) edited(path string, edits []Edit) (f File, problems []string) {
	text, why := t.text(path)
	if why != "" {
		return f, []string{fmt.Sprintf("edits: %q %s", path, why)}
	}
	text, marked := strings.CutPrefix(text, mark)
	ends := "\n"
	switch plain := strings.ReplaceAll(text, "\r\n", "\n"); {
	case strings.Contains(plain, "\r"), plain != text && strings.Count(plain, "\n") != strings.Count(text, "\r\n"):
		return f, []string{fmt.Sprintf("edits: %q has line ends of several kinds: write it whole in files", path)}
	case plain != text:
		text, ends = plain, "\r\n"
	}
	var places []place
	for i, e := range edits {
		if e.Path != path {
			continue
		}
		if marked {
			e.Old, e.New = strings.TrimPrefix(e.Old, mark), strings.TrimPrefix(e.New, mark)
		}
		at, err := e.find(text)
		if err == nil && text[at.from:at.to] == at.with {
			err = errors.New("changes nothing")
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("edits[%d] %v", i, err))
			continue
		}
		at.index = i
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	if marked {
		out.WriteString(mark)
	}
	end := 0
	for n, at := range places {
		if at.from < end {
			problems = append(problems, fmt.Sprintf("edits[%d] and edits[%d] overlap", places[n-1].index, at.index))
			break
		}
		out.WriteString(text[end:at.from] + at.with)
		end = at.to
	}
	if problems != nil {
		return f, problems
	}
	out.WriteString(text[end:])
	return File{Path: path, Content: strings.ReplaceAll(out.String(), "\n", ends)}, nil
}

// find returns the place of an edit in a text with plain line ends.
func (e Edit) find(text string) (at place, err error) {
	at.with = strings.ReplaceAll(e.New, "\r\n", "\n")
	if strings.Contains(at.with, "\r") {
		return at, errors.New(".new has a CR without LF: write the file whole in files")
	}
	if !e.lines() {
		old := strings.ReplaceAll(e.Old, "\r\n", "\n")
		if old == "" {
			return at, fmt.Errorf(".old is only the byte order mark of %q: write the file whole in files", e.Path)
		}
		switch n := occurrences(text, old); n {
		case 1:
		case 0:
			return at, fmt.Errorf(".old is not in %q", e.Path)
		default:
			return at, fmt.Errorf(".old is in %q %d times, it must be there once: add what stands around it", e.Path, n)
		}
		at.from = strings.Index(text, old)
		at.to = at.from + len(old)
		return at, nil
	}
	lines := slices.Collect(strings.Lines(text))
	if e.To > len(lines) {
		return at, fmt.Errorf("has the lines %d to %d, %q has %d", e.From, e.To, e.Path, len(lines))
	}
	at.from = len(strings.Join(lines[:e.From-1], ""))
	at.to = at.from + len(strings.Join(lines[e.From-1:e.To], ""))
	// New are whole lines, but a file whose last line has no end keeps it so.
	if at.with != "" && !strings.HasSuffix(at.with, "\n") && strings.HasSuffix(lines[e.To-1], "\n") {
		at.with += "\n"
	}
	return at, nil
}

// occurrences counts how often part is in the text, also where it overlaps itself, but not beyond 1,000 times.
func occurrences(text, part string) (n int) {
	for at := strings.Index(text, part); at >= 0 && n < 1000; n++ {
		text = text[at+1:]
		at = strings.Index(text, part)
	}
	return n
}

// checkNames refuses changes of paths that a file system or a person would take for another path of the tree.
func (t *Tree) checkNames(changes []FileChange) error {
	forms := map[string][]string{}
	for p := range t.entries {
		form := legible.Folded(p)
		forms[form] = append(forms[form], p)
	}
	for _, c := range changes {
		if c.Is == nil {
			continue
		}
		for p := c.Path; p != ""; p = parent(p) {
			for _, other := range forms[legible.Folded(p)] {
				if other != p {
					return refuse("path %q differs from %q only in case, width or how letters are composed", p, other)
				}
			}
		}
	}
	return nil
}

// Lines are consecutive lines of an action's output, counted from 1.
type Lines struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// mostGaps is how many gaps in an output an action's row names.
const mostGaps = MaxCommands + 2

// Missing returns the lines that are missing in an output of total lines of which those with the ascending indexes kept
// (from 0) are there.
func Missing(kept []int, total int) (gaps []Lines) {
	next := 0
	for _, i := range append(kept[:len(kept):len(kept)], total) {
		if i > next {
			gaps = append(gaps, Lines{next + 1, i})
		}
		next = max(next, i+1)
	}
	return gaps
}

// rest returns the lines from 1 to total that are in none of these.
func rest(total int, of []Lines) (left []Lines) {
	for next := 1; next <= total; {
		end, inside := total, false // of the lines from next on that are all in some of these, or in none
		for _, l := range of {
			switch {
			case l.From <= next && next <= l.To:
				end, inside = l.To, true
			case l.From > next && !inside:
				end = min(end, l.From-1)
			}
		}
		if !inside {
			left = append(left, Lines{next, end})
		}
		next = end + 1
	}
	return left
}

// WithLine adds the next line to ascending ones.
func WithLine(list []Lines, line int) []Lines {
	if n := len(list); n > 0 && list[n-1].To == line-1 {
		list[n-1].To = line
		return list
	}
	return append(list, Lines{From: line, To: line})
}

// gaps returns the lines of the output that are not kept, and whether there are more.
func (x *Action) gaps() (gaps []Lines, more bool) {
	n := 0
	for _, g := range x.Missing {
		n += g.To - g.From + 1
	}
	return x.Missing, n < x.Dropped
}

// NotKept names the lines of the action's output that are not kept, such as 1–9,500; "" if all are.
func (x *Action) NotKept() string {
	gaps, more := x.gaps()
	return NumbersOf(gaps, more)
}

// NumbersOf writes line numbers, such as 1–9,500, 9,612. An ellipsis stands for more.
func NumbersOf(all []Lines, more bool) string {
	var out []string
	for _, l := range all {
		text := Grouped(l.From)
		if l.To > l.From {
			text += "–" + Grouped(l.To)
		}
		out = append(out, text)
	}
	if more {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// Grouped writes a number with a comma before each three digits.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
