package main

import (
	"context"
	"hash/maphash"
	"time"

	"ringi/shared/chain"
	"ringi/shared/metric"
	"ringi/shared/store"
)

// settled is how long after its end a day is looked at: what was written in it has come through the stream by then.
const settled = 10 * time.Minute

// checkEvery is after how many rows it is noted that they were looked at: a day may have more than an invocation reads.
const checkEvery = 500

// minute puts the heads of all tenants away that moved, then seals what was left out. What fails for one tenant is logged and
// counted, and tried again the next minute; it holds up no other.
func (h *Handler) minute(ctx context.Context) error {
	var all []store.Chain
	for is, err := range h.Store.Chains(ctx) {
		if err != nil {
			return err
		}
		all = append(all, is)
		if err := h.keep(ctx, is); err != nil {
			failed(ctx, "keeps no head", is.Tenant, err)
		}
	}
	for _, is := range all {
		if ctx.Err() != nil {
			break // the next minute goes on
		}
		if err := h.late(ctx, is); err != nil {
			failed(ctx, "seals nothing late", is.Tenant, err)
		}
	}
	return nil
}

// keep puts a chain's head away unless that was done.
func (h *Handler) keep(ctx context.Context, is store.Chain) error {
	if is.Kept >= is.Seq {
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
	return h.Store.HeadKept(ctx, is.Tenant, is.Seq)
}

// late seals the rows of past days that no link seals: of days before the chain began, or whose records were given up. They
// are called late, so that whoever checks the log sees them.
func (h *Handler) late(ctx context.Context, is store.Chain) error {
	through := h.Now().Add(-settled).UTC().Truncate(24 * time.Hour)
	if !is.Checked.Before(through) {
		return nil
	}
	sealed := newKeys()
	for l, err := range h.Store.Links(ctx, is.Tenant, true) {
		if err != nil {
			return err
		}
		// No link is older than what it seals, but for what two clocks differ by.
		if l.At.Before(is.Checked.Add(-chain.Drift)) {
			break
		}
		for _, e := range l.Entries {
			sealed.add(e.Key)
		}
	}
	var rows []chain.Row
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		metric.Count(metric.SealedLate, len(rows))
		err := h.seal(ctx, is.Tenant, rows, true)
		rows = nil
		return err
	}
	seen := 0
	for r, err := range h.Store.RowsOfLog(ctx, is.Tenant, is.Checked, through) {
		if err != nil {
			return err
		}
		if !sealed.has(r.Key) {
			rows = append(rows, r)
		}
		if seen++; len(rows) < maxEntries && seen%checkEvery != 0 {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		// Another minute may have to go on from here; of the same moment more may follow.
		if err := h.Store.ChainChecked(ctx, is.Tenant, r.At); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return h.Store.ChainChecked(ctx, is.Tenant, through)
}

// keys are those of a day's rows, of which there may be many: of each there are eight bytes, of a hash that nobody can know before.
// Were two alike by chance, a row could stay unsealed, which a check finds: of days with a million rows, one in tens of millions.
type keys struct {
	seed maphash.Seed
	of   map[uint64]struct{}
}

func newKeys() keys { return keys{maphash.MakeSeed(), map[uint64]struct{}{}} }

func (k keys) add(key string) { k.of[maphash.String(k.seed, key)] = struct{}{} }

func (k keys) has(key string) bool {
	_, is := k.of[maphash.String(k.seed, key)]
	return is
}
