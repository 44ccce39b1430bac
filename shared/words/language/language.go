// Package language has what texts for people need: Ringi's own in each language, and others' made fit to stand beside
// them. It decides which characters of a text people can see. Prompts, stored texts and cards all follow this rule:
// otherwise a text could have words for the model that people don't see.
package language

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// All are the locales that have texts. Other locales get the texts of the first one.
var All = []string{"ja", "en"}

// English is the locale of texts for models and engineers.
const English = "en"

// Spoken has one T for each locale of All, in that order.
type Spoken[T any] []T

// InEach makes a Spoken. A new language becomes a new parameter, so that calls without its text don't compile.
func InEach[T any](ja, en T) Spoken[T] { return Spoken[T]{ja, en} }

// Texts is one text in each language, by locale, as in files.
type Texts map[string]string

// In returns the text of a locale, or that of the first language that has one.
func (t Texts) In(locale string) string {
	for _, l := range append([]string{locale}, All...) {
		if text, ok := t[l]; ok {
			return text
		}
	}
	return ""
}

// In returns the T of a locale.
func (s Spoken[T]) In(locale string) T {
	return s[max(slices.Index(All, locale), 0)]
}

// Fill replaces the placeholders of a text: Fill("v{version}", "version", 2). It doesn't look for placeholders within
// values. A value whose place is between quotation marks can't end the quotation: see Within.
func Fill(text string, pairs ...any) string {
	var b strings.Builder
	for text != "" {
		before, quoted, locale := quotation(text)
		fillIn(&b, before, "", pairs)
		fillIn(&b, quoted, locale, pairs)
		text = text[len(before)+len(quoted):]
	}
	return b.String()
}

// fillIn fills a part of a text, which is a quotation in a locale unless that is empty.
func fillIn(b *strings.Builder, part, locale string, pairs []any) {
	for {
		before, rest, found := strings.Cut(part, "{")
		b.WriteString(before)
		if !found {
			return
		}
		part = rest
		name, after, _ := strings.Cut(rest, "}")
		i := 0
		for i < len(pairs) && pairs[i] != any(name) {
			i += 2
		}
		if i+1 >= len(pairs) {
			b.WriteByte('{')
			continue
		}
		value := fmt.Sprint(pairs[i+1])
		if locale != "" {
			value = Within(locale, value)
		}
		b.WriteString(value)
		part = after
	}
}

// quotation returns what stands before a text's first quotation, that with its marks, and its locale.
func quotation(text string) (before, quoted, locale string) {
	for i, r := range text {
		opens, closes, locale := "「", "」", All[0]
		switch r {
		case '「':
		case '“':
			opens, closes, locale = "“", "”", English
		default:
			continue
		}
		within := text[i+len(opens):]
		if n := strings.IndexAny(within, opens+closes); n >= 0 && strings.HasPrefix(within[n:], closes) {
			return text[:i], text[i : i+len(opens)+n+len(closes)], locale
		}
	}
	return text, "", ""
}

// inside escapes what stands between quotation marks: by a backslash, and in Japanese by the marks within others, 『』.
var inside = InEach(
	strings.NewReplacer("「", "『", "」", "』", "『", `\『`, "』", `\』`, "｢", `\｢`, "｣", `\｣`, "﹁", `\﹁`, "﹂", `\﹂`,
		"⌜", `\⌜`, "⌟", `\⌟`, `\`, `\\`, "\r", `\r`),
	strings.NewReplacer("“", `\“`, "”", `\”`, "„", `\„`, "‟", `\‟`, `"`, `\"`, "〝", `\〝`, "〞", `\〞`, "〟", `\〟`,
		"❝", `\❝`, "❞", `\❞`, "＂", `\＂`, `\`, `\\`, "\r", `\r`))

// Within is a text as it stands between the quotation marks of a locale. It is not idempotent.
func Within(locale, s string) string { return inside.In(locale).Replace(s) }

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

// Detect returns the language in which a person wrote a text and should be answered: Japanese if it has Japanese words,
// English if it has Latin words alone. Names and dates in Japanese don't count, nor do single Japanese words within an
// English sentence; quotations and code count only if there is nothing else. If the letters don't tell, it returns
// otherwise.
func Detect(text, otherwise string) string {
	if len(text) > 2*maxEnd {
		text = text[:maxEnd] + text[len(text)-maxEnd:]
	}
	text = silentForm.Get().ReplaceAllString(text, " ")
	text = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
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

// Catalog has the words of a package in its embedded files: <Folder>/<locale>.json holds one T. As a variable without a
// call in its value it leaves a binary, files and all, in which nobody asks for its words.
type Catalog[T any] struct {
	Files  *embed.FS
	Folder string
	read   sync.Map // *T by locale
}

// In returns the words of a locale, whose file is read when it is first needed. The result is shared and must not be
// changed. A file that can't be read panics; expect.Whole reads them all in a test.
func (c *Catalog[T]) In(locale string) *T {
	if !slices.Contains(All, locale) {
		locale = All[0]
	}
	words, ok := c.read.Load(locale)
	if !ok {
		words, _ = c.read.LoadOrStore(locale, read(c.Files, c.Folder+"/"+locale+".json", new(T)))
	}
	return words.(*T)
}

func read(files *embed.FS, name string, words any) any {
	text, err := files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, words)
	}
	if err != nil {
		panic(fmt.Errorf("read %s: %w", name, err))
	}
	return words
}

// Regexp compiles Text when it is first needed. As a variable it costs nothing until then.
type Regexp struct {
	Text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.Text) })
	return r.compiled
}
