package legible

import "strings"

// Line is a line of a text that stands beside another one.
type Line struct {
	Text  string
	Alone bool // the other text has it nowhere
}

// Beside returns the lines of a text beside another one. A line that only moved, or an empty one, is no difference; one
// that stands more often here than there is.
func Beside(text, other string) (lines []Line) {
	there := map[string]int{}
	for line := range strings.SplitSeq(other, "\n") {
		there[line]++
	}
	for line := range strings.SplitSeq(text, "\n") {
		there[line]--
		lines = append(lines, Line{line, there[line] < 0 && strings.TrimSpace(line) != ""})
	}
	return lines
}
