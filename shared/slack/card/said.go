package card

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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

const noWidth = "\u200b" // a word's edge for Slack where a language has none

// slackmark is Slack's own formatting, which has no escapes.
var slackmark = dialect{strong: "*", star: "*", underscore: "_", edge: noWidth, loose: "*", prose: people,
	ticked: ticked}

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

// shownCode escapes code for a fence. Slack knows no longer fence, so three backticks in a row are kept apart.
func shownCode(code string) string {
	return fenceForm.Get().ReplaceAllStringFunc(escape(legible.Code(code)), func(ticks string) string {
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

const slot = "␚" // stands in prose for code within a line, so that nothing is done to the code that is done to prose

// prose is text without blocks of code.
type prose struct {
	text  string
	codes []string // of the slots in the text
	plain []bool   // the code is the character of a slot in the text itself
}

func (p *prose) add(b *strings.Builder, code string, plain bool) {
	if n := len(p.plain); strings.HasSuffix(b.String(), slot) && !plain && !p.plain[n-1] {
		b.WriteString(joiner) // else the code before would end at the wrong backtick
	}
	b.WriteString(slot)
	p.codes, p.plain = append(p.codes, code), append(p.plain, plain)
}

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

// The marks of formatting in a text whose dialect is not chosen yet: private characters, which a text itself has not.
const (
	strongMark     = "\ue000" // bold text begins or ends
	starMark       = "\ue001" // a star that formats nothing
	underscoreMark = "\ue002"
	edgeMark       = "\ue003" // bold text begins or ends beside a character that hides this from Slack
	looseMark      = "\ue004" // bold text begins or ends where Markdown takes stars for text
)

var headingForm = language.Regexp{Text: `^#{1,6} +(.+)$`}

// formatted marks the formatting of a line. With more the line may go on: then it ends before the words that the rest
// may change.
func formatted(line string, more bool) string {
	if more {
		end := strings.LastIndexAny(line, " 。、"+slot)
		if end < 0 || line[0] == '#' {
			return ""
		}
		_, size := utf8.DecodeRuneInString(line[end:])
		line = line[:end+size]
	}
	m := headingForm.Get().FindStringSubmatch(line)
	if m == nil {
		return emphasized(line, more)
	}
	title := strings.TrimSpace(strings.ReplaceAll(m[1], "**", ""))
	mark := strongMark
	if title == "" || strings.Contains(title, "*") {
		mark = ""
	}
	return mark + emphasized(title, false) + mark
}

// emphasized marks bold and emphasized text where Slack and Markdown agree that it is: in one line, at a word's edges,
// which bold text beside dense characters doesn't need. Other stars and underscores are marked as such.
func emphasized(s string, more bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		if c != '*' && c != '_' {
			b.WriteByte(c)
			i++
			continue
		}
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], string(c)))
		inside, decided, ok := emphasis(s, i, n)
		switch {
		case more && !decided:
			return b.String()
		case !ok:
			b.WriteString(strings.Repeat(literalMark(s, i, n), n))
			i += n
			continue
		}
		begin, end := string(c), string(c)
		if n == 2 {
			begin, end = strongMarks(s, i, inside)
		}
		b.WriteString(begin + emphasized(inside, false) + end)
		i += 2*n + len(inside)
	}
	return b.String()
}

// literalMark stands for a star or underscore at i that formats nothing. An underscore within a word needs no mark.
func literalMark(s string, i, n int) string {
	if s[i] == '*' {
		return starMark
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	if n == 1 && word(before) && word(after) && before != '_' && after != '_' {
		return "_"
	}
	return underscoreMark
}

// emphasis reports whether a run of n equal signs at i begins formatted text, and returns that text. It is decided if
// the line's rest does not matter.
func emphasis(s string, i, n int) (inside string, decided, ok bool) {
	sign, rest := s[i:i+1], s[i+n:]
	if rest == "" {
		return "", false, false
	}
	edge := func(out, in rune) bool {
		return !beside(out, sign) || n == 2 && string(out) != sign && (dense(out) || dense(in))
	}
	if n > 2 || n == 2 && sign == "_" || !edge(lastRune(s[:i]), firstRune(rest)) || unicode.IsSpace(firstRune(rest)) {
		return "", true, false
	}
	end := strings.Index(rest, sign)
	if end < 0 {
		return "", false, false
	}
	after, inside := strings.TrimLeft(rest[end:], sign), rest[:end]
	ok = len(rest)-end-len(after) == n && !unicode.IsSpace(lastRune(inside)) &&
		edge(firstRune(after), lastRune(inside))
	return inside, after != "", ok
}

// strongMarks returns the marks around bold text whose stars begin at i. Slack finds stars only beside ASCII or a
// space. Markdown takes stars between a letter and punctuation for text.
func strongMarks(s string, i int, inside string) (begin, end string) {
	before, after := lastRune(s[:i]), firstRune(s[i+len(inside)+4:])
	mark := strongMark
	if beside(before, "") && sign(firstRune(inside)) || beside(after, "") && sign(lastRune(inside)) {
		mark = looseMark
	}
	begin, end = mark, mark
	if before > unicode.MaxASCII || beside(before, "") {
		begin = edgeMark + begin
	}
	if after > unicode.MaxASCII || beside(after, "") {
		end += edgeMark
	}
	return begin, end
}

// dense reports whether a character or punctuation is Japanese, Chinese or Korean: there words need no spaces.
func dense(r rune) bool {
	return r >= 0x2e80 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7af || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff
}

func sign(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s + "\n")
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString("\n" + s)
	return r
}

// beside reports whether a sign next to a character is part of a word.
func beside(r rune, sign string) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || string(r) == sign
}
