package explain

import (
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// party names whom a call is for. exact says that nobody else is named so.
func (t *teller) party(v any) (pieces []Piece, exact bool) {
	l := t.writer()
	switch v := v.(type) {
	case string:
		switch {
		case t.step.Tool == toolMessage && userForm.Get().MatchString(v):
			l.add(Person, v)
		case v != "": // else a name could go on as Ringi's words
			l.quoted(v)
		}
		return l.out, v != ""
	case map[string]any:
		if at, is := reference(v); is && l.from(at) {
			t.result = true
			return l.out, true
		}
	}
	return nil, false
}

// tool names the tool for a notification, and then how its server calls it: anybody may write that.
func (t *teller) tool() string {
	l := t.writer()
	l.foreign(t.step.Tool)
	if title := t.step.ToolTitle; title != "" && !strings.HasSuffix(t.step.Tool, "."+title) {
		l.words(" (")
		l.quoted(legible.Clip(title, maxShortParty))
		l.words(")")
	}
	return Plain(l.out)
}

// shortParty names whom a call is for in a notification, which mentions nobody.
func (t *teller) shortParty() string {
	switch to := t.to; {
	case to[0].Kind == Person:
		return t.w.Person
	case len(to) == 3 && to[1].Kind == Value: // the quotation marks stay
		return to[0].Text + legible.Clip(to[1].Text, maxShortParty) + to[2].Text
	default:
		return legible.Clip(Plain(to), maxShortParty)
	}
}

const maxShortParty = 40

// People returns whom the sentences name, whose other parts name nobody.
func (s Sum) People() (ids []string) {
	for _, e := range append(slices.Concat(s.Then, s.Reads), s.Lead) {
		ids = append(ids, PeopleIn(e.Sentence)...)
	}
	return ids
}

// PeopleIn returns the people that pieces name.
func PeopleIn(pieces []Piece) (ids []string) {
	for _, p := range pieces {
		if p.Kind == Person {
			ids = append(ids, p.Text)
		}
	}
	return ids
}
