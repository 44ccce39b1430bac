package language

import (
	"strings"
	"unicode"
)

const letter = `\p{Han}\p{Katakana}ー々`

var (
	// silentForm matches what has letters but tells no language: links, addresses and emoji.
	silentForm = &Regexp{Text: `<[^<>]*>|https?://[!-~]+|[\w.+-]{1,64}@[\w.-]+|:[\p{L}\p{N}_+'-]+:`}
	// quotedForm matches others' words: quotations, quoted lines and code.
	quotedForm = &Regexp{Text: "(?s)```.*?```|`[^`\n]*`|「[^「」]*」|『[^『』]*』|“[^“”]*”|\"[^\"]*\"|＂[^＂]*＂|(?m:^>.*$)"}
	// nameForm matches people, departments and dates, which English texts have in Japanese, too.
	nameForm     = &Regexp{Text: `[` + letter + `]+(?:さん|さま|くん|部|課|室)|\d+\s*[年月日]`}
	hiraganaForm = &Regexp{Text: `\p{Hiragana}`}
	kanjiForm    = &Regexp{Text: `[` + letter + `]+`}
	latinForm    = &Regexp{Text: `\p{Latin}+`}
	otherForm    = &Regexp{Text: `[^\P{L}\p{Latin}\p{Hiragana}` + letter + `]+`}
	// chineseForm matches frequent characters that Japanese doesn't have.
	chineseForm = &Regexp{Text: `[你们这请吗么给为对时说过还让无]`}
	// glueForm matches a word that occurs only in English sentences.
	glueForm = &Regexp{Text: `(?i)\b(?:a|an|the|of|for|in|on|to|from|and|at|by|with|please|is|are|me|my|our|your|` +
		`this|last|next|who|what|how)\b`}
)

const (
	// maxNested is how deep quotations within quotations are understood.
	maxNested = 3
	// maxEnd is how many bytes of a text's beginning and of its end count.
	maxEnd = 6000
)

// Of returns the language in which a person wrote a text and should be answered: Japanese if it has Japanese words,
// English if it has Latin words alone. Names and dates in Japanese don't count, nor do single Japanese words within an
// English sentence; quotations and code count only if there is nothing else. If the letters don't tell, it returns
// otherwise.
func Of(text, otherwise string) string {
	if len(text) > 2*maxEnd {
		text = text[:maxEnd] + text[len(text)-maxEnd:]
	}
	text = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(silentForm.Get().ReplaceAllString(text, " "))
	rest := text
	for range maxNested {
		rest = quotedForm.Get().ReplaceAllString(rest, " ")
	}
	if strings.ContainsFunc(rest, unicode.IsLetter) {
		text = rest
	}
	plain := nameForm.Get().ReplaceAllString(text, " ")
	latin, kanji := len(latinForm.Get().FindAllString(plain, -1)), len(kanjiForm.Get().FindAllString(plain, -1))
	english := false
	switch {
	case hiraganaForm.Get().MatchString(plain):
	case chineseForm.Get().MatchString(plain):
		return otherwise
	case kanji > 0:
		first := strings.TrimLeftFunc(plain, func(r rune) bool { return !unicode.IsLetter(r) })
		english = latin >= 2*kanji && glueForm.Get().MatchString(plain) && latinForm.Get().FindStringIndex(first)[0] == 0
	case nameForm.Get().MatchString(text):
		english = latin > 1 || glueForm.Get().MatchString(plain)
	case latin == 0, len(otherForm.Get().FindAllString(plain, -1)) > latin:
		return otherwise
	default:
		english = true
	}
	if english {
		return English
	}
	return All[0]
}
