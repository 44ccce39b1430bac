package main

import (
	"context"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// toAnnounce returns the message that tells the requester how the work ended, if it is the only copy that is left to
// send. This drawing then sends it after its cards; other copies are asked for, since they may be many.
func (d *drawing) toAnnounce(ctx context.Context) *aggregate.Card {
	k, ok := d.kind.(withCopies)
	if !ok {
		return nil
	}
	c := k.Outcome(d.a, d.Now())
	if c == nil || d.behind(ctx, k) {
		return nil
	}
	d.begin(c)
	return c
}

// withAnnouncement adds the message about the end to the cards whose calls are taken together.
func (d *drawing) withAnnouncement(cards []*aggregate.Card) []*aggregate.Card {
	if d.announcement == nil {
		return cards
	}
	d.urgency[d.announcement.Key()] = settled
	return append(slices.Clone(cards), d.announcement)
}

// announce sends the message about the end, and reports whether it did. If it can't be sent now, it is asked for as
// other copies are: what failed must not hold up the cards that wait behind this drawing. Its row is made with the
// claim, once the call is taken; if the invocation dies, that claim becomes stale as any other.
func (d *drawing) announce(ctx context.Context) bool {
	c := d.announcement
	if c == nil || d.reach(ctx) != nil {
		return false
	}
	if _, err := d.Slack.Team(ctx); err != nil { // it would lack its link
		return false
	}
	d.urgency[c.Key()], d.last = settled, false
	if d.mayPost(ctx, c) != nil {
		return false
	}
	claimed, now := *c, d.Now()
	claimed.State, claimed.ClaimedBy, claimed.ClaimedAt = aggregate.CardPosting, d.by, &now
	err := d.Rows.AddCopies(ctx, d.ref, []*aggregate.Card{&claimed})
	if err == nil {
		m, _ := d.copy(ctx, d.kind.(withCopies), d.a, c)
		err = d.postClaimed(ctx, c, m, card.Hash(m))
	}
	if err == nil {
		return true
	}
	if slackapi.Silent(err) {
		d.heard(ctx, err)
	}
	d.log(c).WarnContext(ctx, "not told yet", "err", err)
	return false
}
