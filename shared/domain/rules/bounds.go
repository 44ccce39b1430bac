package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Limits of a tenant's rules.
const (
	MaxBytes    = 100 << 10 // of all rules as JSON: what one row holds
	MaxRules    = 100
	MaxName     = 80 // characters of a rule's or a stage's name
	MaxRefuse   = 1000
	MaxListed   = 100 // values of one condition
	MaxValue    = 200 // characters of a department, position or destination
	MaxAddress  = 500 // bytes of a tool's address, as the settings have
	MaxTool     = 100 // bytes of a tool's name
	MaxStages   = 5
	MaxPeople   = 50 // of one stage, and of the readers
	MaxLevel    = 10
	MaxAskers   = 100 // of what is asked along a route: more are refused, and nobody is forgotten
	MaxStamps   = 100 // that all stages of a route need together, as in circulation
	MaxPointers = 4
	maxPointer  = 200 // bytes
	maxVersion  = 200 // bytes
)

var (
	userForm     = language.Regexp{Text: `^[UW][A-Z0-9]{1,40}$`}
	groupForm    = language.Regexp{Text: `^S[A-Z0-9]{1,40}$`}
	channelForm  = language.Regexp{Text: `^[CG][A-Z0-9]{1,40}$`}
	currencyForm = language.Regexp{Text: `^[A-Z]{3}$`}
	pointerForm  = language.Regexp{Text: `^(/([^~/]|~[01])+)+$`}
)

// problems collects what is wrong with fields.
type problems []aggregate.ErrField

func (p *problems) add(field, limit string, args ...any) {
	*p = append(*p, aggregate.ErrField{Field: field, Limit: fmt.Sprintf(limit, args...)})
}

// unless adds a problem unless a claim holds.
func (p *problems) unless(holds bool, field, limit string, args ...any) {
	if !holds {
		p.add(field, limit, args...)
	}
}

func (p *problems) between(n, least, most int, field string) {
	p.unless(n >= least && n <= most, field, "must be between %d and %d", least, most)
}

// words checks a text that people read or a value that they choose.
func (p *problems) words(text, field string, most int) {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) }
	p.unless(text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		text == strings.TrimSpace(text) && !strings.ContainsFunc(text, hidden), field,
		"must have 1 to %d characters, none of them hidden, and no space around them", most)
}

// list checks each value of a list, and that none is there twice.
func (p *problems) list(values []string, field string, most int, each func(value, field string)) {
	p.unless(len(values) <= most, field, "must have at most %d entries", most)
	seen := map[string]bool{}
	for i, v := range values {
		at := fmt.Sprintf("%s[%d]", field, i)
		each(v, at)
		p.unless(!seen[v], at, "is there twice")
		seen[v] = true
	}
}

// like returns a check by a form.
func (p *problems) like(form *language.Regexp, limit string) func(value, field string) {
	return func(value, field string) { p.unless(form.Get().MatchString(value), field, "%s", limit) }
}

func (p *problems) users(values []string, field string, most int) {
	p.list(values, field, most, p.like(&userForm, "must be a Slack user id such as U012ABCDEF"))
}

func (p *problems) group(value, field string) {
	p.like(&groupForm, "must be a Slack user group's id such as S012ABCDEF")(value, field)
}

func (p *problems) pointer(value, field string) {
	p.unless(len(value) <= maxPointer && pointerForm.Get().MatchString(value), field,
		"must be a JSON pointer of at most %d bytes such as /items/*/price", maxPointer)
}

func (p *problems) currency(value, field string) {
	p.like(&currencyForm, "must be a currency of three letters such as JPY")(value, field)
}

func (p *problems) number(d Decimal, field string) {
	p.unless(d.Valid() && d.rat().Sign() > 0, field,
		"must be a number above 0 with at most %d digits and %d decimals, such as 100000", MaxDigits, MaxDecimals)
}
