package conversation

import "strings"

// Make returns the tree after these changes. It refuses a change whose path is not what it was, or doesn't become what
// the change says: what people approved is what is made, and on those files.
func (t *Tree) Make(changes []FileChange) (*Tree, error) {
	var files []File
	var gone []string
	for _, c := range changes {
		e, there := t.entries[c.Path]
		if there != (c.Was != nil) || there && *e.side() != *c.Was {
			return nil, refuse("%q is not what it was", c.Path)
		}
		text, ok := apply(string(e.content), c.Hunks)
		if !ok {
			return nil, refuse("%q doesn't have the lines that change", c.Path)
		}
		switch {
		case c.Is != nil:
			files = append(files, File{Path: c.Path, Content: text})
		case text != "":
			return nil, refuse("%q has lines that stay, so it can't be deleted", c.Path)
		default:
			gone = append(gone, c.Path)
		}
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
