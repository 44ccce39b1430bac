package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/moto"
	"ringi/shared/runtime/expect"
)

// quiet fails the test for an error; without Python it skips the test on a laptop.
func quiet(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, moto.ErrPython) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
}

func stored(t *testing.T) *Measured {
	t.Helper()
	return expect.Value(load("../.."))(t)
}

// Allowed variation: the machine's speed decides how many changes one redraw covers, and how many entries one batch of
// the sealer has.
const (
	amountRatio = 1.25
	amountNoise = 4
)

func TestAPipelineCostsWhatItDid(t *testing.T) {
	expect.AtNight(t)
	var found []string
	for range 3 { // if the machine stalled, some calls were repeated, but not in every try
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		c, err := measureCalls(ctx, 2, 0, 1)
		cancel()
		quiet(t, err)
		if found = differences(c, stored(t).Calls.Quiet.amounts()); found == nil {
			return
		}
		t.Log(found)
	}
	t.Error(found)
}

// differences lists how the calls of pipelines and the idle sweeper differ from the expected ones.
func differences(c *Calls, before map[string]float64) []string {
	p, sweep := c.Quiet, c.Sweep
	total := p.total()
	found := worse(p.amounts(), before, amountRatio, amountNoise)
	if p.Transitions != before["transitions"] {
		found = append(found, fmt.Sprintf("%s transitions, not the baseline's %s", num(p.Transitions), num(before["transitions"])))
	}
	if sweep.Actions["DynamoDB.Query"] != 9 || sweep.total().Write != 0 {
		found = append(found, fmt.Sprintf("with nothing due the sweeper does %+v; want one query of each shard and one of delegations", sweep))
	}
	if total.Read == 0 || total.Write == 0 || len(p.Functions) < 10 {
		found = append(found, fmt.Sprintf("the measurement is not whole: %+v", p))
	}
	return found
}

// A start is compared with the baseline's ratio. A busy machine adds noise to ratios, but not half of their value.
const coldRatio = 1.5

func TestStartsAreNoSlowerThanTheyWere(t *testing.T) {
	expect.AtNight(t)
	r := expect.Value(Measure(t.Context(), Options{Spawns: 9,
		Functions: []string{"receive-event",
			"receive-interaction"}, Artifacts: os.Getenv("RINGI_ARTIFACTS"), NoBolt: true, Log: io.Discard}))(t)
	expect.Must(t, len(r.Functions) == 2, "measured %+v", r.Functions)
	now := map[string]float64{}
	for _, f := range r.Functions {
		// A busy machine disturbs the fastest starts least.
		now[f.Name] = min(f.Ratio, float64(f.Min)/float64(f.OtherMin))
	}
	before := map[string]float64{}
	for _, f := range stored(t).Cold.Functions {
		before[f.Name] = f.Ratio
	}
	for _, w := range worse(now, before, coldRatio, 0) {
		t.Error(w)
	}
}

func TestWorseSeesWhatGrew(t *testing.T) {
	before := map[string]float64{"a": 10, "b": 10, "c": 10}
	got := worse(map[string]float64{"a": 12, "b": 14, "d": 1}, before, 1.2, 0)
	want := []string{"b is 14, 1.4 times the baseline's 10", "d is new: 1"}
	expect.Same(t, want, got)
	got = worse(map[string]float64{"b": 14}, before, 1.2, 2)
	expect.That(t, got == nil, "within the noise, but %v", got)
}

func TestTheWayToTheFirstCardIsTimedWithoutTheMeter(t *testing.T) {
	began := time.Unix(1_000_000, 0)
	var calls []Call
	for i, p := range passages {
		calls = append(calls, Call{Function: p.function, Name: p.name,
			At: began.Add(time.Duration((i+1)*(i+1)) * time.Millisecond)})
	}
	got := expect.Value(shares([]*driver.Request{{Asked: began}}, calls))(t)
	for i, s := range got {
		expect.Is(t, s.Took, time.Duration(2*i+1)*time.Millisecond, "%s", s.Stage)
	}
	calls[3].Units.Write = 2
	_, err := shares([]*driver.Request{{Asked: began}}, calls)
	expect.That(t, err != nil, "metered calls are taken for a measurement of time")
}

func TestWhereTheTimeGoesIsMeasured(t *testing.T) {
	expect.AtNight(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	where, err := measureShares(ctx, 3)
	quiet(t, err)
	for _, s := range where {
		expect.That(t, s.Took > 0, "%s: not measured", s.Stage)
	}
}

func TestContestsAndConversationsAreMeasured(t *testing.T) {
	expect.AtNight(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var m Measured
	quiet(t, m.measureOthers(ctx, 1))
	for name, p := range map[string]Pipeline{"a contest": m.Contest.Pipeline, "a conversation": *m.Conversation} {
		expect.That(t, p.total().Write > 0, "%s writes nothing: %+v", name, p)
	}
}

// What an outside agent writes costs at most so many rows, and it waits at most so long for the door.
func TestAnOutsideAgentCostsAndWaitsWhatItMay(t *testing.T) {
	expect.AtNight(t)
	var found string
	for range 3 { // the machine may stall
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		o, err := measureOutside(ctx, 1, 50)
		cancel()
		quiet(t, err)
		rows := sumOf(o.kinds())
		found = fmt.Sprintf("a write is %v rows (%s), and answered within %s; a read takes %s, the vendor %s", rows, o.byKind(),
			o.Asked.P99, o.Read.P50, o.Direct.P50)
		t.Log(found)
		if rows > 0 && rows <= 45 && o.Asked.P99 <= 3*time.Second && o.Read.P50 <= o.Direct.P50*13/10+15*time.Millisecond {
			return
		}
	}
	t.Error(found)
}

func TestASectionGoesBetweenItsMarks(t *testing.T) {
	const open, closing = "<!-- bench -->", "<!-- /bench -->"
	s := section{"README.md", "bench", "now\n"}
	for name, page := range map[string]string{"none": "x", "one": "x " + open, "turned round": closing + open} {
		_, err := s.put(page)
		expect.That(t, err != nil, "%s of the marks: it went somewhere", name)
	}
	page := "before\n" + open + "earlier" + closing + "\nafter\n"
	for range 2 {
		page = expect.Value(s.put(page))(t)
		expect.Same(t, "before\n"+open+"\nnow\n"+closing+"\nafter\n", page)
	}
}

func TestAnUnknownPartIsRefused(t *testing.T) {
	err := run(t.Context(), []string{"-only", "calls,dreams"}, io.Discard, io.Discard)
	expect.That(t, err != nil && strings.Contains(err.Error(), `no part "dreams"`), "got %v", err)
}

// With -write the other parts are the baseline's, and so are the loads: only after a measurement of theirs alone they
// are what is printed.
func TestAPartPrintsWhatItMeasured(t *testing.T) {
	for part, want := range map[string]string{
		"calls": "| all functions | ", "others": "| all functions, in a contest | ",
		"outside": "| all functions, in a call | ", "cold": "| serve-console | ",
		"latency": "| message → first card | ", "throughput": "| all completed and shown, ",
	} {
		expect.Has(t, stored(t).printed([]string{part}), want, "what %s prints", part)
	}
	m := stored(t)
	m.Load.of = m.Calls
	expect.Has(t, m.printed([]string{"load"}), "| 100, 50, ", "what load prints")
}

// amounts returns what a pipeline uses, without what depends on how many changes one redraw covers.
func (p Pipeline) amounts() map[string]float64 {
	out := map[string]float64{"transitions": p.Transitions}
	for name, u := range p.Functions {
		for what, n := range map[string]float64{
			"AWS calls": u.AWS, "Slack calls": u.Slack, "vendor calls": u.Vendor, "read units": u.Read, "write units": u.Write + u.Index,
		} {
			if n > 0 {
				out[name+" "+what] = round(n)
			}
		}
	}
	return out
}

// worse lists what has grown beyond a ratio or is new; differences up to slack count as noise.
func worse(now, before map[string]float64, ratio, slack float64) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, known := before[name]
		switch {
		case !known:
			out = append(out, fmt.Sprintf("%s is new: %s", name, num(now[name])))
		case now[name] > was*ratio+slack:
			out = append(out, fmt.Sprintf("%s is %s, %s times the baseline's %s", name, num(now[name]), num(now[name]/was), num(was)))
		}
	}
	return out
}

// Outside agents wait for the door's start, which is hardly longer than that of a handler with the same clients.
func TestTheDoorStartsLikeABareHandler(t *testing.T) {
	expect.AtNight(t)
	r := expect.Value(Measure(t.Context(), Options{Spawns: 9, Functions: []string{"serve-gate"},
		Artifacts: os.Getenv("RINGI_ARTIFACTS"), NoBolt: true, Log: io.Discard}))(t)
	f := r.Functions[0]
	ratio := min(f.Ratio, float64(f.Min)/float64(f.OtherMin))
	t.Logf("%.2f times a bare handler's: %s and %s, %d bytes", ratio, f.Median, f.OtherMedian, f.Size)
	expect.That(t, ratio <= 1.25, "it takes %.2f times as long", ratio)
}
