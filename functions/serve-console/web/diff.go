package web

import (
	"slices"
	"strings"
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

// maxCells bounds the work of a comparison. Beyond it all lines between the common start and end count as changed.
const maxCells = 4_000_000

// Diff returns the fewest removed and added lines that turn before into after.
func Diff(before, after string) []Line {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out, end []Line
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		out = append(out, Line{Same, a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		end = append(end, Line{Same, a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(end)
	return append(append(out, between(a, b)...), end...)
}

// between compares lines by their longest common subsequence.
func between(a, b []string) []Line {
	var out []Line
	if len(a)*len(b) > maxCells {
		for _, s := range a {
			out = append(out, Line{Removed, s})
		}
		a = nil
	}
	common := make([][]int32, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, Line{Same, a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, Line{Removed, a[i]})
			i++
		default:
			out = append(out, Line{Added, b[j]})
			j++
		}
	}
	return out
}
