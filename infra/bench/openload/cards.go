package openload

import (
	"slices"
	"time"
)

// pace is a budget of Slack's calls with the times of the last ones, newest first.
type pace struct {
	Budget
	last []time.Duration
	line time.Duration // when the next turn begins
}

// take takes a call unless fewer than spare would be left. It returns when one is free otherwise.
func (p *pace) take(now time.Duration, spare int) (free time.Duration, ok bool) {
	if nth := max(0, p.Calls-1-spare); len(p.last) > nth && p.last[nth]+p.Window > now {
		return p.last[nth] + p.Window, false
	}
	p.last = slices.Insert(p.last, 0, now)
	p.last = p.last[:min(len(p.last), p.Calls)]
	return 0, true
}

// turn reserves a place in line.
func (p *pace) turn(now time.Duration) time.Duration {
	at := max(now, p.line)
	p.line = at + p.Window/time.Duration(p.Calls)
	return at
}

// method is how a card reaches Slack.
type method int

const (
	post method = iota
	update
)

// urgency says how many of Slack's calls a drawing must leave to more urgent ones.
type urgency int

const (
	asks urgency = iota
	settled
	progress
)

func spare(u urgency, n int) int {
	switch u {
	case asks:
		return 0
	case settled:
		return max(1, n/5)
	}
	return max(1, n/2)
}

// draws returns the drawing of a card: update-card takes its message from the queue, loads, asks the pace and calls
// Slack. A drawing of progress is left out when half of Slack's pace is used.
func (r *request) draws(m method, u urgency, done func()) func() {
	return func() {
		r.after(r.draw(queue), func() { r.card(m, u, false, r.now, done) })
	}
}

// card is one receive of a drawing's message. late: it has waited for its turn.
func (r *request) card(m method, u urgency, late bool, since time.Duration, done func()) {
	use := r.Uses["update-card"]
	n := max(1, use.Invocations)
	r.enter(r.pool("update-card", r.Limits.Cards), since, func(free func()) {
		r.after(r.calls(use.AWS/n, aws), func() {
			until, ok := r.pass(m, u, late)
			switch {
			case !ok && u == progress:
				r.out.Skipped++
				free()
			case !ok:
				free()
				if !late {
					r.out.PaceWaits++
				}
				r.at(until, func() { r.card(m, u, true, r.now, done) })
			default:
				r.after(r.draw(slack), func() { free(); r.shown(done) })
			}
		})
	})
}

// pass asks for Slack's pace, and for a turn if there is none.
func (r *request) pass(m method, u urgency, late bool) (time.Duration, bool) {
	all := []*pace{r.w.updates}
	if m == post {
		all = []*pace{r.w.posts[r.channel], r.w.allPosts}
	}
	for _, p := range all {
		r.write("PACE#", r.w.nth, 1)
		if free, ok := p.take(r.now, spare(u, p.Calls)); !ok {
			if late { // others that are late come then, too
				free += r.draw(span{ms, 2 * time.Second})
			} else if u != progress {
				free = max(free, p.turn(r.now))
			}
			return free, false
		}
	}
	return 0, true
}

// shown is the end of a drawing.
func (r *request) shown(done func()) {
	if !r.carded {
		r.carded = true
		r.first = append(r.first, r.now-r.asked)
	}
	if done != nil {
		done()
	}
}

// batch has a shard's records for seal-audit by when they came. One batch of a shard is sealed at a time.
type batch struct {
	records []time.Duration
	busy    bool
}

// entries adds a change's part of a request's audit entries and usages to its shard.
func (r *request) entries() {
	perChange := (r.Rows["AUDIT"] + r.Rows["USAGE"]) / max(1, r.Uses["relay-changes"].Invocations)
	n := int(perChange)
	if r.random.Float64() < perChange-float64(n) {
		n++
	}
	if n == 0 {
		return
	}
	r.write("AUDIT#", r.w.nth, float64(n)*units)
	b := r.sealing[r.w.nth%len(r.sealing)]
	for range n {
		b.records = append(b.records, r.now)
	}
	r.seal(b)
}

// seal begins a batch when it is full or its window is over; until then it waits.
func (s *simulation) seal(b *batch) {
	if b.busy || len(b.records) == 0 {
		return
	}
	over := b.records[0] + s.Limits.Window
	if len(b.records) < s.Limits.Batch && s.now < over {
		s.at(over, func() { s.seal(b) })
		return
	}
	s.out.OldestEntry = max(s.out.OldestEntry, s.now-over)
	b.records, b.busy = b.records[min(len(b.records), s.Limits.Batch):], true
	s.invoke("seal-audit", 0, func() {
		b.busy = false
		s.seal(b)
	})
}
