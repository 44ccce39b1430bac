package card

import (
	"fmt"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

var idForm = language.Regexp{Text: `^[A-Za-z0-9_-]{1,64}$`}

// mention writes a person's id so that Slack shows the name. An empty id stands for the system.
func (w *words) mention(user string) string {
	switch {
	case user == "":
		return w.System
	case idForm.Get().MatchString(user):
		return "<@" + user + ">"
	}
	return or(inline(user, maxTool), w.System)
}

var writtenMention = language.Regexp{Text: `&lt;@([UW][A-Z0-9]{2,40})&gt;`}

// people restores mentions of people in an escaped text and adds their ids, so that readers see who is meant. Mentions
// beyond task.MaxMentioned, and all other markup, stay escaped.
func people(escaped string) string {
	called := map[string]bool{}
	return writtenMention.Get().ReplaceAllStringFunc(escaped, func(written string) string {
		id := writtenMention.Get().FindStringSubmatch(written)[1]
		if !called[id] && len(called) == task.MaxMentioned {
			return written
		}
		called[id] = true
		return "<@" + id + "> (" + id + ")"
	})
}

func when(t time.Time) string {
	if t.Unix() <= 0 || t.Year() > 9999 {
		return "—"
	}
	return fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", t.Unix(), t.UTC().Format("2006-01-02 15:04 UTC"))
}

func whenSet(t *time.Time) string {
	if t == nil {
		return "—"
	}
	return when(*t)
}

//go:noinline
func fill(text string, pairs ...any) string { return language.Fill(text, pairs...) }
