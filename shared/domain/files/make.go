package files

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

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

// Hunk is a part of a file in which lines differ, with up to hunkContext equal lines around them.
type Hunk struct {
	From int `json:"from"` // number of its first line in the earlier file, from 1
	To   int `json:"to"`   // and in the later file
	// Lines are whole lines with their line ends. Each begins with what git writes: " " for a line of both files, "-"
	// for one of the earlier, "+" for one of the later.
	Lines []string `json:"lines"`
}

const (
	hunkContext = 3
	// mostDepth bounds how often a part is compared again. Beyond, it counts as replaced.
	mostDepth = 64
)

// Span is a part of two lists of lines: x from X0 to X1, and y from Y0 to Y1.
type Span struct{ X0, X1, Y0, Y1 int }

// hunksOf returns the difference between two texts.
func hunksOf(was, is string) (hunks []Hunk) {
	x, y := slices.Collect(strings.Lines(was)), slices.Collect(strings.Lines(is))
	changed := Compare(x, y)
	for len(changed) > 0 {
		n := 1
		for n < len(changed) && changed[n].X0-changed[n-1].X1 <= 2*hunkContext {
			n++
		}
		at, end := changed[0].X0, changed[n-1].X1
		lead := min(hunkContext, at)
		h := Hunk{From: at - lead + 1, To: changed[0].Y0 - lead + 1}
		h.add(" ", x[at-lead:at])
		for _, s := range changed[:n] {
			h.add(" ", x[at:s.X0])
			h.add("-", x[s.X0:s.X1])
			h.add("+", y[s.Y0:s.Y1])
			at = s.X1
		}
		h.add(" ", x[end:min(end+hunkContext, len(x))])
		hunks, changed = append(hunks, h), changed[n:]
	}
	return hunks
}

func (h *Hunk) add(sign string, lines []string) {
	for _, line := range lines {
		h.Lines = append(h.Lines, sign+line)
	}
}

// Count returns how many lines a hunk adds and removes.
func (h Hunk) Count() (added, removed int) {
	for _, line := range h.Lines {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// Alike returns how many characters two lines share at their beginnings and at their ends.
func Alike(x, y []rune) (first, last int) {
	for first < min(len(x), len(y)) && x[first] == y[first] {
		first++
	}
	for last < min(len(x), len(y))-first && x[len(x)-1-last] == y[len(y)-1-last] {
		last++
	}
	return first, last
}

// Compare returns the parts in which two lists of lines differ.
func Compare(x, y []string) []Span { return compare(x, y, Span{0, len(x), 0, len(y)}, 0) }

// compare is Compare of a part. The library looks for so many differences from each end; what it leaves between them is
// compared once more.
func compare(x, y []string, part Span, depth int) (changed []Span) {
	for _, d := range lcs.DiffLines(x[part.X0:part.X1], y[part.Y0:part.Y1]) {
		s := Span{part.X0 + d.Start, part.X0 + d.End, part.Y0 + d.ReplStart, part.Y0 + d.ReplEnd}
		if s == part || s.X0 == s.X1 || s.Y0 == s.Y1 || depth == mostDepth {
			changed = append(changed, s)
			continue
		}
		changed = append(changed, compare(x, y, s, depth+1)...)
	}
	return changed
}
