package main

import (
	"context"
	"errors"
	"hash/maphash"
	"sort"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/metric"
	"ringi/shared/store/seal"
)

const (
	// settled is how long after its end a day is checked: by then the stream has brought everything that was written in
	// it.
	settled = 10 * time.Minute
	// window is the part of a log that is checked at once. sealedWithin is how long after a row its link may come: the
	// stream tries for an hour.
	window, sealedWithin = 6 * time.Hour, 2 * time.Hour
	// checkEvery is the number of rows after which progress is noted: a window may have more rows than an invocation
	// reads.
	checkEvery = 500
	// mostKeys bounds what a process remembers of keys: some 50 bytes each, of the 256 MB that the function has.
	mostKeys = 1_500_000
)

// through returns the time up to which rows are checked again.
func (h *Handler) through() time.Time {
	return h.Now().Add(-settled).UTC().Truncate(24 * time.Hour)
}

// late seals the rows of past days that no link seals: from before the chain began, or whose records were given up.
// Their links say that they are late, for whoever checks the log. It works window by window and notes each.
func (h *Handler) late(ctx context.Context, is seal.Chain, through time.Time) error {
	r := h.readings.of(is.Tenant)
	if err := h.begin(ctx, r, is); err != nil {
		return err
	}
	for from := is.Checked; from.Before(through); {
		until := from.Add(window)
		if is.Checked.IsZero() || until.After(through) { // a chain that was never looked at is young
			until = through
		}
		if err := h.lateIn(ctx, r, is.Tenant, from, until); err != nil {
			return err
		}
		from = until
	}
	h.readings.forget(is.Tenant)
	return nil
}

// lateIn seals the late rows of one window.
func (h *Handler) lateIn(ctx context.Context, r *reading, tenant string, from, until time.Time) error {
	if err := h.read(ctx, r, tenant, until.Add(sealedWithin)); err != nil {
		return err
	}
	var rows []chain.Row // that no link seals, of those that were read
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		if err := h.read(ctx, r, tenant, time.Time{}); err != nil { // whatever sealed them later
			return err
		}
		unsealed := rows[:0]
		for _, x := range rows {
			if !r.keys.has(x.Key) {
				unsealed = append(unsealed, x)
			}
		}
		if rows = nil; len(unsealed) == 0 {
			return nil
		}
		metric.Count(metric.SealedLate, len(unsealed))
		return h.seal(ctx, tenant, unsealed, true)
	}
	seen := 0
	for x, err := range h.Store.RowsOfLog(ctx, tenant, from, until) {
		if err != nil {
			return err
		}
		if !r.keys.has(x.Key) {
			rows = append(rows, x)
		}
		if seen++; len(rows) < maxEntries && seen%checkEvery != 0 {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		// The next minute may have to continue from here. More rows of the same moment may follow, so the moment itself
		// is read again.
		if err := h.Store.ChainChecked(ctx, tenant, x.At); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return h.Store.ChainChecked(ctx, tenant, until)
}

// reading is how far a process has read a tenant's links while it checks rows of past days. The next minute continues
// from there.
type reading struct {
	keys keys
	from time.Time // the keys of all links that seal rows from this time on are read, up to next
	next int       // seq of the first link that was not read; 0: none was
	at   time.Time // of the last one that was
}

// readings holds how far each tenant's rows were read.
type readings struct {
	mu  sync.Mutex
	all map[string]*reading
}

func (r *readings) trim() {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, x := range r.all {
		n += len(x.keys.of)
	}
	if r.all == nil || n > mostKeys {
		r.all = map[string]*reading{}
	}
}

func (r *readings) of(tenant string) *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[tenant] == nil {
		r.all[tenant] = &reading{}
	}
	return r.all[tenant]
}

func (r *readings) forget(tenant string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, tenant)
}

// begin finds the first link that may seal a row from is.Checked on, unless it was read already. Apart from the drift
// between two clocks, no link is older than what it seals, and links are in the order of their times.
func (h *Handler) begin(ctx context.Context, r *reading, is seal.Chain) error {
	if r.next > 0 && !is.Checked.Before(r.from) {
		return nil
	}
	var failed error
	after := is.Checked.Add(-2 * chain.Drift)
	skipped := sort.Search(is.Seq, func(i int) bool {
		if failed != nil || is.Checked.IsZero() {
			return true
		}
		l, err := h.Store.Link(ctx, is.Tenant, i+1)
		if !errors.Is(err, aggregate.ErrNotFound) { // one that somebody removed
			failed = err
		}
		return err != nil || !l.At.Before(after)
	})
	if failed != nil {
		return failed
	}
	r.keys, r.from, r.next, r.at = newKeys(), is.Checked, skipped+1, time.Time{}
	return nil
}

// read continues to read links, up to the first that was made after until; to the last if until is zero.
func (h *Handler) read(ctx context.Context, r *reading, tenant string, until time.Time) error {
	if !until.IsZero() && r.at.After(until) {
		return nil
	}
	for l, err := range h.Store.LinksFrom(ctx, tenant, r.next) {
		if err != nil {
			return err
		}
		for _, e := range l.Entries {
			r.keys.add(e.Key)
		}
		r.next, r.at = l.Seq+1, l.At
		if !until.IsZero() && l.At.After(until) {
			return nil
		}
	}
	return nil
}

// keys is a set of rows' keys. A day may have many, so each is kept as eight bytes of a hash with a random seed. If two
// were alike by chance, a row could stay unsealed, which a check finds: that happens on one of tens of millions of days
// with a million rows.
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
