package legible

import (
	"ringi/shared/words/language"
	"strings"
)

var (
	opening = language.Regexp{Text: "^(`{3,})([^`]*)$|^(~{3,})(.*)$"}
	marker  = language.Regexp{Text: `^([-+*]|([0-9]{1,9})[.)])([ \t]+|$)`}
	heading = language.Regexp{Text: `^#{1,6}([ \t]|$)`}
	rule    = language.Regexp{Text: `^(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,}|=+[ \t]*)$`}
	prose   = language.Regexp{Text: `^[A-Za-z0-9][A-Za-z0-9+#._-]{0,39}$`}
)

// wide is the number of columns by which code is indented.
const wide = 4

// splitter reads a text line by line.
type splitter struct {
	out    []Piece
	leaf   strings.Builder // the lines so far of a paragraph
	para   bool            // the line before is text that may go on
	lists  []int           // the columns where the items of the lists begin that a line is in
	quotes int             // how many quotes the paragraph is in
	fence  *fence
	code   strings.Builder // of the block that is being read
	source strings.Builder // of that block
	empty  string          // lines without text that follow code by indentation
	column int             // of the code by indentation that the line before is of; 0: of none
}

// fence is the first line of a block of code.
type fence struct {
	char           byte
	length, indent int
	list           int // the column of the list's item around it
	quotes         int
}

// MarkdownPieces splits a text into prose and code. The pieces' sources together are the text.
func MarkdownPieces(text string) []Piece {
	s := &splitter{}
	for text != "" {
		line, after, _ := strings.Cut(text, "\n")
		s.line(line, text[:len(text)-len(after)])
		text = after
	}
	s.endLeaf()
	open := s.fence != nil
	s.endBlock()
	if open {
		s.out[len(s.out)-1].Open = true
	}
	s.addProse(s.empty)
	return s.out
}

// endBlock ends the block of code that is being read, if there is one.
func (s *splitter) endBlock() {
	if s.fence != nil || s.column > 0 {
		p := &s.out[len(s.out)-1]
		p.Text, p.Source = s.code.String(), s.source.String()
		s.code.Reset()
		s.source.Reset()
	}
	s.fence, s.column = nil, 0
}

func (s *splitter) addProse(text string) {
	if text != "" {
		s.out = append(s.out, Piece{Kind: Prose, Text: text, Source: text})
	}
}

// endLeaf ends the paragraph: code within a line does not go on in the next.
func (s *splitter) endLeaf() {
	s.out = append(s.out, spans(s.leaf.String())...)
	s.leaf.Reset()
	s.para = false
}

// line reads the next line. source is the line with its end.
func (s *splitter) line(line, source string) {
	line = strings.TrimSuffix(line, "\r")
	if s.fence != nil {
		if s.inFence(line, source) {
			return
		}
		s.endBlock()
	}
	blank := strings.Trim(line, " \t") == ""
	if s.column > 0 {
		switch {
		case blank:
			s.empty += source
			return
		case columns(line) >= s.column:
			s.addCode(strings.Repeat("\n", strings.Count(s.empty, "\n"))+indentedBy(line, s.column)+"\n", s.empty+source)
			s.empty = ""
			return
		}
		s.endBlock()
		s.addProse(s.empty)
		s.empty = ""
	}
	quotes, words := unquoted(line)
	if blank || strings.Trim(words, " \t") == "" {
		s.endLeaf()
		s.addProse(source)
		return
	}
	if quotes != s.quotes {
		para := s.para && quotes == 0 // text goes on without the quote's mark
		s.endLeaf()
		s.lists, s.quotes, s.para = nil, quotes, para
	}
	s.text(words, source)
}

// text reads a line with text, without the marks of quotes.
func (s *splitter) text(words, source string) {
	at := columns(words)
	for !s.para && len(s.lists) > 0 && at < s.lists[len(s.lists)-1] {
		s.lists = s.lists[:len(s.lists)-1]
	}
	words, at = s.items(words, at)
	base := 0
	if len(s.lists) > 0 {
		base = s.lists[len(s.lists)-1]
	}
	words = strings.TrimLeft(words, " \t")
	inside := at - base
	switch m := opening.Get().FindStringSubmatch(words); {
	case inside >= wide && !s.para && s.quotes == 0:
		s.endLeaf()
		s.column = base + wide
		line, _, _ := strings.Cut(source, "\n")
		s.out = append(s.out, Piece{Kind: Block})
		s.addCode(indentedBy(line, s.column)+"\n", source)
		return
	case inside < wide && m != nil:
		s.endLeaf()
		s.open(m, at, base, source)
		return
	case inside < wide && (heading.Get().MatchString(words) || rule.Get().MatchString(words)):
		s.endLeaf()
		s.leaf.WriteString(source)
		s.endLeaf()
		return
	}
	s.leaf.WriteString(source)
	s.para = words != ""
	if s.quotes > 0 { // the next line begins with the quote's mark again
		s.endLeaf()
		s.para = true
	}
}

// items reads the markers of lists at a line's beginning.
func (s *splitter) items(words string, at int) (string, int) {
	for {
		trimmed := strings.TrimLeft(words, " \t")
		m := marker.Get().FindStringSubmatch(trimmed)
		base := 0
		if len(s.lists) > 0 {
			base = s.lists[len(s.lists)-1]
		}
		for len(s.lists) > 0 && at < base {
			s.lists = s.lists[:len(s.lists)-1]
			base = 0
			if len(s.lists) > 0 {
				base = s.lists[len(s.lists)-1]
			}
		}
		interrupts := m != nil && m[3] != "" && (m[2] == "" || m[2] == "1")
		switch {
		case m == nil, at-base >= wide, rule.Get().MatchString(trimmed), s.para && len(s.lists) == 0 && !interrupts:
			return words, at
		}
		s.endLeaf()
		gap := columns(m[3])
		if gap == 0 || gap > wide {
			gap = 1
		}
		s.lists = append(s.lists, at+len(m[1])+gap)
		words = trimmed[len(m[1]):]
		at += len(m[1]) + columns(words)
	}
}

// open begins a block of code.
func (s *splitter) open(m []string, at, list int, source string) {
	mark, info := m[1]+m[3], strings.TrimSpace(m[2]+m[4])
	s.fence = &fence{mark[0], len(mark), at, list, s.quotes}
	name, _, _ := strings.Cut(info, " ")
	if !prose.Get().MatchString(name) {
		name = ""
	}
	s.out = append(s.out, Piece{Kind: Block, Language: name})
	s.addCode("", source)
}

// inFence reads a line of a block of code. It returns false if the line does not belong to the block: the quote around
// the block has ended. A block in a list goes on in lines that are not indented enough for the list.
func (s *splitter) inFence(line, source string) bool {
	f := s.fence
	for range f.quotes {
		rest, ok := quote(line)
		if !ok {
			return false
		}
		line = rest
	}
	trimmed := strings.TrimLeft(line, " ")
	if n := run(trimmed, f.char); n >= f.length && len(line)-len(trimmed) < f.list+wide &&
		strings.Trim(trimmed[n:], " \t") == "" {
		s.addCode("", source)
		s.endBlock()
		return true
	}
	s.addCode(indentedBy(line, f.indent)+"\n", source)
	return true
}

// addCode adds to the block of code that is being read.
func (s *splitter) addCode(code, source string) {
	s.code.WriteString(code)
	s.source.WriteString(source)
}

// unquoted removes the marks of quotes from a line, and counts them.
func unquoted(line string) (quotes int, rest string) {
	for {
		rest, ok := quote(line)
		if !ok {
			return quotes, line
		}
		quotes, line = quotes+1, rest
	}
}

// quote removes one mark of a quote.
func quote(line string) (rest string, ok bool) {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) >= wide || !strings.HasPrefix(trimmed, ">") {
		return line, false
	}
	return strings.TrimPrefix(trimmed[1:], " "), true
}

// columns returns how far a line is indented.
func columns(line string) (n int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += wide - n%wide
		default:
			return n
		}
	}
	return n
}

// indentedBy removes up to most columns of a line's indentation.
func indentedBy(line string, most int) string {
	n := 0
	for i := range len(line) {
		switch {
		case n >= most || line[i] != ' ' && line[i] != '\t':
			return strings.Repeat(" ", max(n-most, 0)) + line[i:]
		case line[i] == ' ':
			n++
		default:
			n += wide - n%wide
		}
	}
	return strings.Repeat(" ", max(n-most, 0))
}
