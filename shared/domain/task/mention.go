package task

import (
	"ringi/shared/words/language"
	"slices"
)

// MaxMentioned limits how many people a model's text may mention. In Slack a mention notifies the person. A policy is
// shown before anybody has stamped it, so it must not notify dozens of people.
const MaxMentioned = 20

var mentionForm = language.Regexp{Text: `<@([UW][A-Z0-9]{2,40})>`}

// Mentioned returns the ids of the people whom a text mentions, without duplicates.
func Mentioned(text string) (ids []string) {
	for _, m := range mentionForm.Get().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids
}
