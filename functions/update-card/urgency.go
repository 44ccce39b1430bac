package main

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// urgency is how soon a card must be drawn when Slack's rate limits don't allow all.
type urgency int

const (
	asks     urgency = iota // it asks for a decision, or says how the work ended
	settled                 // it says what was decided, or is the first answer to a request
	progress                // it shows progress, which a later card will show too: it may be left out
)

// inOrder are the cards as they are drawn: the most urgent first. A card that has no
// message yet is as urgent as the most urgent one after it, so that a thread reads in order.
func (d *drawing) inOrder() ([]*aggregate.Card, map[string]urgency) {
	cards := slices.SortedStableFunc(slices.Values(d.a.Common().Cards), func(a, b *aggregate.Card) int { return a.CreatedAt.Compare(b.CreatedAt) })
	of := map[string]urgency{}
	behind := progress
	for _, c := range slices.Backward(cards) {
		of[c.Key()] = d.kind.Urgency(d.a, c)
		if c.MessageTS == "" {
			behind = min(behind, of[c.Key()])
			of[c.Key()] = behind
		}
	}
	slices.SortStableFunc(cards, func(a, b *aggregate.Card) int { return int(of[a.Key()] - of[b.Key()]) })
	return cards, of
}
