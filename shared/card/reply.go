package card

import (
	"strings"
	"unicode"

	"ringi/shared/task"
)

// reply is what a message got instead of a task: a sentence of the model's where there
// is one, then ours in the same language. It is plain mrkdwn without a bar: nothing is to be decided.
func (d drawing) reply() string {
	if c := d.a.Choice; c != nil && c.As == task.AsReason {
		return d.became(c)
	}
	why := d.a.Head.Ended.Reason
	if r := d.a.Answer; r != nil {
		if said := inline(r.Sentence, 2*task.MaxSentence); said != "" {
			return said + "\n\n" + Sentence(languageOf(said, d.w.Locale), why, "")
		}
	}
	return d.w.sentence(why, "")
}

// languageOf is the language that a sentence is written in, as its letters tell; where
// they don't, the workspace's. A model answers in the language of the request.
func languageOf(said, workspace string) string {
	has := func(scripts ...*unicode.RangeTable) bool {
		return strings.ContainsFunc(said, func(r rune) bool { return unicode.In(r, scripts...) })
	}
	switch {
	case has(unicode.Hiragana, unicode.Katakana):
		return "ja"
	case has(unicode.Latin) && !has(unicode.Han):
		return "en"
	}
	return workspace
}

// Suggestions are what a request may look like; Slack shows at most four.
func Suggestions(locale string) []Suggestion {
	s := wordsOf(locale).Suggestions
	return s[:]
}
