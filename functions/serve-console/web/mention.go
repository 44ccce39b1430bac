package web

import (
	"strings"

	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Mentions adds names to mentions of people, with their ids since anybody may choose any name. As on cards, only the
// first task.MaxMentioned mentions get names.
func Mentions(s string, name func(id string) string) string {
	ids := task.Mentioned(s)
	var pairs []string
	for _, id := range ids[:min(len(ids), task.MaxMentioned)] {
		pairs = append(pairs, "<@"+id+">", "@"+Called(id, name))
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// Called returns a person's name and id.
func Called(id string, name func(id string) string) string {
	return name(id) + " (" + legible.OneLine(id) + ")"
}
