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

// Together reports of each line of a text whether it is one of n lines in a row that stand in another text, too. Of the
// other text beside this one, the same rows are reported.
func Together(text, other string, n int) []bool {
	lines, there := strings.Split(text, "\n"), "\n"+other+"\n"
	together := make([]bool, len(lines))
	for i := range len(lines) - n + 1 {
		if strings.Contains(there, "\n"+strings.Join(lines[i:i+n], "\n")+"\n") {
			for k := range n {
				together[i+k] = true
			}
		}
	}
	return together
}
