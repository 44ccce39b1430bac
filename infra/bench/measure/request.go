package measure

import (
	"math/rand/v2"
	"time"
)

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

// request is one request on its way.
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
