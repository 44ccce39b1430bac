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

	"ringi/shared/words/lazy"
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

// form compiles what stands in the table under a tag that is read by name.
func form(tag string) *regexp.Regexp {
	for name, text := range rows(table) {
		if name == tag {
			return regexp.MustCompile(unfold(text))
		}
	}
	return nil // a test reads each
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

// phrases are the table's, those of the catalog's lists first.
var phrases = sync.OnceValue(func() (all []phrase) {
	add := func(tag, form string) {
		tag, means, _ := strings.Cut(tag, ":")
		p := phrase{tag, means, regexp.MustCompile(`^(?i:` + unfold(form) + `)`)}
		p.form.Longest()
		all = append(all, p)
	}
	for _, l := range allLists() {
		add("topic:"+l.Name, l.Demo.Asks)
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
	named            map[string]string // what the form's named groups took
	used             bool
}

// named are what the named groups of a form took, the first of each name.
func named(form *regexp.Regexp, m []string) map[string]string {
	out := map[string]string{}
	for i, name := range form.SubexpNames() {
		if out[name] == "" {
			out[name] = m[i]
		}
	}
	return out
}

func (t token) is(tags ...string) bool { return slices.Contains(tags, t.tag) }

// quiet reports whether a token changes nothing wherever it stands.
func (t token) quiet() bool { return t.is(".", "hi", "p", "j", "s", "^") }

func word(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || unicode.Is(unicode.Latin, r)
}

// compound reports whether a rune goes on with a Japanese word of which no part is quoted alone.
func compound(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Katakana) || r == 'ー' || r == '々'
}

func first(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func last(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }

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
		if t.tag == "p" && (len(all) == 0 || all[len(all)-1].is("p", "j", "s")) || t.tag == "^" && len(all) > 0 {
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
	if at > 0 && word(last(text[:at])) && word(first(text[at:])) {
		return token{}
	}
	var form *regexp.Regexp
	for _, p := range phrases() {
		tag, only := strings.CutSuffix(p.tag, "!")
		if only && !remark || tag == "depts" && out.tag != "" && out.tag != "dept" {
			continue
		}
		m := p.form.FindString(text[at:])
		if len(m) <= len(out.text) || torn(text, at+len(m)) || tag == "depts" && noDepartment().MatchString(m) {
			continue
		}
		form, out = p.form, token{tag: tag, text: m, means: p.means}
		if tag == "depts" {
			out.tag, out.means = "dept", m
		}
	}
	if form != nil && form.NumSubexp() > 0 {
		out.named = named(form, form.FindStringSubmatch(text[at:]))
	}
	return out
}

// torn reports whether a phrase would end inside a Latin word, a number or a length of time.
func torn(text string, end int) bool {
	before, after := last(text[:end]), first(text[end:])
	return after == '間' || word(before) && word(after) && unicode.IsDigit(before) == unicode.IsDigit(after)
}

var noDepartment = sync.OnceValue(func() *regexp.Regexp { return form("$nodept") })

// unknown is the part of a text that no phrase takes: up to where one begins, at the beginning of a word.
func unknown(text string, at int, remark bool) string {
	end := at
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if end += n; end >= len(text) || text[end] == ' ' {
			break
		}
		after := first(text[end:])
		if word(r) && (word(after) || strings.ContainsRune("'’-_@", after)) ||
			strings.ContainsRune("'’-_@<", r) && word(after) || compound(r) && compound(after) {
			continue
		}
		t := longest(text, end, remark)
		inside := t.is("p", "j") && unicode.Is(unicode.Hiragana, r) &&
			unicode.Is(unicode.Hiragana, first(text[end+len(t.text):]))
		if t.tag != "" && !inside {
			break
		}
	}
	return text[at:end]
}

// strange names the tokens that were not taken up, each with those beside it and with the word before a particle or
// behind a preposition, without which it would say nothing.
func strange(all []token) (out []string) {
	free := func(t token) bool { return !t.used && !t.quiet() }
	for i := 0; i < len(all); i++ {
		if !free(all[i]) {
			continue
		}
		begin := i
		for i+1 < len(all) && free(all[i+1]) {
			i++
		}
		said := joined(all[begin : i+1])
		r, before, after := first(said), token{tag: "s"}, token{tag: "s"}
		if begin > 0 {
			before = all[begin-1]
		}
		if i+1 < len(all) {
			after = all[i+1]
		}
		switch {
		case !before.is("s", "j") && (unicode.Is(unicode.Hiragana, r) || compound(r) && compound(last(before.text))):
			said = joined(all[begin-1 : i+1])
		case word(r) && all[i].is("", "to", "lead", "from", "since", "only") && !after.quiet():
			said = joined(all[begin : i+2])
		}
		if compound(last(all[i].text)) && compound(first(after.text)) {
			said += after.text
		}
		out = add(out, strings.TrimSpace(said))
	}
	return out
}

// joined is a sequence of tokens as it was said.
func joined(all []token) (out string) {
	for i, t := range all {
		if i > 0 && word(last(out)) && word(first(t.text)) {
			out += " "
		}
		out += t.text
	}
	return out
}

// split parts tokens at those of a tag, and leaves out parts that say nothing.
func split(all []token, tag string) (out [][]token) {
	var part []token
	for _, t := range append(slices.Clone(all), token{tag: tag}) {
		if t.tag != tag {
			part = append(part, t)
			continue
		}
		if slices.ContainsFunc(part, func(t token) bool { return !t.quiet() }) {
			out = append(out, part)
		}
		part = nil
	}
	return out
}

var (
	numberForm  = &lazy.Regexp{Text: `[0-9]+`}
	channelForm = &lazy.Regexp{Text: `<#\w+\|([^>]*)>`}
	spaceForm   = &lazy.Regexp{Text: `[\s\p{Z}]+`}
	besideForm  = &lazy.Regexp{Text: ` ?([\p{Han}\p{Hiragana}\p{Katakana}ー々、。「」〜]+|[<>\x{e000}] [<>\x{e000}]) ?`}
)

// normal writes full-width characters as ASCII, and leaves out spaces beside Japanese ones.
func normal(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= '!'+0xfee0 && r <= '~'+0xfee0 {
			return r - 0xfee0
		}
		return r
	}, channelForm.Get().ReplaceAllString(text, "#$1"))
	text = strings.TrimSpace(spaceForm.Get().ReplaceAllString(text, " "))
	return besideForm.Get().ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, " ", "") })
}

// While a text is read, each quotation is replaced by a rune of the private use area.
const firstQuotation, maxQuotations = '\ue000', 100

// quotations takes the quoted texts out of a text unchanged. It reports false if quotation marks don't match, or if
// there are more than maxQuotations.
func quotations(text string) (rest string, said []string, ok bool) {
	closing := map[rune]rune{'「': '」', '『': '』', '“': '”', '"': '"', '＂': '＂'}
	var out []rune
	var open rune
	depth, quoted := 0, []rune{}
	for _, c := range text {
		switch {
		case depth == 0 && closing[c] != 0:
			open, depth, quoted = c, 1, nil
			continue
		case depth == 0 && strings.ContainsRune("」』”", c) || len(said) == maxQuotations:
			return "", nil, false
		case depth > 0 && c == closing[open]:
			depth--
		case depth > 0 && c == open:
			depth++
		case c >= firstQuotation && c < firstQuotation+maxQuotations:
			c = ' '
		}
		if depth > 0 {
			quoted = append(quoted, c)
		} else if c != closing[open] {
			out = append(out, c)
		} else if open = 0; strings.TrimSpace(string(quoted)) == "" {
			out = append(out, ' ')
		} else {
			out, said = append(out, firstQuotation+rune(len(said))), append(said, string(quoted))
		}
	}
	return string(out), said, depth == 0
}

// pairs returns where a text begins to name a second department, month, subject or person with one of its own, as in
// “HR in September and Sales in October”. A plan would cover each at all times, for everybody. Empty: nowhere.
func pairs(all []token) string {
	for _, two := range [][]string{{"dept", "month"}, {"dept", "topic"}, {"month", "topic"}, {"dept", "who"}, {"month", "who"},
		{"topic", "who"}} {
		at, times := []token{{}}, map[string]int{}
		for _, t := range all {
			if t.is(two...) && at[len(at)-1].tag != t.tag {
				at, times[t.tag] = append(at, t), times[t.tag]+1
			}
		}
		if times[two[0]] > 1 && times[two[1]] > 1 {
			return at[3].text
		}
	}
	return ""
}
