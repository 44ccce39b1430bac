package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// ClaimCard lets the claimant by post a card's message. It succeeds if the card has no message, if Slack refused the
// last one, or if the existing claim is by's own or older than staleBefore. Otherwise it returns ErrClaimed and the
// card.
func (s *Store) ClaimCard(ctx context.Context, ref aggregate.Ref, key, by string, now,
	staleBefore time.Time) (aggregate.Card, error) {
	e := table.NewExpression()
	e.Set("state", aggregate.CardPosting)
	e.Set("claimed_by", by)
	e.Set("claimed_at", now)
	free := table.AnyOf(
		e.Is("state", "=", aggregate.CardNone),
		e.Is("state", "=", aggregate.CardUnreachable),
		table.Both(e.Is("state", "=", aggregate.CardPosting),
			table.AnyOf(e.Is("claimed_by", "=", by), e.Is("claimed_at", "<", staleBefore))),
	)
	return s.updateCard(ctx, "claim", ref, key, e, free)
}

// PostedCard saves the message that by posted under its claim. If all is set, it also records, as Shown does, that
// every card shows the aggregate as of that head. It returns ErrClaimed when the claim was lost.
func (s *Store) PostedCard(ctx context.Context, ref aggregate.Ref, key, by, messageTS, channel, hash string,
	all *aggregate.Head) error {
	return s.saveShown(ctx, "save the message of", ref, key, all, func(e *table.Expression) (mine string) {
		e.Set("state", aggregate.CardPosted)
		e.Set("message_ts", messageTS)
		e.Set("channel", channel)
		e.Set("hash", hash)
		e.Remove("claimed_by", "claimed_at", "refusal", "tried_rev", "tried_at")
		return table.AnyOf(
			table.Both(e.Is("state", "=", aggregate.CardPosting), e.Is("claimed_by", "=", by)),
			// This call was repeated because the answer to the first was lost.
			table.Both(e.Is("state", "=", aggregate.CardPosted), e.Is("message_ts", "=", messageTS)),
		)
	})
}

// DoubtCard removes the hash of a card whose message may show something else, so that the card is drawn again. c is the
// card as it was read. It returns ErrClaimed when the row names another message.
func (s *Store) DoubtCard(ctx context.Context, ref aggregate.Ref, c *aggregate.Card) error {
	e := table.NewExpression()
	e.Remove("hash")
	e.Add("drawn", 1)
	_, err := s.updateCard(ctx, "forget the hash of", ref, c.Key(), e, e.Is("message_ts", "=", c.MessageTS))
	return err
}

// ShownCard saves the hash of the message's current content, and handles all as PostedCard does. c is the card as it
// was read. ShownCard returns ErrClaimed when the row names another message, or when another drawing has saved since
// what the message shows: of two updates at the same time nobody knows which one Slack applied last.
func (s *Store) ShownCard(ctx context.Context, ref aggregate.Ref, c *aggregate.Card, hash string,
	all *aggregate.Head) error {
	return s.saveShown(ctx, "save the hash of", ref, c.Key(), all, func(e *table.Expression) (condition string) {
		e.Set("state", aggregate.CardPosted)
		e.Set("hash", hash)
		e.Remove("refusal", "tried_rev", "tried_at")
		e.Add("drawn", 1)
		// The same hash: this call was repeated because the answer to the first was lost, or another drawing showed the same.
		unchanged := table.AnyOf(counts(e, "drawn", c.Drawn), e.Is("hash", "=", hash))
		return table.Both(e.Is("message_ts", "=", c.MessageTS), unchanged)
	})
}

// GaveBack notes on a card's row the receipt of a message that was given back with no update left unsaved.
func (s *Store) GaveBack(ctx context.Context, ref aggregate.Ref, key, receipt string) error {
	e := table.NewExpression()
	e.Set("given_back", receipt)
	_, err := s.updateCard(ctx, "note a receipt on", ref, key, e, e.Exists())
	return err
}

// saveShown updates a card's row as write says, and records on it, unless all is nil, what Shown records on the head.
// What the row says of a later head stays: of two drawings the earlier may save last.
func (s *Store) saveShown(ctx context.Context, what string, ref aggregate.Ref, key string, all *aggregate.Head,
	write func(*table.Expression) (condition string)) error {
	e := table.NewExpression()
	condition := write(e)
	if all != nil {
		e.Set("shown_rev", all.Rev)
		e.Set("shown_redraws", all.Redraws)
		condition = *table.All(condition, atMost(e, "shown_rev", all.Rev), atMost(e, "shown_redraws", all.Redraws))
	}
	_, err := s.updateCard(ctx, what, ref, key, e, condition)
	if all != nil && errors.Is(err, ErrClaimed) {
		return s.saveShown(ctx, what, ref, key, nil, write)
	}
	return err
}

// atMost is the condition that a number is not above n; an absent one is not.
func atMost(e *table.Expression, name string, n int) string {
	return table.AnyOf(e.Lacks(name), e.Is(name, "<=", n))
}

// counts is the condition that a counter is at n; at 0 it is absent.
func counts(e *table.Expression, name string, n int) string {
	if n == 0 {
		return e.Lacks(name)
	}
	return e.Is(name, "=", n)
}

// ResetCard removes messageTS from the card after that message was deleted in Slack, and returns the card's row. A row
// that names another message is not changed.
func (s *Store) ResetCard(ctx context.Context, ref aggregate.Ref, key, messageTS string) (aggregate.Card, error) {
	e := table.NewExpression()
	e.Set("state", aggregate.CardNone)
	e.Remove("message_ts", "hash", "claimed_by", "claimed_at")
	row, err := s.updateCard(ctx, "reset", ref, key, e, e.Is("message_ts", "=", messageTS))
	if errors.Is(err, ErrClaimed) {
		return row, nil
	}
	return row, err
}

// ReleaseCard releases by's claim after a post that certainly failed, so that the next try need not wait until the
// claim is stale. It returns ErrClaimed when the claim was lost.
func (s *Store) ReleaseCard(ctx context.Context, ref aggregate.Ref, key, by string) error {
	e := table.NewExpression()
	e.Set("state", aggregate.CardNone)
	e.Remove("claimed_by", "claimed_at")
	_, err := s.updateCard(ctx, "release", ref, key, e, table.Both(e.Is("state", "=", aggregate.CardPosting),
		e.Is("claimed_by", "=", by)))
	return err
}

// UnreachableCard records that Slack permanently refused by's post, or an update of messageTS if that is not empty,
// with the aggregate's revision and the time. TryAgainAt decides when to try again. It returns ErrClaimed when the
// claim was lost or the row names another message.
func (s *Store) UnreachableCard(ctx context.Context, ref aggregate.Ref, key, by, messageTS, refusal string, rev int,
	now time.Time) error {
	e := table.NewExpression()
	e.Set("state", aggregate.CardUnreachable)
	e.Set("refusal", refusal)
	e.Set("tried_rev", rev)
	e.Set("tried_at", now)
	e.Remove("hash", "claimed_by", "claimed_at")
	mine := table.AnyOf(
		table.Both(e.Is("state", "=", aggregate.CardPosting), e.Is("claimed_by", "=", by)),
		e.Is("message_ts", "=", messageTS),
		// This call was repeated because the answer to the first was lost.
		table.Both(e.Is("state", "=", aggregate.CardUnreachable),
			table.Both(e.Is("refusal", "=", refusal), e.Is("tried_rev", "=", rev))),
	)
	_, err := s.updateCard(ctx, "mark as unreachable", ref, key, e, mine)
	return err
}

// updateCard updates a card's row if condition holds. It returns aggregate.ErrNotFound when there is no row.
func (s *Store) updateCard(ctx context.Context, what string, ref aggregate.Ref, cardKey string, e *table.Expression,
	condition string) (aggregate.Card, error) {
	pk, err := s.partition(ref)
	if err != nil {
		return aggregate.Card{}, err
	}
	it, err := s.t.Update(ctx, table.Key(pk, cardKey), e, &condition)
	if errors.Is(err, table.ErrCondition) {
		err = ErrClaimed
	}
	if err != nil {
		err = fmt.Errorf("%s card %s of %s: %w", what, cardKey, ref, err)
	}
	var c aggregate.Card
	if it != nil {
		if bad := table.Unpack(it, &c); bad != nil {
			return aggregate.Card{}, bad
		}
	}
	return c, err
}

// asRead is the condition that nobody requested a redraw since the head was read.
func asRead(e *table.Expression, h aggregate.Head) string {
	return counts(e, "redraws", h.Redraws)
}

// Shown records that all cards show the aggregate as of the given head. It does nothing if a later revision was
// recorded, or if a redraw was requested since the head was read: a redraw may be due to something outside the rows,
// such as the settings.
func (s *Store) Shown(ctx context.Context, ref aggregate.Ref, h aggregate.Head) error {
	e := table.NewExpression()
	e.Set("shown_rev", h.Rev)
	later := table.All(e.Exists(), asRead(e, h), atMost(e, "shown_rev", h.Rev))
	err := s.updateHead(ctx, "note what is shown", ref, e, later)
	if errors.Is(err, table.ErrCondition) {
		return nil
	}
	return err
}

// Redraw requests that all cards of an aggregate are compared with its rows again. The sweeper also does this for ended
// aggregates. An earlier due time is not changed.
func (s *Store) Redraw(ctx context.Context, ref aggregate.Ref) error {
	return s.dueBy(ctx, "redraw", ref, s.t.Now().Add(dueAfterCommit), time.Time{}, func(e *table.Expression) {
		e.Remove("shown_rev")
		e.Add("redraws", 1)
	})
}

// dueBy writes bookkeeping of a head and makes it due at a time. An existing due time between passed and at is not
// changed.
func (s *Store) dueBy(ctx context.Context, what string, ref aggregate.Ref, at, passed time.Time,
	write func(*table.Expression)) error {
	e := table.NewExpression()
	write(e)
	setDue(e, ref.ID, at)
	err := s.updateHead(ctx, what, ref, e, table.All(e.Exists(),
		table.AnyOf(e.Lacks("due_at"), e.Is("due_at", "<=", passed), e.Is("due_at", ">", at))))
	if !errors.Is(err, table.ErrCondition) {
		return err
	}
	e = table.NewExpression()
	write(e)
	return s.updateHead(ctx, what, ref, e, table.All(e.Exists()))
}

// updateHead writes bookkeeping attributes, which are not part of the aggregate's state and don't change its revision.
func (s *Store) updateHead(ctx context.Context, what string, ref aggregate.Ref, e *table.Expression,
	condition *string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	_, err = s.t.Update(ctx, table.Key(pk, aggregate.HeadKey), e, condition)
	return table.Wrapped(err, "%s, %s", what, ref)
}

// AddCopies writes the rows of a card's copies, all or none. If one of them exists, another caller was faster, and its
// rows are not changed.
func (s *Store) AddCopies(ctx context.Context, ref aggregate.Ref, copies []*aggregate.Card) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	items, err := absent(s, pk, copies...)
	if err != nil {
		return err
	}
	err = s.t.TransactPast(ctx, s.newID(), items)
	if errors.As(err, new(*table.Lost)) {
		return fmt.Errorf("copies of %s: %w", ref, ErrClaimed)
	}
	return err
}
