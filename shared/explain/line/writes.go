package line

import (
	"strconv"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Writes names what steps would write to: a sheet, messages, or another tool by its name, each with how many steps do if
// several. It says "none" if all steps only read.
func Writes(locale string, steps []task.Step) string {
	w, out := wordsOf(locale), ""
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

const (
	toolSheet   = "write_rows_to_google_sheet"
	toolMessage = "send_slack_dm"
)
