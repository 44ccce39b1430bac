package task

import (
	"slices"

	"ringi/shared/words/lazy"
)

// MaxMentioned is how many people a text of a model's may mention. Slack has no mark for a
// name that doesn't also call whoever has it, if they are in the channel; a policy is drawn
// before anybody has stamped it, and must not call people by the dozen.
const MaxMentioned = 20

var mentionForm = lazy.Regexp(`<@([UW][A-Z0-9]{2,40})>`)

// Mentioned are the ids of the people whom a text mentions, each once.
func Mentioned(text string) (ids []string) {
	for _, m := range mentionForm().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids
}
