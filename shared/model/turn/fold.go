package turn

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// What is shown of a conversation, the summary of what is older included.
const (
	MaxMessages = 1000
	MaxBytes    = 204_800 // of UTF-8
)

// MaxFolded is how long a summary may be, in bytes of UTF-8.
const MaxFolded = 12_000

// Fold parts what is shown of a conversation, the oldest first, where it is too much: older is to be summed up with the
// summary at its beginning, if there is one, and shown stays. older is empty while nothing is too much. It folds more
// than it must, so that not every message folds again; the newest message always stays.
func Fold(history []Message) (older, shown []Message) {
	size := 0
	for _, m := range history {
		size += len(m.Text)
	}
	if len(history) <= MaxMessages && size <= MaxBytes || len(history) < 2 {
		return nil, history
	}
	n := 0
	for ; n < len(history)-1 && (len(history)-n+1 > MaxMessages*3/4 || size+MaxFolded > MaxBytes*3/4); n++ {
		size -= len(history[n].Text)
	}
	if n == 1 && history[0].Collapsed { // a summary alone is nothing to sum up
		n = 2
	}
	if n >= len(history) {
		return nil, history
	}
	return history[:n], history[n:]
}

// Summarize is what stands for older messages from now on: what the model says, with the earlier summary in it, or
// without a model's answer the first lines. The usage is that of the call, also where its answer was not taken.
func Summarize(ctx context.Context, w model.Wire, older []Message, locale string) (string, model.Usage) {
	if w == nil {
		return FirstLines(older, locale), model.Usage{}
	}
	p, err := foldPromptIn(locale)
	if err != nil {
		return FirstLines(older, locale), model.Usage{}
	}
	r := model.Request{Purpose: "chat", System: p.Text, MaxTokens: MaxTokens,
		Messages: []model.Message{model.Words(model.User, fenced(plainly(older)))}}
	got, err := model.Say(ctx, w, r, p.Name(), func(string) {})
	got.Usage.ID = aggregate.NewID()
	text := strings.TrimSpace(legible.Visible(got.Text))
	if err != nil || got.Stop != model.StopEnd || !legible.Text(text) || len(text) > MaxFolded {
		return FirstLines(older, locale), got.Usage
	}
	return text, got.Usage
}

// plainly are messages without what vendors ask of turns: who said what.
func plainly(older []Message) (out []entry) {
	for _, m := range older {
		switch {
		case m.Collapsed:
			out = append(out, entry{Summary: m.Text})
		case m.Sender == FromSystem:
			out = append(out, m.system()...)
		case m.Sender == FromUser:
			out = append(out, entry{From: line(m.Name), Text: legible.Visible(m.Text)})
		case m.Proposal != nil:
			out = append(out, entry{Agent: m.Text + "\n(proposed: " + m.Proposal.Summary + ")"})
		default:
			out = append(out, entry{Agent: m.Text})
		}
		for _, f := range m.Files {
			out = append(out, entry{From: line(m.Name), File: line(f.Name)})
		}
	}
	return out
}

type foldTexts struct{ agent, system, more string }

var foldWords = language.InEach(foldTexts{"エージェント", "Ringi", "(ほか %d 件)"}, foldTexts{"Agent", "Ringi", "(%d more)"})

// maxLine is how many characters of a message's first line are kept.
const maxLine = 80

// FirstLines are the beginnings of messages, one line each, behind the summary they have at their beginning, as many as
// fit into MaxFolded bytes; the last line says how many did not. A line says by its beginning whose it is: a person's name stands
// in quotes, the agent and Ringi in none, and earlierLine before what the earlier summary says.
func FirstLines(older []Message, locale string) string {
	w := foldWords.In(locale)
	var out []string
	size := 0
	for i, m := range older {
		l := firstLine(m, w)
		if m.Collapsed { // each folding leaves room for what is newer
			if l = earlier(m.Text); len(l) > MaxFolded/2 {
				l = legible.FirstBytes(l, MaxFolded/2) + "…"
			}
		}
		if size += len(l) + 1; size > MaxFolded-100 {
			return strings.Join(append(out, fmt.Sprintf(w.more, len(older)-i)), "\n")
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

const earlierLine = "| "

// earlier is a summary with earlierLine before each line, once: a model may have written it, and was told what anybody
// said.
func earlier(summary string) string {
	lines := strings.Split(legible.Visible(summary), "\n")
	for i, l := range lines {
		lines[i] = earlierLine + strings.TrimPrefix(l, earlierLine)
	}
	return strings.Join(lines, "\n")
}

func firstLine(m Message, w foldTexts) string {
	switch m.Sender {
	case FromSystem:
		return w.system + ": " + ownLine(m)
	case FromUser:
		return inQuotes(line(m.Name)) + ": " + lineOf(m.Text)
	}
	return w.agent + ": " + lineOf(m.Text)
}

// ownLine is the first line of what Ringi says; what others said in it stands in quotes.
func ownLine(m Message) string {
	said, room := "", maxLine
	for _, e := range m.system() {
		if room <= 0 {
			break
		}
		text := legible.Clip(line(e.Quoted), room)
		if room -= utf8.RuneCountInString(text); e.Quoted != "" {
			said += inQuotes(text)
			continue
		}
		own, _, more := strings.Cut(strings.TrimLeft(legible.Visible(e.System), "\n"), "\n")
		text = legible.Clip(own, room)
		if said += text; more {
			break
		}
		room -= utf8.RuneCountInString(text)
	}
	return strings.TrimSpace(said)
}

func lineOf(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(legible.Visible(text)), "\n")
	return legible.Clip(first, maxLine)
}

// inQuotes is a line that nothing in it can end.
func inQuotes(line string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line) + `"`
}
