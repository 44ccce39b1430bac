package demo

import "ringi/shared/words/lazy"

var (
	hiraganaForm = lazy.Regexp(`\p{Hiragana}`)
	kanjiForm    = lazy.Regexp(`[\p{Han}\p{Katakana}ー々]+`)
	politeForm   = lazy.Regexp(`([\p{Han}\p{Katakana}ー々])(?:さん|さま|くん)`) // to a name
	latinForm    = lazy.Regexp(`\p{Latin}+`)
	angleForm    = lazy.Regexp(`<[^>]*>`)
	// glueForm is a word that only an English sentence has.
	glueForm = lazy.Regexp(`(?i)\b(?:a|an|the|of|for|in|on|to|from|and|at|by|with|please|is|are|me|my|our|your|this|last|next|who|what|how)\b`)
)

// English reports whether a text is written in English, in which it is then answered: a name or a quotation in Japanese
// makes it no Japanese one. A text in neither language follows the locale.
func English(text, locale string) bool {
	text = politeForm().ReplaceAllString(angleForm().ReplaceAllString(Plain(text), " "), "$1")
	if rest, _, closed := quotations(text); closed &&
		(latinForm().MatchString(rest) || kanjiForm().MatchString(rest) || hiraganaForm().MatchString(rest)) {
		text = rest
	}
	latin, kanji := len(latinForm().FindAllString(text, -1)), len(kanjiForm().FindAllString(text, -1))
	switch {
	case hiraganaForm().MatchString(text):
		return false
	case kanji > 0:
		return latin >= 2*kanji && glueForm().MatchString(text)
	}
	return latin > 0 || locale == "en"
}
