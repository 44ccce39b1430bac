package files

import (
	"slices"
	"strings"
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
	// mostCells bounds the table with which lines are compared where no line stands out, mostDepth how often a part is
	// split at lines that do. Beyond, a part counts as replaced.
	mostCells, mostDepth = 1 << 20, 64
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

// Compare returns the parts in which two lists of lines differ. Between lines that both lists have once, in the same
// order, it looks for the longest common part.
func Compare(x, y []string) (changed []Span) {
	ids := map[string]int{} // a line's number, so that lines are compared once
	number := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, line := range lines {
			if _, known := ids[line]; !known {
				ids[line] = len(ids)
			}
			out[i] = ids[line]
		}
		return out
	}
	c := comparison{x: number(x), y: number(y)}
	c.part(Span{0, len(x), 0, len(y)}, 0)
	return c.changed
}

type comparison struct {
	x, y    []int
	changed []Span
}

func (c *comparison) part(s Span, depth int) {
	for s.X0 < s.X1 && s.Y0 < s.Y1 && c.x[s.X0] == c.y[s.Y0] {
		s.X0, s.Y0 = s.X0+1, s.Y0+1
	}
	for s.X0 < s.X1 && s.Y0 < s.Y1 && c.x[s.X1-1] == c.y[s.Y1-1] {
		s.X1, s.Y1 = s.X1-1, s.Y1-1
	}
	if s.X0 == s.X1 && s.Y0 == s.Y1 {
		return
	}
	var same [][2]int // positions of lines that stay
	both := s.X0 < s.X1 && s.Y0 < s.Y1
	if both && depth < mostDepth {
		same = c.unique(s)
	}
	if both && same == nil && (s.X1-s.X0)*(s.Y1-s.Y0) <= mostCells {
		same, depth = c.common(s), mostDepth
	}
	if same == nil {
		c.changed = append(c.changed, s)
		return
	}
	x, y := s.X0, s.Y0
	for _, at := range append(same, [2]int{s.X1, s.Y1}) {
		c.part(Span{x, at[0], y, at[1]}, depth+1)
		x, y = at[0]+1, at[1]+1
	}
}

// unique returns the longest list of lines, in the order of both, that each occur once in x and once in y.
func (c *comparison) unique(s Span) [][2]int {
	type seen struct{ inX, inY, y int }
	all := map[int]*seen{}
	of := func(id int) *seen {
		if all[id] == nil {
			all[id] = &seen{}
		}
		return all[id]
	}
	for _, id := range c.x[s.X0:s.X1] {
		of(id).inX++
	}
	for i, id := range c.y[s.Y0:s.Y1] {
		of(id).inY++
		of(id).y = s.Y0 + i
	}
	var pairs [][2]int
	var ends, before []int // by length: the pair with the least y that ends such a list; by pair: the one before
	for i, id := range c.x[s.X0:s.X1] {
		if w := all[id]; w.inX == 1 && w.inY == 1 {
			at, _ := slices.BinarySearchFunc(ends, w.y, func(end, y int) int { return pairs[end][1] - y })
			before = append(before, -1)
			if at > 0 {
				before[len(pairs)] = ends[at-1]
			}
			if at == len(ends) {
				ends = append(ends, 0)
			}
			ends[at] = len(pairs)
			pairs = append(pairs, [2]int{s.X0 + i, w.y})
		}
	}
	var out [][2]int
	if len(ends) > 0 {
		for n := ends[len(ends)-1]; n >= 0; n = before[n] {
			out = append(out, pairs[n])
		}
	}
	slices.Reverse(out)
	return out
}

// common returns the longest common part of a small span.
func (c *comparison) common(s Span) (out [][2]int) {
	wide := s.Y1 - s.Y0 + 1
	longest := make([]int32, (s.X1-s.X0+1)*wide)
	at := func(x, y int) *int32 { return &longest[(x-s.X0)*wide+y-s.Y0] }
	for x := s.X1 - 1; x >= s.X0; x-- {
		for y := s.Y1 - 1; y >= s.Y0; y-- {
			*at(x, y) = max(*at(x+1, y), *at(x, y+1))
			if c.x[x] == c.y[y] {
				*at(x, y) = *at(x+1, y+1) + 1
			}
		}
	}
	for x, y := s.X0, s.Y0; x < s.X1 && y < s.Y1; {
		switch {
		case c.x[x] == c.y[y]:
			out = append(out, [2]int{x, y})
			x, y = x+1, y+1
		case *at(x+1, y) >= *at(x, y+1):
			x++
		default:
			y++
		}
	}
	return out
}
