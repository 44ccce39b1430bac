package card

import (
	"strings"
	"unicode"

	"ringi/shared/domain/task"
)

// reply answers a message that became no task: first the model's sentence, if there is one, then Ringi's in the same
// language. It is plain mrkdwn without an attachment.
func (d drawing) reply() string {
	if c := d.a.Choice; c != nil && c.As == task.AsReason {
		return d.became(c)
	}
	why := d.a.Head.Ended.Reason
	if r := d.a.Answer; r != nil {
		if said := people(inline(r.Sentence, 2*task.MaxSentence)); said != "" {
			return said + "\n\n" + Sentence(languageOf(said, d.w.Locale), why, "")
		}
	}
	return d.w.sentence(why, d.a.Head.Ended.Detail)
}

// languageOf guesses the language of a sentence by its letters, and falls back to the workspace's. A model answers in
// the language of the request.
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

// Suggestions are examples of requests; Slack shows at most four.
func Suggestions(locale string) []Suggestion {
	s := wordsOf.In(locale).Suggestions
	return s[:]
}

// AskAgent suggests a conversation with an agent: its message begins with the agent's id, which addresses it.
func AskAgent(locale, agent string) Suggestion {
	s := wordsOf.In(locale).AskAgent
	s.Message = agent + ": " + s.Message
	return s
}
