package measure

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

// free returns when a call is free of which spare others are left, now or later.
func (p *pace) free(now time.Duration, spare int) time.Duration {
	if nth := max(0, p.Calls-1-spare); len(p.last) > nth {
		return max(now, p.last[nth]+p.Window)
	}
	return now
}

func (p *pace) take(now time.Duration) {
	p.last = slices.Insert(p.last, 0, now)
	p.last = p.last[:min(len(p.last), p.Calls)]
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
func (r *loadRequest) draws(m method, u urgency, done func()) func() {
	return func() {
		r.after(r.sample(queue), func() { r.card(m, u, false, r.now, done) })
	}
}

// lane is a group of the card queue: one invocation at a time handles its messages, in order.
type lane struct {
	busy bool
	line []func()
}

// enter lets do begin when the messages before it have left the lane. do calls leave at its end.
func (l *lane) enter(do func(leave func())) {
	begin := func() {
		do(func() {
			if l.busy = len(l.line) > 0; l.busy {
				next := l.line[0]
				l.line = l.line[1:]
				next()
			}
		})
	}
	if l.busy {
		l.line = append(l.line, begin)
		return
	}
	l.busy = true
	begin()
}

// laneOf returns the lane of a drawing's messages. Updates that show progress have one of their own.
func (r *loadRequest) laneOf(m method, u urgency) *lane {
	if m == update && u == progress {
		return &r.w.progress
	}
	return &r.w.cards[r.lane]
}

// card is one receive of a drawing's message. late: it has waited for its turn, outside of its lane.
func (r *loadRequest) card(m method, u urgency, late bool, since time.Duration, done func()) {
	use := r.Uses["update-card"]
	n := max(1, use.Invocations)
	r.laneOf(m, u).enter(func(leave func()) {
		r.enter(r.pool("update-card", r.Limits.Cards), since, func(free func()) {
			r.after(r.calls(use.AWS/n, aws), func() {
				until, ok := r.pass(m, u, late)
				if ok {
					r.after(r.calls(use.Slack/n, slack), func() { free(); leave(); r.shown(done) })
					return
				}
				free()
				leave()
				if u == progress {
					r.out.Skipped++
					return
				}
				if !late {
					r.out.PaceWaits++
				}
				r.at(until, func() { r.card(m, u, true, r.now, done) })
			})
		})
	})
}

// pass takes the calls of Slack's pace with one write, all or none, and a turn if there is none.
func (r *loadRequest) pass(m method, u urgency, late bool) (time.Duration, bool) {
	all := []*pace{r.w.updates}
	if m == post {
		all = []*pace{r.w.posts[r.w.slots[r.channel]], r.w.allPosts}
	}
	r.write("PACE#", r.w.nth, 1)
	for _, p := range all {
		free := p.free(r.now, spare(u, p.Calls))
		switch {
		case free <= r.now:
			continue
		case late: // others that are late come then, too
			free += r.sample(span{ms, 2 * time.Second})
		case u != progress:
			free = max(free, p.turn(r.now))
		}
		return free, false
	}
	for _, p := range all {
		p.take(r.now)
	}
	return 0, true
}

// shown is the end of a drawing.
func (r *loadRequest) shown(done func()) {
	if !r.carded {
		r.carded = true
		r.first = append(r.first, r.now-r.asked)
	}
	if done != nil {
		done()
	}
}

// batch has a shard's records for seal-audit by when they came. One batch of a shard is sealed at a time.
type loadBatch struct {
	records []time.Duration
	busy    bool
}

// entries adds a change's part of a request's audit entries and usages to its shard.
func (r *loadRequest) entries() {
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
func (s *simulation) seal(b *loadBatch) {
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
