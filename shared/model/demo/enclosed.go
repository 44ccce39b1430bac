package demo

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

// forwarded is a message that the request forwards.
type forwarded struct {
	Text     string `json:"text"`
	NotShown string `json:"not_shown"`
}

// attached is a file of the request.
type attached struct {
	forwarded
	Name    string `json:"name"`
	NotRead string `json:"not_read"`
}

// piece is one of the texts that are read as a request: the message, what it forwards, or its only file.
type piece struct {
	text string
	in   string // a sentence that says where it stands, unless it is the message
}

// maxFileAsked is the most characters of a file that is read as a request.
const maxFileAsked = 1000

// struck matches what a forwarded message or a file marks as struck out: it does not hold.
var struck = &lazy.Regexp{Text: `~~[^~\n]+~~|(^|[^\pL\pN~<|/])~[^\s~](?:[^~\n]*[^\s~])?~($|[^\pL\pN~])`}

// leaveOut removes what is struck out of what a request encloses.
func (in *input) leaveOut() {
	for i := range in.Forwarded {
		in.Forwarded[i].Text = struck.Get().ReplaceAllString(in.Forwarded[i].Text, "$1 $2")
	}
	for i := range in.Files {
		in.Files[i].Text = struck.Get().ReplaceAllString(in.Files[i].Text, "$1 $2")
	}
}

// enclose splits a request into the texts that it is read from. What it encloses beside is refused: forwarded messages that
// can't be seen whole, and files, unless one alone is the request.
func (r *reading) enclose(in input, message string) {
	t := r.words
	r.pieces = []piece{{text: message}}
	for _, f := range in.Forwarded {
		if f.NotShown != "" || strings.TrimSpace(f.Text) == "" {
			r.shut = t.Say["forwardHidden"]
			continue
		}
		r.pieces = append(r.pieces, piece{f.Text, t.Say["inForward"]})
	}
	if len(in.Files) == 0 {
		return
	}
	f, alone := in.Files[0], len(in.Files) == 1 && r.shut == "" && len(r.spoken()) == 0
	whole := f.NotRead == "" && f.NotShown == "" && strings.TrimSpace(f.Text) != ""
	if alone && whole && utf8.RuneCountInString(f.Text) <= maxFileAsked {
		r.pieces = append(r.pieces, piece{f.Text, fmt.Sprintf(t.Say["inFile"], t.quoted([]string{f.Name}))})
		return
	}
	var names []string
	for _, f := range in.Files[:min(len(in.Files), maxUnread)] {
		names = append(names, f.Name)
	}
	form := t.Say["noFile"]
	if len(in.Files) > maxUnread {
		form = strings.ReplaceAll(t.Say["noFiles"], "{n}", fmt.Sprint(len(in.Files)-maxUnread))
	}
	r.shut += fmt.Sprintf(form, t.quoted(names))
}

// says reports whether a text says more than that something else is meant.
func says(text string) bool {
	return slices.ContainsFunc(lex(normal(text), false), func(t token) bool {
		return t.tag != "this" && !slices.Contains(quiet, t.tag)
	})
}

// spoken are the texts that say more than that the others are the request.
func (r *reading) spoken() (out []string) {
	for _, p := range r.pieces {
		if says(p.text) {
			out = append(out, p.text)
		}
	}
	return out
}

// tokens reads the pieces one by one. A month or subject that an earlier piece has already says nothing more. It
// reports false if a quotation has no end.
func (r *reading) tokens() (all []token, said []string, ok bool) {
	for i, p := range r.pieces {
		rest, quoted, closed := quotations(p.text)
		if !closed || len(said)+len(quoted) > maxQuotations {
			r.stops = append(r.stops, r.words.Say["noQuote"]+p.in)
			return nil, nil, false
		}
		part := lex(strings.Map(func(c rune) rune {
			if c >= firstQuotation && c < firstQuotation+maxQuotations {
				c += rune(len(said))
			}
			return c
		}, normal(rest)), false)
		for j, t := range part {
			again := func(x token) bool { return x.tag == t.tag && x.text == t.text }
			if i > 0 && (letters[t.tag] == "M" || letters[t.tag] == "O") && slices.ContainsFunc(all, again) {
				part[j].tag = "."
			}
		}
		if len(all) > 0 {
			all = append(all, token{tag: "s", text: "\n"})
		}
		all, said = append(all, part...), append(said, quoted...)
	}
	return all, said, true
}

// where says in which of the enclosed texts words stand that the message doesn't have.
func (r *reading) where(words ...string) (said string) {
	plain := func(text string) string { return strings.ToLower(strings.Join(strings.Fields(normal(text)), "")) }
	for _, w := range words {
		for _, p := range r.pieces {
			if strings.Contains(plain(p.text), plain(w)) {
				if !strings.Contains(said, p.in) {
					said += p.in
				}
				break
			}
		}
	}
	return said
}

// language is that of the message, or of what it encloses if it has no words.
func (in input) language(message string) string {
	for _, f := range in.Forwarded {
		if strings.TrimSpace(message) == "" {
			message = f.Text
		}
	}
	for _, f := range in.Files {
		if strings.TrimSpace(message) == "" {
			message = f.Text
		}
	}
	return language.Of(message, in.Locale)
}
