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
	"ringi/shared/words/legible"
)

// A text is read as a sequence of the phrases in phrases.txt, from its beginning to its end. There is no other way into
// a plan: what no phrase takes, and what a phrase says that the request's topic has no use for, is named.

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
	spaced           bool   // a blank is before it
	in               string // says where it stands, if not in the message
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

// torn reports whether a phrase would end inside a Latin word, a number or a length of time.
func torn(text string, end int) bool {
	before, after := last(text[:end]), first(text[end:])
	return after == '間' || word(before) && word(after) && unicode.IsDigit(before) == unicode.IsDigit(after)
}

// strange names the tokens that were not taken up, each with those beside it and with the word before a particle or
// behind a preposition, without which it would say nothing.
func strange(all []token) (out []string) {
	free := func(t token) bool { return !t.used && !t.quiet() }
	end := token{tag: "s"}
	all = append([]token{end}, append(slices.Clone(all), end)...)
	for i := 1; i+1 < len(all); i++ {
		begin := i
		for free(all[i]) {
			i++
		}
		if begin == i {
			continue
		}
		said, before, after := joined(all[begin:i]), all[begin-1], all[i]
		switch r := first(said); {
		case !before.is("s", "j") && (unicode.Is(unicode.Hiragana, r) || compound(r) && compound(last(before.text))):
			said = joined(all[begin-1 : i])
		case word(r) && all[i-1].tag == "" && !after.quiet():
			said = joined(all[begin : i+1])
		}
		if compound(last(all[i-1].text)) && compound(first(after.text)) {
			said = joined([]token{{text: said}, after})
		}
		out = add(out, strings.TrimSpace(said))
	}
	return out
}

// joined is a sequence of tokens as it was said.
func joined(all []token) (out string) {
	for i, t := range all {
		if i > 0 && t.spaced {
			out += " "
		}
		out += t.text
	}
	return out
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

// fate is what became of a sentence of a remark: applied, unclear, or settled by the approved policy, which are words,
// too.
type fate struct{ Reason, Form string }

// heed follows the reasons of rejections, each sentence by itself: what is understood of a reason is followed, and what
// is not is named. Steps are planned after the policy is stamped, so only what leaves steps out or asks for a check
// counts there.
func (w *meant) heed(steps bool) {
	for _, v := range w.in.Earlier {
		fates := w.remark(v.Reason, steps)
		if !slices.ContainsFunc(fates, func(f fate) bool { return f.Form != fates[0].Form }) && fates != nil {
			fates = []fate{{strings.Join(strings.Fields(v.Reason), " "), fates[0].Form}}
		}
		for _, f := range fates {
			if steps || f.Form != "applied" { // a policy is planned by what it says that it followed
				f.Reason = legible.Clip(oneLine(f.Reason), 1600/len(w.in.Earlier))
			}
			if w.Fates = append(w.Fates, f); f.Form == "applied" {
				w.FollowedTo = len(w.Fates)
			}
		}
	}
}

// follow takes the reasons that an approved policy says it followed, because people stamped what came of them.
func (w *meant) follow(policy string) {
	before, after, _ := strings.Cut("• "+w.Say("applied", w.words.Say["quote"]), "%s")
	listed := policy[max(0, strings.LastIndex(policy, w.Say("earlier"))):]
	for line := range strings.SplitSeq(listed, "\n") {
		reason, ok := strings.CutPrefix(line, before)
		if reason, done := strings.CutSuffix(reason, after); ok && done {
			w.remark(reason, false)
		}
	}
}

// remark follows the sentences of a reason to a version of the policy or the steps.
func (w *meant) remark(reason string, steps bool) (out []fate) {
	var part []token
	for _, t := range append(lex(normal(reason), true), token{tag: "s"}) {
		if !t.is("s") {
			part = append(part, t)
			continue
		}
		if slices.ContainsFunc(part, func(t token) bool { return !t.quiet() }) {
			policy := *w // would follow it
			became := w.merge(part, steps)
			if became != "applied" && steps && policy.merge(part, false) == "applied" {
				became = "settled"
			}
			out = append(out, fate{joined(part), became})
		}
		part = nil
	}
	if out == nil && strings.TrimSpace(reason) != "" {
		return []fate{{reason, "unclear"}}
	}
	return out
}

// merge reads a sentence as a part of the request, and changes the request by it if all of it was understood: “instead”
// and “only” replace a month or department, “to” who is told, and no other meaning is guessed. Not even a reason goes
// beyond a stamped policy.
func (w *meant) merge(all []token, steps bool) (became string) {
	n, told, scoped, counted := *w, has(all, "to"), has(all, "month", "dept"), has(all, "count")
	n.no, n.Is = "", maps.Clone(w.Is)
	if told {
		n.People = nil
	}
	n.Is["nodm"], n.Is["nosheet"] = w.Is["nodm"] && !has(all, "dm"), w.Is["nosheet"] && !has(all, "sheet", "tab")
	n.take(all)
	on := map[bool]string{false: "remark", true: "steps"}[steps]
	for i := range all {
		t := &all[i]
		t.used = t.used && uses(t.tag, on) || t.is("add") && !scoped && !told || t.is("set") && (scoped || told)
	}
	sets := func(t token) bool { return t.is("set") || t.named["only"] != "" }
	switch {
	case len(strange(all)) > 0, n.no != "", scoped && !slices.ContainsFunc(all, sets),
		!scoped && !told && !counted && !has(all, "nodm", "nosheet", "dm", "sheet", "check", "validate", "brief", "tab"),
		steps && (n.Order.Quantity > w.Order.Quantity || w.Is["nodm"] && has(all, "dm") ||
			w.Is["nosheet"] && has(all, "sheet")):
		return "unclear"
	}
	n.no, n.Is["assumed"] = w.no, w.Is["assumed"] && !has(all, "month")
	*w = n
	return "applied"
}

// Reasons are those of which the same became, each once, from one of the parts on.
func (w *meant) Reasons(form string, from int) (reasons []string) {
	for _, f := range w.Fates[from:] {
		if f.Form == form {
			reasons = add(reasons, f.Reason)
		}
	}
	return reasons
}

// Open are the newest reasons after these: none was understood.
func (w *meant) Open() []string {
	reasons := w.Reasons("unclear", w.FollowedTo)
	return reasons[max(0, len(reasons)-maxUnread):]
}
