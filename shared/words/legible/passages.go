package legible

import (
	"regexp"
	"slices"
	"strings"

	"ringi/shared/words/language"
)

// Passage is a part of a message on a page, which has no formatting but code and, in agents' prose, bold text.
type Passage struct {
	Text   string
	Code   bool // within a line
	Block  bool // in lines of its own
	Strong bool
}

// Passages splits a message into prose and code, with the same characters as cards. A text of nothing has none.
func Passages(text string) []Passage { return passagesOf(text, nil) }

// Answered is Passages for an agent's answer, with its bold text.
func Answered(text string) []Passage { return passagesOf(text, boldForm.Get()) }

// boldForm is bold text of Markdown within a line, and the text around it.
var boldForm = language.Regexp{Text: `\*\*([^*\s](?:[^*\n]*[^*\s])?)\*\*`}

func passagesOf(text string, bold *regexp.Regexp) (out []Passage) {
	var pieces []Piece
	for _, p := range MarkdownPieces(strings.TrimRight(text, " \t\n")) {
		if n := len(pieces); n > 0 && p.Kind == Prose && pieces[n-1].Kind == Prose {
			pieces[n-1].Text += p.Text
			continue
		}
		pieces = append(pieces, p)
	}
	for i, p := range pieces {
		switch p.Kind {
		case Block:
			out = append(out, Passage{Text: Code(p.Text), Block: true})
			continue
		case Span:
			out = append(out, Passage{Text: strings.ReplaceAll(Code(p.Text), "\n", " "), Code: true})
			continue
		}
		prose, at := Spoken(p.Text), 0
		if i == 0 || pieces[i-1].Kind == Block {
			prose = strings.TrimLeft(prose, "\n")
		}
		if i+1 < len(pieces) && pieces[i+1].Kind == Block {
			prose = strings.TrimRight(prose, "\n")
		}
		if bold != nil {
			for _, m := range bold.FindAllStringSubmatchIndex(prose, -1) {
				out = append(out, Passage{Text: prose[at:m[0]]}, Passage{Text: prose[m[2]:m[3]], Strong: true})
				at = m[1]
			}
		}
		out = append(out, Passage{Text: prose[at:]})
	}
	out = slices.DeleteFunc(out, func(p Passage) bool { return p.Text == "" })
	if !slices.ContainsFunc(out, func(p Passage) bool { return p.Code || p.Block || Text(p.Text) }) {
		return nil
	}
	return out
}

// Line is a line of a text that stands beside another one.
type Line struct {
	Text  string
	Alone bool // the other text has it nowhere
}

// Beside returns the lines of a text beside another one. A line that only moved, or an empty one, is no difference; one
// that stands more often here than there is.
func Beside(text, other string) (lines []Line) {
	there := map[string]int{}
	for line := range strings.SplitSeq(other, "\n") {
		there[line]++
	}
	for line := range strings.SplitSeq(text, "\n") {
		there[line]--
		lines = append(lines, Line{line, there[line] < 0 && strings.TrimSpace(line) != ""})
	}
	return lines
}
