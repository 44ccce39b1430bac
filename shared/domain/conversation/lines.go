package conversation

import (
	"strconv"
	"strings"
)

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
