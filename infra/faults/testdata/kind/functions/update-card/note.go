package main

import (
	"context"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/note"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// noteCards renders the cards of notes.
type noteCards struct{}

func (noteCards) Place(a aggregate.Aggregate) (Place, bool) {
	n := a.(*note.Aggregate).Note
	if n == nil {
		return Place{}, false
	}
	return Place{Team: n.TeamID, Thread: n.ThreadTS}, true
}

func (noteCards) Render(a aggregate.Aggregate, _ *aggregate.Card, s tenancy.Settings, _ time.Time) card.Message {
	return card.NoteCard(a.(*note.Aggregate), s.Locale)
}

func (noteCards) Opened(_ context.Context, a aggregate.Aggregate, _ *aggregate.Card) (aggregate.Aggregate, error) {
	return a, nil
}

func (noteCards) Urgency(aggregate.Aggregate, *aggregate.Card) urgency { return settled }

func (noteCards) Suggestions(aggregate.Aggregate, string) []card.Suggestion { return nil }
