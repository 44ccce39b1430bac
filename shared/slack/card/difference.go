package card

import (
	"strings"

	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
)

// difference draws changes of files: for each path what became of it, and the lines that change.
func (d conversationDrawing) difference(changes []conversation.FileChange) listing {
	l := listing{more: d.texts.Rest["files"]}
	l.add(0, "", fill(d.texts.Difference, "n", len(changes)))
	for i, c := range changes {
		again := d.again(c.Path)
		l.add(i+1, again, "*"+inlineCode(c.Path)+"* "+became(c, d.texts, inlineCode, d.w.None)+earlier(c.By, d.texts))
		if lines := d.lines(c); lines != "" {
			fences, _ := fenced(tickedApart(tabs.Replace(lines)), maxSection-200-units(again), everything)
			l.add(i+1, again, fences...)
		}
	}
	return l
}

// maxAgain is how many characters of a path stand above each further part of a file.
const maxAgain = 120

// again says whose lines go on in another section.
func (d conversationDrawing) again(path string) string {
	return fill(d.texts.Again, "name", inlineCode(legible.First(path, maxAgain)))
}

// Earlier says on any surface which actions changed a path before, and whether people saw what they wrote; empty: none.
func Earlier(by []conversation.Maker, locale string) string {
	return earlier(by, conversationWordsOf.In(locale))
}

func earlier(by []conversation.Maker, w *conversationWords) string {
	if len(by) == 0 {
		return ""
	}
	all := make([]string, len(by))
	for i, m := range by {
		switch {
		case m.Action == 0:
			all[i] = w.MadeUnknown
		case m.Seen:
			all[i] = fill(w.MadeSeen, "n", m.Action)
		default:
			all[i] = fill(w.MadeUnseen, "n", m.Action)
		}
	}
	return fill(w.MadeBefore, "actions", strings.Join(all, w.MadeAnd))
}

// Seen says on any surface whether people saw the text of what an action changed before that was made.
func Seen(x *conversation.Action, locale string) string {
	w := conversationWordsOf.In(locale)
	if x.Maker().Seen {
		return w.Seen
	}
	return w.Unseen
}

// Became says on any surface what became of a path.
func Became(c conversation.FileChange, locale string) string {
	return became(c, conversationWordsOf.In(locale), legible.OneLine, wordsOf.In(locale).None)
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
		out = append(out, h.Heading())
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
		lines = append(lines, fill(d.texts.FilesChanged, "n", c.Files, "added", c.Added, "removed", c.Removed,
			"names", d.named(c.Names, c.Files)))
		if c.Deleted > 0 {
			lines = append(lines, fill(d.texts.FilesDeleted, "n", c.Deleted, "names", d.named(c.DeletedNames, c.Deleted)))
		}
		lines = append(lines, Seen(x, d.w.Locale))
		for i, by := range c.Makers[:min(len(c.Makers), len(c.Names))] {
			if before := earlier(by, d.texts); before != "" {
				lines = append(lines, d.named(c.Names[i:i+1], 1)+before)
			}
		}
	}
	if x.NotTaken {
		lines = append(lines, d.texts.NotTaken)
	}
	return lines
}

// named returns the first names of so many files.
func (d conversationDrawing) named(first []string, of int) string {
	names := make([]string, len(first))
	for i, name := range first {
		names[i] = inlineCode(legible.First(name, maxTool))
	}
	text := strings.Join(names, ", ")
	if more := of - len(names); more > 0 {
		text += fill(d.texts.MoreFiles, "n", more)
	}
	return text
}
