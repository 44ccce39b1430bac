package card

import (
	"slices"
	"strings"

	"ringi/shared/words/legible"
	"ringi/shared/words/markdown"
)

// Passage is a part of a message on a page, which has no formatting but code.
type Passage struct {
	Text  string
	Code  bool // within a line
	Block bool // in lines of its own
}

// Passages splits a message into prose and code, with the same characters as its cards. A text of nothing has none.
func Passages(text string) (out []Passage) {
	pieces := markdown.Pieces(strings.TrimRight(text, " \t\n"))
	for len(pieces) > 0 {
		if pieces[0].Kind == markdown.Block {
			out = append(out, Passage{Text: legible.Code(pieces[0].Text), Block: true})
			pieces = pieces[1:]
			continue
		}
		end := slices.IndexFunc(pieces, func(p markdown.Piece) bool { return p.Kind == markdown.Block })
		if end < 0 {
			end = len(pieces)
		}
		out = append(out, proseOf(pieces[:end]).passages()...)
		pieces = pieces[end:]
	}
	if !slices.ContainsFunc(out, func(p Passage) bool { return p.Code || p.Block || legible.Text(p.Text) }) {
		return nil
	}
	return out
}

// passages splits prose at the code within its lines.
func (p prose) passages() (out []Passage) {
	text := strings.Trim(p.text, "\n")
	for i, part := range strings.Split(text, slot) {
		switch {
		case i > 0 && p.plain[i-1]:
			out[len(out)-1].Text += slot + part
			continue
		case i > 0:
			out = append(out, Passage{Text: strings.ReplaceAll(legible.Code(p.codes[i-1]), "\n", " "), Code: true})
		}
		if i == 0 || part != "" || i < len(p.plain) && p.plain[i] {
			out = append(out, Passage{Text: strings.Trim(part, joiner)})
		}
	}
	return out
}
