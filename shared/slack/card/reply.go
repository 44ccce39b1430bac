package card

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
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
			return said + "\n\n" + Sentence(language.Of(said, d.w.Locale), why, "")
		}
	}
	if told, is := task.ReadStood(why, d.a.Head.Ended.Detail); is {
		return d.stood(told)
	}
	return d.w.sentence(why, d.a.Head.Ended.Detail)
}

// stood tells a principal what was done for them.
func (d drawing) stood(told task.StoodTold) string {
	told.Hand = d.w.mention(told.Hand)
	told.From, told.Until = inline(told.From, maxTool), inline(told.Until, maxTool)
	for i := range told.Items {
		told.Items[i].Title = or(inline(told.Items[i].Title, maxHeader), d.w.None)
	}
	return explain.Stood(d.w.Locale, told, when, func(x task.StoodItem, text string) string {
		if page := Page(d.console, aggregate.Ref{Kind: x.Kind, ID: x.ID}); page != "" {
			return "<" + page + "|" + text + ">"
		}
		return ""
	})
}

// Page returns where the console shows a request or a conversation, or "" without its address.
func Page(console string, ref aggregate.Ref) string {
	at := map[string]string{task.Kind.Name: "/tasks/", conversation.Kind.Name: "/sessions/"}[ref.Kind]
	if console == "" || at == "" || !aggregate.ValidID(ref.ID) {
		return ""
	}
	return console + at + ref.ID
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
