package main

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// event is something that happens at a time.
type event struct {
	at  time.Duration
	nth int // events of one time happen in order
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].nth < e[j].nth
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

type simulation struct {
	Load
	random *rand.Rand
	now    time.Duration
	events events
	nth    int

	pools      map[string]*pool
	running    int
	most       int
	tokens     float64 // of API Gateway
	filled     time.Duration
	workspaces []*workspace
	sealing    []*loadBatch
	heat       map[string]*heat

	out                     Result
	first, resumed, through []time.Duration
}

func newSimulation(l Load) *simulation {
	s := &simulation{
		Load: l, random: rand.New(rand.NewPCG(l.Seed, l.Seed)), pools: map[string]*pool{}, heat: map[string]*heat{},
		tokens: l.Limits.Burst, out: Result{Rate: l.Rate, Workspaces: l.Workspaces, Cards: l.Limits.Cards},
	}
	for i := range l.Workspaces {
		s.workspaces = append(s.workspaces, newWorkspace(i, l.Limits, rand.New(rand.NewPCG(l.Seed, uint64(i)))))
	}
	for range l.Limits.Shards {
		s.sealing = append(s.sealing, &loadBatch{})
	}
	return s
}

func (s *simulation) at(at time.Duration, do func()) {
	s.nth++
	heap.Push(&s.events, event{at, s.nth, do})
}

func (s *simulation) after(d time.Duration, do func()) { s.at(s.now+d, do) }

func (s *simulation) play(until time.Duration) {
	for len(s.events) > 0 && s.events[0].at <= until {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
	}
}

func (s *simulation) sample(x span) time.Duration { return x.sample(s.random) }

// calls is how long n calls take one after another; n needn't be whole.
func (s *simulation) calls(n float64, each span) (all time.Duration) {
	for ; n >= 1; n-- {
		all += s.sample(each)
	}
	return all + time.Duration(n*float64(s.sample(each)))
}

// lasts is how long one invocation of a function takes, without models and people.
func (s *simulation) lasts(function string) time.Duration {
	u := s.Uses[function]
	n := math.Max(1, u.Invocations)
	return s.calls(u.AWS/n, aws) + s.calls(u.Slack/n, slack) + s.calls(u.Vendor/n, vendor)
}

// pool has a function's invocations. Those above most wait in line.
type pool struct {
	most, busy, peak int
	warm             []time.Duration // when processes became free
	line             []waiting
	oldest           time.Duration
}

type waiting struct {
	since time.Duration
	do    func(free func())
}

func (s *simulation) pool(function string, most int) *pool {
	p := s.pools[function]
	if p == nil {
		p = &pool{most: most}
		s.pools[function] = p
	}
	return p
}

// enter lets do begin when the pool and the account have room for an invocation. do calls free at its end.
func (s *simulation) enter(p *pool, since time.Duration, do func(free func())) {
	if p.most > 0 && p.busy >= p.most {
		p.line = append(p.line, waiting{since, do})
		return
	}
	if s.running >= s.Limits.Functions {
		s.out.Throttled++
		s.after(again, func() { s.enter(p, since, do) })
		return
	}
	p.oldest = max(p.oldest, s.now-since)
	p.busy, s.running = p.busy+1, s.running+1
	p.peak, s.most = max(p.peak, p.busy), max(s.most, s.running)
	start := s.sample(invoke)
	for len(p.warm) > 0 && p.warm[0] < s.now-warmFor {
		p.warm = p.warm[1:]
	}
	if n := len(p.warm); n > 0 {
		p.warm = p.warm[:n-1]
	} else {
		start += s.sample(cold)
	}
	s.after(start, func() {
		do(func() {
			p.busy, s.running = p.busy-1, s.running-1
			p.warm = append(p.warm, s.now)
			if len(p.line) > 0 {
				next := p.line[0]
				p.line = p.line[1:]
				s.enter(p, next.since, next.do)
			}
		})
	})
}

// invoke runs a function for its time and more, and then calls done.
func (s *simulation) invoke(function string, more time.Duration, done func()) {
	s.enter(s.pool(function, 0), s.now, func(free func()) {
		s.after(s.lasts(function)+more, func() { free(); done() })
	})
}

// heat counts a partition's write units in a second.
type heat struct {
	second time.Duration
	units  float64
}

func (s *simulation) write(kind string, of int, units float64) {
	name := fmt.Sprint(kind, of)
	h := s.heat[name]
	if h == nil {
		h = &heat{}
		s.heat[name] = h
	}
	if second := s.now.Truncate(time.Second); second != h.second {
		h.second, h.units = second, 0
	}
	if h.units += units; h.units > s.out.HottestUnits {
		s.out.Hottest, s.out.HottestUnits = kind, h.units
	}
}

func waits(all []time.Duration) Wait {
	if len(all) == 0 {
		return Wait{}
	}
	slices.Sort(all)
	at := func(p float64) time.Duration { return all[min(len(all)-1, int(p*float64(len(all))))].Round(ms) }
	return Wait{at(0.5), at(0.99)}
}

func (s *simulation) result() Result {
	s.out.AtOnce = map[string]int{"all": s.most}
	for name, p := range s.pools {
		s.out.AtOnce[name] = p.peak
		for _, w := range p.line { // what still waits
			p.oldest = max(p.oldest, s.now-w.since)
		}
	}
	oldest := func(function string) time.Duration { return s.pool(function, 0).oldest.Round(ms) }
	s.out.OldestCard, s.out.OldestChange = oldest("update-card"), oldest("relay-changes")
	s.out.OldestEntry = s.out.OldestEntry.Round(ms)
	s.out.FirstCard, s.out.Resumed, s.out.Whole = waits(s.first), waits(s.resumed), waits(s.through)
	return s.out
}

// workspace has what all requests of a workspace share.
type workspace struct {
	nth      int
	updates  *pace
	posts    []*pace // of each group of channels
	slots    []int   // by channel: its group
	allPosts *pace
	cards    [cardLanes]lane
	progress lane
	open     int
	counting time.Duration // when the last transaction on its counters ends
}

func newWorkspace(nth int, l Limits, random *rand.Rand) *workspace {
	w := &workspace{nth: nth, updates: &pace{Budget: l.Updates}, allPosts: &pace{Budget: l.AllPosts}}
	for range channelSlots {
		w.posts = append(w.posts, &pace{Budget: l.Posts})
	}
	for range Channels {
		w.slots = append(w.slots, random.IntN(channelSlots))
	}
	return w
}

// loadRequest is one request on its way.
type loadRequest struct {
	*simulation
	w       *workspace
	channel int
	lane    int // of its cards
	asked   time.Duration
	carded  bool
	changes int // that the relay was given
}

// ask is a message's arrival.
func (s *simulation) ask() {
	w := s.workspaces[s.random.IntN(len(s.workspaces))]
	r := &loadRequest{
		simulation: s, w: w, channel: s.random.IntN(Channels), lane: s.random.IntN(cardLanes), asked: s.now,
	}
	s.out.Asked++
	s.arrive(func() {
		s.invoke("receive-event", 0, func() { r.change(r.accept, r.draws(post, settled, nil)) })
	})
}

// arrive passes API Gateway's throttle; what it refuses Slack sends again.
func (s *simulation) arrive(do func()) {
	s.tokens = min(s.Limits.Burst, s.tokens+(s.now-s.filled).Seconds()*s.Limits.RequestsPerSecond)
	s.filled = s.now
	if s.tokens < 1 {
		s.out.Throttled++
		s.after(again, func() { s.arrive(do) })
		return
	}
	s.tokens--
	do()
}

// change is a commit: the relay gets it from the stream and causes effects.
func (r *loadRequest) change(effects ...func()) {
	r.changes++
	r.write("DUE#", r.random.IntN(8), units)
	r.entries()
	r.after(r.sample(stream), func() {
		r.enter(r.pool("relay-changes", r.Limits.Parallel*r.Limits.Shards), r.now, func(free func()) {
			r.after(r.lasts("relay-changes"), func() {
				free()
				for _, effect := range effects {
					effect()
				}
			})
		})
	})
}

// count changes the workspace's counters.
func (r *loadRequest) count(rows float64) {
	if r.now < r.w.counting {
		r.out.Conflicts++
	}
	r.w.counting = r.now + r.sample(aws)
	r.write("QUOTA#", r.w.nth, rows*units)
}

// accept is the run from its beginning to the policy's card.
func (r *loadRequest) accept() {
	r.invoke("resume-task", 0, func() {
		r.count(4)
		r.w.open++
		r.out.Open = max(r.out.Open, r.w.open)
		r.change()
		r.invoke("extract-task", r.sample(model), func() {
			r.change(r.draws(update, progress, nil))
			r.invoke("draft-prompt", r.sample(model), func() {
				r.change(r.draws(post, asks, func() { r.decide(r.plan) }))
				r.invoke("request-approval", 0, func() {})
			})
		})
	})
}

// decide is a person's click some time after a card is there, and what follows from it.
func (r *loadRequest) decide(then func()) {
	r.after(r.sample(people), func() {
		clicked := r.now
		r.arrive(func() {
			r.invoke("receive-interaction", 0, func() {
				r.change(func() {
					r.after(r.sample(invoke), func() {
						r.resumed = append(r.resumed, r.now-clicked)
						r.invoke("resume-task", 0, then)
					})
				}, r.draws(update, settled, nil))
			})
		})
	})
}

func (r *loadRequest) plan() {
	r.invoke("plan-process", r.sample(model), func() {
		r.change(r.draws(post, asks, func() { r.decide(r.execute) }))
		r.invoke("request-approval", 0, func() {})
	})
}

// work is how long five steps and their summary take besides their calls. Steps of 4 s show their progress one by one,
// but for the last.
const (
	work     = 20 * time.Second
	drawings = 4
)

// execute carries out the steps, in the measured changes that are left.
func (r *loadRequest) execute() {
	r.change(r.draws(post, settled, nil))
	changes := max(drawings, int(r.Uses["relay-changes"].Invocations)-r.changes-1)
	for i := range changes {
		var effects []func()
		if i < drawings {
			effects = append(effects, r.draws(update, progress, nil))
		}
		r.after(work*time.Duration(i+1)/time.Duration(changes+1), func() { r.change(effects...) })
	}
	r.invoke("execute-process", work, func() {
		r.count(2)
		r.w.open--
		r.change(r.draws(update, asks, nil), r.draws(update, settled, func() {
			r.out.Completed++
			r.through = append(r.through, r.now-r.asked)
		}))
	})
}
