package card

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/task"
)

// maxPages is how many sections the steps of a card may fill: with the others a
// card stays under 10 blocks and under the 13,000 characters of a message.
const maxPages = 3

// longName is how much of a step's name is shown where there is room.
const longName = 300

// Marker is how a step's progress is shown: ⬜ for a step without a row.
func Marker(s task.StepStatus) string {
	switch s {
	case task.StepRunning:
		return "🔄"
	case task.StepCompleted:
		return "✅"
	case task.StepFailed:
		return "❌"
	case task.StepUnknown:
		return "❓"
	}
	return "⬜"
}

func stepLine(s task.Step, name string) string {
	return fmt.Sprintf("%d. *%s* — `%s`", s.Order, name, or(code(s.Tool, maxTool), "?"))
}

// stepName is a step's title, or its description where there is nothing to see
// in the title; it is to be bounded.
func stepName(w *words, s task.Step) string {
	name := unformatted(s.Title, longName)
	if name == "" {
		name = unformatted(s.Description, longName)
	}
	return or(name, w.Untitled)
}

// stepList draws one line per step. Many steps fill several sections; names give
// way before steps do, and what does not fit in the end is counted.
func (d drawing) stepList(steps []task.Step, line func(s task.Step, name string) string) []slack.Block {
	if len(steps) == 0 {
		return []slack.Block{section(d.w.None)}
	}
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = stepName(d.w, s)
	}
	var pages []string
	for _, limit := range []int{longName, 120, 60, 30} {
		lines := make([]string, len(steps))
		for i, s := range steps {
			lines[i] = line(s, bounded(names[i], limit))
		}
		var left int
		if pages, left = d.paged(lines); left == 0 {
			break
		}
	}
	blocks := make([]slack.Block, len(pages))
	for i, p := range pages {
		blocks[i] = section(p)
	}
	return blocks
}

// paged fills up to maxPages sections with whole lines; left lines did not fit
// and are counted in the last one.
func (d drawing) paged(lines []string) (pages []string, left int) {
	room := maxSection - units(d.w.MoreSteps) - 10 // for the count, on any page
	page := []string{}
	used := 0
	for i, l := range lines {
		if used+units(l)+1 > room && len(page) > 0 {
			pages = append(pages, strings.Join(page, "\n"))
			page, used = nil, 0
		}
		if len(pages) == maxPages {
			left = len(lines) - i
			pages[maxPages-1] += "\n" + fill(d.w.MoreSteps, "n", left)
			return pages, left
		}
		page = append(page, l)
		used += units(l) + 1
	}
	return append(pages, strings.Join(page, "\n")), 0
}
