package stories

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// only chooses plays: go test ./infra/stories -run TestStories -only 'request, [UpdateCard'.
var only = flag.String("only", "", "try only disturbances whose name contains this")

// undisturbed is a story's play in which nothing was disturbed.
type undisturbed struct {
	story
	end    end
	points []point // at which processes may die
}

// disturbance is a story that is to be played under a mode.
type disturbance struct {
	name   string // with the story's
	of     *undisturbed
	kills  []point
	begins []func(*trace)
}

// mode is how the world disturbs stories. draws returns what is played of all stories of a group: by day a sample.
type mode struct {
	name  string
	draws func(w *world, all []*undisturbed) []disturbance
}

var modes = []mode{
	{"a death at a call", deaths}, {"everything twice and late", twiceAndLate}, {"AWS and Slack fail", failingCalls},
	{"the index is behind", behind},
}

// TestStories plays stories undisturbed, and then under the other modes. Whatever happens, the end is the same; what
// may differ is what a call leaves that was interrupted, which people are told.
func TestStories(t *testing.T) {
	t.Parallel()
	t.Run("as a workspace begins", func(t *testing.T) {
		running.settled(t, func(s *tenancy.Settings) { driver.ListEmployees(s, "codex", webapi.Sato) })
		running.behind, _ = running.lags(t, 2*time.Second)
		running.tells(t, asItBegins())
	})
	if *only == "" {
		t.Run("nothing secret is left behind", nothingSecretIsLeftBehind)
	}
}

func TestStoriesUnderSettings(t *testing.T) {
	for _, g := range settings() {
		t.Run(g.name, func(t *testing.T) {
			g.begins(t, running)
			running.tells(t, g.stories)
		})
	}
}

// tells plays stories under each mode.
func (w *world) tells(t *testing.T, stories []story) {
	all, tried := w.undisturbed(t, stories), 0
	for _, m := range modes {
		x := m.draws(w, all)
		if *only != "" {
			x = slices.DeleteFunc(x, func(d disturbance) bool { return !strings.Contains(d.name, *only) })
		}
		if tried += len(x); len(x) == 0 {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w.survives(t, x)
		})
	}
	if len(all) == 1 && tried == 0 {
		t.Errorf("nothing has %q in its name; one has %v", *only, all[0].points[:1])
	}
}

// undisturbed plays stories at once, and returns what is there then.
func (w *world) undisturbed(t *testing.T, stories []story) []*undisturbed {
	t.Helper()
	stories = slices.DeleteFunc(stories, func(s story) bool { return s.night && !expect.Long() })
	out := make([]*undisturbed, len(stories))
	sideBySide(len(stories), func(i int) {
		if name, _, one := strings.Cut(*only, ","); one && name != stories[i].name {
			return
		}
		began := time.Now()
		p, err := w.once(t, stories[i])
		if err != nil {
			t.Errorf("%s, undisturbed: %v", stories[i].name, err)
			return
		}
		out[i] = p
		t.Logf("%s: %d points, %s", stories[i].name, len(p.points), time.Since(began).Round(time.Millisecond))
	})
	return slices.DeleteFunc(out, func(x *undisturbed) bool { return x == nil })
}

// played plays a story undisturbed. If the machine stalled, a read may have seen the stop before its answer was
// released; that gives another end, so the story is played again.
func (w *world) played(t *testing.T, s story) (*undisturbed, error) {
	t.Helper()
	for range 5 {
		p, err := w.plays(s, func(t *trace) { t.recorded = s.dies != "" || everyPoint() })
		if err == nil {
			err = p.held()
		}
		if err != nil {
			return nil, err
		}
		e, err := p.end()
		if err != nil {
			return nil, err
		}
		if e.interruptedRead(s) != nil {
			continue
		}
		points := slices.DeleteFunc(p.points(), func(at point) bool {
			return s.kills != nil && !s.kills(at) || at.kind == makesTab
		})
		if p.T = t; s.seen != nil {
			s.seen(t, p)
		}
		return &undisturbed{s, e, points}, nil
	}
	return nil, fmt.Errorf("the read is interrupted each time")
}

// held checks what must be true of each end.
func (p *play) held() error {
	if p.story.holds == nil {
		return nil
	}
	return driver.Try(p.t.Context(), func(t driver.T) { p.story.holds(t, p) })
}

// makesTab is the call that creates a tab of the spreadsheet. Tabs stay, so it happens once in all plays.
const makesTab = "POST /sheets/v4/spreadsheets/ringi-demo-sheet:batchUpdate"

// places bound how many plays there are at once.
var places = make(chan struct{}, beside)

func sideBySide(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			do(i)
		})
	}
	all.Wait()
}

// survives plays stories under disturbances, and compares their ends with the undisturbed ones.
func (w *world) survives(t *testing.T, all []disturbance) {
	t.Helper()
	var mu sync.Mutex
	unmet := 0
	sideBySide(len(all), func(i int) {
		began := time.Now()
		met, err := w.survived(all[i])
		if err != nil {
			t.Errorf("%s: %v", all[i].name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if !met {
			unmet++
		}
		if took := time.Since(began); !met || took > 20*time.Second || !expect.Long() {
			t.Logf("%s: %s, met %v", all[i].name, took.Round(time.Millisecond), met)
		}
	})
	t.Logf("%d tried, %d not met; seed %d", len(all), unmet, seed)
	// A function's n-th call may be another one, or a batch of another size, in another play.
	expect.That(t, unmet <= 2+len(all)/10 && unmet < len(all), "%d of %d did not meet their deaths", unmet, len(all))
}

// survived plays a story under a disturbance, and once more if a death did not happen: there may have been fewer calls
// of its kind, and then it is at the last.
func (w *world) survived(x disturbance) (met bool, err error) {
	kills := slices.Clone(x.kills)
	for range 2 {
		p, err := w.plays(x.of.story, append([]func(*trace){killing(kills...)}, x.begins...)...)
		if err == nil {
			err = p.compare(x.of.end)
		}
		if err == nil && p.asked == 0 {
			err = p.held()
		}
		if err == nil && (p.late != nil && p.disturbed == 0 || p.failing != nil && len(p.failing.hit) == 0 ||
			p.lag != nil && p.lag.asked.Load() == 0) {
			err = errors.New("nothing was disturbed: nothing is proved")
		}
		if err != nil || len(p.dead()) >= len(kills) {
			return true, err
		}
		for i, at := range kills {
			kills[i].ordinal = min(at.ordinal, max(1, p.met(at.function, at.kind)))
		}
	}
	return false, nil
}

// everyPoint reports whether all disturbances are tried, and not a sample.
func everyPoint() bool { return expect.Long() || *only != "" }

// deaths are of one process at one of its calls, or where it comes up, before or after it. At night at each; and at
// two.
func deaths(_ *world, all []*undisturbed) (out []disturbance) {
	at := func(x *undisturbed, kills ...point) {
		out = append(out, disturbance{name: fmt.Sprintf("%s, %v", x.name, kills), of: x, kills: kills})
	}
	lot := rand.New(rand.NewPCG(seed, 1))
	for i, x := range all {
		points := drawn(x.points, seed+uint64(i))
		if !everyPoint() && x.dies != "" {
			own := slices.IndexFunc(points, func(p point) bool { return p.function == x.dies })
			if own < 0 || len(starts(points)) == 0 {
				panic(x.name + " has no call of " + x.dies + ", or nothing that comes up")
			}
			at(x, points[own])
			if x.name == "request" {
				at(x, points[1], points[2])
				at(x, starts(points)...)
			}
		}
		if !everyPoint() {
			continue
		}
		for _, p := range points {
			at(x, p)
		}
		for range 30 {
			at(x, points[lot.IntN(len(points))], points[lot.IntN(len(points))])
		}
		at(x, starts(points)...)
		if x.name == "door" || x.name == "grant" { // the machine dies
			for _, p := range points[:min(24, len(points))] {
				at(x, p)
				out[len(out)-1].begins = []func(*trace){func(t *trace) { t.machine = true }}
			}
		}
	}
	return out
}

// starts are the points at which no process comes up at first.
func starts(points []point) (out []point) {
	for _, p := range points {
		if p.kind == lambda.KindInit {
			out = append(out, p)
		}
	}
	return out
}

// drawn is an order of points in which as many kinds of calls and moments as possible come first. A seed gives a point
// the same place whatever others there are, whose number is chance.
func drawn(points []point, seed uint64) []point {
	lot := func(p point) string { return aggregate.HashOf(fmt.Sprint(seed, p)) }
	all := slices.SortedFunc(slices.Values(points), func(a, b point) int { return strings.Compare(lot(a), lot(b)) })
	seen := map[string]bool{}
	var first, rest []point
	for _, p := range all {
		if sort := p.sort(); !seen[sort] {
			seen[sort] = true
			first = append(first, p)
		} else {
			rest = append(rest, p)
		}
	}
	return append(first, rest...)
}

// some returns one in eight of the stories, a request among them, at night all.
func some(all []*undisturbed, draw uint64) []*undisturbed {
	all, n := slices.Clone(all), (len(all)+1)/8
	if everyPoint() {
		return all
	}
	lot := rand.New(rand.NewPCG(seed, draw))
	lot.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if at := slices.IndexFunc(all, func(x *undisturbed) bool { return x.name == "request" }); at >= 0 {
		all[0], all[at] = all[at], all[0]
	}
	return all[:n]
}

func under(x *undisturbed, mode string, begin func(*trace)) disturbance {
	return disturbance{name: x.name + ", " + mode, of: x, begins: []func(*trace){begin}}
}

func twiceAndLate(_ *world, all []*undisturbed) (out []disturbance) {
	for i, x := range some(all, 2) {
		out = append(out, under(x, "twice and late", func(t *trace) { t.late = rand.New(rand.NewPCG(seed, uint64(i))) }))
	}
	return out
}

// failingCalls: one in ten calls to AWS and Slack fails, and of one in fifty every try, where somebody tries again
// then.
func failingCalls(_ *world, all []*undisturbed) (out []disturbance) {
	all = slices.DeleteFunc(slices.Clone(all), func(x *undisturbed) bool { return x.name == "step's route" })
	for i, x := range some(all, 3) {
		whole := 0.0
		if x.lasting {
			whole = 0.02
		}
		out = append(out, under(x, "calls fail", func(t *trace) { t.failing = newFailing(seed+uint64(i), 0.1, whole) }))
	}
	return out
}

// behind are stories that need the sweeper, while due tasks appear in the index seconds late, and disappear seconds
// late.
func behind(w *world, all []*undisturbed) (out []disturbance) {
	for _, x := range all {
		sweeps := x.unattended || x.name == "settled"
		if !sweeps || !everyPoint() && x.name != "unattended" {
			continue
		}
		out = append(out, under(x, "the index is behind", func(t *trace) { t.lag = w.behind }))
	}
	return out
}

// variant plays a story otherwise, and fails the test if it does not end as undisturbed.
func (w *world) variant(t *testing.T, name string, act func(*play), more ...func(*trace)) *play {
	t.Helper()
	s := storyOf(name)
	of, err := w.once(t, s)
	expect.NoError(t, err)
	s.act = act
	p := expect.Value(w.plays(s, more...))(t)
	expect.NoError(t, p.compare(of.end))
	expect.NoError(t, p.held())
	p.T = t
	return p
}

// storyOf returns the story of a name.
func storyOf(name string) story {
	all := asItBegins()
	for _, g := range settings() {
		all = append(all, g.stories...)
	}
	return all[slices.IndexFunc(all, func(s story) bool { return s.name == name })]
}

// firsts are the undisturbed plays of stories, by name.
var firsts sync.Map

// once returns a story's undisturbed play, which it plays on its first call.
func (w *world) once(t *testing.T, s story) (*undisturbed, error) {
	play, _ := firsts.LoadOrStore(s.name, sync.OnceValues(func() (*undisturbed, error) { return w.played(t, s) }))
	return play.(func() (*undisturbed, error))()
}
