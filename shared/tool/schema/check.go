package schema

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// check adds the problems of a value, after measurable, at a place.
func (p *part) check(v any, at []string, found *problems) {
	if len(found.list) == maxProblems || found.unsure != "" {
		return
	}
	if !p.takes(v) {
		found.add(at, wrongType(v, p.types))
		return // the other keywords are not about this type
	}
	if p.step != nil && !multiple(v, *p.step) {
		found.add(at, fmt.Sprintf("%v is no multiple of %v", v, *p.step))
	}
	if err := p.own.Validate(v); err != nil {
		found.add(at, innermost(err).Error())
	}
	p.checkForms(v, at, found)
	switch v := v.(type) {
	case string:
		if p.form != nil && !found.matches(p.form, v) {
			found.add(at, fmt.Sprintf("pattern: %q does not match %q", v, p.form.text))
		}
	case []any:
		p.checkElements(v, at, found)
	case map[string]any:
		p.checkMembers(v, at, found)
	}
}

// checkForms checks the schemas for the same value.
func (p *part) checkForms(v any, at []string, found *problems) {
	for _, x := range p.all {
		x.check(v, at, found)
	}
	if fits, nearest := choose(p.any, v, at, found.effort); fits == 0 {
		found.take(nearest)
	}
	if fits, nearest := choose(p.one, v, at, found.effort); fits == 0 {
		found.take(nearest)
	} else if fits > 1 {
		found.add(at, fmt.Sprintf("fits %d of the forms of which it must have one", fits))
	}
	if p.not != nil && found.fits(p.not, v, at) {
		found.add(at, "has the form that it must not have")
	}
	if p.cond != nil {
		decides := p.orElse
		if found.fits(p.cond, v, at) {
			decides = p.then
		}
		if decides != nil {
			decides.check(v, at, found)
		}
	}
}

func (p *part) checkElements(v []any, at []string, found *problems) {
	fit := 0
	for i, x := range v {
		there := append(at, strconv.Itoa(i))
		if i < len(p.first) {
			p.first[i].check(x, there, found)
		} else if p.rest != nil {
			p.rest.check(x, there, found)
		}
		if p.has != nil && found.fits(p.has, x, there) {
			fit++
		}
	}
	if p.has != nil && (fit < p.least || p.most >= 0 && fit > p.most) {
		limit := fmt.Sprintf("at least %d", p.least)
		if p.most >= 0 {
			limit += fmt.Sprintf(" and at most %d", p.most)
		}
		found.add(at, fmt.Sprintf("contains: %d elements have the form that %s must have", fit, limit))
	}
}

func (p *part) checkMembers(v map[string]any, at []string, found *problems) {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		there := append(at, name)
		if p.names != nil && !found.fits(p.names, name, there) {
			found.add(at, fmt.Sprintf("propertyNames: %q is no name that it may have", name))
		}
		if x := p.depend[name]; x != nil {
			x.check(v, at, found)
		}
		x, known := p.members[name]
		if known {
			x.check(v[name], there, found)
		}
		for _, form := range p.patterns {
			if found.matches(form.name, name) {
				known = true
				form.part.check(v[name], there, found)
			}
		}
		switch {
		case known:
		case p.closed:
			unknown = append(unknown, "'"+name+"'")
		case p.others != nil:
			p.others.check(v[name], there, found)
		}
	}
	if len(unknown) > 0 {
		found.add(at, fmt.Sprintf("additional properties %s not allowed", strings.Join(unknown, ", ")))
	}
}

// choose counts the forms that a value fits. Without any form it returns 1. If the value fits none, nearest are the
// problems of the form with the fewest, among the forms for the value's type.
func choose(forms []*part, v any, at []string, spent *effort) (fits int, nearest []Problem) {
	if len(forms) == 0 {
		return 1, nil
	}
	var types []string
	for _, x := range forms {
		if !x.takes(v) {
			types = append(types, x.types...)
			continue
		}
		found := problems{effort: spent}
		x.check(v, at, &found)
		if len(found.list) == 0 {
			fits++
		} else if nearest == nil || len(found.list) < len(nearest) {
			nearest = found.list
		}
	}
	if fits == 0 && nearest == nil {
		var found problems
		found.add(at, wrongType(v, types))
		nearest = found.list
	}
	return fits, nearest
}

// innermost returns the library's error without its path in the schema.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func (p *part) takes(v any) bool {
	got := kind(v)
	return len(p.types) == 0 || slices.Contains(p.types, got) || got == "integer" && slices.Contains(p.types, "number")
}

// multiple compares decimals in their notation: as float64, 0.3 is not three times 0.1.
func multiple(v any, step float64) bool {
	switch v.(type) {
	case int64, float64:
		n, _ := new(big.Rat).SetString(fmt.Sprint(v))
		of, _ := new(big.Rat).SetString(fmt.Sprint(step))
		return n.Quo(n, of).IsInt()
	}
	return true
}

func wrongType(v any, want []string) string {
	return fmt.Sprintf("got %s, want %s", kind(v), strings.Join(want, " or "))
}

func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case int64:
		return "integer"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

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
