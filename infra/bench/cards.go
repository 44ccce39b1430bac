package main

import (
	"math/rand/v2"
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

// loadBatch has a shard's records for seal-audit by when they came. One batch of a shard is sealed at a time.
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

// Use is what one request makes a function do.
type Use struct {
	Invocations        float64
	AWS, Slack, Vendor float64 // calls
}

// Budget limits calls of Slack's, as update-card counts them.
type Budget struct {
	Calls  int
	Window time.Duration
}

// PerMinute is how many calls a minute the budget allows.
func (b Budget) PerMinute() float64 { return float64(b.Calls) / b.Window.Minutes() }

// Limits are the limits of the deployment that the simulation keeps.
type Limits struct {
	Functions int // of all functions at once
	Cards     int // of update-card
	Parallel  int // batches of relay-changes at once, for each shard
	Shards    int
	Batch     int           // records of seal-audit's batches
	Window    time.Duration // for which it waits for a batch
	// RequestsPerSecond and Burst are API Gateway's.
	RequestsPerSecond, Burst float64
	// Updates are of a workspace, Posts of a group of its channels, AllPosts of a workspace.
	Updates, Posts, AllPosts Budget
	Memory                   map[string]int // MB of each function, by folder; only the bill needs it
}

// span is a uniformly distributed duration.
type span struct{ from, to time.Duration }

func (s span) sample(r *rand.Rand) time.Duration {
	if s.to <= s.from {
		return s.from
	}
	return s.from + time.Duration(r.Int64N(int64(s.to-s.from)))
}

const ms = time.Millisecond

// Times that calls and hand-overs take. No measurement stands behind them.
var (
	aws    = span{5 * ms, 10 * ms} // DynamoDB; other services answer no slower, by and large
	slack  = span{150 * ms, 250 * ms}
	vendor = span{150 * ms, 250 * ms}
	model  = span{8 * time.Second, 12 * time.Second}
	stream = span{100 * ms, 300 * ms} // from a commit to the invocation that has it
	queue  = span{20 * ms, 60 * ms}
	invoke = span{10 * ms, 30 * ms} // of a warm function, or of the next state
	cold   = span{150 * ms, 400 * ms}
	people = span{30 * time.Second, 90 * time.Second} // from a card to the click
)

const (
	// warmFor is how long a process that has nothing to do is kept.
	warmFor = 5 * time.Minute
	// again is when what Lambda or API Gateway throttled comes again.
	again = time.Second
	// Channels is the number of a workspace's channels in which people ask. channelSlots is how many groups of channels
	// have a budget of posts each, cardLanes how many lanes of the queue a workspace has for cards besides progress.
	Channels, channelSlots, cardLanes = 3, 16, 4
	// units is what one row of a transaction costs, for each KiB.
	units = 2
	// grace is how long after the last arrival requests may still end.
	grace = 15 * time.Minute
)

// Load is one experiment.
type Load struct {
	Rate       float64 // requests a minute, of all workspaces together
	Workspaces int
	For        time.Duration // of arrivals
	Seed       uint64
	Uses       map[string]Use // by folder
	Rows       map[string]float64
	Limits     Limits
}

// Wait has the 50th and 99th percentile.
type Wait struct{ P50, P99 time.Duration }

// Seconds is how long all invocations of a use take, on average, without models, people and starts.
func Seconds(u Use) float64 {
	mean := func(s span) float64 { return (s.from + s.to).Seconds() / 2 }
	return u.Invocations*mean(invoke) + u.AWS*mean(aws) + u.Slack*mean(slack) + u.Vendor*mean(vendor)
}

// Result is what came of a load.
type Result struct {
	Rate             float64
	Workspaces       int
	Cards            int // of update-card at once
	Asked, Completed int
	FirstCard        Wait           // from the message
	Resumed          Wait           // from the click to the run's next function
	Whole            Wait           // from the message to the last card, with people and models
	AtOnce           map[string]int // the most invocations of each function, and of "all"
	Open             int            // the most open requests of one workspace
	OldestCard       time.Duration  // the longest that a message to update-card waited for an invocation
	OldestChange     time.Duration  // likewise of a change, for the relay
	OldestEntry      time.Duration  // and of a batch of the audit log, after its window
	Throttled        int            // by Lambda or API Gateway; tried again
	PaceWaits        int            // cards that waited for Slack's pace
	Skipped          int            // drawings of progress that Slack's pace left out
	Conflicts        int            // transactions that met another one in a workspace's counters
	Hottest          string         // the kind of partition with the most write units in a second
	HottestUnits     float64
}

// Run simulates a load.
func Run(l Load) Result {
	s := newSimulation(l)
	var at time.Duration
	for {
		at += time.Duration(s.random.ExpFloat64() * float64(time.Minute) / l.Rate)
		if at >= l.For {
			break
		}
		s.at(at, s.ask)
	}
	s.play(l.For + grace)
	return s.result()
}
