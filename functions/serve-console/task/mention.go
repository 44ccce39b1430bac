package task

import (
	"strings"

	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// prose is card.Prose, in which people are called by name.
func (r Reader) prose(s string) string { return r.Named(card.Prose(s)) }

// Named is a text whose mentions of people have their names, and their ids: names are chosen by those who have them. As
// on cards, mentions beyond task.MaxMentioned stay as they are.
func (r Reader) Named(s string) string {
	ids := task.Mentioned(s)
	var pairs []string
	for _, id := range ids[:min(len(ids), task.MaxMentioned)] {
		pairs = append(pairs, "<@"+id+">", "@"+r.called(id))
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// called is a person by name and id.
func (r Reader) called(id string) string { return r.Person(id) + " (" + legible.OneLine(id) + ")" }
