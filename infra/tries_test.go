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

// tries is a row of the design's table: how often a state is retried after some errors.
type tries struct {
	errors, states         []string
	most                   int
	first, longest         int // seconds
	onAverage, atMost, row string
}

const (
	everyState = "every state"
	otherState = "every other state" // that no earlier row names for the same error
)

var quoted = regexp.MustCompile("`([^`]+)`")

// designsTries reads the design's table of tries.
func designsTries() ([]tries, error) {
	design, err := os.ReadFile("design.md")
	if err != nil {
		return nil, err
	}
	_, table, ok := strings.Cut(string(design), "| after | in | tries |")
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

// named returns the names in a cell.
func named(cell string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		names = append(names, m[1])
	}
	return names
}

// blocks returns the Retry that the table prescribes for a state.
func blocks(table []tries, state string) (out []retrier) {
	for i, t := range table {
		before := slices.ContainsFunc(table[:i], func(x tries) bool { return x.errors[0] == t.errors[0] && slices.Contains(x.states, state) })
		if slices.Contains(t.states, state) || t.states[0] == everyState || t.states[0] == otherState && !before {
			out = append(out, retrier{ErrorEquals: t.errors, IntervalSeconds: t.first, BackoffRate: 2, MaxAttempts: t.most, MaxDelaySeconds: t.longest, JitterStrategy: "FULL"})
		}
	}
	return out
}

// waits returns the longest wait before each try, in seconds. Step Functions waits between 0 and that, at random.
func (t tries) waits() (out []float64) {
	next := float64(t.first)
	for range t.most {
		out = append(out, min(next, float64(t.longest)))
		next *= 2
	}
	return out
}

// triesRule: each state has the tries of the design's table.
func triesRule(s *stack, wrong report) {
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
		wrong.where(!slices.EqualFunc(want, st.Retry, func(a, b retrier) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
			"%s: its tries are not those of the design: %+v, want %+v", name, st.Retry, want)
	}
}

// In the design's table of tries, the sum of each row is that of its waits, and its states exist.
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
		average, most := fmt.Sprintf("%.0f", sum/2), fmt.Sprintf("%.0f", sum)
		expect.That(t, row.onAverage == average && row.atMost == most,
			"%s: the waits come to %s on average, and %s at most", row.row, average, most)
		for _, name := range row.states {
			expect.That(t, states[name], "%s: no machine has %s", row.row, name)
		}
	}
}

// A function that can't be invoked is tried for some twelve minutes, and never so long that the sweeper takes the run
// for dead.
func TestNoRoomForTwelveMinutes(t *testing.T) {
	table := expect.Value(designsTries())(t)
	row := table[slices.IndexFunc(table, func(x tries) bool { return slices.Contains(x.errors, pipeline.NoRoom) })]
	expect.Must(t, row.states[0] == everyState && row.most == 28, "%s", row.row)
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
	expect.That(t, average >= 11*time.Minute && average <= 12*time.Minute, "tried for %s on average", average)
	expect.That(t, longest < aggregate.StuckAfter.Seconds(),
		"one of %d is tried for %.0f s, the sweeper takes runs for dead after %s", runs, longest, aggregate.StuckAfter)
}

// The design's table of restarts has the values of the constants.
func TestTheTableOfRestarts(t *testing.T) {
	now := time.Now()
	least, most := time.Hour, time.Duration(0)
	for range 10_000 {
		d := effect.RoomAt(now).Sub(now)
		least, most = min(least, d), max(most, d)
	}
	minutes := aggregate.StuckAfter.Minutes()
	pause := fmt.Sprintf("%.0f to %.0f s", least.Truncate(5*time.Second).Seconds(), (most + 4*time.Second).Truncate(5*time.Second).Seconds())
	says(t, "design.md",
		fmt.Sprintf("| restarts without progress, then it is given up | %d | %d | %d, and %d that only sum up |\n", task.MaxRestarts, conversation.MaxRestarts, contest.MaxRestarts, contest.MaxClosings),
		fmt.Sprintf("| a run that has work is restarted if nothing moved for | %[1]v min | %[1]v min | %[1]v min after its teams' time |\n", minutes),
		fmt.Sprintf("| a pause for want of room | %[1]s | %[1]s | none |\n", pause))
}
