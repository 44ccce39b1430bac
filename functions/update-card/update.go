package main

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// update changes a card's message. If the message is deleted or can't be changed any more, update posts a new one.
func (d *drawing) update(ctx context.Context, c *aggregate.Card, m card.Message, hash string) error {
	if err := d.take(ctx, c, methodUpdate); err != nil {
		return err
	}
	by := ""
	if c.ClaimedBy != "" || c.Hash != "" && !d.once() {
		by = d.by
		if err := d.forget(ctx, c); err != nil {
			return err
		}
	}
	d.receipt.open = d.receipt.open || by == ""
	err := d.replace(ctx, c, m)
	switch slackapi.Code(err) {
	case slackapi.CodeBlockMismatch:
		if err := d.Slack.Delete(ctx, c.Channel, c.MessageTS); err != nil {
			return fmt.Errorf("delete what can't be replaced: %w", err)
		}
		fallthrough
	case slackapi.CodeMessageNotFound, slackapi.CodeCantUpdate, slackapi.CodeEditWindow:
		d.log(c).WarnContext(ctx, "posts anew", "ts", c.MessageTS, "err", err)
		if err := d.Rows.ResetCard(ctx, d.ref, c.Key(), c.MessageTS); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
		d.receipt.open = false
		fresh := *c
		fresh.State, fresh.MessageTS, fresh.Hash = aggregate.CardNone, "", ""
		return d.post(ctx, &fresh, m, hash)
	}
	if unknown := (slackapi.Unknown{}); errors.As(err, &unknown) { // Slack may have made it after another drawing's
		err = errors.Join(err, d.save(ctx, c, by, "", nil))
	}
	if err != nil {
		d.receipt.answered(err)
		return d.failed(ctx, c, err)
	}
	d.drew = true
	d.log(c).InfoContext(ctx, "updated", "ts", c.MessageTS)
	if err := d.save(ctx, c, by, hash, d.all()); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	d.noted = d.all() != nil
	return nil
}

// save saves what an update made a message show. If another drawing updated it at the same time, the card is drawn
// again: this try's own repetition may never come.
func (d *drawing) save(ctx context.Context, c *aggregate.Card, by, hash string, all *aggregate.Head) error {
	err := d.Rows.ShownCard(ctx, d.ref, c, by, hash, all)
	if isOther(err) && d.Rows.ForgetCard(ctx, d.ref, c.Key(), c.MessageTS, d.by) == nil {
		err = errors.Join(err, d.Store.Redraw(ctx, d.ref))
	}
	if err == nil {
		d.receipt.open = false
	}
	return err
}

// failed decides what to do after a failed call. For a permanent refusal of this channel or message it saves the
// refusal, tells the requester, and goes on with the other cards. Any other failure ends this try. If Slack refuses the
// app itself, an alarm is raised, and the message is tried again until the token is valid.
func (d *drawing) failed(ctx context.Context, c *aggregate.Card, err error) error {
	var refused slackapi.Refused
	if errors.As(err, &refused) && refused.App {
		boot.Count(boot.AppRefused, 1)
		d.log(c).ErrorContext(ctx, "Slack refuses the app", "err", err)
	}
	if !refused.Permanent {
		return err
	}
	if c.User == "" || c.AtHome() { // a person who left, or accepts no messages, is no failure
		boot.Count(boot.CardUnreachable, 1)
		d.log(c).ErrorContext(ctx, "unreachable", "err", err)
	}
	err = d.Rows.UnreachableCard(ctx, d.ref, c.Key(), d.by, c.MessageTS, refused.Code, d.head.Rev, d.Now())
	switch {
	case isOther(err):
		return later{0, "another invocation was faster"}
	case err != nil:
		return fmt.Errorf("mark as unreachable: %w", err)
	}
	d.vacant = d.vacant || c.Stage > 0
	if d.told || c.User != "" && !c.AtHome() {
		return nil
	}
	d.told = true
	if err := d.Slack.Direct(ctx, d.head.Requester,
		card.Unreachable(d.language(ctx, d.head.Requester), c.Channel, refused.Code)); err != nil {
		d.log(c).WarnContext(ctx, "the requester was not told", "err", err)
	}
	return nil
}
