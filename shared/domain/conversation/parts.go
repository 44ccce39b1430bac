package conversation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
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
	var out []string
	l := laid(text)
	for at := l.skip(0); at < len(l.text) && len(out) < mostParts; {
		end := l.partEnd(at)
		if part := strings.TrimRight(l.markdown(at, end), " \n"); part != "" {
			out = append(out, part)
		}
		if at = l.skip(end); at < len(l.text) && len(out) == mostParts {
			out[mostParts-1] += "\n…"
		}
	}
	return out
}

// layout is a text as it is counted: blocks of code stand in it without their fences.
type layout struct {
	text   string
	pieces []legible.Piece
	ends   []int // where each piece ends in the text
}

func laid(text string) (l layout) {
	var b strings.Builder
	for _, p := range legible.MarkdownPieces(strings.TrimRight(text, " \t\n")) {
		if p.Kind == legible.Block {
			b.WriteString(p.Text)
		} else {
			b.WriteString(p.Source)
		}
		l.pieces, l.ends = append(l.pieces, p), append(l.ends, b.Len())
	}
	l.text = b.String()
	return l
}

// piece returns the piece that a position is in, and where the piece begins.
func (l layout) piece(at int) (p legible.Piece, from, to int) {
	i, _ := slices.BinarySearch(l.ends, at+1)
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.pieces[i], from, l.ends[i]
}

// skip returns where the text goes on after a part's end: without empty lines, unless they are code.
func (l layout) skip(at int) int {
	for at < len(l.text) && l.text[at] == '\n' {
		if p, _, _ := l.piece(at); p.Kind != legible.Prose {
			break
		}
		at++
	}
	return at
}

// markdown writes a part of the text.
func (l layout) markdown(at, end int) string {
	var b strings.Builder
	for begin := at; at < end; {
		p, from, to := l.piece(at)
		to = min(to, end)
		switch text := l.text[at:to]; {
		case p.Kind == legible.Block:
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
			b.WriteString(legible.Fenced(text, p.Language) + "\n")
		case p.Kind == legible.Span && (at > from || to < l.endOf(from)):
			b.WriteString(legible.Ticked(strings.Trim(strings.ReplaceAll(text, "\n", " "), "`")))
		case at == begin && p.Kind == legible.Prose: // indented deeply it would be code
			b.WriteString(strings.TrimLeft(text, " \t"))
		default:
			b.WriteString(text)
		}
		at = to
	}
	return b.String()
}

func (l layout) endOf(from int) int {
	_, _, to := l.piece(from)
	return to
}

// partEnd returns where the part that begins at a position ends.
func (l layout) partEnd(at int) int {
	used, line, word := 0, 0, 0 // ends of the last line and word that fit
	p, from, to := l.piece(at)
	for i, r := range l.text[at:] {
		if at+i == to {
			p, from, to = l.piece(to)
		}
		if at+i == from && p.Kind != legible.Prose {
			used, word = used+2*len(p.Language)+8, i
		}
		if used += cost(r); used > partSize {
			switch {
			case line > i/2:
				return at + line
			case word > i/2:
				return at + word
			}
			return at + max(i, utf8.RuneLen(r))
		}
		switch {
		case p.Kind == legible.Span:
		case r == '\n':
			line = i + 1
		case p.Kind == legible.Prose && (r == ' ' || r == '。' || r == '、'):
			word = i + utf8.RuneLen(r)
		}
	}
	return len(l.text)
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

// mostGaps is how many gaps in an output an action's row names.
const mostGaps = 12

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
