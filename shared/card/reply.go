package card

import "ringi/shared/task"

// reply is what a message got instead of a task: a sentence of the model's where there
// is one, then ours. It is plain mrkdwn without a bar: nothing is to be decided.
func (d drawing) reply() string {
	if c := d.a.Choice; c != nil && c.As == task.AsReason {
		return d.became(c)
	}
	text := d.w.sentence(d.a.Head.Ended.Reason, "")
	if r := d.a.Answer; r != nil {
		if said := inline(r.Sentence, 2*task.MaxSentence); said != "" {
			return said + "\n\n" + text
		}
	}
	return text
}

// Suggestion is a request that Slack offers as a button in the app's messages.
type Suggestion struct {
	Title   string // on the button
	Message string // what the person then says
}

// Suggestions are what a request may look like; Slack shows at most four.
func Suggestions(locale string) []Suggestion {
	s := wordsOf(locale).Suggestions
	return s[:]
}
