package legible

import "strings"

// Line is a line of a text that stands beside another one.
type Line struct {
	Text  string
	Alone bool // the other text has it nowhere
}

// Beside returns the lines of a text beside another one. A line that only moved, or an empty one, is no difference.
func Beside(text, other string) (lines []Line) {
	there := map[string]bool{}
	for line := range strings.SplitSeq(other, "\n") {
		there[line] = true
	}
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, Line{line, !there[line] && strings.TrimSpace(line) != ""})
	}
	return lines
}
