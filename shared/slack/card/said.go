package card

import (
	"slices"
	"strings"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// said converts an agent's Markdown to Slack's own formatting: bold text and headings become bold, and code stays as it
// is but for the characters that Slack escapes. Only people that the prose names are mentioned.
func said(text string) string {
	return strings.TrimRight(written(legible.MarkdownPieces(text), false, slackmark), " \n")
}

// dialect is the formatting that a text is written in.
type dialect struct {
	strong, star, underscore string
	edge, loose              string // edgeMark, looseMark
	language                 bool   // a block of code names its language
	prose                    func(escaped string) string
	ticked                   func(code string) string
}

// noWidth makes a word's edge for Slack where a language has none.
const noWidth = "\u200b"

// slackmark is Slack's own formatting, which has no escapes.
var slackmark = dialect{strong: "*", star: "*", underscore: "_", edge: noWidth, loose: "*", prose: people, ticked: ticked}

// written writes an answer. With more the answer may go on after the pieces: then the words stay away that the rest may
// change. What two dialects write of the same pieces is shown as the same characters.
func written(pieces []legible.Piece, more bool, d dialect) string {
	var out strings.Builder
	pieces = slices.DeleteFunc(slices.Clone(pieces), func(p legible.Piece) bool { // Slack has no empty block of code
		return p.Kind == legible.Block && strings.Trim(p.Text, " \t\n") == ""
	})
	code := false // what was written last is a block of code
	for i := 0; i < len(pieces); {
		if p := pieces[i]; p.Kind == legible.Block {
			i++
			if code || out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") { // empty lines may have been removed
				out.WriteByte('\n')
			}
			out.WriteString(blockOf(p, more && i == len(pieces), d))
			code = true
			continue
		}
		end := i
		for end < len(pieces) && pieces[end].Kind != legible.Block {
			end++
		}
		text := proseOf(pieces[i:end]).formatted(out.Len() == 0, more && end == len(pieces)).in(d)
		if text != "" && code {
			text, code = "\n"+text, false
		}
		out.WriteString(text)
		i = end
	}
	if more && !code {
		return strings.TrimRight(out.String(), " \n")
	}
	return out.String()
}

// blockOf writes a block of code. If it is open, its end is not written.
func blockOf(p legible.Piece, more bool, d dialect) string {
	out := "```"
	if d.language {
		out += p.Language
	}
	if more && p.Open {
		return out + "\n" + shownCode(strings.TrimRight(p.Text, " \t\n"))
	}
	return out + "\n" + shownCode(p.Text) + "```"
}

var fences = language.Regexp{Text: "`{3,}"}

// shownCode escapes code for a fence. Slack knows no longer fence, so three backticks in a row are kept apart.
func shownCode(code string) string {
	return fences.Get().ReplaceAllStringFunc(escape(legible.Code(code)), func(ticks string) string {
		return strings.Join(strings.Split(ticks, ""), joiner)
	})
}

// ticked writes code within a line. A single backtick would end at one in the code, so such code gets a fence.
func ticked(code string) string {
	code = strings.ReplaceAll(shownCode(code), "\n", " ")
	switch {
	case !strings.Contains(code, "`"):
		return "`" + code + "`"
	case strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`"):
		code = " " + code + " "
	}
	return "```" + code + "```"
}

// slot stands in prose for code within a line, so that nothing is done to the code that is done to the prose.
const slot = "␚"

// prose is text without blocks of code.
type prose struct {
	text  string
	codes []string // of the slots in the text
	plain []bool   // the code is the character of a slot in the text itself
}

// add adds code within a line, or the character of a slot.
func (p *prose) add(b *strings.Builder, code string, plain bool) {
	if n := len(p.plain); strings.HasSuffix(b.String(), slot) && !plain && !p.plain[n-1] {
		b.WriteString(joiner) // else the code before would end at the wrong backtick
	}
	b.WriteString(slot)
	p.codes, p.plain = append(p.codes, code), append(p.plain, plain)
}

// proseOf joins pieces as people see them.
func proseOf(pieces []legible.Piece) prose {
	var p prose
	var b strings.Builder
	for _, piece := range pieces {
		if piece.Kind == legible.Span {
			p.add(&b, piece.Text, false)
			continue
		}
		text := strings.Map(unmarked, legible.Visible(piece.Text))
		for i, part := range strings.Split(text, slot) {
			if i > 0 {
				p.add(&b, slot, true)
			}
			b.WriteString(part)
		}
	}
	p.text = legible.Paragraphs(b.String())
	return p
}

// formatted marks what is formatted. first says that nothing was written before, more that the text may go on.
func (p prose) formatted(first, more bool) prose {
	p.text = breakMentions(unticking.Replace(p.text))
	if first {
		p.text = strings.TrimLeft(p.text, " \n")
	}
	lines := strings.Split(p.text, "\n")
	for i, line := range lines {
		lines[i] = formatted(line, more && i == len(lines)-1)
	}
	p.text = strings.Join(lines, "\n")
	return p
}

// unticking replaces what would begin code or strike out text.
var unticking = strings.NewReplacer("\\`", "｀", "`", "｀", "~", "～")

// in writes the prose in a dialect.
func (p prose) in(d dialect) string {
	text := d.prose(escape(p.text))
	text = strings.NewReplacer(strongMark, d.strong, starMark, d.star, underscoreMark, d.underscore, edgeMark, d.edge,
		looseMark, d.loose).Replace(text)
	var b strings.Builder
	for i, part := range strings.Split(text, slot) {
		if i > 0 && p.plain[i-1] {
			b.WriteString(slot)
		} else if i > 0 {
			b.WriteString(d.ticked(p.codes[i-1]))
		}
		b.WriteString(part)
	}
	return b.String()
}
