package line

import (
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Writes names what steps would write to: a sheet, messages, or another tool by its name, each with how many steps do if
// several. It says "none" if all steps only read.
func Writes(locale string, steps []task.Step) string {
	w := wordsOf(locale)
	var names []string
	count := map[string]int{}
	for _, s := range steps {
		if s.Access != aggregate.Write {
			continue
		}
		name := legible.OneLine(s.Tool)
		switch s.Tool {
		case toolSheet:
			name = w.aSheet
		case toolMessage:
			name = w.aMessage
		}
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	if names == nil {
		return w.noWrites
	}
	for i, name := range names {
		if n := count[name]; n > 1 {
			names[i] += " ×" + strconv.Itoa(n)
		}
	}
	return strings.Join(names, w.between)
}

const (
	toolSheet   = "write_rows_to_google_sheet"
	toolMessage = "send_slack_dm"
)
