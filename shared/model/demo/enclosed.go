package demo

import (
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
	"ringi/shared/words/legible"
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

// piece is one of the texts that are read as a request: the message, what it forwards, or its only file. in is a
// sentence that says where it stands, unless it is the message.
type piece struct{ text, in string }

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

// enclose splits a request into the texts that it is read from. What it encloses beside is refused: forwarded messages
// that can't be seen whole, and files, unless one alone is the request.
func (w *wish) enclose(in input, message string) {
	w.pieces = []piece{{message, ""}}
	alone := !says(message)
	for _, f := range in.Forwarded {
		if f.NotShown != "" || strings.TrimSpace(f.Text) == "" {
			w.shut = w.say("forwardHidden")
		} else {
			w.pieces, alone = append(w.pieces, piece{f.Text, w.say("inForward")}), alone && !says(f.Text)
		}
	}
	var names []string
	for _, f := range in.Files {
		names = append(names, f.Name)
		if len(in.Files) == 1 && alone && w.shut+f.NotRead+f.NotShown == "" && strings.TrimSpace(f.Text) != "" &&
			utf8.RuneCountInString(f.Text) <= maxFileAsked {
			w.pieces, names = append(w.pieces, piece{f.Text, w.say("inFile", w.quoted(f.Name))}), nil
		}
	}
	if more := len(names) - maxUnread; more > 0 {
		w.shut += w.say("noFiles", w.quoted(names[:maxUnread]...), more)
	} else if len(names) > 0 {
		w.shut += w.say("noFile", w.quoted(names...))
	}
	for _, p := range w.pieces {
		w.text = strings.Join(strings.Fields(w.text+" "+p.text), " ")
	}
}

// said is a message of the thread.
type said struct {
	User string `json:"user"`
	Text string `json:"text"`
}

// besideThread says with a task, or with what is refused, that what people said before in the thread is not used.
func (w *wish) besideThread(thread []said, answer map[string]string) map[string]string {
	if !slices.ContainsFunc(thread, func(s said) bool { return !strings.HasPrefix(s.User, "B") && says(s.Text) }) {
		return answer
	}
	switch answer["kind"] {
	case "task":
		answer["description"] += "\n" + w.say("inThread")
	case "unsupported":
		answer["sentence"] = legible.First(answer["sentence"]+w.say("inThread"), task.MaxSentence)
	}
	return answer
}

// says reports whether a text says more than that something else is meant.
func says(text string) bool {
	return slices.ContainsFunc(lex(normal(text), false), func(t token) bool { return !t.is("this") && !t.quiet() })
}

// tokens reads the pieces one by one. A month or subject that an earlier piece has already says nothing more. It
// reports false if a quotation has no end.
func (w *wish) tokens() (all []token, said []string, ok bool) {
	for i, p := range w.pieces {
		rest, quoted, closed := quotations(p.text)
		if !closed || len(said)+len(quoted) > maxQuotations {
			w.no = w.say("noQuote") + p.in
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
			if i > 0 && t.is("month", "topic") && slices.ContainsFunc(all, again) {
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
func (w *wish) where(words ...string) (said string) {
	plain := func(text string) string { return strings.ToLower(strings.Join(strings.Fields(normal(text)), "")) }
	for _, x := range words {
		at := slices.IndexFunc(w.pieces, func(p piece) bool { return strings.Contains(plain(p.text), plain(x)) })
		if at >= 0 && !strings.Contains(said, w.pieces[at].in) {
			said += w.pieces[at].in
		}
	}
	return said
}

// language is that of the message, or of what it encloses if it has no words.
func (in input) language(message string) string {
	texts := []string{message}
	for _, f := range in.Forwarded {
		texts = append(texts, f.Text)
	}
	for _, f := range in.Files {
		texts = append(texts, f.Text)
	}
	at := slices.IndexFunc(texts, func(s string) bool { return strings.TrimSpace(s) != "" })
	return language.Of(texts[max(0, at)], in.Locale)
}
