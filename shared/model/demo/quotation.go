package demo

import (
	"strings"

	"ringi/shared/words/lazy"
)

// While a text is read, each quotation is replaced by a rune of the private use area.
const firstQuotation, maxQuotations = '\ue000', 100

// quotations takes the quoted texts out of a text unchanged. It reports false if quotation marks don't match, or if
// there are more than maxQuotations.
func quotations(text string) (rest string, said []string, ok bool) {
	closing := map[rune]rune{'「': '」', '『': '』', '“': '”', '"': '"', '＂': '＂'}
	runes, ok := []rune(text), true
	for i := 0; i < len(runes); i++ {
		c, end := runes[i], 0
		switch {
		case closing[c] != 0:
			end = closed(runes[i+1:], c, closing[c])
			if ok = ok && end >= 0 && len(said) < maxQuotations; !ok {
				return rest, said, false
			}
			c = ' '
			if quoted := string(runes[i+1 : i+1+end]); strings.TrimSpace(quoted) != "" {
				c, said = firstQuotation+rune(len(said)), append(said, quoted)
			}
			i += end + 1
		case strings.ContainsRune("」』”", c):
			ok, c = false, ' '
		case c >= firstQuotation && c < firstQuotation+maxQuotations:
			c = ' '
		}
		rest += string(c)
	}
	return rest, said, ok
}

// closed is the number of runes of a quotation, nested ones included, or -1 if the quotation has no end.
func closed(runes []rune, begin, end rune) int {
	depth := 1
	for i, c := range runes {
		switch {
		case c == end:
			if depth--; depth == 0 {
				return i
			}
		case c == begin:
			depth++
		}
	}
	return -1
}

var (
	quoteForm = &lazy.Regexp{Text: `[\x{e000}-\x{e063}]`}
	// tabForm matches a quotation that names a tab.
	tabForm = &lazy.Regexp{Text: `(?i)(?:シート|タブ|tab|sheet)\s*([\x{e000}-\x{e063}])|([\x{e000}-\x{e063}])\s*(?:という)?(?:の)?(?:シート|タブ|tab|sheet)(?:(?:に|へ)(?:書い|書き込ん|出し|まとめ|保存し|入れ)?(?:て|で)?)?`}
)

var (
	// dictatedForm matches the text of a message that stands without quotation marks behind a word such as “saying”, and
	// toldThatForm one behind “tell … that”.
	dictatedForm = &lazy.Regexp{Text: `(?is)^(.*(?:<@[UW]|[\w.+-]+@[\w-]+\.).*?)\b(?:saying(?:\s+that)?|(?:that|which)\s+says|with\s+the\s+(?:text|message|words)|know\s+that)\b\s*:?\s*(\S.*)$`}
	toldThatForm = &lazy.Regexp{Text: `(?is)^(.*\b(?:tell|inform|notify|dm|message)\s+(?:<@[^>]*>[\s,]*(?:and\s+)?)+)that\b\s*(\S.*)$`}
)

// dictated takes the text of a message out of a text that quotes nothing. The message goes on to the text's end.
func dictated(text string, said []string) (string, []string) {
	m := dictatedForm.Get().FindStringSubmatch(text)
	if m == nil {
		m = toldThatForm.Get().FindStringSubmatch(text)
	}
	if len(said) > 0 || m == nil {
		return sayingForm.Get().ReplaceAllString(text, "$1"), said
	}
	return m[1] + string(firstQuotation), []string{strings.TrimSpace(m[2])}
}

// sayingForm matches a word that announces a quotation.
var sayingForm = &lazy.Regexp{Text: `(?i)\b(?:saying|that\s+says|which\s+says|with\s+the\s+(?:text|message|words))\s*[:,]?\s*([\x{e000}-\x{e063}])`}

// roomNameForm matches a quotation that names a room.
var roomNameForm = &lazy.Regexp{Text: `(?i)会議室\s*([\x{e000}-\x{e063}])|([\x{e000}-\x{e063}])\s*(?:という|の)?\s*会議室|\broom\s+([\x{e000}-\x{e063}])`}

// maxTab is the length limit of a tab's name, in characters.
const maxTab = 100

// quoted takes out the runes that stand for quotations. A quotation is either a tab's name or a text to send.
func (r *reading) quoted(s *scanner, said []string) {
	of := func(place string) string { return said[[]rune(place)[0]-firstQuotation] }
	for _, m := range s.take(tabForm) {
		name := strings.Join(strings.Fields(of(m[1]+m[2])), " ")
		if r.tab != "" || len([]rune(name)) > maxTab {
			r.quotes = append(r.quotes, name)
			continue
		}
		r.tab = name
	}
	for _, m := range s.take(roomNameForm) {
		r.stop(r.words.NoRoom, of(m[1]+m[2]+m[3]))
	}
	for _, m := range s.take(quoteForm) {
		r.quotes = append(r.quotes, of(m[0]))
	}
}
