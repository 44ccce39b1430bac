package main

import (
	"context"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/note"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// noteCards draws the cards of notes.
type noteCards struct{}

func (noteCards) Place(a aggregate.Aggregate) (Place, bool) {
	n := a.(*note.Aggregate).Note
	if n == nil {
		return Place{}, false
	}
	return Place{Team: n.TeamID, Thread: n.ThreadTS}, true
}

func (noteCards) Render(a aggregate.Aggregate, _ *aggregate.Card, _ tenancy.Settings, _ time.Time) card.Message {
	n := a.(*note.Aggregate).Note
	text := "to be kept: " + n.Text
	if n.KeptAt != nil {
		text = "kept: " + n.Text
	}
	return card.Message{Text: text, Attachments: []slack.Attachment{{Color: "#2196f3", Blocks: slack.Blocks{BlockSet: []slack.Block{
		slack.NewSectionBlock(slack.NewTextBlockObject(slack.PlainTextType, text, false, false), nil, nil),
	}}}}}
}

func (noteCards) Opened(_ context.Context, a aggregate.Aggregate, _ *aggregate.Card) (aggregate.Aggregate, error) {
	return a, nil
}

func (noteCards) Urgency(aggregate.Aggregate, *aggregate.Card) urgency { return settled }

func (noteCards) Suggestions(aggregate.Aggregate, string) []card.Suggestion { return nil }
