package demo

import (
	"strings"
	"time"

	"ringi/shared/words/lazy"
)

// monthAsSaid is a month as a text names it.
type monthAsSaid struct {
	at, end int
	m       month
	year    bool // the year is known: it is named, or follows from a word such as last month
	named   bool // the text names the year
	english bool
}

var (
	// togetherForm joins two months that share a year: 2025年9月と10月, September and October 2025.
	togetherForm  = &lazy.Regexp{Text: `(?i)^\s*(?:,|、|・|&|,?\s*\band\b|と|や|および|及び)\s*$`}
	insteadOfForm = &lazy.Regexp{Text: `^\s*より\s*$`}
	untilForm     = &lazy.Regexp{Text: `^\s*(?:まで|の?間)`}
	// offMonthForm matches what may stand between a month and one that is joined to it.
	offMonthForm = &lazy.Regexp{Text: `(?i)\x1f|\b(?:months?|hours)\b`}
)

// share gives months that are joined to one with a year its year. It returns a month that nothing joins to the one
// before it, as in “September, actually October”, or whose year is open, as in “October 2025 and September”.
func share(text string, found []monthAsSaid) (apart string) {
	for i := len(found) - 2; i >= 0; i-- {
		a, b := &found[i], &found[i+1]
		between, after := text[a.end:b.at], text[b.end:]
		if togetherForm.Get().MatchString(between) && b.english && b.named && !a.year {
			a.m, a.year, a.named = monthOf(b.m.year(), a.m.name()), true, true
			if b.m.name() == time.January && a.m.name() == time.December {
				a.m -= 12
			}
		}
		switch {
		case insteadOfForm.Get().MatchString(between) && !untilForm.Get().MatchString(after): // 9月より10月
		case a.m == b.m || betweenForm.Get().MatchString(between) || choiceForm.Get().MatchString(between) || joins(between):
			continue
		}
		apart = strings.TrimSpace(text[b.at:b.end])
	}
	for i := range found[:max(0, len(found)-1)] {
		a, b := found[i], &found[i+1]
		if !togetherForm.Get().MatchString(text[a.end:b.at]) || !a.named || b.year {
			continue
		}
		if b.english {
			apart = or(apart, strings.TrimSpace(text[b.at:b.end]))
			continue
		}
		b.m, b.year, b.named = monthOf(a.m.year(), b.m.name()), true, true
		if a.m.name() == time.December && b.m.name() == time.January {
			b.m += 12
		}
	}
	return apart
}

// joins reports whether the text between two months joins them, besides departments and words that were taken out.
func joins(between string) bool {
	s := scan(offMonthForm.Get().ReplaceAllString(between, ""))
	s.named()
	return joinedForm.Get().MatchString(offMonthForm.Get().ReplaceAllString(s.text, ""))
}
