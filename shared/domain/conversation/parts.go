package conversation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

const (
	// partSize is how much text one Slack message shows, in characters as Slack may count them. Its markdown blocks have
	// 12,000 together (https://docs.slack.dev/reference/block-kit/blocks/markdown-block); the rest is for what is added.
	partSize = 11_000
	// mostParts limits the Slack messages for one answer. The console shows the complete text.
	mostParts = 20
)

// Parts splits a message's Markdown into Slack messages, at the ends of lines if possible. Code that continues in the
// next part is closed, and opened again in the same language.
func Parts(text string) []string {
	var w parts
	for _, p := range language.MarkdownPieces(strings.TrimRight(text, " \t\n")) {
		w.add(p)
	}
	w.end()
	if len(w.out) > mostParts {
		w.out = w.out[:mostParts]
		w.out[mostParts-1] += "\n…"
	}
	return w.out
}

// parts are Slack messages while they are written: part is the last one, which costs used.
type parts struct {
	out  []string
	part strings.Builder
	used int
}

func (w *parts) end() {
	if part := strings.TrimRight(w.part.String(), " \n"); part != "" {
		w.out = append(w.out, part)
	}
	w.part.Reset()
	w.used = 0
}

func (w *parts) add(p language.Piece) {
	rest := p.Source
	if p.Kind == language.Block {
		rest = p.Text
	}
	for whole := len(rest); rest != ""; {
		if w.used == 0 && p.Kind == language.Prose { // indented deeply it would be code
			if rest = strings.TrimLeft(rest, " \t\n"); rest == "" {
				return
			}
		}
		n := w.fits(p, rest)
		switch part := rest[:n]; {
		case n == 0:
		case p.Kind == language.Block:
			if w.used > 0 && !strings.HasSuffix(w.part.String(), "\n") {
				w.write("\n")
			}
			w.write(language.Fenced(part, p.Language) + "\n")
		case p.Kind == language.Span && n < whole:
			w.write(language.Ticked(strings.Trim(strings.ReplaceAll(part, "\n", " "), "`")))
		default:
			w.write(part)
		}
		if rest = rest[n:]; rest != "" {
			w.end()
		}
	}
}

func (w *parts) write(text string) {
	w.part.WriteString(text)
	for _, r := range text {
		w.used += cost(r)
	}
}

// fits returns how many bytes of a piece's rest the part takes.
func (w *parts) fits(p language.Piece, rest string) int {
	used, line, word := w.used, 0, 0 // ends of the last line and word that fit
	if p.Kind != language.Prose {
		used += 2*len(p.Language) + 8
	}
	for i, r := range rest {
		if used += cost(r); used > partSize {
			switch {
			case line > i/2:
				return line
			case word > i/2:
				return word
			case w.used > 0:
				return 0
			}
			return max(i, utf8.RuneLen(r))
		}
		switch {
		case p.Kind == language.Span:
		case r == '\n':
			line = i + 1
		case p.Kind == language.Prose && (r == ' ' || r == '。' || r == '、'):
			word = i + utf8.RuneLen(r)
		}
	}
	return len(rest)
}

// cost returns how many characters Slack may count for r after escaping.
func cost(r rune) int {
	switch {
	case r == '&':
		return len("&amp;")
	case r == '<', r == '>':
		return len("&lt;")
	case r > 0xffff:
		return 2
	}
	return 1
}

// MessageSubject returns the subject of the card for a part of a message; the first part is 0.
func MessageSubject(key string, part int) string {
	if part == 0 {
		return "MESSAGE#" + key
	}
	return fmt.Sprintf("MESSAGE#%s/%02d", key, part+1)
}

// OfMessage returns the key of the message that a card shows, and which part.
func OfMessage(subject string) (key string, part int) {
	key, number, several := strings.Cut(strings.TrimPrefix(subject, "MESSAGE#"), "/")
	if several {
		fmt.Sscanf(number, "%d", &part)
		part--
	}
	return key, part
}

// SessionSubject begins the subjects of cards about a conversation's end.
const SessionSubject = "SESSION"

// waitsInVain returns the newest message in the inbox of a closed conversation if no card has reacted to it yet, else
// nil. A change of an earlier message doesn't count.
func (a *Aggregate) waitsInVain() *Inbox {
	if a.Conversation == nil || a.Conversation.Status != Closed {
		return nil
	}
	written := slices.DeleteFunc(slices.Clone(a.Inbox), func(i *Inbox) bool { return i.Changes != "" })
	if len(written) == 0 {
		return nil
	}
	newest := written[len(written)-1]
	card := aggregate.Card{CardType: CardSession, Subject: SessionSubject + "#" + newest.Message}
	if a.Common().Card(card.Key()) != nil {
		return nil
	}
	return newest
}

// Lines are consecutive lines of an action's output, counted from 1.
type Lines struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// WithLine adds the next line to ascending ones.
func WithLine(list []Lines, line int) []Lines {
	if n := len(list); n > 0 && list[n-1].To == line-1 {
		list[n-1].To = line
		return list
	}
	return append(list, Lines{From: line, To: line})
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
