package explain

import (
	"strconv"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Writes names what steps would write to: a sheet, messages, or another tool by its name, each with how many steps do if
// several. It says "none" if all steps only read.
func Writes(locale string, steps []task.Step) string {
	w, out := lineWordsOf(locale), ""
	for i, s := range steps {
		n := 0
		for j, x := range steps {
			if x.Access == aggregate.Write && x.Tool == s.Tool {
				if n++; j < i {
					n = -len(steps) // it was named before
				}
			}
		}
		if s.Access != aggregate.Write || n < 1 {
			continue
		}
		name := legible.OneLine(s.Tool)
		switch s.Tool {
		case toolSheet:
			name = w.aSheet
		case toolMessage:
			name = w.aMessage
		}
		if n > 1 {
			name += " ×" + strconv.Itoa(n)
		}
		if out != "" {
			out += between
		}
		out += name
	}
	if out == "" {
		return w.noWrites
	}
	return out
}

// Written says what steps would write to.
type Written string

const (
	WritesSheet   Written = "sheet"
	WritesMessage Written = "message"
	WritesOther   Written = "other" // by any other tool
	WritesNothing Written = "none"
)

// WritesTo reports whether steps would write to it.
func WritesTo(steps []task.Step, to Written) bool {
	nothing := true
	for _, s := range steps {
		if s.Access != aggregate.Write {
			continue
		}
		nothing = false
		by := WritesOther
		switch s.Tool {
		case toolSheet:
			by = WritesSheet
		case toolMessage:
			by = WritesMessage
		}
		if by == to {
			return true
		}
	}
	return nothing && to == WritesNothing
}

const (
	toolSheet   = "write_rows_to_google_sheet"
	toolMessage = "send_slack_dm"
)
