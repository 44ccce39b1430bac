package call

import "strings"

// command is one command of a shell's line. fed: it reads what another one writes.
type command struct {
	words []string
	fed   bool
}

// splitter splits a line into its commands and their words.
type splitter struct {
	all     []command
	now     command
	word    strings.Builder
	began   bool
	quote   rune
	outside []rune // the quote around each open substitution
}

// commands splits a shell's line into its commands, also those whose output it uses. Texts that it hands to commands
// line by line are none.
func commands(line string) []command {
	var s splitter
	escaped, ticks, before := false, false, rune(0)
	for _, r := range withoutTexts(line) {
		switch {
		case escaped:
			s.add(r)
			escaped = false
		case r == '\\' && s.quote != '\'':
			escaped = true
		case s.quote == '\'' && r != '\'':
			s.add(r)
		case r == '`' && !ticks:
			s.enter()
			ticks = true
		case r == '`', r == ')' && s.quote == 0:
			s.leave()
			ticks = ticks && r != '`'
		case r == '(' && (s.quote == 0 || before == '$'):
			s.enter()
		case s.quote != 0 && r != s.quote:
			s.add(r)
		case r == '\'' || r == '"':
			if s.quote ^= r; s.quote != 0 {
				s.began = true
			}
		case strings.ContainsRune(";|&\n", r):
			s.next(r == '|')
		case r == ' ' || r == '\t':
			s.end()
		default:
			s.add(r)
		}
		before = r
	}
	s.next(false)
	return s.all
}

func (s *splitter) add(r rune) {
	s.word.WriteRune(r)
	s.began = true
}

func (s *splitter) end() {
	if s.began {
		s.now.words = append(s.now.words, s.word.String())
	}
	s.word.Reset()
	s.began = false
}

func (s *splitter) next(fed bool) {
	if s.end(); len(s.now.words) > 0 {
		s.all = append(s.all, s.now)
	}
	s.now = command{fed: fed}
}

func (s *splitter) enter() {
	s.next(false)
	s.outside, s.quote = append(s.outside, s.quote), 0
}

func (s *splitter) leave() {
	s.next(false)
	if n := len(s.outside) - 1; n >= 0 {
		s.quote, s.outside = s.outside[n], s.outside[:n]
	}
}

// withoutTexts leaves out the lines that a shell hands to a command, as after <<EOF.
func withoutTexts(line string) string {
	var kept []string
	until := ""
	for l := range strings.Lines(line) {
		if until != "" {
			if strings.TrimSpace(l) == until {
				until = ""
			}
			continue
		}
		kept = append(kept, l)
		if _, after, is := strings.Cut(l, "<<"); is && !strings.HasPrefix(after, "<") {
			if words := strings.Fields(strings.TrimLeft(after, "- ")); len(words) > 0 {
				until = strings.Trim(words[0], `'";)`)
			}
		}
	}
	return strings.Join(kept, "")
}
