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
	"ringi/shared/store"
)

const (
	// settled is how long after its end a day is looked at: what was written in it has come through the stream by then.
	settled = 10 * time.Minute
	// window is how much of a log is looked at together, and sealedWithin how long after a row was written its link
	// comes: the stream tries for an hour.
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

// late seals the rows of past days that no link seals: of days before the chain began, or whose records were given up.
// They are called late, so that whoever checks the log sees them. It goes on by windows, each of which is noted.
func (h *Handler) late(ctx context.Context, is store.Chain, through time.Time) error {
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

// lateIn is late for the rows of one window.
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
		// Another minute may have to go on from here; of the same moment more may follow.
		if err := h.Store.ChainChecked(ctx, tenant, x.At); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return h.Store.ChainChecked(ctx, tenant, until)
}

// reading is what a process has read of a tenant's links while it looks at rows of past days: the next minute goes on
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

// trim forgets all when they have become too large.
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

// of returns the reading of a tenant.
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

// begin finds the first link that may seal a row from is.Checked on, unless that was read already. No link is older
// than what it seals, but for what two clocks differ by, and links are in the order of their times, but for as much.
func (h *Handler) begin(ctx context.Context, r *reading, is store.Chain) error {
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

// read reads links on, until one that was made after a time; zero: to the last.
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

// keys are those of a day's rows, of which there may be many: of each there are eight bytes, of a hash that nobody can
// know before. Were two alike by chance, a row could stay unsealed, which a check finds: of days with a million rows,
// one in tens of millions.
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
