package conversation

import (
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
)

// source is where a conversation's files came from.
type source struct {
	Short, URL      string
	State           string // empty if the files are there
	Left, LeftCount string // what was left out of them
}

func sourceOf(words web.Texts, s conversation.Source, locale string) *source {
	out := &source{Short: legible.OneLine(s.Short()), URL: s.URL()}
	switch s.State {
	case conversation.SourceWanted:
		out.State = words.Say("source_wanted")
	case conversation.SourceFailed:
		out.State = conversation.SourceWords(locale, s.Error)
	}
	if n := len(s.Left) + s.More; n > 0 {
		out.Left, out.LeftCount = s.LeftWords(locale, len(s.Left)), words.Say("source_left", "n", n)
	}
	return out
}
