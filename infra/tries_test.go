package infra_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/effect"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// tries is a row of the design's table: how often a state is tried again after some errors.
type tries struct {
	errors, states         []string
	most                   int
	first, longest         int // seconds
	onAverage, atMost, row string
}

const (
	everyState = "every state"
	otherState = "every other state" // than those that a row before names for the same error
)

var quoted = regexp.MustCompile("`([^`]+)`")

// triesOf reads the table of a design.
func triesOf(design string) ([]tries, error) {
	_, table, ok := strings.Cut(design, "| after | in | tries |")
	table, _, ends := strings.Cut(table, "\n\n")
	if !ok || !ends {
		return nil, fmt.Errorf("the design has no table of tries")
	}
	var out []tries
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 6 {
			return nil, fmt.Errorf("%d cells in %q", len(cells), line)
		}
		t := tries{row: line, states: []string{cells[1]}}
		for i, into := range map[int]*int{2: &t.most, 3: &t.first, 4: &t.longest} {
			var err error
			if *into, err = strconv.Atoi(cells[i]); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		}
		t.onAverage, t.atMost, _ = strings.Cut(cells[5], " · ")
		t.errors = named(cells[0])
		if states := named(cells[1]); states != nil {
			t.states = states
		}
		out = append(out, t)
	}
	return out, nil
}

// named are the names in a cell.
func named(cell string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		names = append(names, m[1])
	}
	return names
}

// blocks are what a state's Retry has to be by the table.
func blocks(table []tries, state string) (out []retrier) {
	for i, t := range table {
		before := slices.ContainsFunc(table[:i], func(x tries) bool { return x.errors[0] == t.errors[0] && slices.Contains(x.states, state) })
		if slices.Contains(t.states, state) || t.states[0] == everyState || t.states[0] == otherState && !before {
			out = append(out, retrier{ErrorEquals: t.errors, IntervalSeconds: t.first, BackoffRate: 2, MaxAttempts: t.most, MaxDelaySeconds: t.longest, JitterStrategy: "FULL"})
		}
	}
	return out
}

// waits are how long each try may be waited for, in seconds: Step Functions draws from nothing to that.
func (t tries) waits() (out []float64) {
	next := float64(t.first)
	for range t.most {
		out = append(out, min(next, float64(t.longest)))
		next *= 2
	}
	return out
}

func designsTries() ([]tries, error) {
	text, err := os.ReadFile("design.md")
	if err != nil {
		return nil, err
	}
	return triesOf(string(text))
}

// triesRule: each state is tried again as the design's table says.
func triesRule(s *stack, wrong func(string, ...any)) {
	table, err := designsTries()
	if err != nil {
		wrong("%v", err)
		return
	}
	for name, st := range s.states() {
		if st.Type != "Task" {
			continue
		}
		want := blocks(table, name)
		if !slices.EqualFunc(want, st.Retry, func(a, b retrier) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
			wrong("%s: its tries are not those of the design: %+v, want %+v", name, st.Retry, want)
		}
	}
}

// TestTheTableOfTries holds the table of tries in the design to the state machines: the sum of each row is that of its
// waits, and its states and errors exist.
func TestTheTableOfTries(t *testing.T) {
	table := expect.Value(designsTries())(t)
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	states := map[string]bool{everyState: true, otherState: true}
	for name, st := range s.states() {
		states[name] = st.Type == "Task"
	}
	for _, row := range table {
		sum := 0.0
		for _, w := range row.waits() {
			sum += w
		}
		if average, most := fmt.Sprintf("%.0f", sum/2), fmt.Sprintf("%.0f", sum); row.onAverage != average || row.atMost != most {
			t.Errorf("%s: the waits come to %s on average, and %s at most", row.row, average, most)
		}
		for _, name := range row.states {
			if !states[name] {
				t.Errorf("%s: no machine has %s", row.row, name)
			}
		}
	}
}

// TestNoRoomForTwelveMinutes: a function that can't be invoked is tried for some twelve minutes, and always for less than after what
// time the sweeper takes a run for dead.
func TestNoRoomForTwelveMinutes(t *testing.T) {
	table := expect.Value(designsTries())(t)
	row := table[slices.IndexFunc(table, func(x tries) bool { return slices.Contains(x.errors, pipeline.NoRoom) })]
	if row.states[0] != everyState || row.most != 28 {
		t.Fatalf("%s", row.row)
	}
	const runs = 100_000
	random, all, longest := rand.New(rand.NewPCG(1, 2)), 0.0, 0.0
	for range runs {
		sum := 0.0
		for _, w := range row.waits() {
			sum += random.Float64() * w
		}
		all, longest = all+sum, max(longest, sum)
	}
	average := time.Duration(all / runs * float64(time.Second))
	if average < 11*time.Minute || average > 12*time.Minute {
		t.Errorf("tried for %s on average", average)
	}
	if longest := time.Duration(longest * float64(time.Second)); longest >= aggregate.StuckAfter {
		t.Errorf("one of %d is tried for %s, the sweeper takes runs for dead after %s", runs, longest, aggregate.StuckAfter)
	}
}

// TestTheTableOfRestarts: what the design says of runs that die follows from the constants.
func TestTheTableOfRestarts(t *testing.T) {
	text := string(expect.Value(os.ReadFile("design.md"))(t))
	now := time.Now()
	least, most := time.Hour, time.Duration(0)
	for range 10_000 {
		d := effect.RoomAt(now).Sub(now)
		least, most = min(least, d), max(most, d)
	}
	minutes := aggregate.StuckAfter.Minutes()
	pause := fmt.Sprintf("%.0f to %.0f s", least.Truncate(5*time.Second).Seconds(), (most + 4*time.Second).Truncate(5*time.Second).Seconds())
	for _, row := range []string{
		fmt.Sprintf("| restarts without progress, then it is given up | %d | %d | %d, and %d that only sum up |", task.MaxRestarts, conversation.MaxRestarts, contest.MaxRestarts, contest.MaxClosings),
		fmt.Sprintf("| a run that has work is restarted if nothing moved for | %[1]v min | %[1]v min | %[1]v min after its teams' time |", minutes),
		fmt.Sprintf("| a pause for want of room | %[1]s | %[1]s | none |", pause),
	} {
		if !strings.Contains(text, row+"\n") {
			t.Errorf("infra/design.md does not say %s", row)
		}
	}
}
