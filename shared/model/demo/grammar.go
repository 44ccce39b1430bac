package demo

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"ringi/shared/words/language"
)

// A text is read as a sequence of the phrases in phrases.txt, from its beginning to its end. Nothing is planned of one
// in which something is taken by no phrase, or says what the request's topic has no use for.

//go:embed phrases.txt
var table string

// phrase is one way to say something, or a row that is read by name.
type phrase struct {
	tag, means string
	form       *regexp.Regexp
}

// macros, kinds and phrases are the rows of the table: what {x} stands for, the kinds of topics that have a use for a
// tag, and what is said, the catalog's lists first.
var macros, kinds, phrases = map[string]string{}, map[string]string{}, sync.OnceValue(func() (all []phrase) {
	lines := strings.Split(table, "\n")
	for _, l := range allLists() {
		lines = append([]string{"topic:" + l.Name + " " + l.Demo.Asks}, lines...)
	}
	for _, line := range lines {
		tag, form, _ := strings.Cut(line, " ")
		tag, means, _ := strings.Cut(tag, ":")
		form = macroForm.Get().ReplaceAllStringFunc(form, func(s string) string { return macros[strings.Trim(s, "{}")] })
		name, rest, _ := strings.Cut(form, " ")
		switch (tag + "#")[:1] {
		case "#":
		case "=":
			macros[name] = rest
		case "&":
			kinds[name] = rest
		case "~", "@", "$", "%": // read by name
			form, by, _ := strings.Cut(form, " =>")
			all = append(all, phrase{tag, means + strings.TrimSpace(by), regexp.MustCompile(form)})
		default:
			all = append(all, phrase{tag, means, regexp.MustCompile(`^(?i:` + form + `)`)})
			all[len(all)-1].form.Longest()
		}
	}
	return all
})

var macroForm = &language.Regexp{Text: `\{[a-z]+\}`}

// form is the expression of a row that is read by its name. A test reads each.
func form(tag string) *regexp.Regexp {
	return phrases()[slices.IndexFunc(phrases(), func(p phrase) bool { return p.tag == tag })].form
}

// uses says of a tag whether a kind of topic has a use for it, once a text was read.
func uses(tag, kind string) bool {
	return slices.Contains(strings.Fields(kinds[tag]), kind)
}

// token is a part of a text. Its tag is empty if no phrase takes it; used says that the reading has taken it up.
type token struct {
	tag, text, means string
	named            map[string]string // what the form's named groups took
	used             bool
	spaced           bool // a blank is before it
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

func first(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func last(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }

// lex splits a normalized text into tokens. What no phrase takes is a word, in Japanese as far as its script.
// remark says that the text is a reason of a rejection.
func lex(text string, remark bool) (all []token) {
	for at := 0; at < len(text); {
		if text[at] == ' ' {
			at++
			continue
		}
		t, before := longest(text, at, remark), append(all, token{tag: "s"})[max(0, len(all)-1)]
		if t.is("p") && before.is("p", "j", "s", "q") || t.means == "bare" && before.means != "tells" ||
			t.is("^") && len(all) > 0 && !(remark && before.is("s")) {
			t = token{}
		}
		if t.tag == "" {
			t.text = form("$strange").FindString(text[at:])
		}
		t.spaced = at > 0 && text[at-1] == ' '
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
		other := tag == "dept" && p.means == "" && !out.is("", "dept")
		if only && !remark || other || strings.ContainsAny(tag[:1], "@$~%") {
			continue
		}
		if m := p.form.FindString(text[at:]); len(m) > len(out.text) && !torn(text, at+len(m)) {
			form, out = p.form, token{tag: tag, text: m, means: p.means}
		}
	}
	if form != nil && form.NumSubexp() > 0 {
		out.named = named(form, form.FindStringSubmatch(text[at:]))
	}
	return out
}

// torn reports whether a phrase would end inside a Latin word or a number.
func torn(text string, end int) bool {
	before, after := last(text[:end]), first(text[end:])
	return word(before) && word(after) && unicode.IsDigit(before) == unicode.IsDigit(after)
}

// strange names what was not taken up, and reports whether each of it is a phrase that has another use.
func strange(all []token) (out []string, known bool) {
	run, known := "", true
	for _, t := range append(slices.Clip(all), token{tag: "s"}) {
		switch {
		case t.used || t.quiet():
			out, run = append(out, run), ""
			continue
		case t.spaced && run != "":
			run += " "
		}
		run, known = run+t.text, known && !t.is("", "no")
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" }), known
}

// normal writes full-width characters as ASCII, and leaves out what only says how a text looks. What is quoted stays.
func normal(text string) string {
	return form("$part").ReplaceAllStringFunc(text, func(part string) string {
		if form("$quoted").MatchString(part) {
			return part
		}
		part = form("$blanks").ReplaceAllString(width.Fold.String(part), " ")
		for _, p := range phrases() {
			if p.tag == "~" {
				part = p.form.ReplaceAllString(part, p.means)
			}
		}
		return part
	})
}

// heed follows the reasons of rejections on the policy or the steps: of one of which all is understood, what it says is
// applied, and any other is named. Steps are planned after the policy is stamped, so only what leaves steps out or asks
// for a check counts there. stamped says that the reasons are parts which a stamped policy says it applied.
func (w *meant) heed(reasons []string, on string, stamped bool) {
	w.Applied, w.Unread = nil, nil
	for _, reason := range reasons {
		said := lex(normal(strings.Join(strings.Fields(reason), " ")), true)
		if !w.merge(said, on, stamped) {
			w.Unread = add(w.Unread, reason)
			continue
		}
		for _, t := range said {
			if !t.quiet() && !t.is("set") {
				w.Applied = add(w.Applied, t.text)
			}
		}
	}
}

// followed are the parts of reasons that an approved policy says it applied, because people stamped what came of them.
func (w *meant) followed(policy string) (reasons []string) {
	before, after, _ := strings.Cut("• "+w.Say("applied", w.words.Say["quote"]), "%s")
	for line := range strings.SplitSeq(policy[max(0, strings.LastIndex(policy, w.Say("earlier"))):], "\n") {
		if part, ok := strings.CutPrefix(line, before); ok && strings.HasSuffix(part, after) {
			reasons = append(reasons, strings.TrimSuffix(part, after))
		}
	}
	return reasons
}

// merge reads a reason as a part of the request, and changes the request by it if all of it was understood: “instead”
// and “only” replace a month or department, “to” who is told, and no other meaning is guessed. What was stamped needs
// no such word.
func (w *meant) merge(all []token, on string, stamped bool) bool {
	n, told, scoped := *w, has(all, "to"), has(all, "month", "dept")
	n.Is = maps.Clone(w.Is)
	if told {
		n.People = nil
	}
	n.Is["nodm"], n.Is["nosheet"] = w.Is["nodm"] && !has(all, "dm"), w.Is["nosheet"] && !has(all, "sheet", "tab")
	n.take(all)
	for i := range all {
		t := &all[i]
		t.used = t.used && uses(t.tag, on) || t.is("set") && (scoped || told)
	}
	sets := func(t token) bool { return stamped || t.is("set") || t.named["only"] != "" }
	if unread, _ := strange(all); len(unread) > 0 || scoped && !slices.ContainsFunc(all, sets) ||
		!scoped && !told && !has(all, "nodm", "nosheet", "dm", "sheet", "check", "validate", "tab") {
		return false
	}
	n.Is["assumed"] = w.Is["assumed"] && !has(all, "month")
	*w = n
	return true
}
