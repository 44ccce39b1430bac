package charset

import (
	"iter"
	"ringi/shared/words/language"
	"slices"
	"strings"
	"unicode"

	"github.com/wlynxg/chardet/cda"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// ofLanguage is one whose characters are two bytes in an encoding of its own. Which of them are frequent is known of
// texts: a text that is read in another language's encoding has few that are frequent there.
type ofLanguage struct {
	as       string
	encoding encoding.Encoding // of the files
	table    encoding.Encoding // of the frequencies
	frequent func() counter
	least    int     // different characters
	share    float64 // of all characters that are frequent, at least
}

// counter knows which characters are frequent. It is asked of one character at a time.
type counter struct {
	*cda.CharDistributionAnalysis
	feed func([]byte, int)
}

func count(a *cda.CharDistributionAnalysis) counter {
	a.MinimumDataThreshold = 0
	return counter{a, a.Feed}
}

// Names and titles of columns have fewer frequent characters than prose. Shift_JIS has its bytes where no other
// encoding
// has frequent characters, so less is asked of it.
var languages = []ofLanguage{
	{ShiftJIS, japanese.ShiftJIS, japanese.EUCJP, frequentJapanese, 2, 0.15},
	{EUCJP, japanese.EUCJP, japanese.EUCJP, frequentJapanese, 4, 0.4},
	{CP949, korean.EUCKR, korean.EUCKR,
		func() counter { return count(&cda.NewEUCKRDistributionAnalysis().CharDistributionAnalysis) }, 3, 0.6},
	{GB18030, simplifiedchinese.GB18030, simplifiedchinese.GBK,
		func() counter { return count(&cda.NewGB2312DistributionAnalysis().CharDistributionAnalysis) }, 4, 0.5},
	{Big5, traditionalchinese.Big5, traditionalchinese.Big5,
		func() counter { return count(&cda.NewBig5DistributionAnalysis().CharDistributionAnalysis) }, 4, 0.6},
}

func frequentJapanese() counter {
	return count(&cda.NewEUCJPDistributionAnalysis().CharDistributionAnalysis)
}

// found is a file as it is in one encoding.
type found struct {
	text, as    string
	n, frequent int // characters that tell languages apart, and how many of them are frequent
	fits        bool
	alone       bool // it only fits if the file can be in no other encoding of several bytes
}

// mostSigns is how many signs without letters can be those of another encoding, too; leastTorn, how many characters a
// text
// has that is read although it ends within one.
const mostSigns, leastTorn = 2, 20

// mostGaiji is how many of the languages, from the first on, are read with characters that companies made for names:
// nobody else knows them.
const mostGaiji = 2

// damaged returns a file as UTF-8, if it can be in this encoding but for a few characters. Those are U+FFFD.
func damaged(e encoding.Encoding, file []byte) (string, bool) {
	as, err := e.NewDecoder().Bytes(file)
	if err != nil {
		return "", false
	}
	text, broken := known(string(as))
	return text, broken > 0 && !strings.ContainsFunc(text, control)
}

// legacy decodes a file that is no Unicode, if one encoding fits it alone, or far better than any other. One with a few
// unknown characters is decoded but for those, and one that ends within a character without it.
func legacy(file []byte) (text, as string, torn bool) {
	var all []found
	for _, l := range languages {
		if text, ok := in(l.encoding, file); ok {
			all = append(all, l.judge(text))
		}
	}
	if text, ok := in(charmap.Windows1252, file); ok {
		if signs, fits := western(text); fits && (signs == 0 || signs > mostSigns || len(all) == 0) {
			all = append(all, found{text: text, as: Windows1252, fits: true})
		}
	}
	if text, as = best(all); as != "" {
		return text, as, false
	}
	whole := all
	all = nil
	for _, l := range languages {
		if text, ok := in(l.encoding, file[:max(0, len(file)-1)]); ok && file[len(file)-1] >= 0x80 {
			if f := l.judge(text); f.n >= leastTorn {
				all = append(all, f)
			}
		}
	}
	if text, as = best(all); as != "" {
		return text, as, true
	}
	for _, l := range languages[:mostGaiji] {
		if text, ok := damaged(l.encoding, file); ok {
			whole = append(whole, l.judge(text))
		}
	}
	text, as = best(whole)
	return text, as, as != ""
}

// best returns the text that fits alone, with twice the frequent characters of any other.
func best(all []found) (text, as string) {
	var best *found
	for i := range all {
		x := &all[i]
		x.fits = x.fits && !(x.alone && len(all) > 1)
		if x.fits && (best == nil || x.frequent > best.frequent) {
			best = x
		}
	}
	if best == nil {
		return "", ""
	}
	for i := range all {
		if x := &all[i]; x != best && (x.fits || x.n > 0 && 2*x.frequent > best.frequent) {
			return "", ""
		}
	}
	return best.text, best.as
}

// mostJudged is how many characters are judged.
const mostJudged = 4000

func (l ofLanguage) judge(text string) found {
	f := found{text: text, as: l.as}
	known, encode := l.frequent(), l.table.NewEncoder()
	seen := map[rune]bool{}
	likely, kana, marked, glued, all := 0, 0, 0, 0, 0
	for run, within := range runs(text) {
		halves, sounds := halfWidth(run)
		if all++; within {
			glued++
		}
		for _, r := range run {
			f.n++
			if r >= 0xff61 && r < 0xffa0 {
				if halves {
					likely, kana = likely+1, kana+1
				}
				continue
			}
			b, err := encode.Bytes([]byte(string(r)))
			if err != nil || len(b) != 2 {
				continue
			}
			if b[0] < 0xd0 { // the first level of JIS X 0208, kana and signs; the second level is rare
				likely++
			}
			if _, ok := seen[r]; !ok {
				known.Reset()
				known.feed(b, 2)
				seen[r] = known.GetConfidence() > 0.5
			}
			if seen[r] {
				f.frequent++
			}
		}
		if halves {
			marked += sounds
		}
		if f.n >= mostJudged {
			break
		}
	}
	full := f.n - kana
	f.fits = len(seen) >= l.least && float64(f.frequent) >= l.share*float64(full)
	if l.as == ShiftJIS {
		f.alone = kana > full && kana >= 4
		f.fits = likely*10 >= f.n*7 && (f.fits || f.alone && marked > 0)
	}
	f.fits = f.fits && glued*2 < all && !accents.Get().MatchString(text)
	return f
}

// accents matches a word that begins with accents in a code page of DOS or the Macintosh, and nothing else.
var accents = language.Regexp{Text: `^[^\x00-\x7f]{1,3}[a-z][\x00-\x7f]*$`}

// runs yields what of a text tells languages apart: runs of characters that are neither ASCII nor the same in all of
// the
// encodings, and whether a run stands within a word or after small letters, as the accents of another encoding do.
func runs(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		small := func(r rune) bool { return r >= 'a' && r <= 'z' }
		before, from := rune(0), -1
		for i, r := range text + "\n" {
			same := r < 0x80 || r == '\u3000' || r >= 0xff00 && r < 0xff61 || r >= 0x2100 && r < 0x2600 || r >= 0x3200 &&
				r < 0x3400
			switch {
			case !same && from < 0:
				from = i
			case same && from >= 0:
				if !yield(text[from:i], small(before) || before >= 'A' && before <= 'Z' && small(r)) {
					return
				}
				from = -1
			}
			if same {
				before = r
			}
		}
	}
}

// halfWidth reports whether the half-width kana of a run are in an order that Japanese has them in: several, none three
// times, none that only follows another at the beginning, sound marks after what they are for. sounds counts those and
// long vowels.
func halfWidth(run string) (fits bool, sounds int) {
	n, same, before := 0, 0, rune(0)
	for _, r := range run {
		if same++; r != before {
			same = 0
		}
		if r < 0xff61 || r >= 0xffa0 {
			before = 0
			continue
		}
		switch first := before == 0; {
		case r < 'ｦ', same > 1, first && (r >= 'ｧ' && r <= 'ｰ' || r >= 'ﾞ'),
			r == 'ﾞ' && !(before == 'ｳ' || before >= 'ｶ' && before <= 'ﾄ' || before >= 'ﾊ' && before <= 'ﾎ'),
			r == 'ﾟ' && !(before >= 'ﾊ' && before <= 'ﾎ'):
			return false, 0
		case r >= 'ﾞ', r == 'ｰ':
			sounds++
		}
		n, before = n+1, r
	}
	return n > 1, sounds
}

// alphabets are the letters that the languages of Western Europe have beside ASCII.
var alphabets = []string{"àâçéèêëîïôùûüÿœ", "äöüßé", "áéíóúüñºª", "áâãàçéêíóôõúºª", "àèéìíòóùúºª", "æøåéôó", "äåöé",
	"ëïéèüöóá"}

// misplaced matches what none of those languages has: letters where a language of Central Europe has another letter
// with
// the same number, capitals after small letters, and signs where no such text has them.
var misplaced = language.Regexp{Text: `\pL[À-ÖØ-ÞŒŸ]\p{Ll}|ñ(?:[^aeiouáéíóúü]|$)|õ(?:[^e]|$)|ê(?:\PL|$)|[àìòù]\pL|\p{Ll}[À-ÖØ-Þ]|[ß-öø-ÿ][A-Z]|` +
	`\pL[^\x00-\x7f\pL’–—\x{a0}]+\pL|\pL[‚„]|[£€]\pL|\pL[–—](?:[^\pL\d]|$)|(?:[^\pL\d]|^)[ºª]|` +
	`[§©®°·²³½¼¾™×±µ•€£–—][^\x00-\x7f\x{a0}]|[^\x00-\x7f\x{a0}][§©®°·²³½¼¾™×±µ•€£–—]|` +
	`[ºª]\pL|µ[aeiou]|(?:^|\PL)Ó[eiu]|Ÿ\p{Ll}|\pL[£•¡]`}

// foreign matches what are letters in code pages of DOS and the Macintosh: a sign that closes a quote which nothing
// opened, and dots or a space where there is nothing else.
var foreign = language.Regexp{Text: `^[^“”„‘’‚]*\pL[“”][^“”„]*$|^[\x00-\x7f]*(?:[…\x{a0}][\x00-\x7f]*)+$`}

// doubtful are letters in whose place languages of Central Europe and the Baltic, and other encodings of the West, have
// others: of most of them in a text either stand where Western languages write them, or it has one of beside, which
// those texts lack. A name's č, ć and ă are as frequent as the letters in their place, so both are asked for.
var doubtful = []struct {
	letter string
	usual  language.Regexp
	beside string
	both   bool
}{
	{"èÈ", language.Regexp{Text: `(?i)è[bcdfglmnprstvz]{1,2}[es]|ès(?:\PL|$)|(?:^|\PL)è(?:\PL|$)`}, "éàùçêôûîâìòÉÀ", true},
	{"æÆ", language.Regexp{Text: `(?i)æ[bdgklmnrstv]`}, "åøÅØ", true},
	{"ãÃ", language.Regexp{Text: `(?i)ã[eo]`}, "ãÃ", true},
	{"œŒ", language.Regexp{Text: `(?i)œ[uit]`}, "éèàçêôûîâœŒ", true},
	{"ëË", language.Regexp{Text: `(?i)[aeio]ë`}, "éêôÉÊ", false},
	{"çÇ", language.Regexp{Text: `(?i)ç[aouãõ]`}, "éêôãÉÊ", false},
	{"âÂ", language.Regexp{}, "éêôãÉÊ", false},
	{"îÎ", language.Regexp{Text: `(?i)[ao]î|(?:^|\PL)îles?(?:\PL|$)`}, "éêôÉÊ", false},
	{"ûÛ", language.Regexp{Text: `(?i)[ao]û`}, "éêôÉÊ", false},
	{"ïÏ", language.Regexp{Text: `(?i)[aou]ï[bcdfglmnqrstv]`}, "éêôÉÊ", false},
	{"êÊ", language.Regexp{Text: `(?i)ê(?:t|m|ch|n[ce]|v|l|r|z|s(?:\PL|$))`}, "éàçãôâèÉÀ", false},
	{"äÄ", language.Regexp{Text: `(?i)(?:^|[^a])ä`}, "öüßåÖÜÅ", false},
	{"áÁ", language.Regexp{Text: `(?i)[bcdfghjlmnpqrstvxyz]á\pL|(?:^|\PL)á[rngf]`}, "éíóúñãçõÉ", false},
	{"íÍ", language.Regexp{Text: `(?i)\pLí(?:[^eiuî]|$)|(?:^|\PL)í[^aeiou\PL]`}, "éáóúñÉ", false},
	{"úÚ", language.Regexp{Text: `(?i)[^l\PL]ú|(?:^|\PL)ú[lnrt]`}, "éáíóñÉ", false},
	{"ùÙ", language.Regexp{Text: `(?i)[oits]ù`}, "éàèìòÉÀ", false},
	{"ìÌ", language.Regexp{Text: `(?i)(?:ed|os|^s|\PLs|^l|\PLl)ì`}, "éàèòùÉÀ", false},
	{"òÒ", language.Regexp{Text: `(?i)[irdlmntu]ò`}, "", false},
	{"åÅ", language.Regexp{Text: `(?i)(?:^|[^aeiouy])å(?:[bdgjklmnrstv]|\PL|$)`}, "äöøæÄÖØÆ", false},
	{"ñÑ", language.Regexp{Text: `(?i)\pLñ`}, "áéíóú", false},
}

// doubted reports whether the letters of a text are as likely those of another encoding.
func doubted(text string) bool {
	for i := range doubtful {
		d := &doubtful[i]
		n := 0
		for _, r := range text {
			if strings.ContainsRune(d.letter, r) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		usual := d.usual.Text != "" && 2*len(d.usual.Get().FindAllStringIndex(text, -1)) >= n
		beside := strings.ContainsAny(text, d.beside)
		if !usual && !beside || d.both && !(usual && beside) {
			return true
		}
	}
	return false
}

// signs are those that such texts have beside letters.
const signs = "\u00a0‘’‚“”„–—…•€£§©®°«»·²³½¼¾™×¿¡±µ"

// western reports whether a text can be one in Windows-1252: words with letters of one language, and signs. It returns
// the number of signs if nothing else tells that it is one.
func western(text string) (n int, fits bool) {
	letters, told, words := map[rune]bool{}, false, 0
	for _, r := range text {
		switch {
		case r >= 0x80 && unicode.IsLetter(r) && r != 'µ':
			letters[unicode.ToLower(r)] = true
		case r >= 0x80 && !strings.ContainsRune(signs, r):
			return 0, false
		case r >= 0x80:
			n++
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		ascii, other := 0, 0
		for _, r := range word {
			if r < 0x80 {
				ascii++
			} else {
				other++
			}
		}
		if other > 2*ascii && len(word) > 2 {
			return 0, false
		}
		words += min(1, ascii/3)
		told = told || ascii > 0 && other > 0 && ascii+other > 2
	}
	if told {
		n = 0
	}
	odd := misplaced.Get().MatchString(text) || foreign.Get().MatchString(text) || doubted(text)
	return n, (told || n > 0 && words > 0) && !odd && slices.ContainsFunc(alphabets, func(alphabet string) bool {
		for r := range letters {
			if !strings.ContainsRune(alphabet, r) {
				return false
			}
		}
		return true
	})
}
