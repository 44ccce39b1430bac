package task

import (
	"time"

	"ringi/shared/domain/task"
)

// Timeline is an attempt's steps on an axis of time.
type Timeline struct {
	From  time.Time
	Bars  []Bar
	Ticks []string // the axis's labels, at equal distances from its beginning to its end
	Grid  []int    // the ticks between both ends, in thousandths of the axis
}

// Bar is a step on the timeline, in thousandths of its length.
type Bar struct {
	Key                string
	Order, X, Width    int
	Status, Name, Took string
}

// distances between the axis's ticks: the first of which four reach the end is taken.
var distances = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second,
	5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute,
	2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 96 * time.Hour, 7 * 24 * time.Hour,
}

// axis returns the distance between the ticks for a span, and how many of them reach its end. A span beyond all
// distances is not rounded.
func axis(span time.Duration) (each time.Duration, ticks int) {
	for _, each := range distances {
		if 4*each >= span {
			return each, int((span + each - 1) / each)
		}
	}
	return span/4 + 1, 4
}

// timeline places an attempt's steps, but for those that were carried over.
func (r Reader) timeline(t Attempt) *Timeline {
	from, until := t.Started, t.Completed
	var begun []Run
	for _, s := range t.Steps {
		if s.Started.IsZero() || s.Reused {
			continue
		}
		begun = append(begun, s)
		if from.IsZero() || s.Started.Before(from) {
			from = s.Started
		}
		if end := s.Started.Add(s.lasted); end.After(until) {
			until = end
		}
	}
	if t.Completed.IsZero() && r.Now.After(until) {
		until = r.Now
	}
	if from.IsZero() || len(begun) == 0 || !until.After(from) {
		return nil
	}
	each, ticks := axis(until.Sub(from))
	whole := time.Duration(ticks) * each
	out := &Timeline{From: from, Ticks: []string{"0"}}
	for i := 1; i <= ticks; i++ {
		out.Ticks = append(out.Ticks, r.length(time.Duration(i)*each))
		if i < ticks {
			out.Grid = append(out.Grid, 1000*i/ticks)
		}
	}
	for _, s := range begun {
		lasted := s.lasted
		if s.Status == string(task.StepRunning) {
			lasted = until.Sub(s.Started)
		}
		x := min(int(1000*s.Started.Sub(from)/whole), 994)
		width := min(max(6, int(1000*lasted/whole)), 1000-x)
		out.Bars = append(out.Bars, Bar{
			Key: s.Key, Order: s.Step.Order, X: x, Width: width, Status: s.Status, Name: s.Step.Name, Took: r.length(lasted),
		})
	}
	return out
}
