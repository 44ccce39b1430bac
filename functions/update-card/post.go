package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

const (
	slackTimeout = 10 * time.Second // of one call
	// stale is the age at which a claim's invocation must have ended: the function's timeout.
	stale  = 30 * time.Second
	clocks = time.Second     // how much two invocations' clocks may differ
	soon   = 3 * time.Second // when a message looks again at a card that another invocation holds

	lookAfter = 2 * time.Second // how long a message whose answer was lost may take to be found
	lookAgain = 3 * time.Second // how much longer when Slack answered with an error of its own
	lookFor   = 3 * time.Second // how long such a search may take: a Slack that hangs must not hold its lane for longer
	// enough is how long a post may take: the call, the waits and the searches.
	enough = slackTimeout + lookAfter + lookAgain + 5*time.Second
)

// post gives a card its one message. The claim comes before the call, so that a
// message whose answer nobody saw is looked for before there is a second one.
func (d *drawing) post(ctx context.Context, c *aggregate.Card, m card.Message, hash string) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < enough {
		return later{0, "too little time is left for a post"}
	}
	if err := d.take(ctx, c, methodPost); err != nil {
		return err
	}
	now := d.Now()
	held, err := d.Rows.ClaimCard(ctx, d.ref, c.Key(), d.by, now, now.Add(-stale))
	if isOther(err) {
		return wait(held, now)
	}
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	d.tried = now
	if c.Channel == "" { // a copy, whose row names a person
		if c.Channel, err = d.Slack.OpenDM(ctx, c.User); err != nil {
			return d.notPosted(ctx, c, err)
		}
	}
	if c.State == aggregate.CardPosting { // the invocation that claimed it did not record whether it posted
		found, err := d.find(ctx, c)
		if err != nil {
			return d.afterClaim(err.Error())
		}
		if len(found) > 0 {
			return d.adopt(ctx, c, found, m, hash, false)
		}
	}
	d.tried = d.Now()
	ts, err := d.Slack.Post(ctx, c.Channel, d.place.Thread, m, d.about(c))
	err = d.limited(ctx, methodPost, err)
	var unknown slackapi.Unknown
	switch {
	case errors.As(err, &unknown):
		return d.look(ctx, c, m, hash, unknown)
	case err != nil:
		return d.notPosted(ctx, c, err)
	}
	d.drew = true
	d.log(c).InfoContext(ctx, "posted", "ts", ts)
	if err := d.keep(ctx, c, ts, hash); err != nil {
		return err
	}
	d.suggest(ctx, c)
	return nil
}

// afterClaim says to come back when the claim is free. A post that was sent meanwhile has as long to appear: only then
// is it looked for again, and posted anew if it is not there.
func (d *drawing) afterClaim(cause string) error {
	return later{max(0, d.tried.Add(stale+clocks).Sub(d.Now())), cause}
}

// wait says when to look again at a card that another invocation is posting: most
// often it is done in a moment, and the task's later cards wait behind this message.
func wait(held aggregate.Card, now time.Time) error {
	if held.State == aggregate.CardPosting && held.ClaimedAt != nil {
		return later{min(soon, max(time.Second, held.ClaimedAt.Add(stale).Sub(now))), "another invocation is posting"}
	}
	return later{0, "another invocation was faster"}
}

// keep saves which message is the card's. An invocation that lost the claim meanwhile deletes its own message, but
// only if the row names another: else a later invocation finds and adopts it.
func (d *drawing) keep(ctx context.Context, c *aggregate.Card, ts, hash string) error {
	all := d.all()
	if hash == "" { // the message is updated next
		all = nil
	}
	err := d.Rows.PostedCard(ctx, d.ref, c.Key(), d.by, ts, c.Channel, hash, all)
	if !isOther(err) {
		if err != nil {
			return d.afterClaim(fmt.Sprintf("save the message: %s", err))
		}
		d.noted = all != nil
		return nil
	}
	a, err := d.Store.Load(ctx, d.ref)
	if err != nil {
		return fmt.Errorf("load the task again: %w", err)
	}
	if row := a.Common().Card(c.Key()); row != nil && row.MessageTS != "" && row.MessageTS != ts {
		if err := d.Slack.Delete(ctx, c.Channel, ts); err != nil {
			d.log(c).ErrorContext(ctx, "a second message stays", "ts", ts, "err", err)
		}
	}
	return later{0, "another invocation was faster"}
}

// look follows a post whose outcome is unknown: once, after a moment. If the message is not there yet, the claim
// stays, so that the next try looks again. After an error of Slack's own it looks twice; then the post will not
// appear any more, and the claim is given back, so that the next try posts anew.
func (d *drawing) look(
	ctx context.Context, c *aggregate.Card, m card.Message, hash string, cause slackapi.Unknown,
) error {
	d.log(c).WarnContext(ctx, "unknown outcome", "err", cause)
	looks := []time.Duration{lookAfter}
	if cause.Over {
		looks = append(looks, lookAgain)
	}
	for _, wait := range looks {
		if err := d.Wait(ctx, wait); err != nil {
			return d.afterClaim(cause.Error())
		}
		brief, cancel := context.WithTimeout(ctx, lookFor)
		found, err := d.find(brief, c)
		cancel()
		if err != nil {
			return d.afterClaim(cause.Error())
		}
		if len(found) > 0 {
			return d.adopt(ctx, c, found, m, hash, true)
		}
	}
	if !cause.Over {
		return d.afterClaim(cause.Error())
	}
	d.release(ctx, c)
	return errNotPosted
}

// errNotPosted is a post at which Slack failed; the next try comes soon, and each later one after a longer wait.
var errNotPosted = errors.New("slack failed at the post")

// find looks for the card's messages in its thread. Where Slack does not permit that, it finds none, and the refusal is
// counted.
func (d *drawing) find(ctx context.Context, c *aggregate.Card) ([]string, error) {
	found, err := d.Slack.FindCards(ctx, c.Channel, d.place.Thread, d.about(c))
	var refused slackapi.Refused
	if errors.As(err, &refused) && (refused.Permanent || refused.Code == slackapi.CodeMissingScope) {
		metric.Count(metric.CardSearchRefused, 1)
		d.log(c).WarnContext(ctx, "can't be looked for", "err", err)
		return nil, nil
	}
	return found, err
}

// adopt makes the earliest of the found messages the card's and deletes the others. If it is not known what the
// message shows, it is updated.
func (d *drawing) adopt(
	ctx context.Context, c *aggregate.Card, found []string, m card.Message, hash string, known bool,
) error {
	d.log(c).InfoContext(ctx, "adopted", "ts", found[0], "others", len(found)-1)
	shows := hash
	if !known {
		shows = ""
	}
	if err := d.keep(ctx, c, found[0], shows); err != nil {
		return err
	}
	for _, ts := range found[1:] {
		if err := d.Slack.Delete(ctx, c.Channel, ts); err != nil {
			d.log(c).ErrorContext(ctx, "a second message stays", "ts", ts, "err", err)
		}
	}
	if known {
		return nil
	}
	shown := *c
	shown.State, shown.MessageTS, shown.Hash = aggregate.CardPosted, found[0], ""
	return d.update(ctx, &shown, m, hash)
}

// notPosted gives the claim back after a post that definitely did not happen.
func (d *drawing) notPosted(ctx context.Context, c *aggregate.Card, cause error) error {
	err := d.failed(ctx, c, cause)
	if !errors.Is(err, cause) { // it was refused for good, and the row says so
		return err
	}
	d.release(ctx, c)
	return cause
}

// release gives the claim back; if that fails, the claim ends when it is stale.
func (d *drawing) release(ctx context.Context, c *aggregate.Card) {
	if err := d.Rows.ReleaseCard(ctx, d.ref, c.Key(), d.by); err != nil {
		d.log(c).WarnContext(ctx, "release the claim", "err", err)
	}
}

// suggest offers requests, and the default agent, to a person who was just greeted. It is best effort: the
// app's manifest has suggestions too.
func (d *drawing) suggest(ctx context.Context, c *aggregate.Card) {
	offered := d.kind.Suggestions(d.a, d.settings.Locale)
	if offered == nil {
		return
	}
	first := agent.Default(agent.Named(d.settings.Agents))
	offered = append(slices.Clone(offered), card.AskAgent(d.settings.Locale, first.ID))
	if err := d.Slack.Suggest(ctx, c.Channel, offered); err != nil {
		d.log(c).WarnContext(ctx, "nothing is suggested", "err", err)
	}
}
