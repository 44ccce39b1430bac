package task

import (
	"strings"

	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// prose is card.Prose with people's names.
func (r Reader) prose(s string) string { return r.Named(card.Prose(s)) }

// Named adds names to mentions of people, with their ids since anybody may choose any name. As on cards, only the first
// task.MaxMentioned mentions get names.
func (r Reader) Named(s string) string {
	ids := task.Mentioned(s)
	var pairs []string
	for _, id := range ids[:min(len(ids), task.MaxMentioned)] {
		pairs = append(pairs, "<@"+id+">", "@"+r.called(id))
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// called returns a person's name and id.
func (r Reader) called(id string) string { return r.Person(id) + " (" + legible.OneLine(id) + ")" }
