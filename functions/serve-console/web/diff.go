package web

import (
	"strings"

	"ringi/shared/domain/files"
)

// Change says whether a line was added, removed, or neither.
type Change string

const (
	Same    Change = ""
	Added   Change = "added"
	Removed Change = "removed"
)

type Line struct {
	Change Change
	Text   string
}

// Diff returns the lines of two texts: what is removed from before, added by after, or in both.
func Diff(before, after string) (out []Line) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	say := func(c Change, lines []string) {
		out = append(out, Each(lines, func(text string) Line { return Line{c, text} })...)
	}
	at := 0
	for _, s := range files.Compare(a, b) {
		say(Same, a[at:s.X0])
		say(Removed, a[s.X0:s.X1])
		say(Added, b[s.Y0:s.Y1])
		at = s.X1
	}
	say(Same, a[at:])
	return out
}
