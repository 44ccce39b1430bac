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
}

// Bar is a step on the timeline, in thousandths of its length.
type Bar struct {
	Key                string
	Order, X, Width    int
	Status, Name, Took string
}

// quarters are the distances between the axis's ticks: the first that is long enough is taken.
var quarters = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second,
	5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute,
	2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 96 * time.Hour, 7 * 24 * time.Hour,
}

// quarter returns a fourth of the axis for a span; a span beyond all of them is not rounded.
func quarter(span time.Duration) time.Duration {
	for _, q := range quarters {
		if 4*q >= span {
			return q
		}
	}
	return span/4 + 1
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
	each := quarter(until.Sub(from))
	out := &Timeline{From: from, Ticks: []string{"0"}}
	for i := range 4 {
		out.Ticks = append(out.Ticks, r.length(time.Duration(i+1)*each))
	}
	for _, s := range begun {
		lasted := s.lasted
		if s.Status == string(task.StepRunning) {
			lasted = until.Sub(s.Started)
		}
		x := min(int(1000*s.Started.Sub(from)/(4*each)), 994)
		width := min(max(6, int(1000*lasted/(4*each))), 1000-x)
		out.Bars = append(out.Bars, Bar{
			Key: s.Key, Order: s.Step.Order, X: x, Width: width, Status: s.Status, Name: s.Step.Name, Took: r.length(lasted),
		})
	}
	return out
}
