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
func (s *Store) ClaimCard(ctx context.Context, ref aggregate.Ref, key, by string, now, staleBefore time.Time) (aggregate.Card, error) {
	e := table.NewExpression()
	e.Set("state", aggregate.CardPosting)
	e.Set("claimed_by", by)
	e.Set("claimed_at", now)
	free := table.AnyOf(
		e.Is("state", "=", aggregate.CardNone),
		e.Is("state", "=", aggregate.CardUnreachable),
		table.Both(e.Is("state", "=", aggregate.CardPosting), table.AnyOf(e.Is("claimed_by", "=", by), e.Is("claimed_at", "<", staleBefore))),
	)
	return s.updateCard(ctx, "claim", ref, key, e, free)
}

// PostedCard saves the message that by posted under its claim. If all is set, it also records, as Shown does, that
// every card shows the aggregate as of that head. It returns ErrClaimed when the claim was lost.
func (s *Store) PostedCard(ctx context.Context, ref aggregate.Ref, key, by, messageTS, channel, hash string, all *aggregate.Head) error {
	e := table.NewExpression()
	e.Set("state", aggregate.CardPosted)
	e.Set("message_ts", messageTS)
	e.Set("channel", channel)
	e.Set("hash", hash)
	allShown(e, all)
	e.Remove("claimed_by", "claimed_at", "refusal", "tried_rev", "tried_at")
	mine := table.AnyOf(
		table.Both(e.Is("state", "=", aggregate.CardPosting), e.Is("claimed_by", "=", by)),
		// This call was repeated because the answer to the first was lost.
		table.Both(e.Is("state", "=", aggregate.CardPosted), e.Is("message_ts", "=", messageTS)),
	)
	_, err := s.updateCard(ctx, "save the message of", ref, key, e, mine)
	return err
}

// ForgetCard removes the hash and names the drawing that is about to update the message, so that the card is drawn
// again whatever becomes of the update. It returns ErrClaimed when the row names another message.
func (s *Store) ForgetCard(ctx context.Context, ref aggregate.Ref, key, messageTS, by string) error {
	e := table.NewExpression()
	e.Remove("hash")
	e.Set("claimed_by", by)
	_, err := s.updateCard(ctx, "forget the hash of", ref, key, e, e.Is("message_ts", "=", messageTS))
	return err
}

// ShownCard saves the hash of the message's current content, and handles all as PostedCard does. c is the card as it
// was read. by is the drawing's name if it called ForgetCard, and empty if not. ShownCard returns ErrClaimed when the
// row names another message, or when another drawing has called ForgetCard or ShownCard since: of two updates at the
// same time nobody knows which one Slack applied last.
func (s *Store) ShownCard(ctx context.Context, ref aggregate.Ref, c *aggregate.Card, by, hash string, all *aggregate.Head) error {
	e := table.NewExpression()
	e.Set("state", aggregate.CardPosted)
	e.Set("hash", hash)
	allShown(e, all)
	e.Remove("claimed_by", "refusal", "tried_rev", "tried_at")
	free := e.Lacks("claimed_by")
	var mine string
	if by != "" {
		mine = e.Is("claimed_by", "=", by)
	} else {
		mine = *table.All(free, asWas(e, "hash", c.Hash), asWas(e, "drawn", c.Drawn))
	}
	// The same hash: this call was repeated because the answer to the first was lost, or another drawing showed the same.
	unchanged := table.AnyOf(mine, table.Both(free, e.Is("hash", "=", hash)))
	e.Add("drawn", 1)
	_, err := s.updateCard(ctx, "save the hash of", ref, c.Key(), e, *table.All(e.Is("message_ts", "=", c.MessageTS), unchanged))
	return err
}

// asWas is the condition that an attribute has the value that was read; the zero value may also be absent.
func asWas[V comparable](e *table.Expression, name string, v V) string {
	same := e.Is(name, "=", v)
	if v == *new(V) {
		return table.AnyOf(e.Lacks(name), same)
	}
	return same
}

// ResetCard removes messageTS from the card after that message was deleted in Slack. A row that names another message
// is not changed.
func (s *Store) ResetCard(ctx context.Context, ref aggregate.Ref, key, messageTS string) error {
	e := table.NewExpression()
	e.Set("state", aggregate.CardNone)
	e.Remove("message_ts", "hash", "claimed_by", "claimed_at")
	_, err := s.updateCard(ctx, "reset", ref, key, e, e.Is("message_ts", "=", messageTS))
	if errors.Is(err, ErrClaimed) {
		return nil
	}
	return err
}

// ReleaseCard releases by's claim after a post that certainly failed, so that the next try need not wait until the
// claim is stale. It returns ErrClaimed when the claim was lost.
func (s *Store) ReleaseCard(ctx context.Context, ref aggregate.Ref, key, by string) error {
	e := table.NewExpression()
	e.Set("state", aggregate.CardNone)
	e.Remove("claimed_by", "claimed_at")
	_, err := s.updateCard(ctx, "release", ref, key, e, table.Both(e.Is("state", "=", aggregate.CardPosting), e.Is("claimed_by", "=", by)))
	return err
}

// UnreachableCard records that Slack permanently refused by's post, or an update of messageTS if that is not empty,
// with the aggregate's revision and the time. TryAgainAt decides when to try again. It returns ErrClaimed when the
// claim was lost or the row names another message.
func (s *Store) UnreachableCard(ctx context.Context, ref aggregate.Ref, key, by, messageTS, refusal string, rev int, now time.Time) error {
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
		table.Both(e.Is("state", "=", aggregate.CardUnreachable), table.Both(e.Is("refusal", "=", refusal), e.Is("tried_rev", "=", rev))),
	)
	_, err := s.updateCard(ctx, "mark as unreachable", ref, key, e, mine)
	return err
}

// updateCard updates a card's row if condition holds. It returns aggregate.ErrNotFound when there is no row.
func (s *Store) updateCard(ctx context.Context, what string, ref aggregate.Ref, cardKey string, e *table.Expression, condition string) (aggregate.Card, error) {
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
