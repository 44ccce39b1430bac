package language

import (
	"regexp"
	"slices"
	"strings"
)

// PieceKind says what a piece of a text is.
type PieceKind int

const (
	Prose PieceKind = iota
	Span            // code within a line
	Block           // code in lines of its own
)

// Piece is a part of a text. The Text of code is without its backticks, fences and indentation; the lines of a block
// all end with "\n". Source is the part as it was written.
type Piece struct {
	Kind         PieceKind
	Text, Source string
	Language     string // of a block
}

// Fenced writes a block of code as Markdown, so that Pieces finds the same block.
func Fenced(code, language string) string {
	fence := strings.Repeat("`", max(3, longestRun(code)+1))
	if code != "" && !strings.HasSuffix(code, "\n") {
		code += "\n"
	}
	return fence + language + "\n" + code + fence
}

// Ticked writes code within a line as Markdown, so that Pieces finds the same code.
func Ticked(code string) string {
	ticks := strings.Repeat("`", longestRun(code)+1)
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") || padded(code) {
		code = " " + code + " "
	}
	return ticks + code + ticks
}

// padded reports whether Markdown would remove a space from both ends of code.
func padded(code string) bool {
	return len(code) > 1 && code[0] == ' ' && code[len(code)-1] == ' ' && strings.Trim(code, " ") != ""
}

func longestRun(s string) (longest int) {
	for s != "" {
		n := run(s, '`')
		longest = max(longest, n)
		s = s[max(n, 1):]
	}
	return longest
}

// run counts how many of a character a text begins with.
func run(s string, c byte) int { return len(s) - len(strings.TrimLeft(s, string(c))) }

var (
	// opening is the first line of a block of code: the marks of quotes around it, its indentation, which a list's marker
	// counts to, its backticks or tildes, and what follows them.
	opening = Regexp{Text: "^((?:[ \t]*> ?)*)([ \t]*(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)*)" +
		"(?:(`{3,})([^`]*)|(~{3,})(.*))$"}
	// name is what a block's language may be called.
	name = Regexp{Text: `^[A-Za-z0-9][A-Za-z0-9+#._-]{0,39}$`}
)

// fence is the first line of a block of code.
type fence struct {
	quotes, indent int
	mark           string
}

// inside returns a line as it stands in the block; false once the quote around the block is over.
func (f fence) inside(line string) (string, bool) {
	for range f.quotes {
		rest, quoted := strings.CutPrefix(strings.TrimLeft(line, " \t"), ">")
		if !quoted {
			return line, false
		}
		line = strings.TrimPrefix(rest, " ")
	}
	blanks := len(line) - len(strings.TrimLeft(line, " \t"))
	return line[min(f.indent, blanks):], true
}

// closes reports whether a line ends the block.
func (f fence) closes(line string) bool {
	line = strings.Trim(line, " \t")
	return len(line) >= len(f.mark) && strings.Trim(line, f.mark[:1]) == ""
}

// MarkdownPieces splits a text into prose and code: blocks between fences, and what is between backticks within a line.
// The pieces' sources together are the text.
func MarkdownPieces(text string) (out []Piece) {
	prose := 0 // where it begins, as far as it is not split yet
	for at := 0; at < len(text); {
		line, after, _ := strings.Cut(text[at:], "\n")
		m := opening.Get().FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if m != nil {
			out = append(out, spans(text[prose:at])...)
			var block Piece
			block, after = blockOf(m, text[at:])
			out, prose = append(out, block), len(text)-len(after)
		}
		at = len(text) - len(after)
	}
	return append(out, spans(text[prose:])...)
}

// blockOf reads the block of code that a text begins with, whose first line is m.
func blockOf(m []string, text string) (block Piece, rest string) {
	f := fence{strings.Count(m[1], ">"), len(m[2]), m[3] + m[5]}
	block.Kind = Block
	if language, _, _ := strings.Cut(strings.TrimSpace(m[4]+m[6]), " "); name.Get().MatchString(language) {
		block.Language = language
	}
	_, rest, _ = strings.Cut(text, "\n")
	var code strings.Builder
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		line, inside := f.inside(strings.TrimSuffix(line, "\r"))
		if !inside {
			break
		}
		rest = after
		if f.closes(line) {
			break
		}
		code.WriteString(line + "\n")
	}
	block.Text, block.Source = code.String(), text[:len(text)-len(rest)]
	return block, rest
}

// spans splits a text without blocks.
func spans(text string) (pieces []Piece) {
	prose := 0
	add := func(p Piece) {
		if p.Source != "" {
			pieces = append(pieces, p)
		}
	}
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i += 2
			continue
		case text[i] != '`':
			i++
			continue
		}
		n := run(text[i:], '`')
		end := closing(text[i+n:], n)
		if end < 0 {
			i += n
			continue
		}
		add(Piece{Kind: Prose, Text: text[prose:i], Source: text[prose:i]})
		code := text[i+n : i+n+end]
		if padded(code) {
			code = code[1 : len(code)-1]
		}
		i += n
		pieces = append(pieces, Piece{Kind: Span, Text: code, Source: text[i-n : i+end+n]})
		i += end + n
		prose = i
	}
	add(Piece{Kind: Prose, Text: text[prose:], Source: text[prose:]})
	return pieces
}

// closing returns where in a text's first line the next run of exactly n backticks begins, or -1.
func closing(s string, n int) int {
	s, _, _ = strings.Cut(s, "\n")
	for i := 0; i < len(s); {
		got := run(s[i:], '`')
		if got == n {
			return i
		}
		i += max(got, 1)
	}
	return -1
}

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
var boldForm = Regexp{Text: `\*\*([^*\s](?:[^*\n]*[^*\s])?)\*\*`}

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
		prose, at := MarkdownProse(p.Text), 0
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
	if !slices.ContainsFunc(out, func(p Passage) bool { return p.Code || p.Block || Legible(p.Text) }) {
		return nil
	}
	return out
}
