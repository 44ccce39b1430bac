package stories

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/shared/domain/aggregate"
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

// mode is how the world disturbs stories. It says of which it does, by day of a sample, and how it does that.
type mode struct {
	name  string
	plays func(all []story) []story
	draws func(w *world, x *undisturbed) []disturbance
}

// modes begins with what waits longest.
var modes = []mode{
	{"AWS and Slack fail", one, failingCalls}, {"a death at a call", byDay, deaths},
	{"everything twice and late", one, twiceAndLate}, {"the index is behind", sweeping, behind},
}

// TestStories plays stories undisturbed, and then under the other modes. Whatever happens, the end is the same; what
// may differ is what a call leaves that was interrupted, which people are told.
func TestStories(t *testing.T) {
	t.Parallel()
	running.perform(t, group{name: "as a workspace begins", stories: asItBegins(), beside: map[string]func(*world,
		*testing.T){"the index stands still": (*world).indexStandsStill}})
}

func TestStoriesUnderSettings(t *testing.T) {
	t.Parallel()
	changing.perform(t, settings()...)
}

// perform has groups play, one after another, and looks for secrets in the end.
func (w *world) perform(t *testing.T, groups ...group) {
	var talk, commit string
	for i, g := range groups {
		if len(sweeping(g.stories)) > 0 {
			w.behind, _ = w.lags(t, 2*time.Second)
		}
		t.Run(g.name, func(t *testing.T) {
			if g.begins != nil {
				g.begins(t, w)
			}
			beside := func(name string, does func(*testing.T)) {
				if *only == "" {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						does(t)
					})
				}
			}
			if i == 0 {
				beside("a command prints all it can read", func(t *testing.T) { talk, commit = w.printsAllItCanRead(t) })
			}
			for name, does := range g.beside {
				beside(name, func(t *testing.T) { does(w, t) })
			}
			w.tells(t, g.stories)
		})
	}
	if *only == "" {
		t.Run("in the end/nothing secret is left behind", func(t *testing.T) {
			w.nothingSecretIsLeftBehind(t, talk, commit)
		})
	}
}

// tells plays stories undisturbed, and then under the modes.
func (w *world) tells(t *testing.T, stories []story) {
	stories = slices.DeleteFunc(stories, func(s story) bool { return s.night && !expect.Long() })
	for _, s := range stories {
		if name, _, one := strings.Cut(*only, ","); one && name != s.name {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			x := expect.Value(w.once(t, s))(t)
			t.Logf("%d points, %s", len(x.points), time.Since(began).Round(time.Millisecond))
			found := 0
			for _, m := range modes {
				if !slices.ContainsFunc(m.plays(everyStory()), func(x story) bool { return x.name == s.name }) {
					continue
				}
				all := slices.DeleteFunc(m.draws(w, x), func(d disturbance) bool { return !strings.Contains(d.name, *only) })
				if found += len(all); len(all) > 0 {
					t.Run(m.name, func(t *testing.T) {
						t.Parallel()
						w.survives(t, all)
					})
				}
			}
			expect.That(t, *only == "" || found > 0, "nothing has %q in its name; one has %v", *only, x.points[:1])
		})
	}
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
var places = make(chan struct{}, atOnce)

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

// deaths made, and disturbances by their mode, of which the last test tells.
var made, tried, unmet atomic.Int64

// few reports whether so many of all may miss their disturbance by chance.
func few(missed, all int64) bool { return missed <= 2+all/10 }

// survives plays a story under disturbances, and compares its ends with the undisturbed one.
func (w *world) survives(t *testing.T, all []disturbance) {
	t.Helper()
	var done, missed atomic.Int64
	began := time.Now()
	sideBySide(len(all), func(i int) {
		met, err := w.survived(all[i])
		if err != nil {
			t.Errorf("%s: %v", all[i].name, err)
		}
		if tried.Add(1); !met {
			t.Logf("%s: not met", all[i].name)
			unmet.Add(1)
			missed.Add(1)
		}
		if n := done.Add(1); n%25 == 0 || int(n) == len(all) {
			t.Logf("%d of %d, %d not met, %s", n, len(all), missed.Load(), time.Since(began).Round(time.Second))
		}
	})
	// A function's n-th call may be another one, or a batch of another size, in another play.
	expect.That(t, few(missed.Load(), int64(len(all))), "%d of %d did not meet their disturbances", missed.Load(),
		len(all))
}

// survived plays a story under a disturbance, and once more if that did not happen: of a death's kind there may have
// been fewer calls, and then it is at the last.
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
		undisturbed := len(p.dead()) < len(kills) || p.late != nil && p.disturbed == 0 ||
			p.failing != nil && len(p.failing.hit) == 0 || p.lag != nil && p.lag.asked.Load() == 0
		if made.Add(int64(len(p.dead()))); err != nil || !undisturbed {
			return true, err
		}
		for i, at := range kills {
			kills[i].ordinal = min(at.ordinal, max(1, p.met(at.function, at.kind)))
		}
	}
	if len(kills) == 0 {
		return false, errors.New("nothing was disturbed: nothing is proved")
	}
	return false, nil
}

// everyPoint reports whether all disturbances are tried, and not a sample.
func everyPoint() bool { return expect.Long() || *only != "" }

// deaths are of one process at one of its calls, or where it comes up, before or after it. At night at each; and at
// two. By day in the function that the story says, and in a request also two, and wherever something comes up.
func deaths(_ *world, x *undisturbed) (out []disturbance) {
	at := func(kills ...point) {
		out = append(out, disturbance{name: fmt.Sprintf("%s, %v", x.name, kills), of: x, kills: kills})
	}
	points, lot := drawn(x.points, seed), rand.New(rand.NewPCG(seed, 1))
	if !everyPoint() {
		own := slices.IndexFunc(points, func(p point) bool { return p.function == x.dies })
		if own < 0 || len(starts(points)) == 0 {
			panic(x.name + " has no call of " + x.dies + ", or nothing that comes up")
		}
		if at(points[own]); x.twice {
			at(points[1], points[2])
			at(starts(points)...)
		}
		return out
	}
	for _, p := range points {
		at(p)
	}
	for range 30 {
		at(points[lot.IntN(len(points))], points[lot.IntN(len(points))])
	}
	at(starts(points)...)
	if x.machine {
		for _, p := range points[:min(24, len(points))] {
			at(p)
			out[len(out)-1].begins = []func(*trace){func(t *trace) { t.machine = true }}
		}
	}
	return out
}

// byDay are the stories in which something dies also by day; at night all are.
func byDay(all []story) []story {
	return slices.DeleteFunc(slices.Clone(all), func(s story) bool { return !everyPoint() && s.dies == "" })
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

// one is by day one of these for each kind of story, by chance; at night all are.
func one(all []story) (out []story) {
	all = byDay(all)
	for _, i := range rand.New(rand.NewPCG(seed, uint64(len(all)))).Perm(len(all)) {
		if everyPoint() || !slices.ContainsFunc(out, func(s story) bool { return s.kind == all[i].kind }) {
			out = append(out, all[i])
		}
	}
	return out
}

// sweeping are the stories that need the sweeper.
func sweeping(all []story) []story {
	return slices.DeleteFunc(byDay(all), func(s story) bool { return !s.unattended && !s.sweeps })
}

func under(x *undisturbed, mode string, begin func(*trace)) []disturbance {
	return []disturbance{{name: x.name + ", " + mode, of: x, begins: []func(*trace){begin}}}
}

func twiceAndLate(_ *world, x *undisturbed) []disturbance {
	return under(x, "twice and late", func(t *trace) { t.late = rand.New(rand.NewPCG(seed, 2)) })
}

// failingCalls: one in ten calls to AWS and Slack fails, and of one in fifty every try, where somebody tries again
// then.
func failingCalls(w *world, x *undisturbed) []disturbance {
	if x.anew || x.patient && !everyPoint() { // TestTenTeamsLoseNoRound has a sample
		return nil
	}
	whole := 0.0
	if x.lasting {
		whole = 0.02
	}
	return under(x, "calls fail", func(t *trace) { t.failing = newFailing(seed, 0.1, whole, w.Sandbox.Handler) })
}

// behind: due tasks appear in the index seconds late, and disappear seconds late.
func behind(w *world, x *undisturbed) []disturbance {
	return under(x, "the index is behind", func(t *trace) { t.lag = w.behind })
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

func everyStory() []story {
	all := asItBegins()
	for _, g := range settings() {
		all = append(all, g.stories...)
	}
	return all
}

// storyOf returns the story of a name.
func storyOf(name string) story {
	all := everyStory()
	return all[slices.IndexFunc(all, func(s story) bool { return s.name == name })]
}

// once returns a story's undisturbed play, which it plays on its first call.
func (w *world) once(t *testing.T, s story) (*undisturbed, error) {
	play, _ := w.firsts.LoadOrStore(s.name, sync.OnceValues(func() (*undisturbed, error) { return w.played(t, s) }))
	return play.(func() (*undisturbed, error))()
}
