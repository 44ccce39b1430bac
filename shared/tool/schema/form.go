package schema

import (
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// patience is how long all patterns of one check may run.
const patience = 300 * time.Millisecond

// form is a pattern as ECMA 262 defines it, which is what JSON Schema asks for.
type form struct {
	text   string
	linear *regexp.Regexp  // nil if Go's patterns can't say the same
	size   int             // of its program, all of which may run for each character
	ecma   *regexp2.Regexp // otherwise; it goes back and tries again, so its time is bounded
}

func newForm(text string) (*form, error) {
	if same(text) {
		if linear, err := regexp.Compile(text); err == nil {
			size := 0
			if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
				if program, err := syntax.Compile(parsed.Simplify()); err == nil {
					size = len(program.Inst)
				}
			}
			return &form{text: text, linear: linear, size: size}, nil
		}
	}
	// Schemas are read with the u flag, as validators do; some that are published are patterns only without it.
	ecma, err := regexp2.Compile(text, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		if ecma, err = regexp2.Compile(text, regexp2.ECMAScript); err != nil {
			return nil, fmt.Errorf("not a pattern of ECMA 262: %w", err)
		}
		if strings.Contains(text, `\p`) || strings.Contains(text, `\P`) {
			return nil, fmt.Errorf("a class of characters of the pattern %q is not known", text)
		}
	}
	ecma.MatchTimeout = patience
	return &form{text: text, ecma: ecma}, nil
}

// same reports whether Go reads a pattern as ECMA 262 does: it has only what both have, with one meaning.
func same(text string) bool {
	for i := 0; i < len(text); i++ {
		rest := text[i+1:]
		switch text[i] {
		case '\\':
			if rest == "" || !strings.ContainsRune(`dDwWbBntrfv`, rune(rest[0])) && !ascii(rest[0]) {
				return false
			}
			i++
		case '.': // in a class, too: seldom enough
			return false
		case '(':
			if strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "?:") {
				return false
			}
		case '[':
			if strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "^]") || strings.HasPrefix(rest, ":") {
				return false
			}
		}
	}
	return true
}

func ascii(c byte) bool { return strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ", c) >= 0 }

// effort is what a whole check has spent on patterns.
type effort struct {
	spent  time.Duration
	unsure string // the pattern that could not be checked: the check has no result, neither way
}

// quick is how many instructions take no time that matters.
const quick = 1 << 20

// timed reads a text until a time. Go's patterns take their program's size times the text's, and can't be stopped
// otherwise.
type timed struct {
	*strings.Reader
	until time.Time
	read  int
}

func (t *timed) ReadRune() (r rune, size int, err error) {
	if t.read++; t.read%16 == 0 && time.Now().After(t.until) {
		return 0, 0, io.EOF
	}
	return t.Reader.ReadRune()
}

// matches returns false and sets unsure if matching takes too long or too much memory.
func (e *effort) matches(f *form, s string) bool {
	if e.unsure != "" {
		return false
	}
	began := time.Now()
	var fits bool
	var err error
	switch {
	case f.linear == nil:
		fits, err = f.ecma.MatchString(s)
	case f.size*len(s) < quick:
		fits = f.linear.MatchString(s)
	default:
		fits = f.linear.MatchReader(&timed{Reader: strings.NewReader(s), until: began.Add(patience)})
	}
	e.spent += time.Since(began)
	if err != nil || e.spent > patience {
		e.unsure = f.text
	}
	return fits && e.unsure == ""
}
