package main

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/chain"
	"ringi/shared/store/seal"
)

const (
	// keepsAtOnce is how many heads are stored concurrently, lateAtOnce how many tenants' rows are checked
	// concurrently.
	keepsAtOnce, lateAtOnce = 16, 4
	// leastShare is the least time for checking one tenant's rows.
	leastShare = 2 * time.Second
	// longBehind is how long a tenant's rows may stay unchecked before an alarm is raised.
	longBehind = 48 * time.Hour
)

// minute stores the head of each chain that grew, then seals rows that were missed. A failure for one tenant is logged,
// counted and retried the next minute; it delays no other tenant.
func (h *Handler) minute(ctx context.Context) error {
	var behind []seal.Chain
	var keeps errgroup.Group
	keeps.SetLimit(keepsAtOnce)
	through := h.through()
	for is, err := range h.Store.Chains(ctx) {
		if err != nil {
			_ = keeps.Wait()
			return err
		}
		if is.Checked.Before(through) {
			behind = append(behind, is)
		}
		keeps.Go(func() error {
			if err := h.keep(ctx, is); err != nil {
				failed(ctx, "keeps no head", is.Tenant, err)
			}
			return nil
		})
	}
	_ = keeps.Wait()
	h.lateOnes(ctx, behind, through)
	return nil
}

// lateOnes seals missed rows of these tenants, beginning with the one whose last check is oldest. Each tenant has a
// share of the time; the next minute continues.
func (h *Handler) lateOnes(ctx context.Context, behind []seal.Chain, through time.Time) {
	h.readings.trim()
	slices.SortStableFunc(behind, func(a, b seal.Chain) int { return a.Checked.Compare(b.Checked) })
	var all errgroup.Group
	all.SetLimit(lateAtOnce)
	for i, is := range behind {
		if ctx.Err() != nil {
			break
		}
		all.Go(func() error {
			within, cancel := share(ctx, len(behind)-i)
			defer cancel()
			err := h.late(within, is, through)
			switch inTime := within.Err() == nil; {
			case err == nil:
			case inTime || ctx.Err() == nil && through.Sub(is.Checked) > longBehind && !is.Checked.IsZero():
				failed(ctx, "seals nothing late", is.Tenant, err)
			default:
				slog.InfoContext(ctx, "looks on in a minute", "tenant_id", is.Tenant)
			}
			return nil
		})
	}
	_ = all.Wait()
}

// share bounds ctx to one tenant's part of the remaining time, given how many tenants are still to be checked,
// lateAtOnce at a time.
func share(ctx context.Context, tenants int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx,
		max(leastShare, time.Until(deadline)*lateAtOnce/time.Duration(max(tenants, lateAtOnce+1))))
}

// keep signs and stores a chain's head, unless that is stored already. The head of a chain that rests is stored again
// while its lock still holds: the bucket deletes heads whose lock is over, and the newest must always be there.
func (h *Handler) keep(ctx context.Context, is seal.Chain) error {
	if is.Kept >= is.Seq && h.Now().Sub(is.KeptAt) < h.Locked/2 {
		return nil
	}
	head := chain.Head{Tenant: is.Tenant, Seq: is.Seq, Link: is.Link, At: h.Now().UTC().Truncate(time.Millisecond)}
	var err error
	if head.Signature, err = h.Signer.Sign(ctx, head.Text()); err != nil {
		return err
	}
	if err := h.Heads.Keep(ctx, head); err != nil {
		return err
	}
	return h.Store.HeadKept(ctx, is.Tenant, is.Seq, head.At)
}
