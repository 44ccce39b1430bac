package demo

import (
	_ "embed"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A text is read as a sequence of the phrases in phrases.txt, from its beginning to its end. There is no other way into
// a plan: what no phrase takes, and what a phrase says that the request's topic has no use for, is named.

//go:embed phrases.txt
var table string

// rows are the lines of a table, except comments: a tag, and what stands behind it.
func rows(table string) iter.Seq2[string, string] {
	return func(yield func(tag, text string) bool) {
		for line := range strings.Lines(table) {
			tag, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if ok && tag != "#" && !yield(tag, text) {
				return
			}
		}
	}
}

// phrase is one way to say something.
type phrase struct {
	tag, means string
	form       *regexp.Regexp
}

// expanded is the form of a tag's first row, with the macros that stand in it.
func expanded(tag string) string {
	for name, form := range rows(table) {
		if name == tag {
			return unfold(form)
		}
	}
	return ""
}

func unfold(form string) string {
	for range 4 { // macros stand in macros
		form = macros().Replace(form)
	}
	return form
}

var macros = sync.OnceValue(func() *strings.Replacer {
	var all []string
	for tag, form := range rows(table) {
		if name, text, _ := strings.Cut(form, " "); tag == "=" {
			all = append(all, "{"+name+"}", text)
		}
	}
	return strings.NewReplacer(all...)
})

// phrases are the table's, those of the catalog's lists first. A test reads each line.
var phrases = sync.OnceValue(func() (all []phrase) {
	add := func(tag, form string) {
		tag, means, _ := strings.Cut(tag, ":")
		p := phrase{tag, means, regexp.MustCompile(`^(?i:` + unfold(form) + `)`)}
		p.form.Longest()
		all = append(all, p)
	}
	for _, l := range allLists() {
		add("list "+l.Name, l.Demo.Asks)
	}
	for tag, form := range rows(table) {
		if !strings.ContainsAny(tag[:1], "=@$") {
			add(tag, form)
		}
	}
	return all
})

// token is a part of a text. Its tag is empty if no phrase takes it; used says that the reading has taken it up.
type token struct {
	tag, text, means string
	groups           []string
	used             bool
}

func word(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || unicode.Is(unicode.Latin, r)
}

// compound reports whether a rune goes on with a Japanese word of which no part is quoted alone.
func compound(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Katakana) || r == 'ー' || r == '々'
}

// maxStrange is how many unknown parts are looked for: the rest of a text with more is one part.
const maxStrange = 12

// lex splits a normalized text into tokens. remark says that it is a reason of a rejection.
func lex(text string, remark bool) (all []token) {
	strange := 0
	for at := 0; at < len(text); {
		if text[at] == ' ' {
			at++
			continue
		}
		if strange > maxStrange {
			return append(all, token{text: strings.TrimSpace(text[at:])})
		}
		t := longest(text, at, remark)
		if t.tag == "p" && (len(all) == 0 || slices.Contains([]string{"p", "j", "s"}, all[len(all)-1].tag)) ||
			t.tag == "^" && len(all) > 0 {
			t = token{}
		}
		if t.tag == "" {
			strange++
			t.text = unknown(text, at, remark)
		}
		at += len(t.text)
		all = append(all, t)
	}
	return all
}

// longest is the longest phrase at a place. Names of departments that no phrase has count only where none begins.
func longest(text string, at int, remark bool) (out token) {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	if first, _ := utf8.DecodeRuneInString(text[at:]); at > 0 && word(before) && word(first) {
		return token{}
	}
	for _, p := range phrases() {
		tag, only := strings.CutSuffix(p.tag, "!")
		if only && !remark || p.tag == "depts" && out.tag != "" && out.tag != "dept" {
			continue
		}
		m := p.form.FindStringSubmatch(text[at:])
		if m == nil || len(m[0]) <= len(out.text) || torn(text, at+len(m[0])) || p.tag == "depts" && noDepartment().MatchString(m[0]) {
			continue
		}
		out = token{tag: tag, text: m[0], means: p.means, groups: m}
		if p.tag == "depts" {
			out.tag, out.means = "dept", m[0]
		}
	}
	return out
}

// torn reports whether a phrase would end inside a Latin word, a number or a length of time.
func torn(text string, end int) bool {
	if strings.HasPrefix(text[end:], "間") { // 1時間 is no time of the day
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	next, _ := utf8.DecodeRuneInString(text[end:])
	return word(last) && word(next) && unicode.IsDigit(last) == unicode.IsDigit(next)
}

var noDepartment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expanded("$nodept")) })

// unknown is the part of a text that no phrase takes: up to where one begins, at the beginning of a word.
func unknown(text string, at int, remark bool) string {
	end := at
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		next := end + n
		end = next
		if next >= len(text) || text[next] == ' ' {
			break
		}
		after, _ := utf8.DecodeRuneInString(text[next:])
		if word(r) && (word(after) || strings.ContainsRune("'’-_@", after)) || strings.ContainsRune("'’-_@<", r) && word(after) ||
			compound(r) && compound(after) {
			continue
		}
		t := longest(text, next, remark)
		follow, _ := utf8.DecodeRuneInString(text[next+len(t.text):])
		if inside := (t.tag == "p" || t.tag == "j") && unicode.In(r, unicode.Hiragana) && unicode.In(follow, unicode.Hiragana); t.tag != "" && !inside {
			break
		}
	}
	return text[at:end]
}

// strange names the tokens that were not taken up, each with those beside it and with the word before a particle or
// behind a preposition, without which it would say nothing.
func strange(all []token) (out []string) {
	free := func(t token) bool { return !t.used && !slices.Contains(quiet, t.tag) }
	for i := 0; i < len(all); i++ {
		if !free(all[i]) {
			continue
		}
		begin := i
		for i+1 < len(all) && free(all[i+1]) {
			i++
		}
		said := joined(all[begin : i+1])
		first, _ := utf8.DecodeRuneInString(said)
		latin := word(first)
		switch {
		case !latin && begin > 0 && all[begin-1].tag != "s" && all[begin-1].tag != "j" && (unicode.Is(unicode.Hiragana, first) || compound(first) &&
			endsCompound(all[begin-1].text)):
			said = joined(all[begin-1 : i+1])
		case latin && i+1 < len(all) && slices.Contains(leading, all[i].tag) && !slices.Contains(quiet, all[i+1].tag):
			said = joined(all[begin:min(i+2, len(all))])
		}
		if r, _ := utf8.DecodeLastRuneInString(all[i].text); compound(r) && i+1 < len(all) {
			if next, _ := utf8.DecodeRuneInString(all[i+1].text); compound(next) {
				said += all[i+1].text
			}
		}
		out = add(out, strings.TrimSpace(said))
	}
	return out
}

func endsCompound(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return compound(r)
}

// leading are the tags of what says nothing without the word behind it.
var leading = []string{"", "to", "lead", "from", "since", "only"}

// quiet are the tags that change nothing wherever they stand.
var quiet = []string{".", "hi", "p", "j", "s", "^"}

// joined is a sequence of tokens as it was said.
func joined(all []token) (out string) {
	for i, t := range all {
		before, _ := utf8.DecodeLastRuneInString(out)
		if first, _ := utf8.DecodeRuneInString(t.text); i > 0 && word(before) && word(first) {
			out += " "
		}
		out += t.text
	}
	return out
}

// ascii writes a full-width character as ASCII.
func ascii(r rune) rune {
	switch {
	case r >= '!'+0xfee0 && r <= '~'+0xfee0:
		return r - 0xfee0
	case unicode.IsSpace(r) && r != '\n':
		return ' '
	}
	return r
}

// normal writes full-width characters as ASCII, and leaves out spaces beside Japanese ones.
func normal(text string) string {
	runes := []rune(strings.Join(strings.Fields(strings.Map(ascii, text)), " "))
	japanese := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.In(runes[i], unicode.Han, unicode.Hiragana, unicode.Katakana) ||
			strings.ContainsRune("ー々、。「」〜", runes[i]))
	}
	var out strings.Builder
	for i, r := range runes {
		beside := func(j int) bool { return j >= 0 && j < len(runes) && strings.ContainsRune("<>\ue000", runes[j]) }
		if r == ' ' && (japanese(i-1) || japanese(i+1) || beside(i-1) && beside(i+1)) {
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// While a text is read, each quotation is replaced by a rune of the private use area.
const firstQuotation, maxQuotations = '\ue000', 100

// quotations takes the quoted texts out of a text unchanged. It reports false if quotation marks don't match, or if
// there are more than maxQuotations.
func quotations(text string) (rest string, said []string, ok bool) {
	closing := map[rune]rune{'「': '」', '『': '』', '“': '”', '"': '"', '＂': '＂'}
	runes, out := []rune(text), []rune{}
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		if strings.ContainsRune("」』”", c) {
			return string(out), said, false
		}
		if closing[c] != 0 {
			end, depth := i+1, 1
			for ; end < len(runes); end++ {
				if runes[end] == closing[c] {
					depth--
				} else if runes[end] == c {
					depth++
				}
				if depth == 0 {
					break
				}
			}
			if depth > 0 || len(said) == maxQuotations {
				return string(out), said, false
			}
			quoted := string(runes[i+1 : end])
			if i, c = end, ' '; strings.TrimSpace(quoted) != "" {
				c, said = firstQuotation+rune(len(said)), append(said, quoted)
			}
		} else if c >= firstQuotation && c < firstQuotation+maxQuotations {
			c = ' '
		}
		out = append(out, c)
	}
	return string(out), said, true
}

// letters are the kinds of what a request may name several of, by tags.
var letters = map[string]string{"dept": "D", "month": "M", "months": "M", "span": "M", "overtime": "O", "attendance": "O", "who": "R"}

// pairs returns where a text begins to name a second department, month, subject or person with one of its own, as in “HR
// in September and Sales in October”. A plan would cover each at all times, for everybody. It is empty if there is none.
func pairs(all []token) string {
	for _, two := range []string{"DM", "DO", "MO", "DR", "MR", "OR"} {
		var order string
		var at []token
		for _, t := range all {
			if l := letters[t.tag]; l != "" && strings.Contains(two, l) && !strings.HasSuffix(order, l) {
				order, at = order+l, append(at, t)
			}
		}
		twice := map[string]int{}
		for _, l := range order {
			twice[string(l)]++
		}
		if twice[two[:1]] > 1 && twice[two[1:]] > 1 {
			return at[2].text
		}
	}
	return ""
}
