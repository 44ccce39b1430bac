package card

import (
	"fmt"
	"strings"

	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
)

// difference draws changes of files: for each path what became of it, and the lines that change.
func (d conversationDrawing) difference(changes []conversation.FileChange) (parts []string) {
	for _, c := range changes {
		parts = append(parts, "*"+inlineCode(c.Path)+"* "+became(c, d.texts, inlineCode, d.w.None))
		if lines := d.lines(c); lines != "" {
			fences, _ := fenced(unticked(tabs.Replace(lines)), maxSection-200, everything)
			parts = append(parts, fences...)
		}
	}
	return parts
}

// Became says on any surface what became of a path.
func Became(c conversation.FileChange, locale string) string {
	return became(c, conversationWordsOf(locale), legible.OneLine, wordsOf(locale).None)
}

// became says in words what became of a path; named draws where a link leads, and none that it leads nowhere.
func became(c conversation.FileChange, w *conversationWords, named func(string) string, none string) string {
	target := func(s *conversation.Side) string {
		if s == nil || s.Target == "" {
			return none
		}
		return named(s.Target)
	}
	var out []string
	for _, kind := range c.Kinds() {
		text := w.Changes[kind]
		switch kind {
		case conversation.ChangedKind:
			text = fill(text, "was", w.Entries[c.Was.Kind()], "is", w.Entries[c.Is.Kind()])
		case conversation.ChangedMode:
			text = w.Modes[c.Is.Mode]
		case conversation.ChangedLink:
			text = fill(text, "was", target(c.Was), "is", target(c.Is))
		}
		out = append(out, text)
	}
	added, removed := c.Count()
	if added+removed > 0 {
		out = append(out, fill(w.Count, "added", added, "removed", removed))
	}
	if c.Unshown != "" {
		out = append(out, w.Unshown[c.Unshown])
	}
	return strings.Join(out, " · ")
}

// lines writes a change's hunks as a unified difference in which every character can be seen.
func (d conversationDrawing) lines(c conversation.FileChange) string {
	var b strings.Builder
	for _, line := range DifferenceLines(c, d.texts.NoLineEnd) {
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// DifferenceLines returns the lines of a unified difference in which every character can be seen. noEnd stands below a
// line without a line end.
func DifferenceLines(c conversation.FileChange, noEnd string) (out []string) {
	for _, h := range c.Hunks {
		added, removed := h.Count()
		out = append(out, fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.From, len(h.Lines)-added, h.To, len(h.Lines)-removed))
		for _, line := range h.Lines {
			text, whole := strings.CutSuffix(line[1:], "\n")
			out = append(out, line[:1]+legible.Spelled(text))
			if !whole {
				out = append(out, `\ `+noEnd)
			}
		}
	}
	return out
}

// filesChanged says what an action that ended changed, with the first few names.
func (d conversationDrawing) filesChanged(x *conversation.Action) (lines []string) {
	if c := x.Changed; c != nil && c.Files > 0 {
		names := make([]string, len(c.Names))
		for i, name := range c.Names {
			names[i] = inlineCode(legible.First(name, maxTool))
		}
		text := fill(d.texts.FilesChanged, "n", c.Files, "added", c.Added, "removed", c.Removed,
			"names", strings.Join(names, ", "))
		if more := c.Files - len(names); more > 0 {
			text += fill(d.texts.MoreFiles, "n", more)
		}
		lines = append(lines, text)
	}
	if x.NotTaken {
		lines = append(lines, d.texts.NotTaken)
	}
	return lines
}
