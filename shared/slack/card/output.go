package card

import (
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/conversation"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

const maxTailLine = 240 // of one line of output

var terminalCode = language.Regexp{Text: "\x1b\\[[0-9;?]*[A-Za-z]"}

// Output is a line of a command's output as people see it: as it is, without a terminal's colours, and with nothing
// hidden.
func Output(line string) string { return legible.Code(terminalCode.Get().ReplaceAllString(line, "")) }

// tail shows the last lines of the action's output and says how many lines there were, and which are missing.
func (d conversationDrawing) tail(x *conversation.Action, title string) []slack.Block {
	log := d.t.Log[max(0, len(d.t.Log)-TailLines):]
	if len(log) == 0 {
		return nil
	}
	lines := make([]string, len(log))
	for i, l := range log {
		lines[i] = cut(shownCode(beginning(Output(l.Text), maxTailLine)), maxTailLine)
	}
	n := max(log[len(log)-1].Order+1, x.Lines)
	counts := fill(d.texts.Lines, "n", conversation.Grouped(n))
	if gone := x.NotKept(); gone != "" {
		counts += fill(d.texts.Dropped, "lines", gone)
	} else if x.Lines == 0 && n > conversation.MostLines { // while it runs
		counts += fill(d.texts.Newest, "n", conversation.MostLines)
	}
	return []slack.Block{section(title + " " + counts + "\n```\n" + or(strings.Join(lines, "\n"), " ") + "\n```")}
}
