package measure

import (
	"math/rand/v2"
	"time"
)

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
