package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

const (
	slackTimeout = 10 * time.Second // of one call
	// stale is the age at which the invocation of a claim must have ended: the function's timeout.
	stale  = 30 * time.Second
	clocks = time.Second     // how much two invocations' clocks may differ
	soon   = 3 * time.Second // delay before a card that another invocation holds is checked again

	lookAfter = 2 * time.Second // how long an unanswered post may take to appear
	lookAgain = 3 * time.Second // how much longer if Slack itself answered with an error
	lookFor   = 3 * time.Second // how long a search may take, so that a slow Slack doesn't block the group
	// enough is the longest time of a post: the call, the waits and the searches.
	enough = slackTimeout + lookAfter + lookAgain + 5*time.Second
)

// post posts a card's only message. It claims the card before the call, so that a post without an answer is looked for
// before there is a second one.
func (d *drawing) post(ctx context.Context, c *aggregate.Card, m card.Message, hash string) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < enough {
		return later{0, "too little time is left for a post"}
	}
	now := d.Now()
	held, err := d.Store.ClaimCard(ctx, d.ref, c.Key(), d.by, now, now.Add(-stale))
	switch {
	case err == nil:
		return d.postClaimed(ctx, c, m, hash)
	case !errors.Is(err, store.ErrClaimed):
		return fmt.Errorf("claim: %w", err)
	case held.State == aggregate.CardPosting && held.ClaimedAt != nil:
		// it usually takes a moment, and later cards wait behind this message
		return later{min(soon, max(time.Second, held.ClaimedAt.Add(stale).Sub(now))), "another invocation is posting"}
	}
	return errFaster
}

// postClaimed posts a card that this drawing has claimed.
func (d *drawing) postClaimed(ctx context.Context, c *aggregate.Card, m card.Message, hash string) (err error) {
	d.tried = d.Now()
	if c.Channel == "" { // a copy, whose row names a person, or a reminder
		if c.Channel, err = d.Slack.OpenDM(ctx, d.person(c)); err != nil {
			return d.notPosted(ctx, c, err)
		}
	}
	if c.State == aggregate.CardPosting { // the invocation that claimed it did not record whether it posted
		found, err := d.find(ctx, c)
		if err != nil {
			return d.afterClaim(err.Error())
		}
		if len(found) > 0 {
			return d.adopt(ctx, c, found, m, hash)
		}
	}
	d.tried = d.Now()
	ts, err := d.Slack.Post(ctx, c.Channel, d.thread(c), m, d.about(c))
	var unknown slackapi.Unknown
	switch {
	case errors.As(err, &unknown):
		return d.look(ctx, c, m, hash, unknown)
	case err != nil:
		return d.notPosted(ctx, c, err)
	}
	d.log(c).InfoContext(ctx, "posted", "ts", ts)
	if err := d.keep(ctx, c, ts, hash); err != nil {
		return err
	}
	d.suggest(ctx, c)
	return nil
}

// afterClaim makes the message return when the claim has expired. By then a post from this invocation must have
// appeared; if it is not found, the card is posted again.
func (d *drawing) afterClaim(cause string) error {
	return later{max(0, d.tried.Add(stale+clocks).Sub(d.Now())), cause}
}

// keep saves the timestamp of the card's message. If this invocation has lost the claim, it deletes its own message,
// but only if the row already names another. Otherwise a later invocation finds and adopts this one.
func (d *drawing) keep(ctx context.Context, c *aggregate.Card, ts, hash string) error {
	all := d.all
	if hash == "" { // the message is updated next
		all = nil
	}
	err := d.Store.PostedCard(ctx, d.ref, c.Key(), d.by, ts, c.Channel, hash, all)
	if !errors.Is(err, store.ErrClaimed) {
		if err != nil {
			return d.afterClaim(fmt.Sprintf("save the message: %s", err))
		}
		d.noted = d.noted || all != nil
		return nil
	}
	a, err := d.Store.Load(ctx, d.ref)
	if err != nil {
		return fmt.Errorf("load the task again: %w", err)
	}
	if row := a.Common().Card(c.Key()); row != nil && row.MessageTS != "" && row.MessageTS != ts {
		d.takeBack(ctx, c, ts)
	}
	return errFaster
}

// takeBack deletes a second message of a card.
func (d *drawing) takeBack(ctx context.Context, c *aggregate.Card, ts string) {
	if err := d.Slack.Delete(ctx, c.Channel, ts); err != nil {
		d.log(c).ErrorContext(ctx, "a second message stays", "ts", ts, "err", err)
	}
}

// look searches for a post whose outcome is unknown, after a moment. If the message is not there, the claim remains,
// and the next try looks again. If Slack itself answered with an error, look searches twice; after that the post can no
// longer appear, so look releases the claim, and the next try posts again.
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
			return d.adopt(ctx, c, found, m, hash)
		}
	}
	if !cause.Over {
		return d.afterClaim(cause.Error())
	}
	d.release(ctx, c)
	return errNotPosted
}

// errFaster: another invocation has the row.
var errFaster = later{0, "another invocation was faster"}

// errNotPosted is an error of Slack's own at a post. The next try comes soon, each later one after a longer wait.
var errNotPosted = errors.New("slack failed at the post")

// find looks for the card's messages in its thread. If Slack does not permit that, it returns none and counts the
// refusal.
func (d *drawing) find(ctx context.Context, c *aggregate.Card) ([]string, error) {
	found, err := d.Slack.FindCards(ctx, c.Channel, d.thread(c), d.about(c))
	var refused slackapi.Refused
	if errors.As(err, &refused) && (refused.Permanent || refused.Code == slackapi.CodeMissingScope) {
		d.log(c).WarnContext(ctx, "can't be looked for", "err", err)
		return nil, nil
	}
	return found, err
}

// adopt makes the earliest of the found messages the card's message, which it updates, and deletes the others.
func (d *drawing) adopt(ctx context.Context, c *aggregate.Card, found []string, m card.Message, hash string) error {
	d.log(c).InfoContext(ctx, "adopted", "ts", found[0], "others", len(found)-1)
	if err := d.keep(ctx, c, found[0], ""); err != nil {
		return err
	}
	for _, ts := range found[1:] {
		d.takeBack(ctx, c, ts)
	}
	shown := *c
	shown.State, shown.MessageTS, shown.Hash, shown.ClaimedBy = aggregate.CardPosted, found[0], "", ""
	return d.update(ctx, &shown, m, hash)
}

// notPosted releases the claim after a post that certainly failed.
func (d *drawing) notPosted(ctx context.Context, c *aggregate.Card, cause error) error {
	err := d.failed(ctx, c, cause)
	if !errors.Is(err, cause) { // the refusal is permanent, and the row has it
		return err
	}
	d.release(ctx, c)
	return cause
}

// release releases the claim. If that fails, the claim expires when it is stale.
func (d *drawing) release(ctx context.Context, c *aggregate.Card) {
	if err := d.Store.ReleaseCard(ctx, d.ref, c.Key(), d.by); err != nil {
		d.log(c).WarnContext(ctx, "release the claim", "err", err)
	}
}

// suggest offers requests, and the default agent, to a person who was just greeted. It is best effort: the app's
// manifest has suggestions, too.
func (d *drawing) suggest(ctx context.Context, c *aggregate.Card) {
	if t, is := d.a.(*task.Aggregate); !is || t.Head.Ended == nil || t.Head.Ended.Reason != task.ReasonGreeting {
		return
	}
	first := tenancy.DefaultAgent(tenancy.NamedAgents(d.settings.Agents))
	offered := append(slices.Clone(card.Suggestions(d.settings.Locale)), card.AskAgent(d.settings.Locale, first.ID))
	if err := d.Slack.Suggest(ctx, c.Channel, offered); err != nil {
		d.log(c).WarnContext(ctx, "nothing is suggested", "err", err)
	}
}

// update changes a card's message. If the message is deleted or can't be changed any more, update posts a new one.
func (d *drawing) update(ctx context.Context, c *aggregate.Card, m card.Message, hash string) error {
	d.unsaved++
	err := d.Slack.Update(ctx, c.Channel, c.MessageTS, m, d.about(c))
	switch slackapi.Code(err) {
	case slackapi.CodeBlockMismatch:
		if err := d.Slack.Delete(ctx, c.Channel, c.MessageTS); err != nil {
			return fmt.Errorf("delete what can't be replaced: %w", err)
		}
		fallthrough
	case slackapi.CodeMessageNotFound, slackapi.CodeCantUpdate, slackapi.CodeEditWindow:
		d.log(c).WarnContext(ctx, "posts anew", "ts", c.MessageTS, "err", err)
		row, err := d.Store.ResetCard(ctx, d.ref, c.Key(), c.MessageTS)
		if err != nil {
			return fmt.Errorf("reset: %w", err)
		}
		d.unsaved--
		if row.MessageTS != "" || row.Drawn != c.Drawn { // another drawing showed a state that may be later
			return errFaster
		}
		fresh := *c
		fresh.State, fresh.MessageTS, fresh.Hash = aggregate.CardNone, "", ""
		return d.post(ctx, &fresh, m, hash)
	}
	if unknown := (slackapi.Unknown{}); errors.As(err, &unknown) { // Slack may have made it after another drawing's
		err = errors.Join(err, d.save(ctx, c, "", nil))
	}
	if err != nil {
		if errors.As(err, new(slackapi.Refused)) || errors.As(err, new(slackapi.RateLimited)) { // it changed nothing
			d.unsaved--
		}
		return d.failed(ctx, c, err)
	}
	d.log(c).InfoContext(ctx, "updated", "ts", c.MessageTS)
	if err := d.save(ctx, c, hash, d.all); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	d.noted = d.noted || d.all != nil
	return nil
}

// save saves what an update made a message show. If it can't, the row forgets its hash. If another drawing updated the
// message at the same time, the card is drawn again: this try's own repetition may never come.
func (d *drawing) save(ctx context.Context, c *aggregate.Card, hash string, all *aggregate.Head) error {
	err := d.Store.ShownCard(ctx, d.ref, c, hash, all)
	if err != nil && d.Store.DoubtCard(ctx, d.ref, c) != nil {
		return err
	}
	d.unsaved--
	if errors.Is(err, store.ErrClaimed) {
		err = errors.Join(err, d.Store.Redraw(ctx, d.ref))
	}
	return err
}

// failed decides what to do after a failed call. For a permanent refusal of this channel or message it saves the
// refusal, tells the requester, and goes on with the other cards. Any other failure ends this try.
func (d *drawing) failed(ctx context.Context, c *aggregate.Card, err error) error {
	var refused slackapi.Refused
	if !errors.As(err, &refused) || !refused.Permanent {
		return err
	}
	personal := d.person(c) != ""
	if !personal { // a person who left, or a channel that doesn't have the app, is no failure
		d.log(c).ErrorContext(ctx, "unreachable", "err", err)
	}
	err = d.Store.UnreachableCard(ctx, d.ref, c.Key(), d.by, c.MessageTS, refused.Code, d.head.Rev, d.Now())
	switch {
	case errors.Is(err, store.ErrClaimed):
		return errFaster
	case err != nil:
		return fmt.Errorf("mark as unreachable: %w", err)
	}
	d.vacant = d.vacant || c.Stage > 0
	if d.told || personal {
		return nil
	}
	d.told = true
	if err := d.Slack.Direct(ctx, d.head.Requester,
		card.Unreachable(d.language(ctx, d.head.Requester), c.Channel, refused.Code)); err != nil {
		d.log(c).WarnContext(ctx, "the requester was not told", "err", err)
	}
	return nil
}
